//! The nodes of one block: each asks the program that runs on it now.

use super::queue::{Delivered, Started};
use super::{All, OwnSite};
use std::collections::HashMap;
use std::sync::Arc;
use weft_api::base::kept::{Kept, Reader, Unreadable, Value, Writer};
use weft_api::state::Packet;
use weft_api::workload::{Backlog, JobSources, NOT_DUE, NewPacket, Place, Sources};

/// Deliveries in one block: flits, and flits times the links between routers that they crossed.
type Here = (u64, u64);

/// The nodes of one block.
#[derive(Debug)]
pub struct Nodes {
    all: Arc<All>,
    here: Vec<Place>,
    /// Of each program that has started, in this order: its nodes in this block.
    programs: Vec<JobSources>,
    /// Of each of these, by the number of a node in it: the node.
    nodes_of: Vec<Vec<usize>>,
    /// The deliveries of each program, those of this block and those of all blocks.
    delivered: Vec<(Here, Arc<Delivered>)>,
    /// The programs that may act: those that hold nodes.
    acting: Vec<usize>,
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
        Self {
            all,
            here: here.to_vec(),
            programs: Vec::new(),
            nodes_of: Vec::new(),
            delivered: Vec::new(),
            acting: Vec::new(),
            running: vec![None; here.len()],
            quiet_until: 0,
            next_act: 0,
            called: None,
        }
    }

    /// All looks of the scheduler up to cycle `now`.
    fn look(&mut self, now: u64) {
        if now < self.quiet_until {
            return;
        }
        let all = Arc::clone(&self.all);
        let mut queue = all.queue();
        queue.advance(now, |program, places, start| all.site.launch(program, places, start));
        for started in &queue.started()[self.programs.len()..] {
            self.join(&all.site, started);
        }
        self.acting.clear();
        self.acting.extend_from_slice(queue.running());
        self.quiet_until = queue.next_look().unwrap_or(NOT_DUE);
    }

    /// Takes part in a program that starts.
    fn join(&mut self, site: &OwnSite, started: &Started) {
        let ranks: HashMap<u32, u32> = started.places.iter().copied().zip(0..).collect();
        let (mut nodes, mut own_nodes) = (Vec::new(), Vec::new());
        for (own, place) in self.here.iter().enumerate() {
            if let Some(&rank) = ranks.get(&place.rank) {
                let terminal = site.terminals[place.rank as usize];
                self.running[own] = Some((self.programs.len(), nodes.len()));
                nodes.push(Place { terminal, rank });
                own_nodes.push(own);
            }
        }
        let mut sources = started.workload.sources(&nodes);
        // a program begins when it acts, so no source is due at its start
        (0..nodes.len()).for_each(|node| _ = sources.all_mut().start(node));
        self.next_act = self.next_act.min(sources.all().next_act());
        self.acting.push(self.programs.len());
        self.programs.push(sources);
        self.nodes_of.push(own_nodes);
        self.delivered.push(((0, 0), Arc::clone(&started.delivered)));
    }

    /// Calls `of` for the program that runs on a node, whose source is due in cycle `due`. Sets when it is due then.
    fn with(&mut self, source: usize, due: &mut u64, of: impl FnOnce(&mut dyn Sources, usize, &mut u64)) {
        let Some((program, node)) = self.running[source] else {
            *due = NOT_DUE;
            return;
        };
        of(self.programs[program].all_mut(), node, due);
        self.next_act = self.next_act.min(self.programs[program].all().next_act());
        self.called = Some(program);
    }
}

impl Kept for Nodes {
    fn keep(&self, to: &mut Writer) {
        self.all.queue().state().keep(to);
        (self.programs.len() as u64).keep(to);
        self.programs.iter().for_each(|program| program.keep(to));
        self.delivered.iter().for_each(|(here, _)| here.keep(to));
    }

    fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), Unreadable> {
        let state: Vec<u64> = Value::read(from)?;
        let known: u64 = Value::read(from)?;
        let all = Arc::clone(&self.all);
        let mut queue = all.queue();
        let launch = |program: &_, places: &[u32], start| all.site.launch(program, places, start);
        queue.restore(&state, launch).ok_or(Unreadable)?;
        let known = usize::try_from(known).ok().filter(|&known| known <= queue.started().len()).ok_or(Unreadable)?;
        for started in &queue.started()[self.programs.len()..known] {
            self.join(&all.site, started);
        }
        self.acting = queue.running().iter().copied().filter(|&program| program < known).collect();
        let has_all = self.programs.len() == queue.started().len();
        self.quiet_until = if has_all { queue.next_look().unwrap_or(NOT_DUE) } else { 0 };
        self.programs.iter_mut().try_for_each(|program| program.restore(from))?;
        for (here, of_all) in &mut self.delivered {
            *here = Value::read(from)?;
            of_all.add(*here);
        }
        self.next_act =
            self.acting.iter().map(|&program| self.programs[program].all().next_act()).min().unwrap_or(NOT_DUE);
        Ok(())
    }
}

