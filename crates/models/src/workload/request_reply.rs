//! Every packet is a request, and its destination sends a reply.
//!
//! # Source
//! W. J. Dally, B. Towles, "Principles and Practices of Interconnection Networks", Morgan Kaufmann 2004, section 23.1: closed-loop
//! measurement with a limit on outstanding requests. An example of such a limit is the number of registers of a processor for outstanding
//! cache misses.
//! # Parameters
//! `packet`: length of a reply \[flits\]. `turnaround`: time from the delivery of a request until its reply may be sent \[time\], less than
//! `measure.drain_limit`. `outstanding`: largest number of requests of a terminal that have no reply yet \[count\]. `reply_class`: the
//! message class of replies \[name\]. `finite_buffers`: whether a request occupies its space in the destination's buffer until its reply
//! has left \[yes or no\].
//! # Guarantees
//! Every request has one reply. The workload creates the reply when the tail of the request is delivered, so `turnaround` is a part of the
//! reply's latency. A reply does not count as queued or as backlog during its turnaround. Replies leave a terminal in the order of their
//! creation. Replies whose turnaround has ended have priority over the requests of the same terminal. A terminal never has more than
//! `outstanding` requests without a reply. When it has this number, it creates no more requests until a reply is delivered. A reply counts
//! in the measured window if its request counts. A request that is discarded because of a fault has no reply. After such a loss, terminals
//! can continue only if `outstanding` is not set. By default a terminal accepts every request at once, so requests and replies need no
//! separate VC classes. With `finite_buffers` a request occupies its space in the buffer of its destination terminal until the tail of its
//! reply has left. Replies then need VCs and queues that requests cannot block, and the engine refuses scenarios without them.
//! # Not modelled
//! Turnarounds that differ between requests. A limit on the replies that wait at a terminal, other than its buffer. Requests to which
//! several terminals reply.
//! # Validation
//! `engine/tests/workload.rs` checks that round trips without contention are exact to the cycle, and that there is one reply for each
//! request at any load. It also checks that a terminal never has more outstanding requests than allowed. `conformance/src/workload.rs`
//! checks that no packet is lost, and that the number of blocks has no effect on results. `engine/tests/classes.rs` checks that, with
//! finite buffers, a network stalls if requests and replies share VCs, and does not stall if they have separate VCs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use weft_api::base::kept::{Kept, Value};
use weft_api::clocks::{Clock, Clocks};
use weft_api::state::{MEASURED, NONE, Packet, Pool};
use weft_api::workload::{
    Amount, Awaits, Backlog, Counts, JobSite, JobSources, NOT_DUE, NewPacket, Place, Sources, Workload, WorkloadModel,
};
use weft_units::{Cycles, Flits, Refusal, Time};

/// Tag of packets that are requests. The tag of a reply is 1 + the number of cycles from the creation of its request to
/// the creation of the reply.
const REQUEST: u32 = 0;

/// Every packet is a request: its destination sends a reply to its source. Replies have priority over requests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequestReply {
    /// Length of a reply [flits], 1 to 65535.
    #[serde(default = "one_flit")]
    pub packet: Flits,
    /// Time from the delivery of a request until its reply may leave [time]. This time is a part of the reply's latency.
    #[serde(default = "at_once", skip_serializing_if = "is_at_once")]
    pub turnaround: Time,
    /// Largest number of requests of a terminal that have no reply yet. A terminal with this number of requests creates no further ones.
    /// Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub outstanding: Option<u32>,
    /// Message class of the replies: a name under `classes`. Default: the class of the requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_class: Option<String>,
    /// Whether a request occupies its space in the buffer of its destination terminal (`links.terminal.buffer` flits for each VC) until its
    /// reply has left. Default: false. A terminal then accepts any number of requests.
    #[serde(default, skip_serializing_if = "is_false")]
    pub finite_buffers: bool,
}

fn is_false(value: &bool) -> bool {
    !value
}

fn one_flit() -> Flits {
    Flits(1)
}

fn at_once() -> Time {
    Time::Cycles(0)
}

fn is_at_once(turnaround: &Time) -> bool {
    *turnaround == at_once()
}

impl Default for RequestReply {
    fn default() -> Self {
        let (packet, turnaround) = (one_flit(), at_once());
        Self { packet, turnaround, outstanding: None, reply_class: None, finite_buffers: false }
    }
}

