//! Computes the finish time of a program on an ideal network, by the LogGOPS model.
//!
//! # Source
//! T. Hoefler, T. Schneider, A. Lumsdaine, "LogGOPSim: simulating large-scale applications in the LogGOPS model" (LSAP 2010). The
//! order of events and their costs are those of the authors' program LogGOPSim (`spcl/LogGOPSim`).
//!
//! # Parameters
//! `L`: latency of a message \[time\]. `o`: processor time per message \[time\]. `g`: interface time per message
//! \[time\]. `G`: interface time per byte after the first byte \[time per byte\]. `O`: processor time per byte after the
//! first byte \[time per byte\]. `S`: size of the largest message that a rank sends without waiting for the matching
//! receive \[bytes\].
//!
//! # Guarantees
//! Times are counted in the largest unit (ns, ps, fs) in which all parameters are whole numbers. Every finish time equals that of
//! LogGOPSim exactly, because events at the same time have the same order.
//!
//! A send occupies its processor for o + (size - 1) O and its interface for g + (size - 1) G. The first byte of a send arrives
//! o + L after the send began. The receiver processes a message when a processor and an interface of the receiver are free. The
//! number of this processor within its rank is the number of the sender's processor. The message then occupies this processor for
//! o + (size - 1) max(O, G) and the interface for g + (size - 1) G. A receive operation itself takes no time. It starts when the
//! operations on which it depends have started or finished. It finishes when its message has been processed. A message of more
//! than S bytes is a rendezvous: its send finishes at the time at which the receive matches the message. No latency is added for
//! the way back to the sender. The cost of a message of 0 bytes is (0 - 1) times the cost per byte, as in LogGOPSim.
//!
//! # Not modelled
//! Contention in the network. Noise of the operating system. Without [`Nodes`], the time of the request and reply of a rendezvous. As in
//! LogGOPSim, an operation can begin before the end of an operation on which it depends, if the two are on different processors of the
//! rank. The field [`Answer::cross_cpu`] counts the edges between such operations. The copy of LogGOPSim in ATLAHS has different rules. In
//! that copy, an operation waits for the end of each operation on which it depends. The copy counts G in the network, and g and o one
//! after the other at the receiver. If several messages fit, a receive gets the message whose send has the lowest number. A binary tree of
//! 32 ranks takes 41,500 ns in the copy and 27,500 ns here.
//!
//! # Validation
//! `programs/tests/programs/answers.rs` compares finish times with those of LogGOPSim, and
//! `programs/tests/programs/hand_worked.rs` compares them with times computed by hand.
//! `programs/tests/programs/naive.rs` compares random programs with a simple executor that checks every operation in
//! every step.

mod ahead;
mod event;
mod nodes;
mod parameters;
mod posts;
mod queue;
mod record;
mod release_order;
mod rendezvous;
mod slots;
mod stuck;
mod waiting;

pub use nodes::{NodeTimes, Nodes};
pub use parameters::Parameters;
pub use record::Record;
pub use stuck::Stuck;

use crate::collectives::Rules;
use crate::form::{Cursor, InMemory, Kind, Program};
use crate::rank::{Key, Machine, OpId, Ready};
use event::{About, Event};
use nodes::Stage;
use parameters::NS;
use posts::{Post, Posts};
use queue::Queue;
use slots::Slots;
use std::fmt;
use std::sync::Arc;
use waiting::{Needs, Waiting};
use weft_units::Refusal;

/// The result of a program that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Finish time of each rank \[units\]: the time after which its processors are no longer busy.
    pub finish: Vec<i64>,
    /// Computation time of the processors of each rank \[units\].
    pub compute: Vec<i64>,
    /// Number of messages.
    pub messages: u64,
    /// Sum of the sizes of the messages [bytes].
    pub bytes: u64,
    /// Number of messages of more than S bytes. With [`Nodes`], messages inside a node are not counted.
    pub rendezvous: u64,
    /// Number of executed operations, including the operations of collectives.
    pub operations: u64,
    /// Number of edges whose later operation began before the end of the earlier operation, because the two are on
    /// different processors.
    pub cross_cpu: u64,
}

