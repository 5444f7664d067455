//! OmniWAR: incremental adaptive routing of a HyperX. At each hop a packet may cross any unaligned dimension. A dimension is unaligned if
//! the packet is not at its destination's coordinate there. A packet can also make a detour in an unaligned dimension, if enough VC classes
//! remain for the rest of its path.
//!
//! # Source
//! N. McDonald, M. Isaev, A. Flores, A. Davis, J. Kim, "Practical and Efficient Incremental Adaptive Routing for HyperX Networks",
//! SC'19. The bias T is our addition, as in `dal`. The rule that forbids two consecutive detours in the same dimension is also
//! ours.
//! # Parameters
//! `deroutes` M \[hops\]: number of detours that a packet which crosses all dimensions can make. `threshold` T
//! \[flits\]: bias towards minimal hops. `sensor`: definition of q, the queue of an output.
//! # Guarantees
//! The routing has N + M VC classes, where N is the number of dimensions with two or more routers. The VC class of a hop is its index in
//! the path. The class rises with each hop, so the dependencies between channels have no cycle. At each router the candidates are the
//! minimal hop of every unaligned dimension, and the hops to all other routers of unaligned dimensions. A detour is a candidate if the VC
//! classes above its class are enough for one hop in each unaligned dimension. Directly after a detour, another detour in the same
//! dimension is not a candidate. The candidate with the least cost wins. The cost is q * (remaining hops), plus T for a detour. A minimal
//! hop wins against a detour of equal cost, and a hash decides among other candidates of equal cost. A packet whose minimal path has fewer
//! than N hops may make more than M detours, but no path has more than N + M links.
//! # Not modelled
//! DimWAR, a variant that crosses dimensions in order on two VC classes (`ugal_p` is similar).
//! # Validation
//! Three tests use networks of every topology on which this routing works. `engine/tests/theory.rs` checks that latency without contention
//! is exact to the cycle. `conformance/src/routing.rs` checks that no packet is lost. `engine/tests/stall.rs` checks that the smallest
//! buffers cause no stall. `engine/tests/paths.rs` checks that packets can take all paths that the VC classes permit, and no others.
//! `engine/tests/bounds.rs` checks that the accepted load is at least half of the theoretical bound with detours. No test compares this
//! routing with another simulator.

use crate::routing::bounds::SharedBounds;
use crate::routing::on_grid::Grid;
use crate::routing::{
    Classes, Cost, Decides, Example, Hop, MAX_CLASSES, Needs, Proof, Routing, RoutingModel, Sensor, Step, View, draw,
    hash, same_classes, threshold, weigh,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_api::state::{DETOUR, Packet};
use weft_topology::Graph;
use weft_units::{Flits, Refusal, Remark};

weft_units::codes! {
    DETOURS_WITHOUT_ROOM = "detours_without_room", Hint,
        means: "OmniWAR has VC classes for detours that no dimension of this network allows. These VC classes stay empty.",
        computed: "A detour needs a third router in a dimension. The code appears if `deroutes` is above 0 and no dimension has \
                   three routers.",
        helps: "Write `deroutes: 0`, or leave the key out.";
}

/// OmniWAR: at each hop a packet may cross any unaligned dimension of a HyperX. A packet can also make a detour if enough VC
/// classes remain for the rest of its path.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OmniWar {
    /// M: number of detours that a packet which crosses all dimensions can make [hops]. Each detour needs one more VC class. Default: one
    /// detour for each dimension of three or more routers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deroutes: Option<u32>,
    /// Bias toward minimal hops, added to the cost of a detour.
    #[serde(default = "two")]
    pub threshold: Flits,
    /// Definition of the queue of an output.
    #[serde(default = "window")]
    pub sensor: Sensor,
}

/// The default threshold is our choice, as in `dal`: a queue that is two flits longer on the minimal path does not justify a detour.
fn two() -> Flits {
    Flits(2)
}

/// The default sensor does not count flits in flight, because they do not wait in a queue. With `used_credits` packets
/// would leave minimal paths even if no flit waits on them.
fn window() -> Sensor {
    Sensor::HistoryWindow
}

/// In a packet's state, `lane` is the number of hops that the packet has made. If the last hop was a detour, `dim` is 1 + the dimension of
/// that hop, and otherwise 0.
#[derive(Debug, Clone)]
pub struct Runtime {
    classes: Classes,
    /// Number of VC classes of each link between routers.
    hops: u8,
    grid: Grid,
    threshold: i32,
    sensor: Sensor,
}

