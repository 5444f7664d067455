//! Decides which shortcuts a block uses. No other file makes this decision. The shortcut for steady flows of the whole network is also off
//! if the policy has an overseer, or if the agents of some block are notified of each flit.
//!
//! | uncontended | streams | steady | where |
//! |---|---|---|---|
//! | no | no | no | on demand (`Profile::PLAIN`); with queues set aside; one-flit packets whose heads read queues |
//! | no | no | yes | packets of several flits whose heads read queues |
//! | yes | no | no | one-flit packets; agents that get each arrival; packets of 2 to 11 flits, with queues at interfaces |
//! | yes | no | yes | packets of 2 to 11 flits, or heads that choose in every step |
//! | yes | yes | yes | packets of 12 flits and more |
//! | yes | yes | no | the same, with queues at interfaces, or with agents that get routed heads only (in no policy) |
//!
//! Heads that are watched or may be rerouted count as heads that read queues. Idle time is skipped in each row, except on demand
//! (`Profile::PLAIN`). In every row the cycle loop may compare candidates and prefetch records.

use super::Shortcut;
use super::facts::Facts;
use crate::block::Block;
use crate::net::Net;
use crate::parts::profile::each_shortcut;
pub use crate::parts::profile::{HeadPath, Kind, Profile, Set};
use weft_api::agents::Probes;

macro_rules! dispatch {
    ($($kind:ident = $name:literal: $module:ident::$shortcut:ident,)+) => {
        impl Kind {
            /// Description of the work that the shortcut skips.
            pub fn skips(self) -> &'static str {
                match self { $(Self::$kind => <super::$module::$shortcut>::SKIPS,)+ }
            }

            /// Another shortcut without which this shortcut cannot be used.
            pub fn needs(self) -> Option<Self> {
                match self { $(Self::$kind => <super::$module::$shortcut>::NEEDS,)+ }
            }

            fn applies(self, facts: &Facts) -> bool {
                match self { $(Self::$kind => <super::$module::$shortcut>::applies(facts),)+ }
            }

            fn goes_beside(self, probes: Probes) -> bool {
                match self { $(Self::$kind => <super::$module::$shortcut>::goes_beside(probes),)+ }
            }

            fn settle<const W: usize, const V: usize>(self, block: &mut Block<W, V>, net: &Net) {
                match self { $(Self::$kind => <super::$module::$shortcut>::settle(block, net),)+ }
            }
        }
    };
}

each_shortcut!(dispatch);

impl Profile {
    pub fn of(facts: &Facts) -> Self {
        let all = Self { set: Set::ALL, compares_credits_of: facts.needs.compares_credits_of };
        all.among(Set::of(|kind| kind.applies(facts)))
    }

    /// The profile for a block with agents that are notified of the events `probes`. Excludes the shortcuts that skip such events.
    #[must_use]
    pub fn beside(self, probes: Probes) -> Self {
        self.among(Set::of(|kind| kind.goes_beside(probes)))
    }
}