impl WorkloadModel for RequestReply {
    fn awaits(&self) -> Option<Awaits> {
        Some(Awaits { what: "replies", remedy: "leave `reply` and `workload` out" })
    }

    /// Returns `None` if `outstanding` is not set, because a terminal then continues after the loss of a request or a reply.
    fn halts_at_losses(&self) -> Option<Awaits> {
        self.outstanding.map(|_| Awaits { what: "replies", remedy: "leave `outstanding` out" })
    }

    fn follows_network(&self) -> bool {
        self.outstanding.is_some()
    }

    fn lengths(&self, packet_flits: u32) -> Vec<u32> {
        vec![packet_flits, self.packet.0]
    }

    fn reply_flits(&self) -> Option<u32> {
        Some(self.packet.0)
    }

    fn reply_class(&self) -> Option<&str> {
        self.reply_class.as_deref()
    }

    fn keeps_requests(&self) -> bool {
        self.finite_buffers
    }

    fn turnaround(&self, cycle_fs: u128, path: &str) -> Result<Cycles, Refusal> {
        self.turnaround.cycles(cycle_fs, &format!("{path}.turnaround"))
    }

    fn check(&self, site: &JobSite) -> Result<(), Refusal> {
        site.check_length("workload.request_reply.packet", self.packet.0)?;
        if self.outstanding == Some(0) {
            let what = "with a limit of 0 requests, none is ever sent".into();
            return Err(site.refusal("workload.request_reply.outstanding", what, "write 1 or more"));
        }
        Clocks::check(site)
    }

    fn build(&self, site: &JobSite) -> Result<Arc<dyn Workload>, Refusal> {
        let clocks = Arc::new(Clocks::new(site, self.outstanding.is_some())?);
        let path = format!("{}.workload.request_reply.turnaround", site.path);
        let turnaround = self.turnaround.cycles(site.cycle_fs, &path)?;
        Ok(Arc::new(Runtime {
            clocks,
            reply_flits: self.packet.0 as u16,
            turnaround,
            limit: self.outstanding,
            parts: 1 + usize::from(site.apart),
            keeps: self.finite_buffers,
        }))
    }

    fn examples() -> Vec<Self> {
        vec![
            Self { packet: Flits(3), outstanding: Some(2), ..Self::default() },
            Self::default(),
            Self { packet: Flits(2), turnaround: Time::Cycles(7), ..Self::default() },
        ]
    }
}

#[derive(Debug)]
struct Runtime {
    clocks: Arc<Clocks>,
    reply_flits: u16,
    turnaround: Cycles,
    limit: Option<u32>,
    /// Number of parts of each source: 2 if replies have a separate message class, otherwise 1.
    parts: usize,
    /// True if requests occupy the buffer of their terminal until their reply leaves.
    keeps: bool,
}

/// The part of a source that sends replies, if they have a separate message class.
const REPLIES: usize = 1;

impl Workload for Runtime {
    fn sources(&self, here: &[Place]) -> JobSources {
        let terminals = here.iter().map(|&place| Terminal::new(self.clocks.clock(place))).collect();
        JobSources::Asked(Box::new(Terminals {
            clocks: self.clocks.clone(),
            reply_flits: self.reply_flits,
            turnaround: self.turnaround,
            limit: self.limit.unwrap_or(u32::MAX),
            parts: self.parts,
            terminals,
            replies: Pool::with_capacity(64 * here.len()),
        }))
    }

    fn part_for(&self, packet: &Packet) -> usize {
        // a delivered request makes a reply due (the last part of the source), and a delivered reply can permit the next request (part 0)
        if packet.tag == REQUEST { self.parts - 1 } else { 0 }
    }

    fn keeps(&self, packet: &Packet) -> bool {
        self.keeps && packet.tag == REQUEST
    }

    fn frees(&self, packet: &Packet) -> bool {
        self.keeps && packet.tag != REQUEST
    }

    fn in_all(&self, own: Amount) -> Amount {
        Amount { packets: 2 * own.packets, flits: own.flits + own.packets * u64::from(self.reply_flits) }
    }

