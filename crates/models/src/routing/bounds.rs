//! Bounds on the accepted load that several routings use in their examples. Their derivations are in this file, so that no routing repeats
//! them.

use super::{Accepts, Example};

const RING: &str = r#"{"torus": {"widths": [8], "terminals_per_router": 1}}"#;
const HYPERX: &str = r#"{"hyperx": {"widths": [4, 4], "terminals_per_router": 4}}"#;
const FULL_MESH: &str = r#"{"full_mesh": {"routers": 6, "terminals_per_router": 4}}"#;
pub(crate) const DRAGONFLY: &str =
    r#"{"dragonfly": {"routers_per_group": 4, "terminals_per_router": 2, "global_links_per_router": 2}}"#;
const TORNADO: &str = r#"{"tornado": {}}"#;
const NEIGHBOR: &str = r#"{"neighbor": {}}"#;
pub(crate) const NEXT_GROUP: &str = r#"{"group_shift": {"shift": 1}}"#;
pub(crate) const NEXT_ROUTER: &str = r#"{"router_shift": {"shift": 1}}"#;

/// Networks of several kinds for the examples of routings whose paths have two legs. Their paths are short, so that the two legs together
/// need at most 6 VC classes.
pub(crate) const SHORT_PATHS: [&str; 6] = [
    FULL_MESH,
    r#"{"torus": {"widths": [4, 3], "terminals_per_router": 2}}"#,
    r#"{"hyperx": {"widths": [3, 3], "terminals_per_router": 2, "trunk_width": {"dim1": 3}}}"#,
    r#"{"slim_fly": {"q": 3, "terminals_per_router": 1}}"#,
    r#"{"k_ary_n_tree": {"k": 4, "n": 2}}"#,
    FLEX,
];
pub(crate) const FLEX: &str = r#"{"flex": {"widths": [3, 3], "layers": 3, "terminals_per_router": 1}}"#;

/// Adds a bound to an example. The name of each method says for which traffic and network its bound holds.
pub(crate) trait SharedBounds: Sized {
    /// Under tornado traffic on a ring of 8 routers, every packet crosses ceil(8 / 2) - 1 = 3 links in one direction. Therefore each
    /// channel of this direction carries the load of 3 routers.
    fn bound_by_tornado_on_a_ring(self) -> Self;

    /// On minimal paths, the packets of the 4 terminals of a router share one link in each dimension.
    fn bound_by_tornado_on_a_grid(self) -> Self;

    /// All terminals of a router send to the next router. On minimal paths, the 4 terminals share the link to it.
    fn bound_by_one_neighbor(self) -> Self;

    /// The 4 terminals of a router send to one neighbor. In each cycle, they send m <= 1 flits on the link to it, and d flits on detours of
    /// two hops. On average, the other 4 links out of a router carry d first hops of its own detours and d second hops of others. Therefore
    /// 2 d <= 4, and the 4 terminals send at most m + d <= 3 flits per cycle.
    fn bound_with_detours_around_one_neighbor(self) -> Self;

    /// The 8 terminals of a group send to the next group. The group has 8 global links, one of them to the next group. In each cycle, the
    /// group sends m <= 1 flits on the minimal path over this link, and d flits on detours over two global links: m + 2 d <= 8. Therefore
    /// m + d <= 4.5.
    fn bound_with_detours_to_the_next_group(self) -> Self;
}

impl<M> SharedBounds for Example<M> {
    fn bound_by_tornado_on_a_ring(self) -> Self {
        self.bound(RING, TORNADO, Accepts::UpTo(1.0 / 3.0))
    }

    fn bound_by_tornado_on_a_grid(self) -> Self {
        self.bound(HYPERX, TORNADO, Accepts::UpTo(1.0 / 4.0))
    }

    fn bound_by_one_neighbor(self) -> Self {
        self.bound(FULL_MESH, NEIGHBOR, Accepts::UpTo(1.0 / 4.0))
    }

    fn bound_with_detours_around_one_neighbor(self) -> Self {
        self.bound(FULL_MESH, NEIGHBOR, Accepts::WithDetours(3.0 / 4.0))
    }

    fn bound_with_detours_to_the_next_group(self) -> Self {
        self.bound(DRAGONFLY, NEXT_GROUP, Accepts::WithDetours(4.5 / 8.0))
    }
}
