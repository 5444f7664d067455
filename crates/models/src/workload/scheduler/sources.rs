//! The sources of packets in one block, for a job with a scheduler. Each source is a node, which calls the programs that run on it at
//! present.

use super::held::{Held, mark_of, marked};
use super::queue::{Delivered, Started};
use super::{All, OwnSite};
use std::collections::HashMap;
use std::sync::Arc;
use weft_api::base::kept::{Kept, Reader, Unreadable, Value, Writer};
use weft_api::state::Packet;
use weft_api::workload::{Backlog, JobSources, NOT_DUE, NewPacket, Place, Sources};

/// Deliveries to a program in one block: the number of flits, and the sum of the links between routers that they
/// crossed.
type Here = (u64, u64);

/// A program that runs on a node.
#[derive(Debug)]
struct Guest {
    /// Index of the program among those that have started.
    program: usize,
    /// The mark of the program.
    mark: u32,
    /// Index of this node among the program's nodes in this block.
    node: usize,
    /// The cycle from which the program has its next packet at this node.
    due: u64,
}

/// A node, and the programs that run on it.
#[derive(Debug, Default)]
struct Node {
    guests: Vec<Guest>,
    /// The program that sent the last packet.
    last: usize,
}

impl Node {
    /// Returns the first cycle in which one of the node's programs has a packet.
    fn due(&self) -> u64 {
        self.guests.iter().map(|guest| guest.due).min().unwrap_or(NOT_DUE)
    }

    /// Returns the program that sends the next packet, in cycle `now`. Programs with a packet send in turn, in the
    /// order in which they started.
    fn turn(&self, now: u64) -> Option<usize> {
        let due = self.guests.iter().filter(|guest| guest.due <= now).map(|guest| guest.program);
        due.min_by_key(|&program| (program <= self.last, program))
    }

    fn guest(&mut self, program: usize) -> Option<&mut Guest> {
        self.guests.iter_mut().find(|guest| guest.program == program)
    }
}

/// The nodes of one block, with the programs that run on them.
#[derive(Debug)]
pub struct Nodes {
    all: Arc<All>,
    here: Vec<Place>,
    /// The sources of each started program on its nodes in this block, in the order of the starts.
    programs: Vec<JobSources>,
    /// For each of these programs: the indices (in this block) of its nodes.
    nodes_of: Vec<Vec<usize>>,
    /// For each program: its deliveries in this block, and its counters for all blocks.
    delivered: Vec<(Here, Arc<Delivered>)>,
    /// The programs that can have events, because they occupy nodes.
    acting: Vec<usize>,
    nodes: Vec<Node>,
    /// The next scheduling pass is not before this cycle.
    quiet_until: u64,
    /// The next cycle in which a program has an event other than the arrival of a packet.
    next_act: u64,
    /// Scratch: the program that was called last; `None` means all programs.
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
            nodes: here.iter().map(|_| Node::default()).collect(),
            quiet_until: 0,
            next_act: 0,
            called: None,
        }
    }

    /// Does all scheduling passes up to cycle `now`.
    fn look(&mut self, now: u64) {
        if now < self.quiet_until {
            return;
        }
        let all = Arc::clone(&self.all);
        let mut queue = all.queue();
        queue.advance(now, |program, held, start| all.site.launch(program, held, start));
        for nth in self.programs.len()..queue.started().len() {
            self.join(&all.site, queue.started(), nth);
        }
        self.acting.clear();
        self.acting.extend_from_slice(queue.running());
        self.quiet_until = queue.next_look().unwrap_or(NOT_DUE);
    }

    /// Creates the sources of the started program with index `nth` on its nodes in this block. Removes ended programs from these nodes.
    fn join(&mut self, site: &OwnSite, all: &[Started], nth: usize) {
        let started = &all[nth];
        let ranks: HashMap<u32, u32> = started.held.places.iter().copied().zip(0..).collect();
        let (mut nodes, mut own_nodes) = (Vec::new(), Vec::new());
        for (own, place) in self.here.iter().enumerate() {
            if let Some(&rank) = ranks.get(&place.rank) {
                let terminal = site.terminals[place.rank as usize];
                let guests = &mut self.nodes[own].guests;
                guests.retain(|guest| !all[guest.program].has_left);
                guests.push(Guest { program: nth, mark: started.mark, node: nodes.len(), due: NOT_DUE });
                nodes.push(Place { terminal, rank });
                own_nodes.push(own);
            }
        }
        let mut sources = started.workload.sources(&nodes);
        // the first event of a program makes its sources due, so no source is due at the start
        (0..nodes.len()).for_each(|node| _ = sources.all_mut().start(node));
        self.next_act = self.next_act.min(sources.all().next_act());
        self.acting.push(self.programs.len());
        self.programs.push(sources);
        self.nodes_of.push(own_nodes);
        self.delivered.push(((0, 0), Arc::clone(&started.delivered)));
    }

    /// Calls `of` for a program on a node, and then updates the cycle in which the node is due.
    fn with<T>(
        &mut self,
        (source, program): (usize, usize),
        due: &mut u64,
        of: impl FnOnce(&mut dyn Sources, usize, &mut u64) -> T,
    ) -> Option<T> {
        let node = &mut self.nodes[source];
        let result = node.guest(program).map(|guest| {
            let sources = &mut self.programs[program];
            let result = of(sources.all_mut(), guest.node, &mut guest.due);
            self.next_act = self.next_act.min(sources.all().next_act());
            self.called = Some(program);
            result
        });
        *due = node.due();
        result
    }
}