impl Answer {
    /// Returns the finish time of the last rank \[units\], and the first rank that has this finish time.
    pub fn last(&self) -> (i64, usize) {
        let last = self.finish.iter().copied().max().unwrap_or(0);
        (last, self.finish.iter().position(|&finish| finish == last).unwrap_or(0))
    }
}

/// The reason why a program has no finish time.
#[derive(Debug, Clone, PartialEq)]
pub enum Failure {
    Refused(Refusal),
    Stuck(Stuck),
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Refused(refusal) => refusal.fmt(f),
            Self::Stuck(stuck) => stuck.fmt(f),
        }
    }
}

/// A message that was sent and was not yet received.
#[derive(Debug, Clone, Copy)]
struct Message {
    sender: OpId,
    size: u64,
    key: Key,
    from: u32,
    to: u32,
    cpu: u8,
    nic: u8,
    /// The next event of the message, in a model with [`Nodes`].
    stage: Stage,
    /// For a rendezvous between nodes: the matched receive. Before the match, this field has the number of the send.
    receive: OpId,
    /// Time at which the receiver's processor has handled the message, or its request.
    handled: i64,
}

struct Executor<C> {
    at: Parameters,
    /// Nodes whose interfaces work in parallel with processors; `None` for the model of LogGOPSim.
    nodes: Option<Nodes>,
    machines: Vec<Machine<C, u32>>,
    cpus: usize,
    nics: usize,
    /// The time from which each processor is free \[units\].
    cpu_free: Vec<i64>,
    /// The time from which each interface can send \[units\].
    send_free: Vec<i64>,
    /// The time from which each interface can receive \[units\].
    receive_free: Vec<i64>,
    queue: Queue,
    created: u64,
    waiting: Waiting,
    posts: Posts,
    /// True as long as no new event is earlier than an event that has already begun. With one processor per rank, this value
    /// usually stays true.
    in_time_order: bool,
    /// Operations that have an event in the queue.
    ops: Slots<Ready>,
    messages: Slots<Message>,
    answer: Answer,
    is_over: bool,
    record: Option<Record>,
}

/// Runs a program in memory.
pub fn run(program: &Program, rules: &Arc<Rules>, at: Parameters) -> Result<Answer, Failure> {
    rules.check(program)?;
    Executor::new(machines(program, rules)?, program.resources(), at).run().0
}

/// Runs a program in memory on nodes whose interfaces work in parallel with processors.
pub fn run_on(nodes: Nodes, program: &Program, rules: &Arc<Rules>, at: Parameters) -> Result<Answer, Failure> {
    rules.check(program)?;
    let mut executor = Executor::new(machines(program, rules)?, program.resources(), at);
    executor.nodes = Some(nodes);
    executor.send_free = vec![0; nodes.interfaces_of(program.len())];
    executor.receive_free = executor.send_free.clone();
    executor.run().0
}

/// Runs a program without collectives, and records the start times of its operations.
pub fn run_recorded(program: &Program, at: Parameters) -> Result<(Answer, Record), Failure> {
    let mut executor = Executor::new(machines(program, &Arc::default())?, program.resources(), at);
    executor.record = Some(Record::of(program));
    let (answer, record) = executor.run();
    Ok((answer?, record.unwrap_or_default()))
}

fn machines(program: &Program, rules: &Arc<Rules>) -> Result<Vec<Machine<InMemory, u32>>, Failure> {
    program.check()?;
    let machine = |(rank, of): (usize, &crate::form::RankProgram)| {
        Machine::new(of.cursor(), rank as u32, program.len(), of.comms.clone(), Arc::clone(rules))
    };
    Ok(program.ranks.iter().enumerate().map(machine).collect())
}

/// Runs ranks that are read through any kind of cursor. The pair in the arguments has the number of processors and of interfaces per rank.
pub fn run_machines<C: Cursor>(
    machines: Vec<Machine<C, u32>>,
    resources: (usize, usize),
    at: Parameters,
) -> Result<Answer, Failure> {
    Executor::new(machines, resources, at).run().0
}

