//! A second, simple executor of the LogGOPS model, which checks every operation in every step. Tests compare the results of this executor
//! with those of `weft_programs::loggops` on random programs.

use crate::support::{DEFAULTS, run};
use proptest::prelude::*;
use weft_programs::form::{Draft, Kind, Op, Program, RankProgram, When};
use weft_programs::loggops::{Failure, Parameters};

#[derive(Clone, Copy)]
enum What {
    Op(usize),
    Message { from: usize, op: usize },
}

#[derive(Clone, Copy)]
struct Event {
    time: i64,
    order: usize,
    rank: usize,
    what: What,
}

struct Rank {
    ops: Vec<Op>,
    waits: Vec<Vec<(usize, When)>>,
    queued: Vec<bool>,
    started: Vec<bool>,
    finished: Vec<bool>,
    posted: Vec<usize>,
    unexpected: Vec<(usize, usize)>,
    cpu: i64,
    sends: i64,
    receives: i64,
}

struct Naive {
    ranks: Vec<Rank>,
    events: Vec<Event>,
    created: usize,
    at: Parameters,
}

fn fits(receive: &Op, send: &Op, from: usize) -> bool {
    receive.peer().is_none_or(|peer| peer as usize == from) && receive.tag().is_none_or(|tag| Some(tag) == send.tag())
}

impl Naive {
    fn new(program: &Program, at: Parameters) -> Self {
        let rank = |of: &RankProgram| {
            let count = of.ops.len();
            let mut waits = vec![Vec::new(); count];
            for op in 0..count as u32 {
                for when in [When::Finish, When::Start] {
                    of.ops
                        .successors(op, when)
                        .iter()
                        .for_each(|&later| waits[later as usize].push((op as usize, when)));
                }
            }
            let none = || vec![false; count];
            Rank {
                ops: of.ops.ops().to_vec(),
                waits,
                queued: none(),
                started: none(),
                finished: none(),
                posted: Vec::new(),
                unexpected: Vec::new(),
                cpu: 0,
                sends: 0,
                receives: 0,
            }
        };
        Self { ranks: program.ranks.iter().map(rank).collect(), events: Vec::new(), created: 0, at }
    }

    /// Collects the operations of a rank that have become ready, in their order in the program.
    fn free(&mut self, rank: usize, found: &mut Vec<usize>) {
        let of = &mut self.ranks[rank];
        for op in 0..of.ops.len() {
            let is_free = of.waits[op].iter().all(|&(earlier, when)| match when {
                When::Finish => of.finished[earlier],
                When::Start => of.started[earlier],
            });
            if is_free && !of.queued[op] {
                of.queued[op] = true;
                found.push(op);
            }
        }
    }

    fn enqueue(&mut self, rank: usize, mut found: Vec<usize>) {
        let of = &self.ranks[rank];
        found.sort_by_key(|&op| match of.ops[op].kind() {
            Kind::Send => 1,
            Kind::Receive => 2,
            Kind::Compute | Kind::Collective(_) => 3,
        });
        for op in found {
            let of = &self.ranks[rank];
            let time = if of.ops[op].kind() == Kind::Send { of.cpu.max(of.sends) } else { of.cpu };
            self.add(time, rank, What::Op(op));
        }
    }

    fn add(&mut self, time: i64, rank: usize, what: What) {
        self.events.push(Event { time, order: self.created, rank, what });
        self.created += 1;
    }

    fn run(mut self) -> Option<Vec<i64>> {
        for rank in 0..self.ranks.len() {
            let mut found = Vec::new();
            self.free(rank, &mut found);
            self.enqueue(rank, found);
        }
        while let Some(first) = (0..self.events.len()).min_by_key(|&k| (self.events[k].time, self.events[k].order)) {
            let Event { time, rank, what, .. } = self.events[first];
            let of = &self.ranks[rank];
            let free = match what {
                What::Op(op) => match of.ops[op].kind() {
                    Kind::Send => of.cpu.max(of.sends),
                    Kind::Receive => 0,
                    Kind::Compute | Kind::Collective(_) => of.cpu,
                },
                What::Message { .. } => of.cpu.max(of.receives),
            };
            if free > time {
                self.events[first].time = free;
                continue;
            }
            self.events.remove(first);
            match what {
                What::Op(op) => self.start(time, rank, op),
                What::Message { from, op } => self.take_in(time, rank, from, op),
            }
        }
        let is_done = |rank: &Rank| rank.finished.iter().all(|&done| done) && rank.unexpected.is_empty();
        self.ranks.iter().all(is_done).then(|| self.ranks.iter().map(|rank| rank.cpu).collect())
    }

    fn bytes(op: &Op, per_byte: i64) -> i64 {
        (op.size() as i64 - 1) * per_byte
    }

