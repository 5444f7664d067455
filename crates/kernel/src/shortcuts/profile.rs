//! Which shortcuts a run takes: the only place that decides it for a block. (An overseer ends steady flows, too, and so do the
//! agents of any block that are told of flits.)
//!
//! | row | flits cross | steady flows | where |
//! |---|---|---|---|
//! | plain | one by one, by the allocator | no | on demand (`Profile::PLAIN`); one-flit packets whose heads read queues, or are watched, or may be rerouted |
//! | plain, steady | one by one | yes | long packets, under such routings |
//! | lone | alone, without the allocator | no | one-flit packets; agents that are told of arrivals |
//! | lone, steady | alone | yes | packets of 2 to 11 flits, or heads that choose in every step |
//! | streams, steady | alone, and in streams | yes | packets of 12 flits and more |
//! | streams | alone, and in streams | no | the same, beside agents that are told of routed heads only: no policy has such |
//!
//! Beside it, in each row: the loop compares the candidates of heads itself, or asks the routing; it asks the memory ahead, or not. Each row but the
//! plain one skips idle time.

use crate::shortcuts::streams;
use weft_api::agents::Probes;
use weft_api::routing::{Decides, Needs};
use weft_api::sensor::Sensor;

/// How flits cross the switch of a router.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Crossing {
    /// All of them by the allocator.
    Allocated,
    /// Those that are alone without it (`lone.rs`).
    Lone,
    /// The same, and body flits that follow each other in streams (`streams.rs`).
    Streams,
}

/// What is done as a packet becomes the head of its VC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeadPath {
    /// It asks for the hop of its route key, or for the one that its routing names now.
    Key,
    /// It asks for the hop of its route key, and a stream that leaves by the same output ends (`shortcuts/streams.rs`).
    AmongStreams,
    /// If its key names no hop, the loop will compare its candidates.
    Candidates,
    /// If its key names no hop, the routing is asked in every step; if it names a trunk, the loop looks for its best member.
    Asked,
    /// More: its age, someone watches it, it waits first, or links or routers fail.
    Slow,
}

/// The shortcuts of a run, or of a block of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Profile {
    pub crossing: Crossing,
    /// Time in which body flits flow steadily is skipped (`steady.rs`).
    pub steady: bool,
    /// VC class by whose credits the loop compares the candidates of heads that choose in every step; `None` if it asks the
    /// routing in every step.
    pub compares_credits_of: Option<u8>,
    /// The loop asks for records before it needs them (`prefetch.rs`).
    pub prefetch: bool,
    /// Cycles in which nothing happens are skipped (`idle.rs`).
    pub jumps: bool,
}

/// What is known of a run when its shortcuts are chosen.
#[derive(Debug)]
pub struct Facts<'a> {
    pub needs: &'a Needs,
    /// Links are trunks.
    pub trunks: bool,
    /// Something is done for each head that is not done elsewhere ([`HeadPath::Slow`]).
    pub slow_heads: bool,
    /// An output finishes a packet before it begins another; VCs are allocated in a stage of their own.
    pub hold_switch: bool,
    pub vc_realloc: bool,
    /// Some links are paced; flits of one packet may arrive in the same cycle.
    pub paced_links: bool,
    pub fast_links: bool,
    /// VCs may be closed to the next head for a while.
    pub closes_vcs: bool,
    /// Packets are watched, or links and routers fail.
    pub watches: bool,
    pub faults: bool,
    /// Most flits of a packet.
    pub longest: u32,
    /// Outputs of the network.
    pub outputs: u64,
    /// It is larger than the cache.
    pub is_large: bool,
}

impl Facts<'_> {
    fn choose(&self) -> bool {
        self.needs.decides == Decides::EachStep || self.trunks
    }

    /// Whether flits that are alone may cross without the allocator: nobody reads the queues while flits leave, or does more for
    /// each of them.
    fn lone_flits_may_cross(&self) -> bool {
        let heads_see_no_moves = if self.slow_heads {
            false
        } else if self.choose() {
            // Of the heads that have chosen and did not cross alone, one has to leave in the first step, or their router would sleep
            // too early. So none may have chosen an output that is kept for another packet, is full, or lacks the room to enter a ring.
            let any_can_leave = !self.hold_switch && !self.paced_links && self.needs.ring_entries.is_empty();
            any_can_leave && !self.needs.sees_grants && !self.needs.reads_group
        } else {
            self.needs.decides == Decides::Ahead
        };
        heads_see_no_moves && self.needs.sensor.is_none() && !self.vc_realloc && !self.fast_links
    }

    /// Whether body flits may follow each other in streams, and packets are so long that this pays: flits that are alone cross, nobody
    /// reads counts of flits between two advances, and no head waits for any credit but the one that lets a packet in.
    fn body_flits_may_stream(&self) -> bool {
        let nobody_looks = !self.choose() && self.needs.ring_entries.is_empty() && self.needs.posts.is_none();
        nobody_looks && self.longest >= streams::LONG_PACKET && self.outputs <= streams::MAX_OUTPUTS
    }

    /// Whether what happens next depends on nothing but the state that `steady.rs` compares.
    fn may_repeat(&self) -> bool {
        let nobody_looks = self.needs.posts.is_none() && self.needs.sensor != Some(Sensor::HistoryWindow);
        self.longest > 1 && nobody_looks && !self.closes_vcs && !self.watches && !self.faults
    }
}

impl Profile {
    /// The plain loop.
    pub const PLAIN: Self =
        Self { crossing: Crossing::Allocated, steady: false, compares_credits_of: None, prefetch: false, jumps: false };