impl<const W: usize, const V: usize> Block<W, V> {
    /// Lets each shortcut add its skipped work to the records of the block.
    pub(crate) fn settle(&mut self, net: &Net) {
        let profile = self.reach.routers.beside.shortcuts.profile;
        Kind::ALL.iter().filter(|&&kind| profile.has(kind)).for_each(|kind| kind.settle(self, net));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::profile::Arrival;
    use crate::shortcuts::streams;
    use weft_api::routing::{Decides, Needs};

    /// Properties of a run with one-flit packets on a small network, whose routing computes each hop one router ahead.
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
            queues: false,
            keeps: false,
            marks: false,
            classes_apart: false,
            maps_queues: false,
        }
    }

    /// The row of the table for a run: whether uncontended flits bypass the allocator, whether they form streams, and whether steady flows
    /// are skipped.
    fn row(facts: &Facts, probes: Probes) -> [bool; 3] {
        let profile = Profile::of(facts).beside(probes);
        [Kind::Uncontended, Kind::Streams, Kind::Steady].map(|kind| profile.has(kind))
    }

    const ALLOCATED: [bool; 2] = [false, false];
    const UNCONTENDED: [bool; 2] = [true, false];
    const STREAMS: [bool; 2] = [true, true];

    /// A row of the table: `crossing` has the columns "uncontended" and "streams".
    fn at(crossing: [bool; 2], steady: bool) -> [bool; 3] {
        [crossing[0], crossing[1], steady]
    }

    /// Tests that runs get each row of the table above, and that events for agents change the row of a block.
    #[test]
    fn every_row_of_the_table_is_chosen() {
        let (ahead, at_head) = (Needs::default(), Needs { decides: Decides::AtHead, ..Needs::default() });
        let nothing = Probes::default();
        assert_eq!(row(&facts(&at_head, 1), nothing), at(ALLOCATED, false));
        assert_eq!(row(&facts(&at_head, 8), nothing), at(ALLOCATED, true));
        assert_eq!(row(&facts(&ahead, 1), nothing), at(UNCONTENDED, false));
        assert_eq!(row(&facts(&ahead, 11), nothing), at(UNCONTENDED, true));
        assert_eq!(row(&facts(&ahead, 12), nothing), at(STREAMS, true));
        assert_eq!(row(&facts(&ahead, 12), Probes { routed: true, ..nothing }), at(STREAMS, false));
        assert_eq!(row(&facts(&ahead, 12), Probes { arrivals: true, ..nothing }), at(UNCONTENDED, false));
        assert_eq!(row(&facts(&ahead, 12), Probes { departures: true, ..nothing }), at(ALLOCATED, false));
    }

    #[test]
    fn each_fact_that_forbids_a_shortcut_does() {
        let ahead = Needs::default();
        let of = |change: &dyn Fn(&mut Facts<'_>)| {
            let mut facts = facts(&ahead, 12);
            change(&mut facts);
            row(&facts, Probes::default())
        };
        assert_eq!(of(&|facts| facts.slow_heads = true), at(ALLOCATED, true));
        assert_eq!(of(&|facts| facts.vc_realloc = true), at(ALLOCATED, true));
        assert_eq!(of(&|facts| facts.fast_links = true), at(ALLOCATED, true));
        assert_eq!(of(&|facts| facts.trunks = true), at(UNCONTENDED, true));
        assert_eq!(of(&|facts| (facts.trunks, facts.hold_switch) = (true, true)), at(ALLOCATED, true));
        assert_eq!(of(&|facts| (facts.trunks, facts.paced_links) = (true, true)), at(ALLOCATED, true));
        assert_eq!(of(&|facts| facts.paced_links = true), at(STREAMS, true));
        assert_eq!(of(&|facts| facts.outputs = streams::MAX_OUTPUTS + 1), at(UNCONTENDED, true));
        assert_eq!(of(&|facts| facts.queues = true), at(STREAMS, false));
        assert_eq!(of(&|facts| facts.keeps = true), at(ALLOCATED, true));
        // these facts occur only together with slow heads
        let all: [fn(&mut Facts<'_>); 4] = [
            |facts| facts.watches = true,
            |facts| facts.faults = true,
            |facts| facts.closes_vcs = true,
            |facts| facts.maps_queues = true,
        ];
        for set in all {
            let with = |facts: &mut Facts<'_>| {
                facts.slow_heads = true;
                set(facts);
            };
            assert_eq!(of(&with), at(ALLOCATED, false));
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

    #[test]
    fn flits_are_received_as_streams_and_the_trial_of_bypasses_say() {
        let needs = Needs::default();
        let [short, long] = [1, 12].map(|longest| Profile::of(&facts(&needs, longest)));
        let of_both = [short, long].map(|profile| [true, false].map(|heads_try| profile.arrival(heads_try, false)));
        assert_eq!(of_both, [[Arrival::MayBypass, Arrival::Waits], [Arrival::AmongStreams; 2]]);
        assert_eq!(short.arrival(true, true), Arrival::MayChooseAndBypass);
    }

    #[test]
    fn a_shortcut_that_needs_another_goes_with_it() {
        assert_eq!(Kind::Streams.needs(), Some(Kind::Uncontended));
        let without = Set::ALL.without(Kind::Uncontended);
        assert!(!without.has(Kind::Uncontended) && !without.has(Kind::Streams) && without.has(Kind::Steady));
        for &kind in Kind::ALL {
            assert!(Set::ALL.has(kind) && !Set::NONE.has(kind) && !Set::ALL.without(kind).has(kind), "{}", kind.name());
        }
        let long = Profile::of(&facts(&Needs::default(), 12));
        assert_eq!(long.among(Set::NONE), Profile::PLAIN);
        let compares = Needs { decides: Decides::EachStep, compares_credits_of: Some(1), ..Needs::default() };
        let compares = Profile::of(&facts(&compares, 1)).among(Set::ALL.without(Kind::Candidates));
        assert_eq!((compares.compares_credits_of, compares.heads(false, true)), (None, HeadPath::Asked));
    }
}