    fn start(&mut self, time: i64, rank: usize, number: usize) {
        let (at, op) = (self.at, self.ranks[rank].ops[number]);
        let mut found = Vec::new();
        self.ranks[rank].started[number] = true;
        self.free(rank, &mut found);
        match op.kind() {
            Kind::Compute | Kind::Collective(_) => {
                self.ranks[rank].cpu = time + op.size() as i64;
                self.ranks[rank].finished[number] = true;
            }
            Kind::Send => {
                self.ranks[rank].cpu = time + at.overhead + Self::bytes(&op, at.overhead_per_byte);
                self.ranks[rank].sends = time + at.gap + Self::bytes(&op, at.gap_per_byte);
                let to = op.peer().unwrap() as usize;
                self.add(time + at.overhead + at.latency, to, What::Message { from: rank, op: number });
                self.ranks[rank].finished[number] = op.size() <= at.eager;
            }
            Kind::Receive => {
                let place = self.ranks[rank]
                    .unexpected
                    .iter()
                    .position(|&(from, sent)| fits(&op, &self.ranks[from].ops[sent], from));
                match place {
                    None => self.ranks[rank].posted.push(number),
                    Some(place) => {
                        let (from, sent) = self.ranks[rank].unexpected.remove(place);
                        return self.matched(time, rank, number, from, sent, found);
                    }
                }
            }
        }
        self.free(rank, &mut found);
        self.enqueue(rank, found);
    }

    fn take_in(&mut self, time: i64, rank: usize, from: usize, sent: usize) {
        let (at, op) = (self.at, self.ranks[from].ops[sent]);
        let of = &mut self.ranks[rank];
        of.cpu = time + at.overhead + Self::bytes(&op, at.overhead_per_byte.max(at.gap_per_byte));
        of.receives = time + at.gap + Self::bytes(&op, at.gap_per_byte);
        match of.posted.iter().position(|&receive| fits(&of.ops[receive], &op, from)) {
            None => of.unexpected.push((from, sent)),
            Some(place) => {
                let receive = of.posted.remove(place);
                self.matched(time, rank, receive, from, sent, Vec::new());
            }
        }
    }

    fn matched(&mut self, time: i64, rank: usize, receive: usize, from: usize, sent: usize, mut found: Vec<usize>) {
        let is_rendezvous = self.ranks[from].ops[sent].size() > self.at.eager;
        let mut of_sender = Vec::new();
        if is_rendezvous {
            let sender = &mut self.ranks[from];
            (sender.cpu, sender.sends) = (sender.cpu.max(time), sender.sends.max(time));
            sender.finished[sent] = true;
            self.free(from, if from == rank { &mut found } else { &mut of_sender });
        }
        self.ranks[rank].finished[receive] = true;
        self.free(rank, &mut found);
        let mut both = vec![(rank, found), (from, of_sender)];
        both.sort_by_key(|(rank, _)| *rank);
        both.into_iter().for_each(|(rank, found)| self.enqueue(rank, found));
    }
}

/// A random program: a list of messages and computations, each with the earlier operation that it waits for.
#[derive(Debug, Clone)]
struct Shape {
    ranks: u32,
    /// Kind, two ranks, size, tag. Kind 0 is a computation. Kind 1 is a message whose receive accepts any source. The receives of other
    /// kinds name the source.
    steps: Vec<(u8, u32, u32, usize, u32)>,
    /// For each operation: the distance to the earlier operation that it waits for, and whether it waits only for the start of that
    /// operation.
    waits: Vec<(usize, bool)>,
}

fn shape() -> impl Strategy<Value = Shape> {
    let step = (0..5u8, 0..6u32, 0..6u32, 0..5usize, 0..2u32);
    let waits = prop::collection::vec((0..6usize, any::<bool>()), 40);
    (2..6u32, prop::collection::vec(step, 1..40), waits).prop_map(|(ranks, steps, waits)| Shape { ranks, steps, waits })
}

fn program(shape: &Shape) -> Program {
    const SIZES: [u64; 5] = [1, 8, 1000, 65_535, 65_536];
    let mut drafts: Vec<Draft> = vec![Draft::default(); shape.ranks as usize];
    // messages with tag 0 have 1 or 65,535 bytes, and both sizes are eager; messages with tag 1 have 8 bytes (eager) or 65,536 bytes
    // (rendezvous)
    for &(kind, a, b, size, tag) in &shape.steps {
        let (a, b) = (a % shape.ranks, b % shape.ranks);
        let bytes = SIZES[(size / 3 * 3 + tag as usize) % 5];
        match kind {
            0 => _ = drafts[a as usize].add(Op::compute(size as u64 * 700)),
            _ => {
                drafts[a as usize].add(Op::send(b, bytes, Some(tag)));
                let from = (kind != 1).then_some(a);
                drafts[b as usize].add(Op::receive(from, bytes, Some(tag)));
            }
        }
    }
    let finish = |mut draft: Draft| {
        for later in 1..draft.len() {
            let (back, is_start) = shape.waits[later as usize % shape.waits.len()];
            if back > 0 && later >= back as u32 {
                draft.depend(later, later - back as u32, if is_start { When::Start } else { When::Finish });
            }
        }
        RankProgram::new(draft.finish().expect("edges lead forward"))
    };
    Program { ranks: drafts.into_iter().map(finish).collect() }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300 * crate::damage::rounds(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_programs_finish_when_an_obvious_executor_says(shape in shape()) {
        let program = program(&shape);
        for at in [DEFAULTS, Parameters { overhead_per_byte: 7, latency: 0, gap: 9000, ..DEFAULTS }] {
            let naive = Naive::new(&program, at).run();
            match run(&program, at) {
                Ok(answer) => prop_assert_eq!(Some(answer.finish), naive),
                Err(Failure::Stuck(_)) => prop_assert_eq!(None, naive),
                Err(Failure::Refused(refusal)) => prop_assert!(false, "{}", refusal),
            }
        }
    }
}
