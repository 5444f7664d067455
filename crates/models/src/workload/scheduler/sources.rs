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
    /// Of each node: the program that runs on it, and its number in that.
    running: Vec<Option<(usize, usize)>>,
    /// No look of the scheduler comes before this cycle.
    quiet_until: u64,
}

impl Nodes {
    pub fn new(all: Arc<All>, here: &[Place]) -> Self {
        Self { all, here: here.to_vec(), programs: Vec::new(), running: vec![None; here.len()], quiet_until: 0 }
    }

    /// All looks of the scheduler up to cycle `now`. Returns when the next one is.
    fn look(&mut self, now: u64) -> u64 {
        if now < self.quiet_until {
            return self.quiet_until;
        }
        let all = Arc::clone(&self.all);
        let mut queue = all.queue();
        queue.advance(now, |programs, places, start| all.site.launch(programs, places, start));
        for started in &queue.started()[self.programs.len()..] {
            self.join(&all.site, &*started.workload, &started.places);
        }
        self.quiet_until = queue.next_look().unwrap_or(NOT_DUE);
        self.quiet_until
    }

    /// Takes part in a program that starts.
    fn join(&mut self, site: &OwnSite, workload: &dyn Workload, places: &[u32]) {
        let mut nodes = Vec::new();
        for (own, place) in self.here.iter().enumerate() {
            if let Some(rank) = places.iter().position(|&each| each == place.rank) {
                let terminal = site.terminals[place.rank as usize];
                self.running[own] = Some((self.programs.len(), nodes.len()));
                nodes.push(Place { terminal, rank: rank as u32 });
            }
        }
        let mut sources = workload.sources(&nodes);
        // all nodes of the job are asked at a look, so the first cycle in which each is due needs no note
        (0..nodes.len()).for_each(|node| _ = sources.all_mut().start(node));
        self.programs.push(sources);
    }

    fn with<T>(&mut self, source: usize, of: impl FnOnce(&mut dyn Sources, usize) -> T) -> Option<T> {
        let (program, node) = self.running[source]?;
        Some(of(self.programs[program].all_mut(), node))
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
        self.quiet_until = 0;
        self.programs.iter_mut().try_for_each(|program| program.restore(from))
    }
}

impl Sources for Nodes {
    fn start(&mut self, _source: usize) -> u64 {
        0
    }

    fn next(&mut self, source: usize, due: &mut u64, now: u64) -> Option<NewPacket> {
        let look = self.look(now);
        let mut own = NOT_DUE;
        let packet = self.with(source, |program, node| program.next(node, &mut own, now));
        *due = own.min(look);
        packet.flatten()
    }

    fn sent(&mut self, source: usize, due: &mut u64, now: u64) {
        let look = self.look(now);
        let mut own = NOT_DUE;
        self.with(source, |program, node| program.sent(node, &mut own, now));
        *due = own.min(look);
    }

    fn delivered(&mut self, source: usize, packet: &Packet, due: &mut u64, now: u64) {
        let look = self.look(now);
        let mut own = NOT_DUE;
        self.with(source, |program, node| program.delivered(node, packet, &mut own, now));
        *due = own.min(look);
    }

    fn backlog(&self, source: usize, due: u64, until: u64, window: (u64, u64)) -> Backlog {
        let running = self.running[source].map(|(program, node)| (&self.programs[program], node));
        running.map_or_else(Backlog::default, |(program, node)| program.all().backlog(node, due, until, window))
    }
}