impl<C: Cursor> Executor<C> {
    fn new(machines: Vec<Machine<C, u32>>, (cpus, nics): (usize, usize), at: Parameters) -> Self {
        let ranks = machines.len();
        let (finish, compute) = (vec![0; ranks], vec![0; ranks]);
        let answer = Answer { finish, compute, messages: 0, bytes: 0, rendezvous: 0, operations: 0, cross_cpu: 0 };
        Self {
            at,
            nodes: None,
            machines,
            cpus,
            nics,
            cpu_free: vec![0; ranks * cpus],
            send_free: vec![0; ranks * nics],
            receive_free: vec![0; ranks * nics],
            queue: Queue::new(),
            created: 0,
            waiting: Waiting::new(ranks, (cpus, nics)),
            posts: Posts::new(ranks),
            in_time_order: cpus == 1,
            ops: Slots::default(),
            messages: Slots::default(),
            answer,
            is_over: false,
            record: None,
        }
    }

    fn run(mut self) -> (Result<Answer, Failure>, Option<Record>) {
        self.begin();
        self.advance();
        let record = self.record.take();
        (self.end(), record)
    }
}

impl<C: Cursor> Executor<C> {
    fn begin(&mut self) {
        let mut ready = Vec::new();
        for rank in 0..self.machines.len() as u32 {
            self.machines[rank as usize].begin(&mut ready);
            self.enqueue(rank, &mut ready);
        }
    }

    fn cpu(&self, rank: u32, cpu: u8) -> usize {
        rank as usize * self.cpus + usize::from(cpu)
    }

    fn nic(&self, rank: u32, nic: u8) -> usize {
        rank as usize * self.nics + usize::from(nic)
    }

    /// Returns the time for the bytes of a message after the first byte \[units\]. For a message of 0 bytes, this time is negative.
    fn of_bytes(&mut self, size: u64, per_byte: i64) -> i64 {
        let cost = i64::try_from(size).ok().and_then(|size| (size - 1).checked_mul(per_byte));
        self.bounded(cost)
    }

    fn bounded(&mut self, time: Option<i64>) -> i64 {
        self.is_over |= time.is_none();
        time.unwrap_or(0)
    }

    fn later(&mut self, time: i64, by: i64) -> i64 {
        let sum = time.checked_add(by);
        self.bounded(sum)
    }

    /// Adds the operations of a rank that became ready together to the queue of events. The time of each event is the time at which
    /// its resources are free.
    fn enqueue(&mut self, rank: u32, ready: &mut Vec<Ready>) {
        if ready.len() > 1 {
            release_order::sort(ready, |ready| ready.op.kind());
        }
        for &Ready { id, op, context } in ready.iter() {
            let cpu_free = self.cpu_free[self.cpu(rank, op.cpu())];
            let time = match op.kind() {
                Kind::Send if self.nodes.is_none() => cpu_free.max(self.send_free[self.nic(rank, op.nic())]),
                Kind::Send | Kind::Receive | Kind::Compute | Kind::Collective(_) => cpu_free,
            };
            // the pattern above copies the fields one by one, in the sizes in which they were written. The processor would wait for a
            // wider read of a value that was just written
            let ready = Ready { id, op, context };
            let is_apart = self.in_time_order && ready.is_only_posted();
            if is_apart && !self.machines[rank as usize].has_unexpected() {
                self.posts.push(rank, Post { time, order: self.created, receive: ready });
                self.created += 1;
                continue;
            }
            let place = self.ops.keep(ready);
            self.push(time, rank, About::Op(place));
        }
        ready.clear();
    }

    fn push(&mut self, time: i64, rank: u32, about: About) {
        self.queue.push(Event::new(time, self.created, rank, about));
        self.created += 1;
    }

    fn advance(&mut self) {
        let mut ready = Vec::new();
        let (many, some) = (self.machines.len() >= ahead::MANY, self.machines.len() >= ahead::SOME);
        while let Some(event) = self.queue.pop() {
            if many {
                self.bring();
            }
            match event.about() {
                About::Op(place) => {
                    if some {
                        self.machines[event.rank() as usize].bring_later(self.ops.get(place).id);
                    }
                    self.try_op(event, place, &mut ready);
                }
                About::Message(place) => self.try_message(event, place, &mut ready),
            }
        }
    }