impl Kept for Nodes {
    fn keep(&self, to: &mut Writer) {
        self.all.queue().state().keep(to);
        (self.programs.len() as u64).keep(to);
        self.programs.iter().for_each(|program| program.keep(to));
        self.delivered.iter().for_each(|(here, _)| here.keep(to));
        for node in &self.nodes {
            (node.last as u64).keep(to);
            node.guests.iter().map(|guest| (guest.program as u64, guest.due)).collect::<Vec<_>>().keep(to);
        }
    }

    fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), Unreadable> {
        let state: Vec<u64> = Value::read(from)?;
        let known: u64 = Value::read(from)?;
        let all = Arc::clone(&self.all);
        let mut queue = all.queue();
        let launch = |program: &_, held: &Held, start| all.site.launch(program, held, start);
        queue.restore(&state, launch).ok_or(Unreadable)?;
        let known = usize::try_from(known).ok().filter(|&known| known <= queue.started().len()).ok_or(Unreadable)?;
        for nth in self.programs.len()..known {
            self.join(&all.site, queue.started(), nth);
        }
        self.acting = queue.running().iter().copied().filter(|&program| program < known).collect();
        let has_all = self.programs.len() == queue.started().len();
        self.quiet_until = if has_all { queue.next_look().unwrap_or(NOT_DUE) } else { 0 };
        self.programs.iter_mut().try_for_each(|program| program.restore(from))?;
        for (here, of_all) in &mut self.delivered {
            *here = Value::read(from)?;
            of_all.add(*here);
        }
        for node in &mut self.nodes {
            let last: u64 = Value::read(from)?;
            let dues: Vec<(u64, u64)> = Value::read(from)?;
            node.last = last as usize;
            // a program whose nodes are free again is possibly missing here, because it sends no further packets
            for (program, due) in dues {
                node.guest(program as usize).into_iter().for_each(|guest| guest.due = due);
            }
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
        // a program that is due has possibly no packet after all; then this loop tries the next program
        for _ in 0..self.nodes[source].guests.len() {
            let Some(program) = self.nodes[source].turn(now) else { break };
            let packet = self.with((source, program), due, |program, node, due| program.next(node, due, now));
            if let Some(packet) = packet.flatten() {
                let node = &mut self.nodes[source];
                node.last = program;
                let mark = node.guest(program).map_or(0, |guest| guest.mark);
                return Some(NewPacket { tag: marked(packet.tag, mark), ..packet });
            }
        }
        *due = self.nodes[source].due();
        None
    }

    fn sent(&mut self, source: usize, due: &mut u64, now: u64) {
        let last = self.nodes[source].last;
        self.with((source, last), due, |program, node, due| program.sent(node, due, now));
    }

    fn delivered(&mut self, source: usize, packet: &Packet, due: &mut u64, now: u64) {
        self.look(now);
        let mark = mark_of(packet.tag);
        let Some(program) =
            self.nodes[source].guests.iter().find(|guest| guest.mark == mark).map(|guest| guest.program)
        else {
            return;
        };
        let (here, of_all) = &mut self.delivered[program];
        let more = (u64::from(packet.len), u64::from(packet.len) * u64::from(packet.links_crossed));
        *here = (here.0 + more.0, here.1 + more.1);
        of_all.add(more);
        self.with((source, program), due, |program, node, due| program.delivered(node, packet, due, now));
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

    fn acts(&self) -> u64 {
        self.acting.iter().map(|&program| self.programs[program].all().acts()).sum()
    }

    fn take_woken(&mut self) -> Option<(usize, u64)> {
        let called = self.called.as_slice();
        for &program in if called.is_empty() { &self.acting[..] } else { called } {
            while let Some((node, due)) = self.programs[program].all_mut().take_woken() {
                let own = self.nodes_of[program][node];
                let was_due = self.nodes[own].due();
                self.nodes[own].guest(program).into_iter().for_each(|guest| guest.due = due);
                // another program on this node can be due earlier
                if due < was_due {
                    return Some((own, due));
                }
            }
        }
        None
    }

    fn backlog(&self, source: usize, _due: u64, until: u64, window: (u64, u64)) -> Backlog {
        let mut sum = Backlog::default();
        for guest in &self.nodes[source].guests {
            let own = self.programs[guest.program].all().backlog(guest.node, guest.due, until, window);
            (sum.packets, sum.flits) = (sum.packets + own.packets, sum.flits + own.flits);
            sum.in_window += own.in_window;
        }
        sum
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

    /// Creates the nodes for two programs that run one after the other on the same two terminals. The first program ends in cycle 900, so
    /// the second one starts at the pass in cycle 1,200.
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
            cores: 1,
            order: Order::Fcfs,
            placement: Placement::Lowest,
            domains: Domains::default(),
            seed: 1,
        };
        let queue = Queue::new(scheduler.programs(&site).unwrap().programs, 2, rules);
        let all = All { site: OwnSite::of(&site, &scheduler), queue: Mutex::new(queue) };
        Nodes::new(Arc::new(all), &[0, 1].map(|number| Place { terminal: number, rank: number }))
    }

    /// In each cycle, deliveries come before the call of `act`. Therefore a delivery can be the first call that does the scheduling pass of
    /// its cycle.
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
