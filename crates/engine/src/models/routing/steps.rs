//! Everything that a packet may do at a router: for checks, bounds and explanations, never in the loop.

use super::{AnyRouting, Hop, below, draw, grid::Grid, groups, groups::Groups, shortest_path::Among};
use crate::state::Packet;

/// One hop that a packet may take, and the packet after it.
pub(crate) struct Step {
    pub hop: Hop,
    pub after: Packet,
    /// What an adaptive routing compares; an oblivious one draws among its choices, all equally likely.
    pub cost: Option<Cost>,
}

impl Step {
    /// The packet is at its destination router.
    pub fn deliver(packet: &Packet) -> Self {
        Self { hop: Hop { port: packet.dst_port, class: 0 }, after: *packet, cost: None }
    }
}

/// Congestion of an output (of the router with coordinates `at`) times `hops`, plus `bias`; the least wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cost {
    pub at: u64,
    pub port: u8,
    pub hops: u32,
    pub bias: i32,
}

/// Most different draws that a packet makes for its whole way.
const MAX_DRAWS: u32 = 1 << 14;

impl AnyRouting {
    /// Every hop that the packet may take at the router with coordinates `at`; minimal ones first.
    pub(crate) fn steps(&self, at: u64, packet: &Packet, seed: u64) -> Vec<Step> {
        match self {
            Self::Minimal(r) => r.steps(at, packet),
            Self::Ugal(r) if r.asks(at, packet) => r.steps(at, packet, seed),
            Self::UgalP(r) if r.asks(at, packet) => r.steps(at, packet),
            Self::Pal(r) => r.steps(at, packet, seed),
            Self::DragonflyUgal(r) if r.asks(at, packet) => r.steps(at, packet, seed),
            Self::UpDown(r) if r.asks(at, packet) => r.steps(at, packet),
            Self::Dal(r) if at != packet.dest => r.steps(at, packet),
            Self::ShortestPath(r) => r.steps(at, packet),
            Self::Slac(r) if r.asks(at, packet) => r.steps(at, packet),
            Self::MinimalAdaptive(r) if at != packet.dest => {
                // the class on which the packet came, plus one, is kept in its lane here
                let choice = r.choice(at, packet, || packet.lane.checked_sub(1));
                let step = |hop: Hop| {
                    let cost = Some(Cost { at, port: hop.port, hops: 1, bias: 0 });
                    Step { hop, after: Packet { lane: hop.class + 1, ..*packet }, cost }
                };
                choice.all().map(step).collect()
            }
            _ => {
                let mut after = *packet;
                let hop = self.next(at, &mut after, seed);
                hop.into_iter().map(|hop| Step { hop, after, cost: None }).collect()
            }
        }
    }

    /// The choices that an idle network leaves: with all queues empty the first wins, or the first of equal ones that
    /// the routing draws among.
    pub(crate) fn idle_steps(&self, at: u64, packet: &Packet, seed: u64) -> Vec<Step> {
        let mut choices = self.steps(at, packet, seed);
        if let Some(Some(first)) = choices.first().map(|c| c.cost) {
            let equal = |c: &Step| c.cost.is_some_and(|c| (c.hops, c.bias) == (first.hops, first.bias));
            let keep = if self.draws_ties() { choices.iter().take_while(|c| equal(c)).count() } else { 1 };
            choices.truncate(keep);
        }
        choices
    }

    /// Whether equal costs are drawn among; else the first of them wins.
    pub(crate) fn draws_ties(&self) -> bool {
        matches!(self, Self::UpDown(_) | Self::Dal(_) | Self::MinimalAdaptive(_) | Self::Pal(_))
    }

    /// Whether `next` draws among several hops, afresh at each router.
    pub(crate) fn draws_hops(&self) -> bool {
        match self {
            Self::Minimal(_) => true,
            Self::ShortestPath(r) => r.choice == Among::Random,
            _ => false,
        }
    }

    /// The packet with every path that it may draw when it is made, all equally likely: intermediates or ways up
    /// ([`Self::detours`]), and with each of these every one of `draws` ([`Self::whole_draws`]).
    pub(crate) fn starts(&self, at: u64, packet: Packet, draws: &[u32]) -> Vec<Packet> {
        let over = self.draws_path();
        let draws = &draws[..if over { draws.len() } else { self.outcomes([at, packet.dest], draws.len()) }];
        let with = |start: Packet| draws.iter().map(move |&seq| Packet { seq, ..start });
        self.detours(at, packet).flat_map(with).collect()
    }

    /// How many of `draws` draws for a whole way make a difference between two routers: most pairs of a torus are nowhere
    /// half way round, and inside a group there is no global link.
    pub(crate) fn outcomes(&self, [from, to]: [u64; 2], draws: usize) -> usize {
        let tied = |g: &Grid| g.tied_dimensions().any(|d| g.is_tied(from, to, d as usize));
        let grid = self.whole_way_grid().is_none_or(tied);
        let groups = self.whole_way_groups().is_none_or(|_| groups::group(from) != groups::group(to));
        if grid && groups { draws } else { 1 }
    }

    /// The grid of a routing that draws the directions in which to cross rings at half distance.
    pub(crate) fn whole_way_grid(&self) -> Option<&Grid> {
        match self {
            Self::Dimension(r) => Some(&r.grid),
            Self::Valiant(r) => Some(&r.grid),
            Self::Ugal(r) => Some(&r.valiant.grid),
            _ => None,
        }
    }

    /// The groups of a routing that draws the copy of a global link.
    fn whole_way_groups(&self) -> Option<&Groups> {
        match self {
            Self::DragonflyMinimal(r) => Some(&r.groups),
            Self::Pal(r) => r.groups.as_ref(),
            Self::DragonflyValiant(r) => Some(&r.groups),
            Self::DragonflyUgal(r) => Some(&r.valiant.groups),
            _ => None,
        }
    }

    /// Packets ([`Packet::seq`]) that stand for all outcomes of the draws that hold for a whole way: the directions in
    /// which to cross rings at half distance, the copy of a global link.
    pub(crate) fn whole_draws(&self, packet: Packet, seed: u64) -> Vec<u32> {
        let ties: Vec<u64> = self.whole_way_grid().map_or(Vec::new(), |g| g.tied_dimensions().collect());
        let copies = self.whole_way_groups().map_or(1, |g| g.links_per_pair);
        let outcomes = (copies << ties.len()).min(MAX_DRAWS) as usize;
        let mut seen = std::collections::BTreeSet::new();
        let is_new = |seq: &u32| {
            let packet = Packet { seq: *seq, ..packet };
            let up = |&d: &u64| draw(seed, &packet, 0x7e + d) & 1;
            let directions: Vec<u64> = ties.iter().map(up).collect();
            seen.insert((below(draw(seed, &packet, 0x91), copies), directions))
        };
        (0..1 << 20).filter(is_new).take(outcomes).collect()
    }
}