    /// Starts an operation, or lets it wait until its resources are free.
    #[inline]
    fn try_op(&mut self, event: Event, place: u32, out: &mut Vec<Ready>) {
        let op = *self.ops.get(place);
        let (needs, of) = (self.needs_of(op.op.kind()), (op.op.cpu(), op.op.nic()));
        if let Some(needs) = needs
            && self.free(needs, event.rank(), of) > event.time
        {
            return self.wait(event, needs, of);
        }
        self.ops.release(place);
        self.operate(&event, &op, out);
        if let Some(needs) = needs.filter(|_| event.has_waited()) {
            self.let_next(&event, needs, of);
        }
    }

    /// Processes a message that has arrived, or lets it wait until its resources are free.
    #[inline]
    fn try_message(&mut self, event: Event, place: u32, out: &mut Vec<Ready>) {
        let Message { cpu, nic, .. } = *self.messages.get(place);
        let needs = match self.nodes {
            None => Needs::Receiver,
            Some(nodes) => match self.progress(nodes, (event.time, event.rank()), place, out) {
                Some(needs) => needs,
                None => return,
            },
        };
        let of = (cpu, nic);
        if self.free(needs, event.rank(), of) > event.time {
            return self.wait(event, needs, of);
        }
        self.take_in(&event, place, out);
        if event.has_waited() {
            self.let_next(&event, needs, of);
        }
    }

    /// Called after an event that has waited has begun. Adds to the queue the next event that waits for the same
    /// resources.
    fn let_next(&mut self, event: &Event, needs: Needs, of: (u8, u8)) {
        if let Some(next) = self.waiting.next(event, needs, of) {
            // in LogGOPSim, the next event would have tried to begin at the time of `event`, but its resources were not free
            self.queue.push(next.at(event.time.max(self.free(needs, event.rank(), of))));
        }
    }

    /// Lets an event wait until its resources are free. The event waits in the queue, or is parked behind another event that
    /// waits for the same resources.
    fn wait(&mut self, event: Event, needs: Needs, of: (u8, u8)) {
        let event = event.waited();
        if !self.waiting.park(&event, needs, of) {
            self.queue.push(event.at(self.free(needs, event.rank(), of)));
        }
    }

    /// Returns the time at which the resources of a rank are free.
    fn free(&self, needs: Needs, rank: u32, (cpu, nic): (u8, u8)) -> i64 {
        let cpu = self.cpu_free[self.cpu(rank, cpu)];
        match needs {
            Needs::Cpu => cpu,
            Needs::Sender => cpu.max(self.send_free[self.nic(rank, nic)]),
            Needs::Receiver => cpu.max(self.receive_free[self.nic(rank, nic)]),
        }
    }

    /// Returns the resources that an operation needs to begin. A receive needs none: it is posted at once, and its message needs
    /// resources when the message arrives.
    fn needs_of(&self, kind: Kind) -> Option<Needs> {
        match kind {
            Kind::Compute => Some(Needs::Cpu),
            Kind::Send if self.nodes.is_some() => Some(Needs::Cpu),
            Kind::Send => Some(Needs::Sender),
            Kind::Receive | Kind::Collective(_) => None,
        }
    }
}

impl<C: Cursor> Executor<C> {
    /// Starts an operation whose resources are free.
    fn operate(&mut self, event: &Event, ready: &Ready, out: &mut Vec<Ready>) {
        let (time, rank) = (event.time, event.rank());
        self.answer.operations += 1;
        if let Some(record) = &mut self.record {
            record.start(rank, ready.id, time);
        }
        match ready.op.kind() {
            Kind::Compute => self.compute(time, rank, ready, out),
            Kind::Send => self.send(time, rank, ready, out),
            Kind::Receive => self.receive(event, ready, out),
            Kind::Collective(_) => unreachable!("the machine expands collectives"),
        }
    }

