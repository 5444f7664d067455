//! The nodes of one block: each asks the program that runs on it now.

use super::{All, OwnSite};
use std::sync::Arc;
use weft_api::base::kept::{Kept, Reader, Unreadable, Value, Writer};
use weft_api::state::Packet;
use weft_api::workload::{Backlog, JobSources, NOT_DUE, NewPacket, Place, Sources, Workload};

/// The nodes of one block.
#[derive(Debug)]
pub struct Nodes {
    all: Arc<All>,
    here: Vec<Place>,
    /// Of each program that has started, in this order: its nodes in this block.
    programs: Vec<JobSources>,
    /// Of each of these, by the number of a node in it: the node.
    nodes_of: Vec<Vec<usize>>,
    /// Of each node: the program that runs on it, and its number in that.
    running: Vec<Option<(usize, usize)>>,
    /// No look of the scheduler comes before this cycle.
    quiet_until: u64,
    /// The next cycle in which something happens at a program by itself.
    next_act: u64,
    /// Scratch: the program that the last call concerned; `None`: all.
    called: Option<usize>,
}

impl Nodes {
    pub fn new(all: Arc<All>, here: &[Place]) -> Self {
        let (programs, nodes_of, running) = (Vec::new(), Vec::new(), vec![None; here.len()]);
        Self { all, here: here.to_vec(), programs, nodes_of, running, quiet_until: 0, next_act: 0, called: None }
    }

    /// All looks of the scheduler up to cycle `now`.
    fn look(&mut self, now: u64) {
        if now < self.quiet_until {
            return;
        }
        let all = Arc::clone(&self.all);
        let mut queue = all.queue();
        queue.advance(now, |programs, places, start| all.site.launch(programs, places, start));
        for started in &queue.started()[self.programs.len()..] {
            self.join(&all.site, &*started.workload, &started.places);
        }
        self.quiet_until = queue.next_look().unwrap_or(NOT_DUE);
    }

    /// Takes part in a program that starts.
    fn join(&mut self, site: &OwnSite, workload: &dyn Workload, places: &[u32]) {
        let (mut nodes, mut own_nodes) = (Vec::new(), Vec::new());
        for (own, place) in self.here.iter().enumerate() {
            if let Some(rank) = places.iter().position(|&each| each == place.rank) {
                let terminal = site.terminals[place.rank as usize];
                self.running[own] = Some((self.programs.len(), nodes.len()));
                nodes.push(Place { terminal, rank: rank as u32 });
                own_nodes.push(own);
            }
        }
        let mut sources = workload.sources(&nodes);
        // a program begins when it acts, so no source is due at its start
        (0..nodes.len()).for_each(|node| _ = sources.all_mut().start(node));
        self.programs.push(sources);
        self.nodes_of.push(own_nodes);
    }

    /// Calls `of` for the program that runs on a node. Returns when its source is due.
    fn with(&mut self, source: usize, of: impl FnOnce(&mut dyn Sources, usize, &mut u64)) -> u64 {
        let mut due = NOT_DUE;
        if let Some((program, node)) = self.running[source] {
            of(self.programs[program].all_mut(), node, &mut due);
            self.next_act = self.next_act.min(self.programs[program].all().next_act());
            self.called = Some(program);
        }
        due
    }
}

impl Kept for Nodes {
    fn keep(&self, to: &mut Writer) {
        self.all.queue().state().keep(to);
        (self.programs.len() as u64).keep(to);
        self.programs.iter().for_each(|program| program.keep(to));
    }

    fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), Unreadable> {
        let state: Vec<u64> = Value::read(from)?;
        let known: u64 = Value::read(from)?;
        let all = Arc::clone(&self.all);
        let mut queue = all.queue();
        let launch = |programs: &_, places: &[u32], start| all.site.launch(programs, places, start);
        queue.restore(&state, launch).ok_or(Unreadable)?;
        let known = usize::try_from(known).ok().filter(|&known| known <= queue.started().len()).ok_or(Unreadable)?;
        for started in &queue.started()[self.programs.len()..known] {
            self.join(&all.site, &*started.workload, &started.places);
        }
        let has_all = self.programs.len() == queue.started().len();
        self.quiet_until = if has_all { queue.next_look().unwrap_or(NOT_DUE) } else { 0 };
        self.programs.iter_mut().try_for_each(|program| program.restore(from))?;
        self.next_act = self.programs.iter().map(|program| program.all().next_act()).min().unwrap_or(NOT_DUE);
        Ok(())
    }
}

impl Sources for Nodes {
    fn start(&mut self, _source: usize) -> u64 {
        NOT_DUE
    }

    fn next(&mut self, source: usize, due: &mut u64, now: u64) -> Option<NewPacket> {
        let mut packet = None;
        *due = self.with(source, |program, node, due| packet = program.next(node, due, now));
        packet
    }

    fn sent(&mut self, source: usize, due: &mut u64, now: u64) {
        *due = self.with(source, |program, node, due| program.sent(node, due, now));
    }

    fn delivered(&mut self, source: usize, packet: &Packet, due: &mut u64, now: u64) {
        self.look(now);
        *due = self.with(source, |program, node, due| program.delivered(node, packet, due, now));
    }

    fn next_act(&self) -> u64 {
        self.next_act.min(self.quiet_until)
    }

    fn act(&mut self, now: u64) {
        self.look(now);
        (self.next_act, self.called) = (NOT_DUE, None);
        for program in &mut self.programs {
            let program = program.all_mut();
            if program.next_act() <= now {
                program.act(now);
            }
            self.next_act = self.next_act.min(program.next_act());
        }
    }

    fn take_woken(&mut self) -> Option<(usize, u64)> {
        let programs = self.called.map_or(0..self.programs.len(), |program| program..program + 1);
        for program in programs {
            if let Some((node, due)) = self.programs[program].all_mut().take_woken() {
                return Some((self.nodes_of[program][node], due));
            }
        }
        None
    }

    fn backlog(&self, source: usize, due: u64, until: u64, window: (u64, u64)) -> Backlog {
        let running = self.running[source].map(|(program, node)| (&self.programs[program], node));
        running.map_or_else(Backlog::default, |(program, node)| program.all().backlog(node, due, until, window))
    }
}