impl Sources for Nodes {
    fn start(&mut self, _source: usize) -> u64 {
        NOT_DUE
    }

    fn next(&mut self, source: usize, due: &mut u64, now: u64) -> Option<NewPacket> {
        let mut packet = None;
        self.with(source, due, |program, node, due| packet = program.next(node, due, now));
        packet
    }

    fn sent(&mut self, source: usize, due: &mut u64, now: u64) {
        self.with(source, due, |program, node, due| program.sent(node, due, now));
    }

    fn delivered(&mut self, source: usize, packet: &Packet, due: &mut u64, now: u64) {
        self.look(now);
        if let Some((program, _)) = self.running[source] {
            let (here, of_all) = &mut self.delivered[program];
            let more = (u64::from(packet.len), u64::from(packet.len) * u64::from(packet.links_crossed));
            *here = (here.0 + more.0, here.1 + more.1);
            of_all.add(more);
        }
        self.with(source, due, |program, node, due| program.delivered(node, packet, due, now));
    }

    fn next_act(&self) -> u64 {
        self.next_act.min(self.quiet_until)
    }

    fn act(&mut self, now: u64) {
        self.look(now);
        (self.next_act, self.called) = (NOT_DUE, None);
        for &program in &self.acting {
            let program = self.programs[program].all_mut();
            if program.next_act() <= now {
                program.act(now);
            }
            self.next_act = self.next_act.min(program.next_act());
        }
    }

    fn take_woken(&mut self) -> Option<(usize, u64)> {
        let called = self.called.as_slice();
        for &program in if called.is_empty() { &self.acting[..] } else { called } {
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

#[cfg(test)]
mod tests {
    use super::super::Scheduler;
    use super::super::order::Order;
    use super::super::placement::{Domains, Placement};
    use super::super::queue::{Queue, Rules};
    use super::*;
    use std::sync::Mutex;
    use weft_api::activity::Wanted;
    use weft_api::workload::{JobSite, Near, Progress};
    use weft_traffic::{InjectionConfig, Lengths};

    /// On two terminals two programs follow each other. The first ends in cycle 900, so the second starts at the look in cycle 1,200.
    fn nodes() -> Nodes {
        let scheduler: Scheduler = serde_json::from_str(
            r#"{"period": "200ns", "traces": [{"name": "one", "count": 2, "programs": {"program": {"compute": {"ranks": 2, "time": "900ns"}}}}]}"#,
        )
        .unwrap();
        let site = JobSite {
            path: "traffic".into(),
            job: "all",
            terminals: &[0, 1],
            phases: &[],
            packets: &Lengths::one(16),
            injection: &InjectionConfig::default(),
            batch: None,
            apart: false,
            planes: 1,
            near: Near::UNKNOWN,
            cycle_fs: 1_000_000,
            flit_bits: 128,
            seed: 1,
            wanted: Wanted::default(),
        };
        let rules = Rules {
            period: 200,
            order: Order::Fcfs,
            placement: Placement::Lowest,
            domains: Domains::default(),
            seed: 1,
        };
        let queue = Queue::new(scheduler.programs(&site).unwrap().programs, 2, rules);
        let all = All { site: OwnSite::of(&site, &scheduler), queue: Mutex::new(queue) };
        Nodes::new(Arc::new(all), &[0, 1].map(|number| Place { terminal: number, rank: number }))
    }

    /// A delivery comes before the calls of `act` in a cycle, so its look may be the first one of that cycle.
    #[test]
    fn a_look_announces_the_programs_that_start_at_it() {
        let mut nodes = nodes();
        while nodes.next_act() < 1_200 {
            nodes.act(nodes.next_act());
        }
        assert_eq!(nodes.programs.len(), 1);
        nodes.look(1_200);
        assert_eq!((nodes.programs.len(), nodes.quiet_until), (2, NOT_DUE));
        assert_eq!(nodes.next_act(), 1_200, "the second program begins in this cycle");
        while nodes.next_act() < NOT_DUE {
            nodes.act(nodes.next_act());
        }
        assert_eq!(nodes.all.queue().progress(), Progress::Ended(1_200 + 900));
    }
}