    fn compute(&mut self, time: i64, rank: u32, ready: &Ready, out: &mut Vec<Ready>) {
        let units = (NS / self.at.unit_fs) as i64;
        let duration = i64::try_from(ready.op.size()).ok().and_then(|ns| ns.checked_mul(units));
        let duration = self.bounded(duration);
        let end = self.later(time, duration);
        let cpu = self.cpu(rank, ready.op.cpu());
        self.cpu_free[cpu] = end;
        let sum = self.later(self.answer.compute[rank as usize], duration);
        self.answer.compute[rank as usize] = sum;
        let machine = &mut self.machines[rank as usize];
        machine.start(ready.id, out);
        self.finish(rank, ready.id, end, out);
        self.enqueue(rank, out);
    }

    fn send(&mut self, time: i64, rank: u32, ready: &Ready, out: &mut Vec<Ready>) {
        let Parameters { latency, overhead, gap, gap_per_byte, overhead_per_byte, eager, .. } = self.at;
        let (op, size) = (ready.op, ready.op.size());
        if size == 0 && overhead < gap_per_byte.max(overhead_per_byte) {
            self.leave_time_order();
        }
        let (of_cpu, of_nic) = (self.of_bytes(size, overhead_per_byte), self.of_bytes(size, gap_per_byte));
        let (cpu, nic) = (self.cpu(rank, op.cpu()), self.nic(rank, op.nic()));
        let end = self.later(time, overhead + of_cpu);
        self.cpu_free[cpu] = end;
        self.machines[rank as usize].start(ready.id, out);

        let to = op.peer().expect("a send names its receiver");
        let (arrival, stage) = match self.nodes {
            Some(nodes) => self.leave(nodes, (rank, to), end, size),
            None => {
                self.send_free[nic] = self.later(time, gap + of_nic);
                (self.later(time, overhead + latency), Stage::FirstByte)
            }
        };
        let key = ready.message_key(rank);
        let (sender, cpu, nic) = (ready.id, op.cpu(), op.nic());
        let message = Message { sender, size, key, from: rank, to, cpu, nic, stage, receive: sender, handled: 0 };
        let place = self.messages.keep(message);
        self.push(arrival, to, About::Message(place));
        self.answer.messages += 1;
        self.answer.bytes = self.answer.bytes.saturating_add(size);
        if size <= eager || stage == Stage::Whole {
            self.finish(rank, ready.id, end, out);
        } else {
            self.answer.rendezvous += 1;
        }
        self.enqueue(rank, out);
    }

    fn receive(&mut self, event: &Event, ready: &Ready, out: &mut Vec<Ready>) {
        let (time, rank) = (event.time, event.rank());
        self.post_before(event);
        self.machines[rank as usize].start(ready.id, out);
        match self.machines[rank as usize].post(ready) {
            Some(message) => {
                self.matched((time, time), (rank, ready.id), (ready.op.cpu(), ready.op.nic()), message, out);
            }
            None => self.enqueue(rank, out),
        }
    }

    /// Processes a message that has arrived at a rank whose processor and interface are free.
    fn take_in(&mut self, event: &Event, place: u32, out: &mut Vec<Ready>) {
        let (time, rank) = (event.time, event.rank());
        let Parameters { overhead, gap, gap_per_byte, overhead_per_byte, .. } = self.at;
        let message = *self.messages.get(place);
        let (of_cpu, of_nic) =
            (self.of_bytes(message.size, overhead_per_byte), self.of_bytes(message.size, gap_per_byte));
        let (cpu, nic) = (self.cpu(rank, message.cpu), self.nic(rank, message.nic));
        let end = if self.nodes.is_some() {
            let end = self.later(time, overhead + of_cpu);
            self.messages.get_mut(place).handled = end;
            end
        } else {
            self.receive_free[nic] = self.later(time, gap + of_nic);
            self.later(time, overhead + larger(message.size, of_cpu, of_nic))
        };
        self.cpu_free[cpu] = end;
        self.post_before(event);
        match self.machines[rank as usize].arrive(message.key, place) {
            Some(receive) => self.matched((time, end), (rank, receive), (message.cpu, message.nic), place, out),
            None => self.make_events(rank),
        }
    }

