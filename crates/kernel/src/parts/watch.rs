//! Notes on watched packets.

use crate::spy::Weighed;
use serde::Serialize;
use weft_api::routing::Hop;
use weft_api::spec::Watched;
use weft_api::state::Packet;

/// Number of choices that are kept for a head that chooses in every step: the first ones and the last.
pub const CHOICES: usize = 64;

weft_units::words! {
    /// Why a head did not cross the switch.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Reason {
        /// The power policy has closed the link: it is off, on its way to off or on, or about to go off.
        LinkAsleep = "link_asleep",
        /// The link has failed.
        LinkBroken = "link_broken",
        /// Other packets hold all VCs that it may take.
        VcHeld = "vc_held",
        /// The output sends another packet to its end (`hold_switch`).
        OutputHeld = "output_held",
        /// The limit of flits that wait for the link is reached, because the link is slower than the switch.
        LinkFull = "link_full",
        /// The next buffer has no room.
        NoCredit = "no_credit",
        /// Another head got the VC.
        LostVc = "lost_vc",
        /// Another input got the output, or another VC of its own input the switch.
        LostSwitch = "lost_switch",
    }
}

impl Serialize for Reason {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// The head waits for output `port` from one cycle to another (exclusive).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Wait {
    pub reason: Reason,
    pub port: u32,
    pub from_cycle: u64,
    pub to_cycle: u64,
}

/// The choice of a hop, and the candidates.
#[derive(Debug, Clone)]
pub struct Decision {
    /// When the choice was made. A choice that does not depend on queues is made before the packet comes to the router.
    pub cycle: u64,
    pub rule: &'static str,
    pub candidates: Vec<(Hop, Option<Weighed>)>,
    pub chosen: Hop,
    /// Coordinates of the intermediate that the packet now heads for.
    pub via: Option<u64>,
}

/// The packet at its source.
#[derive(Debug, Clone)]
pub struct Birth {
    pub packet: Packet,
    /// The cycle in which it came to the head of the source queue.
    pub first: u64,
    pub injected: Option<u64>,
    /// When all of the head is on the link of the terminal, if that is paced; else that is when it is injected.
    pub left: Option<u64>,
    pub vc: u8,
    pub tail_injected: Option<u64>,
    /// The decision about the hop at its first router, if that does not depend on queues.
    pub ahead: Option<Decision>,
    pub terminal: usize,
    pub id: u32,
    /// Its entry in a queue of the terminal, if the terminal has queues.
    pub entry: Option<u32>,
}

/// The packet in a router, from the cycle in which it became the head of its VC.
#[derive(Debug, Clone)]
pub struct Stay {
    pub name: (u32, u32),
    pub hop: u32,
    pub router: u32,
    pub front: u64,
    pub decisions: Vec<Decision>,
    /// Number of choices that were not kept.
    pub dropped: u32,
    pub waits: Vec<Wait>,
    /// Whether the last of `waits` has not ended.
    pub waiting: bool,
    pub vc_taken: Option<u64>,
    /// `output`: output port and VC. `head`, `tail`: the cycle in which the head (tail) crosses the switch, and its
    /// first cycle on the link.
    pub output: Option<(u16, u8)>,
    pub head: Option<(u64, u64)>,
    /// First cycle of the head on the link without other flits before it.
    pub head_if_free: u64,
    pub tail: Option<(u64, u64)>,
    /// The decision about the hop at the next router, if that does not depend on queues.
    pub ahead: Option<Decision>,
}

/// A watched packet at the head of VC `v` of input `i`.
#[derive(Debug)]
pub struct Live {
    pub i: usize,
    pub v: usize,
    pub stay: usize,
    pub sends: bool,
}

/// The notes of a block.
#[derive(Debug, Default)]
pub struct Watch {
    pub wanted: Watched,
    pub births: Vec<Birth>,
    pub stays: Vec<Stay>,
    /// Indices of `births` whose tail is not injected yet.
    pub pending: Vec<usize>,
    pub live: Vec<Live>,
    /// The last cycle in which the heads were looked at. Nothing has happened since.
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

    /// Whether no watched packet is at the head of a VC. While one is, every cycle is examined, because the reason for
    /// its wait may change in a cycle without moves.
    pub fn is_idle(&self) -> bool {
        self.live.is_empty()
    }

    pub fn wants(&self, packet: &Packet, measured: bool, now: u64) -> bool {
        match &self.wanted {
            Watched::Nobody => false,
            Watched::Packets(names) => names.binary_search(&(packet.src, packet.seq)).is_ok(),
            // takes all packets of one cycle, so that any number of blocks keeps the same ones
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
            // nothing changed in the cycles that were skipped
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

    /// The head took a VC in cycle `taken`; until then it waited for the reasons noted before. If the router has
    /// skipped cycles since, the head has been waiting for a credit of that VC.
    pub fn takes_vc(&mut self, taken: u64, port: u32, now: u64) {
        self.stops_waiting(taken);
        self.vc_taken = Some(taken);
        if taken + 1 < now {
            self.waits_for(Reason::NoCredit, port, taken + 1);
        }
    }
}