impl RoutingModel for OmniWar {
    type Routing = Runtime;
    const ROUTES: &'static str = "grids with a link between every two routers of a line";

    fn fits(graph: &Graph) -> bool {
        Grid::complete(graph).is_some()
    }

    fn build(&self, graph: &Graph) -> Result<Runtime, Refusal> {
        let grid = Grid::complete(graph).expect("a graph that fits");
        let wider = |than: u8| grid.widths.iter().filter(|&&width| width > than).count() as u32;
        let (minimal, deroutes) = (wider(1), self.deroutes.unwrap_or(wider(2)));
        let hops = u64::from(minimal) + u64::from(deroutes);
        if hops > u64::from(MAX_CLASSES) {
            let what = format!(
                "{minimal} minimal hops and {deroutes} detours need {hops} VC classes, but a link has at most {MAX_CLASSES} VCs"
            );
            let help = format!("write at most {}", u32::from(MAX_CLASSES) - minimal);
            return Err(Refusal::new("routing.omniwar.deroutes", what, help));
        }
        let hops = (hops as u8).max(1);
        let threshold = threshold(self.threshold, "omniwar")?;
        Ok(Runtime { classes: same_classes(graph, hops), hops, grid, threshold, sensor: self.sensor })
    }

    fn examples() -> Vec<Example<Self>> {
        vec![
            Example::of("{}").bound_with_detours_around_one_neighbor(),
            Example::of(r#"{"deroutes": 1, "sensor": "used_credits"}"#),
        ]
    }
}

/// A hop that a packet can take at its present router.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    port: u16,
    d: usize,
    is_detour: bool,
    /// Number of hops that remain to the destination, including this hop.
    hops: u32,
}

impl Runtime {
    /// Returns the hops that a packet can take at router `at`, which must not be its destination router. In each unaligned dimension the
    /// minimal hop comes first, and then the detours.
    #[inline(always)]
    fn candidates_at(&self, at: u64, packet: &Packet) -> impl Iterator<Item = Candidate> + use<'_> {
        let Packet { dest, lane, dim, .. } = *packet;
        let hops = self.grid.differences(at, dest).count() as u32;
        let may_leave = u32::from(lane) + 1 + hops <= u32::from(self.hops);
        self.grid.differences(at, dest).flat_map(move |d| {
            let (own, to) = (Grid::coordinate(at, d), Grid::coordinate(dest, d));
            let port = move |c: u8| self.grid.port_to(at, d, c);
            let minimal = Candidate { port: port(to), d, is_detour: false, hops };
            let width = if may_leave && dim != d as u8 + 1 { self.grid.widths[d] } else { 0 };
            let others = (0..width).filter(move |&c| c != own && c != to);
            let detours = others.map(move |c| Candidate { port: port(c), d, is_detour: true, hops: hops + 1 });
            std::iter::once(minimal).chain(detours)
        })
    }

    /// Returns the bias in the cost of a candidate \[flits\]: the threshold for a detour, otherwise 0.
    #[inline(always)]
    fn bias(&self, candidate: Candidate) -> i32 {
        if candidate.is_detour { self.threshold } else { 0 }
    }
}

/// Updates the state of a packet that takes the hop `candidate`.
fn take(packet: &mut Packet, candidate: Candidate) {
    packet.lane += 1;
    packet.dim = if candidate.is_detour { candidate.d as u8 + 1 } else { 0 };
    packet.flags |= if candidate.is_detour { DETOUR } else { 0 };
}

impl Routing for Runtime {
    fn needs(&self) -> Needs {
        Needs { classes: self.classes.clone(), decides: Decides::AtHead, sensor: Some(self.sensor), ..Needs::default() }
    }

    #[inline(always)]
    fn next(&self, at: u64, packet: &mut Packet, _seed: u64) -> Option<Hop> {
        (at == packet.dest).then_some(Hop::to_terminal(packet))
    }

    fn at_head<Q: View + ?Sized>(&self, at: u64, here: &Q, packet: &mut Packet, seed: u64) -> Hop {
        let class = packet.lane;
        let random = draw(seed, packet, 0x3d + u64::from(class));
        let mut best: Option<((i32, bool, u64), Candidate)> = None;
        for candidate in self.candidates_at(at, packet) {
            let hop = Hop { port: candidate.port, class };
            let cost = weigh(here, at, hop, candidate.hops, self.bias(candidate));
            if best.is_some_and(|(least, _)| (cost, candidate.is_detour) > (least.0, least.1)) {
                continue;
            }
            let rank = (cost, candidate.is_detour, hash(random, u32::from(candidate.port), 0, 0x3e));
            if best.is_none_or(|(least, _)| rank < least) {
                best = Some((rank, candidate));
            }
        }
        let (_, candidate) = best.expect("some dimension is not aligned");
        take(packet, candidate);
        Hop { port: candidate.port, class }
    }