    /// Called when a receive has its message. The receive finishes at `end`, and the send of a rendezvous finishes as well. The
    /// resources `(cpu, nic)` of the sender then stay busy at least until `time`. As in LogGOPSim, `cpu` and `nic` are the numbers
    /// of whichever came later, the message or the receive. With [`Nodes`], a rendezvous between nodes continues with a reply.
    fn matched(
        &mut self,
        (time, end): (i64, i64),
        (rank, receive): (u32, OpId),
        (cpu, nic): (u8, u8),
        place: u32,
        out: &mut Vec<Ready>,
    ) {
        let message = *self.messages.get(place);
        if let Some(nodes) = self.nodes.filter(|_| message.stage == Stage::Request) {
            self.reply(nodes, end, receive, place);
            return self.enqueue(rank, out);
        }
        self.messages.release(place);
        let sender = message.from;
        if let Some(record) = &mut self.record {
            record.pair([(sender, message.sender), (rank, receive)]);
        }
        if message.size > self.at.eager && self.nodes.is_none() {
            let (cpu, nic) = (self.cpu(sender, cpu), self.nic(sender, nic));
            self.cpu_free[cpu] = self.cpu_free[cpu].max(time);
            self.send_free[nic] = self.send_free[nic].max(time);
            if sender == rank {
                self.finish(sender, message.sender, time, out);
            } else {
                let mut of_sender = Vec::new();
                self.finish(sender, message.sender, time, &mut of_sender);
                if sender < rank {
                    self.enqueue(sender, &mut of_sender);
                }
                self.finish(rank, receive, end, out);
                self.enqueue(rank, out);
                return self.enqueue(sender, &mut of_sender);
            }
        }
        self.finish(rank, receive, end, out);
        self.enqueue(rank, out);
    }

    /// Called when an operation ends at `end`. Releases the operations that wait for it. Counts the released operations that can begin
    /// before `end`, because they are on another processor.
    fn finish(&mut self, rank: u32, id: OpId, end: i64, out: &mut Vec<Ready>) {
        let released = out.len();
        self.machines[rank as usize].finish(id, out);
        for ready in &out[released..] {
            let cpu = self.cpu(rank, ready.op.cpu());
            self.answer.cross_cpu += u64::from(self.cpu_free[cpu] < end);
        }
    }

    /// Returns the answer, if every operation has finished and every message was received.
    fn end(mut self) -> Result<Answer, Failure> {
        if let Some(refusal) = self.machines.iter().find_map(|machine| machine.cursor().failure()) {
            return Err(Failure::Refused(refusal));
        }
        if self.is_over {
            let most = self.at.ns(i64::MAX) / 1e9;
            let what =
                format!("the program takes longer than {most:.0} s, the longest time that is counted in this unit");
            let help = "write parameters that are whole nanoseconds, which count longest, or shorten computations";
            return Err(Failure::Refused(Refusal::new("the program", what, help)));
        }
        for (rank, machine) in (0..).zip(&mut self.machines) {
            self.posts.take(rank).iter().for_each(|post| _ = machine.post(&post.receive));
        }
        if let Some(stuck) = Stuck::of(&self.machines, |message: u32| self.messages.get(message).size) {
            return Err(Failure::Stuck(stuck));
        }
        let finish = self.cpu_free.chunks(self.cpus.max(1)).map(|cpus| cpus.iter().copied().max().unwrap_or(0));
        self.answer.finish = finish.collect();
        Ok(self.answer)
    }
}

/// Returns the larger of the two costs of a message's bytes, at the processor and at the interface. LogGOPSim compares the two
/// costs as unsigned numbers. For a message of 0 bytes both costs are negative. As unsigned numbers, negative costs are larger
/// than 0, and the cost nearer to 0 is the larger of two.
fn larger(size: u64, of_cpu: i64, of_nic: i64) -> i64 {
    if size > 0 { of_cpu.max(of_nic) } else { (of_cpu as u64).max(of_nic as u64) as i64 }
}