    fn unborn(&self, lost: &Packet) -> Amount {
        match lost.tag {
            REQUEST => Amount { packets: 1, flits: self.reply_flits.into() },
            _ => Amount::default(),
        }
    }

    fn total(&self) -> Option<u64> {
        self.clocks.total().map(|requests| 2 * requests)
    }

    fn is_steady(&self) -> bool {
        self.clocks.is_steady() && self.limit.is_none()
    }

    fn dispersion(&self, start: Cycles) -> Option<f64> {
        self.clocks.dispersion(start)
    }

    fn kept_back(&self, packet: &Packet) -> Cycles {
        if packet.tag == REQUEST { 0 } else { self.turnaround }
    }

    fn latencies(&self) -> &'static [&'static str] {
        &["request_latency", "reply_latency", "round_trip"]
    }

    fn latencies_of(&self, packet: &Packet, latency: u64, count: &mut dyn FnMut(usize, u64)) {
        if packet.tag == REQUEST {
            count(0, latency);
        } else {
            count(1, latency);
            count(2, latency + u64::from(packet.tag - 1));
        }
    }
}

/// A reply that waits to be sent.
#[derive(Debug, Clone, Copy, Default, Value)]
struct Reply {
    to: u32,
    tag: u32,
    created: u64,
    measured: bool,
    /// The next reply in the list.
    next: u32,
}

/// A terminal that sends requests and replies.
#[derive(Debug, Kept)]
struct Terminal {
    clock: Clock,
    /// Creation time of the terminal's next request; [`NOT_DUE`] while the terminal must wait for a reply.
    next_request: u64,
    /// Number of requests that have no reply yet.
    outstanding: u32,
    /// True if the terminal must wait for a reply before it creates another request.
    halted: bool,
    /// True if the packet that the terminal injects at present is a request.
    sends_request: bool,
    /// Index in the pool of the first reply that waits to be sent; [`NONE`] if no reply waits.
    first: u32,
    /// Index in the pool of the last reply that waits to be sent.
    last: u32,
    /// Number of replies that wait to be sent.
    waiting: u32,
}

impl Terminal {
    fn new(clock: Clock) -> Self {
        Self {
            clock,
            next_request: NOT_DUE,
            outstanding: 0,
            halted: false,
            sends_request: false,
            first: NONE,
            last: NONE,
            waiting: 0,
        }
    }

    /// Returns the cycle from which the terminal's first waiting reply may leave; [`NOT_DUE`] if no reply waits.
    fn reply_due(&self, replies: &Pool<Reply>, turnaround: Cycles) -> u64 {
        if self.first == NONE { NOT_DUE } else { replies.items[self.first as usize].created + turnaround }
    }
}

#[derive(Debug, Kept)]
struct Terminals {
    #[kept(fixed)]
    clocks: Arc<Clocks>,
    #[kept(fixed)]
    reply_flits: u16,
    /// Number of cycles from the creation of a reply until it may leave.
    #[kept(fixed)]
    turnaround: Cycles,
    /// Largest number of requests of a terminal that have no reply yet.
    #[kept(fixed)]
    limit: u32,
    /// Number of parts of a source.
    #[kept(fixed)]
    parts: usize,
    #[kept(each)]
    terminals: Vec<Terminal>,
    /// The replies of all terminals that wait to be sent. The pool reserves space for 64 replies of each terminal. The pool
    /// grows if terminals receive requests faster than they send replies.
    replies: Pool<Reply>,
}

impl Terminals {
    /// Returns the terminal of a source, true if the source sends requests, and true if it sends replies.
    fn part(&self, source: usize) -> (usize, bool, bool) {
        let part = source % self.parts;
        (source / self.parts, part != REPLIES, self.parts == 1 || part == REPLIES)
    }

    /// Returns the cycle in which `source` has a packet to send: its next request, or a reply that may leave.
    fn due(&self, source: usize) -> u64 {
        let (t, requests, replies) = self.part(source);
        let terminal = &self.terminals[t];
        let request = if requests { terminal.next_request } else { NOT_DUE };
        if replies { request.min(terminal.reply_due(&self.replies, self.turnaround)) } else { request }
    }

