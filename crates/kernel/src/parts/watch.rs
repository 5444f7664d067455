//! Records of the events of the packets that the user watches.

use crate::spy::Weighed;
use serde::Serialize;
use weft_api::routing::Hop;
use weft_api::spec::Watched;
use weft_api::state::Packet;

/// Number of stored choices of a head that chooses again in every step: the first 63 choices and the last one.
pub const CHOICES: usize = 64;

weft_units::words! {
    /// Reasons why a head did not cross the switch.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Reason {
        /// The power policy has closed the link: the link is off, switching, or about to switch off.
        LinkAsleep = "link_asleep",
        /// The link has failed.
        LinkBroken = "link_broken",
        /// Other packets hold all VCs that the head may take.
        VcHeld = "vc_held",
        /// The output is reserved for another packet until the tail of that packet has left (`hold_switch`).
        OutputHeld = "output_held",
        /// The number of flits that wait for the link has reached its limit, because the link is slower than the switch.
        LinkFull = "link_full",
        /// The buffer at the other end of the link has no space.
        NoCredit = "no_credit",
        /// Another head was granted the VC.
        LostVc = "lost_vc",
        /// The allocator granted the output to another input, or granted the switch to another VC of the same input.
        LostSwitch = "lost_switch",
    }
}

impl Serialize for Reason {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// A time span in which the head waits for output `port`. The span excludes `to_cycle`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Wait {
    pub reason: Reason,
    pub port: u32,
    pub from_cycle: u64,
    pub to_cycle: u64,
}

/// The routing's choice of a hop, with the candidates that it compared.
#[derive(Debug, Clone)]
pub struct Decision {
    /// The cycle of the choice. A choice that does not depend on queues is made before the packet arrives at the router.
    pub cycle: u64,
    pub rule: &'static str,
    pub candidates: Vec<(Hop, Option<Weighed>)>,
    pub chosen: Hop,
    /// Coordinates of the intermediate to which the packet travels next, if any.
    pub via: Option<u64>,
}

/// The record of a watched packet at its source terminal.
#[derive(Debug, Clone)]
pub struct Birth {
    pub packet: Packet,
    /// The cycle in which the packet reached the head of the source queue.
    pub first: u64,
    pub injected: Option<u64>,
    /// The cycle in which the whole head flit is on the terminal's link, if that link has a limited rate; otherwise the injection cycle.
    pub left: Option<u64>,
    pub vc: u8,
    pub tail_injected: Option<u64>,
    /// The decision about the hop from the first router, if the decision does not depend on queues.
    pub ahead: Option<Decision>,
    pub terminal: usize,
    pub id: u32,
    /// Index of the packet in a queue of the terminal, if terminals have queues.
    pub entry: Option<u32>,
}

/// The stay of a watched packet in a router, from the cycle in which the packet became the first of its VC.
#[derive(Debug, Clone)]
pub struct Stay {
    pub name: (u32, u32),
    pub hop: u32,
    pub router: u32,
    pub front: u64,
    pub decisions: Vec<Decision>,
    /// Number of choices that were not stored, because there were more than [`CHOICES`].
    pub dropped: u32,
    pub waits: Vec<Wait>,
    /// True if the wait in the last item of `waits` has not ended.
    pub waiting: bool,
    pub vc_taken: Option<u64>,
    /// Output port and VC.
    pub output: Option<(u16, u8)>,
    /// The cycle in which the head crosses the switch, and its first cycle on the link.
    pub head: Option<(u64, u64)>,
    /// First cycle in which the head would be on the link if no other flits waited for the link.
    pub head_if_free: u64,
    pub tail: Option<(u64, u64)>,
    /// The decision about the hop from the next router, if the decision does not depend on queues.
    pub ahead: Option<Decision>,
}

/// A watched packet that is first in VC `v` of input `i`.
#[derive(Debug)]
pub struct Live {
    pub i: usize,
    pub v: usize,
    pub stay: usize,
    pub sends: bool,
}

/// The records of a block about watched packets.
#[derive(Debug, Default)]
pub struct Watch {
    pub wanted: Watched,
    pub births: Vec<Birth>,
    pub stays: Vec<Stay>,
    /// Indices in `births` of the packets whose tail has not been injected yet.
    pub pending: Vec<usize>,
    pub live: Vec<Live>,
    /// The last cycle in which the heads of watched packets were examined. No head has changed since then.
    pub looked: u64,
}

impl Watch {
    pub fn new(wanted: &Watched) -> Self {
        let mut wanted = wanted.clone();
        if let Watched::Packets(names) = &mut wanted {
            names.sort_unstable();
        }
        Self { wanted, ..Self::default() }
    }

    /// True if no watched packet is the first of a VC. While a watched packet is first, the block examines every cycle, because the reason
    /// for its wait can change even if no flit moves.
    pub fn is_idle(&self) -> bool {
        self.live.is_empty()
    }

    pub fn wants(&self, packet: &Packet, measured: bool, now: u64) -> bool {
        match &self.wanted {
            Watched::Nobody => false,
            Watched::Packets(names) => names.binary_search(&(packet.src, packet.seq)).is_ok(),
            // also accepts the other packets of the cycle in which packet number `n` is accepted, so that the watched packets do not depend
            // on the blocks
            Watched::First(n) => {
                measured && (self.births.len() < *n || self.births.last().is_some_and(|last| last.first == now))
            }
        }
    }
}

impl Stay {
    pub fn decide(&mut self, decision: Decision) {
        if self.decisions.len() == CHOICES {
            self.decisions.pop();
            self.dropped += 1;
        }
        self.decisions.push(decision);
    }

    pub fn waits_for(&mut self, reason: Reason, port: u32, now: u64) {
        if let Some(last) = self.waits.last_mut().filter(|_| self.waiting) {
            // the cycles since then were skipped, because nothing changed in them
            last.to_cycle = now;
            if (last.reason, last.port) == (reason, port) {
                last.to_cycle = now + 1;
                return;
            }
        }
        self.waiting = true;
        self.waits.push(Wait { reason, port, from_cycle: now, to_cycle: now + 1 });
    }

    pub fn stops_waiting(&mut self, now: u64) {
        if let Some(last) = self.waits.last_mut().filter(|_| self.waiting) {
            last.to_cycle = now;
            if last.from_cycle == now {
                self.waits.pop();
            }
        }
        self.waiting = false;
    }

    /// Called after a head took a VC in cycle `taken`. Until cycle `taken` the head waited for the reasons that were recorded before. If
    /// cycles after `taken` were skipped, the head has since then waited for a credit of that VC.
    pub fn takes_vc(&mut self, taken: u64, port: u32, now: u64) {
        self.stops_waiting(taken);
        self.vc_taken = Some(taken);
        if taken + 1 < now {
            self.waits_for(Reason::NoCredit, port, taken + 1);
        }
    }
}