    pub fn of(facts: &Facts) -> Self {
        let crossing = match (facts.lone_flits_may_cross(), facts.body_flits_may_stream()) {
            (false, _) => Crossing::Allocated,
            (true, false) => Crossing::Lone,
            (true, true) => Crossing::Streams,
        };
        Self {
            crossing,
            steady: facts.may_repeat(),
            compares_credits_of: facts.needs.compares_credits_of.filter(|_| !facts.trunks),
            prefetch: facts.is_large,
            jumps: true,
        }
    }

    /// The same in a block with agents. What they are told of may not be skipped.
    #[must_use]
    pub fn beside(self, told: Probes) -> Self {
        let most = match told {
            Probes { departures: true, .. } => Crossing::Allocated,
            Probes { arrivals: true, .. } => Crossing::Lone,
            Probes { .. } => Crossing::Streams,
        };
        let is_told = told.arrivals || told.departures || told.routed;
        Self { crossing: self.crossing.min(most), steady: self.steady && !is_told, ..self }
    }

    /// What the loop does with heads. `slow`, `choose`: as in [`Facts`].
    pub fn heads(self, slow: bool, choose: bool) -> HeadPath {
        match (slow, choose, self.compares_credits_of) {
            (true, ..) => HeadPath::Slow,
            (false, true, Some(_)) => HeadPath::Candidates,
            (false, true, None) => HeadPath::Asked,
            (false, false, _) if self.crossing == Crossing::Streams => HeadPath::AmongStreams,
            (false, false, _) => HeadPath::Key,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One-flit packets whose routing names each hop ahead, on a small network.
    fn facts(needs: &Needs, longest: u32) -> Facts<'_> {
        Facts {
            needs,
            trunks: false,
            slow_heads: false,
            hold_switch: false,
            vc_realloc: false,
            paced_links: false,
            fast_links: false,
            closes_vcs: false,
            watches: false,
            faults: false,
            longest,
            outputs: 1000,
            is_large: false,
        }
    }

    fn row(facts: &Facts, told: Probes) -> (Crossing, bool) {
        let Profile { crossing, steady, .. } = Profile::of(facts).beside(told);
        (crossing, steady)
    }

    /// The rows of the table above, and what agents are told of that takes one from another.
    #[test]
    fn every_row_of_the_table_is_chosen() {
        let (ahead, at_head) = (Needs::default(), Needs { decides: Decides::AtHead, ..Needs::default() });
        let nothing = Probes::default();
        assert_eq!(row(&facts(&at_head, 1), nothing), (Crossing::Allocated, false));
        assert_eq!(row(&facts(&at_head, 8), nothing), (Crossing::Allocated, true));
        assert_eq!(row(&facts(&ahead, 1), nothing), (Crossing::Lone, false));
        assert_eq!(row(&facts(&ahead, 11), nothing), (Crossing::Lone, true));
        assert_eq!(row(&facts(&ahead, 12), nothing), (Crossing::Streams, true));
        assert_eq!(row(&facts(&ahead, 12), Probes { routed: true, ..nothing }), (Crossing::Streams, false));
        assert_eq!(row(&facts(&ahead, 12), Probes { arrivals: true, ..nothing }), (Crossing::Lone, false));
        assert_eq!(row(&facts(&ahead, 12), Probes { departures: true, ..nothing }), (Crossing::Allocated, false));
    }

    #[test]
    fn each_fact_that_forbids_a_shortcut_does() {
        let ahead = Needs::default();
        let of = |change: &dyn Fn(&mut Facts<'_>)| {
            let mut facts = facts(&ahead, 12);
            change(&mut facts);
            row(&facts, Probes::default())
        };
        assert_eq!(of(&|facts| facts.slow_heads = true), (Crossing::Allocated, true));
        assert_eq!(of(&|facts| facts.vc_realloc = true), (Crossing::Allocated, true));
        assert_eq!(of(&|facts| facts.fast_links = true), (Crossing::Allocated, true));
        assert_eq!(of(&|facts| facts.trunks = true), (Crossing::Lone, true));
        assert_eq!(of(&|facts| (facts.trunks, facts.hold_switch) = (true, true)), (Crossing::Allocated, true));
        assert_eq!(of(&|facts| (facts.trunks, facts.paced_links) = (true, true)), (Crossing::Allocated, true));
        assert_eq!(of(&|facts| facts.paced_links = true), (Crossing::Streams, true));
        assert_eq!(of(&|facts| facts.outputs = streams::MAX_OUTPUTS + 1), (Crossing::Lone, true));
        // these come with slow heads
        let all: [fn(&mut Facts<'_>); 3] =
            [|facts| facts.watches = true, |facts| facts.faults = true, |facts| facts.closes_vcs = true];
        for set in all {
            let with = |facts: &mut Facts<'_>| {
                facts.slow_heads = true;
                set(facts);
            };
            assert_eq!(of(&with), (Crossing::Allocated, false));
        }
    }

    #[test]
    fn heads_go_by_the_shortcuts() {
        let needs = Needs { decides: Decides::EachStep, compares_credits_of: Some(1), ..Needs::default() };
        let compares = Profile::of(&facts(&needs, 1));
        assert_eq!(compares.heads(false, true), HeadPath::Candidates);
        assert_eq!(Profile::of(&Facts { trunks: true, ..facts(&needs, 1) }).heads(false, true), HeadPath::Asked);
        assert_eq!(Profile::PLAIN.heads(false, true), HeadPath::Asked);
        assert_eq!(Profile::PLAIN.heads(false, false), HeadPath::Key);
        assert_eq!(Profile::of(&facts(&Needs::default(), 12)).heads(false, false), HeadPath::AmongStreams);
        assert_eq!(compares.heads(true, true), HeadPath::Slow);
    }
}