    /// Removes and returns the reply that terminal `t` must send first in cycle `now`, if a reply may leave.
    fn take_reply(&mut self, t: usize, now: u64) -> Option<NewPacket> {
        let terminal = &mut self.terminals[t];
        let id = terminal.first;
        if id == NONE {
            return None;
        }
        let reply = self.replies.items[id as usize];
        if reply.created + self.turnaround > now {
            return None;
        }
        self.replies.remove(id);
        terminal.first = reply.next;
        terminal.waiting -= 1;
        let counts = Counts::AsItsCause { measured: reply.measured };
        let Reply { to, tag, created, .. } = reply;
        Some(NewPacket { to, flits: self.reply_flits, created, tag, counts })
    }

    /// Returns the number of waiting replies of a terminal that may leave before cycle `until`, and the number of its
    /// other waiting replies.
    fn split(&self, terminal: &Terminal, until: u64) -> (u32, u32) {
        let (mut id, mut free) = (terminal.first, 0);
        while id != NONE {
            let reply = self.replies.items[id as usize];
            if reply.created + self.turnaround >= until {
                break;
            }
            (id, free) = (reply.next, free + 1);
        }
        (free, terminal.waiting - free)
    }

    /// Called when `request` has reached terminal `t`. Adds the reply to the list of replies that wait at this
    /// terminal.
    fn add_reply(&mut self, t: usize, request: &Packet, now: u64) {
        let age = (now - request.created).min(u64::from(u32::MAX - 1)) as u32;
        let measured = request.flags & MEASURED != 0;
        let id = self.replies.add(Reply { to: request.src, tag: 1 + age, created: now, measured, next: NONE });
        let terminal = &mut self.terminals[t];
        if terminal.first == NONE {
            terminal.first = id;
        } else {
            self.replies.items[terminal.last as usize].next = id;
        }
        terminal.last = id;
        terminal.waiting += 1;
    }
}

impl Sources for Terminals {
    fn start(&mut self, source: usize) -> u64 {
        let (t, requests, _) = self.part(source);
        if requests {
            let terminal = &mut self.terminals[t];
            terminal.next_request = self.clocks.start(&mut terminal.clock);
        }
        self.due(source)
    }

    fn next(&mut self, source: usize, due: &mut u64, now: u64) -> Option<NewPacket> {
        let (t, requests, replies) = self.part(source);
        if replies && let Some(reply) = self.take_reply(t, now) {
            return Some(reply);
        }
        if !requests {
            *due = self.due(source);
            return None;
        }
        let terminal = &mut self.terminals[t];
        let created = terminal.next_request;
        let packet = (created <= now).then(|| self.clocks.packet(&mut terminal.clock, created)).flatten();
        if packet.is_some() {
            terminal.outstanding += 1;
            terminal.sends_request = true;
        } else if created <= now {
            // the traffic pattern sends no packet at this time
            terminal.next_request = self.clocks.after(&mut terminal.clock, created, terminal.outstanding >= self.limit);
        }
        *due = self.due(source);
        packet
    }

    fn sent(&mut self, source: usize, due: &mut u64, _now: u64) {
        let (t, requests, _) = self.part(source);
        let terminal = &mut self.terminals[t];
        if requests && std::mem::take(&mut terminal.sends_request) {
            terminal.halted = terminal.outstanding >= self.limit;
            terminal.next_request = self.clocks.after(&mut terminal.clock, terminal.next_request, terminal.halted);
        }
        *due = self.due(source);
    }

    fn delivered(&mut self, source: usize, packet: &Packet, due: &mut u64, now: u64) {
        let (t, ..) = self.part(source);
        if packet.tag == REQUEST {
            self.add_reply(t, packet, now);
        }
        let terminal = &mut self.terminals[t];
        if packet.tag != REQUEST {
            terminal.outstanding -= 1;
            if std::mem::take(&mut terminal.halted) {
                let halts = terminal.outstanding >= self.limit;
                terminal.next_request = self.clocks.after(&mut terminal.clock, now, halts);
            }
        }
        *due = self.due(source);
    }