    /// Lists every minimal hop, and then every detour.
    fn steps(&self, at: u64, packet: &Packet, _seed: u64) -> Vec<Step> {
        if at == packet.dest {
            return vec![Step::deliver(packet)];
        }
        let step = |candidate: Candidate| {
            let mut after = *packet;
            take(&mut after, candidate);
            let Candidate { port, hops, .. } = candidate;
            let cost = Some(Cost { at, port, hops, bias: self.bias(candidate) });
            Step { hop: Hop { port, class: packet.lane }, after, cost }
        };
        let (detours, minimal): (Vec<_>, Vec<_>) =
            self.candidates_at(at, packet).partition(|candidate| candidate.is_detour);
        minimal.into_iter().chain(detours).map(step).collect()
    }

    fn bias_of_used_credits(&self) -> Option<i32> {
        (self.sensor == Sensor::UsedCredits).then_some(self.threshold)
    }

    fn proof(&self) -> Proof<'_> {
        Proof::rises()
    }

    fn draws_ties(&self) -> bool {
        true
    }

    fn most_hops(&self) -> Option<u32> {
        Some(u32::from(self.hops))
    }

    /// Warns if `deroutes` allows detours, but no dimension of this network has a third router.
    fn hints(&self, _room: &dyn Fn(usize, u8) -> u32) -> Vec<Remark> {
        let minimal = self.grid.widths.iter().filter(|&&width| width > 1).count() as u8;
        let is_in_vain = self.hops > minimal.max(1) && self.grid.widths.iter().all(|&width| width < 3);
        let hint = || {
            let what = format!(
                "no dimension has a third router for a detour, so {} of the {} VC classes stay empty",
                self.hops - minimal,
                self.hops
            );
            let numbers = [("empty_vc_classes", f64::from(self.hops - minimal)), ("vc_classes", f64::from(self.hops))];
            Remark::new(&DETOURS_WITHOUT_ROOM, "routing.omniwar.deroutes", numbers, what, "write 0, or omit the key")
        };
        is_in_vain.then(hint).into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_topology::TopologyConfig;

    fn build(topology: &str, parameters: &str) -> Result<Runtime, Refusal> {
        let graph = serde_json::from_str::<TopologyConfig>(topology).unwrap().build("topology").unwrap();
        serde_json::from_str::<OmniWar>(parameters).unwrap().build(&graph)
    }

    const SQUARE: &str = r#"{"hyperx": {"widths": [4, 4], "terminals_per_router": 1}}"#;
    const CUBE: &str = r#"{"hyperx": {"widths": [2, 2, 2], "terminals_per_router": 1}}"#;

    #[test]
    fn each_detour_needs_a_vc_class() {
        let classes = |topology, parameters| build(topology, parameters).unwrap().classes[1];
        assert_eq!([r#"{"deroutes": 0}"#, "{}", r#"{"deroutes": 14}"#].map(|text| classes(SQUARE, text)), [2, 4, 16]);
        assert_eq!(classes(CUBE, "{}"), 3, "a line of two routers has no room for a detour");
        let refusal = build(SQUARE, r#"{"deroutes": 15}"#).unwrap_err();
        assert_eq!((&*refusal.path, &*refusal.help), ("routing.omniwar.deroutes", "write at most 14"));
        assert_eq!(refusal.what, "2 minimal hops and 15 detours need 17 VC classes, but a link has at most 16 VCs");
        let longest = format!(r#"{{"deroutes": {}}}"#, u32::MAX);
        assert_eq!(build(SQUARE, &longest).unwrap_err().help, "write at most 14");
    }

    #[test]
    fn detours_that_no_line_allows_are_hinted_at() {
        let hints = |topology, parameters| build(topology, parameters).unwrap().hints(&|_, _| 0);
        let hint = &hints(CUBE, r#"{"deroutes": 2}"#)[0];
        assert_eq!(hint.what, "no dimension has a third router for a detour, so 2 of the 5 VC classes stay empty");
        assert!(hints(CUBE, "{}").is_empty() && hints(CUBE, r#"{"deroutes": 0}"#).is_empty(), "the remedies work");
        assert!(hints(SQUARE, r#"{"deroutes": 2}"#).is_empty());
    }
}