    fn backlog(&self, source: usize, _due: u64, until: u64, window: (u64, u64)) -> Backlog {
        let (t, sends_requests, sends_replies) = self.part(source);
        let terminal = &self.terminals[t];
        let replies = if sends_replies { self.split(terminal, until).0 } else { 0 };
        if !sends_requests {
            return Backlog {
                packets: replies.into(),
                flits: u64::from(replies) * u64::from(self.reply_flits),
                ..Backlog::default()
            };
        }
        let (mut clock, mut next, mut outstanding) =
            (terminal.clock.clone(), terminal.next_request, terminal.outstanding);
        if terminal.sends_request {
            // the creation time of the next request is only computed when the tail of this request leaves
            next = self.clocks.after(&mut clock, next, outstanding >= self.limit);
        }
        let one_more_halts = || {
            outstanding += 1;
            outstanding >= self.limit
        };
        let requests = self.clocks.backlog(clock, next, until, window, one_more_halts);
        let (packets, flits) =
            (requests.packets + u64::from(replies), requests.flits + u64::from(replies) * u64::from(self.reply_flits));
        Backlog { packets, flits, ..requests }
    }

    fn kept_back(&self, source: usize, now: u64) -> u64 {
        let (t, _, replies) = self.part(source);
        if replies { u64::from(self.split(&self.terminals[t], now).1) * u64::from(self.reply_flits) } else { 0 }
    }

    /// Relies on this: while a terminal injects a request, `next_request` is still the creation time of this request.
    fn finished(&self, source: usize, _due: u64, _in_hand: Option<&Packet>, until: u64) -> bool {
        let (t, requests, _) = self.part(source);
        !requests || self.terminals[t].next_request >= until
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_api::workload::LoadPhase;
    use weft_traffic::{InjectionConfig, Lengths, PatternConfig, Population};

    /// Simulates a terminal at full load with a limit on outstanding requests. Its requests get their replies after varying delays, and it
    /// also receives requests. Returns the number of requests that it sent.
    fn play(limit: u32) -> u32 {
        let uniform: PatternConfig = serde_json::from_str(r#"{"uniform": {}}"#).unwrap();
        let pattern = uniform.build(&Population::of(2), "pattern").unwrap();
        let phases = [LoadPhase { from: 0, pattern: pattern.into(), load: vec![1.0; 2] }];
        let site = JobSite {
            path: "traffic".into(),
            job: "all",
            terminals: &[0, 1],
            phases: &phases,
            packets: &Lengths::one(1),
            injection: &InjectionConfig::default(),
            batch: None,
            apart: false,
            planes: 1,
            near: weft_api::workload::Near::UNKNOWN,
            cycle_fs: 1_000_000,
            flit_bits: 48,
            seed: 1,
            wanted: weft_api::activity::Wanted::default(),
        };
        let model = RequestReply { packet: Flits(2), outstanding: Some(limit), ..RequestReply::default() };
        let mut sources = model.build(&site).unwrap().sources(&[Place { terminal: 0, rank: 0 }]);
        let terminal = sources.all_mut();
        let (mut due, mut under_way, mut sent, mut answers) = (terminal.start(0), Vec::new(), 0, 0);
        for now in 0..1000u64 {
            if now % 7 == 0 {
                let request = Packet { src: 1, dst: 0, created: now.saturating_sub(3), ..Packet::default() };
                terminal.delivered(0, &request, &mut due, now);
            }
            if let Some(k) = under_way.iter().position(|&at| at + 5 + at % 11 <= now) {
                let created = under_way.swap_remove(k);
                let reply =
                    Packet { src: 1, dst: 0, created: now, tag: 1 + (now - created) as u32, ..Packet::default() };
                terminal.delivered(0, &reply, &mut due, now);
            }
            if due > now {
                continue;
            }
            let Some(packet) = terminal.next(0, &mut due, now) else { continue };
            if packet.tag == REQUEST {
                under_way.push(now);
                sent += 1;
            } else {
                answers += 1;
                assert_eq!((packet.to, packet.flits, packet.created), (1, 2, now - now % 7), "replies go first");
            }
            assert!(under_way.len() <= limit as usize, "cycle {now}");
            terminal.sent(0, &mut due, now);
        }
        assert_eq!(answers, 1000u32.div_ceil(7));
        sent
    }

    #[test]
    fn a_terminal_waits_when_as_many_requests_as_allowed_have_no_reply() {
        let sent = [1, 2, 4, 1000].map(play);
        assert!(sent.is_sorted() && sent[0] < sent[1] && sent[1] < sent[2], "{sent:?}");
    }
}
