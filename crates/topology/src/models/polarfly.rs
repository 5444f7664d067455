//! PolarFly: the Erdos-Renyi polarity graph, which has diameter 2 and almost as many routers as the Moore bound allows.
//!
//! # Source
//! K. Lakhotia, M. Besta, L. Monroe, K. Isham, P. Iff, T. Hoefler, F. Petrini, "PolarFly: A Cost-Effective and Flexible
//! Low-Diameter Topology", SC'22; P. Erdos, A. Renyi, V. T. Sos, "On a Problem of Graph Theory", Studia Sci. Math. Hungar. 1
//! (1966); W. G. Brown, "On Graphs that do not Contain a Thomsen Graph", Canad. Math. Bull. 9 (1966).
//!
//! # Parameters
//! `q` \[a power of a prime\], `terminals_per_router` p \[terminals\], `trunk_width` \[links, by link class\].
//!
//! # Guarantees
//! Routers are the points of the projective plane over the Galois field of q elements: (1, a, b), (0, 1, a) and (0, 0, 1). A link joins two
//! routers if their scalar product is 0. The network has q^2 + q + 1 routers and diameter 2. The q + 1 points whose product with themselves
//! is 0 (called quadrics in the source) have degree q. All other points have degree q + 1. Every two routers have exactly one common
//! neighbour, if a quadric counts as its own neighbour.
//!
//! Groups are the racks of the source, built around the first quadric. Group 0 contains the quadrics. For even q it also contains the point
//! that has links to all quadrics. Each other group consists of a neighbour of the first quadric (the shared router), and of the neighbours
//! of this router except quadrics. The links of such a group form triangles that all contain the shared router. For odd q, there are q
//! groups of this kind, with q routers each. For even q, there are q - 1 groups of this kind, with q + 1 routers each. Group 0 has q + 1
//! links to each other group. Any two other groups are joined by q - 2 links for odd q, and by q links for even q.
//!
//! Router ids increase from group to group. In a group the shared router comes first. After the shared router, the routers of a group
//! follow in the order of the numbers of their points. The point (1, a, b) has number a q + b, (0, 1, a) has q^2 + a, and (0, 0, 1) has
//! q^2 + q. In these formulas, an element of the field is the number whose digits are the element's coefficients. Link classes: "local" in
//! a group, "global" between groups. Terminal id = router * p + port. The ports to terminals come first, then the links sorted by
//! neighbour, then the ports of the other links of trunks.
//!
//! # Not modelled
//! The expansions in the source that copy racks. The additional links of quadrics in the source, for even degrees.
//!
//! # Validation
//! `topology/tests/polarfly.rs` checks routers, degrees, diameter, common neighbours and links between groups for every q up to 32.
//! `topology/tests/polarfly.rs` also compares the bisection with the bound by the second eigenvalue. `topology/tests/conformance.rs` checks
//! wiring and views. No other simulator was compared.

use super::TopologyModel;
use super::galois::{Field, prime_power};
use crate::graph::{check_positive, check_size};
use crate::{Graph, GraphBuilder, Groups, Peer, Port, Structure, TrunkWidth};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_units::Refusal;

/// Polarity graph of diameter 2 with q^2 + q + 1 routers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolarFly {
    /// q: a power of a prime. The network has q^2 + q + 1 routers: q^2 routers with q + 1 links each, and q + 1 routers with q links each.
    pub q: u32,
    /// p: number of terminals on each router, 1 or more. Half of q + 1, rounded up, gives full global bandwidth.
    pub terminals_per_router: u32,
    /// Number of parallel links that replace each link between routers, 1 or more: for all classes, or by link class.
    #[serde(default)]
    pub trunk_width: TrunkWidth,
}

impl TopologyModel for PolarFly {
    fn build(&self, path: &str) -> Result<Graph, Refusal> {
        let plane = Plane { field: self.check(path)? };
        let p = self.terminals_per_router;
        let racks = racks(&plane);
        let group_of: Vec<u32> =
            (0..).zip(&racks).flat_map(|(group, rack)| std::iter::repeat_n(group, rack.len())).collect();
        let neighbours = neighbours(&plane, &racks.concat());
        let mut builder = GraphBuilder::new("polarfly", ["local", "global"]);
        for (router, fars) in (0..).zip(&neighbours) {
            let terminals =
                (router * p..(router + 1) * p).map(|terminal| Port { peer: Peer::Terminal(terminal), class: 0 });
            let links = fars.iter().map(|&far| {
                let back = neighbours[far as usize].partition_point(|&other| other < router);
                let class = if group_of[far as usize] == group_of[router as usize] { 1 } else { 2 };
                Port { peer: Peer::Router { router: far, port: (p as usize + back) as u16 }, class }
            });
            builder.router(terminals.chain(links));
        }
        builder.trunks(&self.trunk_width);
        let count = racks.len() as u32;
        let places = (0..).zip(&racks).flat_map(|(group, rack)| (0..rack.len() as u32).map(move |at| (group, at)));
        let groups = Groups { count, places: places.collect(), complete: None, global: None };
        builder.build(Structure::of_groups(groups), path)
    }

    fn examples() -> Vec<Self> {
        let new = |q, terminals_per_router, trunk_width| Self { q, terminals_per_router, trunk_width };
        let single = [(2, 2), (3, 2), (4, 1), (5, 2), (7, 4), (8, 3), (9, 5)];
        let single = single.map(|(q, p)| new(q, p, TrunkWidth::default()));
        let mixed = TrunkWidth::ByClass([("local".to_owned(), 2)].into());
        single.into_iter().chain([new(3, 1, mixed)]).collect()
    }
}

impl PolarFly {
    /// Checks all sizes, and returns the Galois field of the network.
    fn check(&self, path: &str) -> Result<Field, Refusal> {
        let (q, p) = (self.q, self.terminals_per_router);
        let fits = |q: &u32| prime_power(*q).is_some();
        if !fits(&q) {
            let what = format!("{q} is not a power of a prime, but the construction needs a field of q elements");
            let smaller = (2..q).rev().find(fits);
            let larger = (q..u32::MAX).find(fits);
            let names: Vec<String> = smaller.into_iter().chain(larger).map(|q| q.to_string()).collect();
            return Err(Refusal::new(format!("{path}.q"), what, format!("write {}", names.join(" or "))));
        }
        check_positive(&[("terminals_per_router", p)], path)?;
        let (q, p) = (u64::from(q), u64::from(p));
        check_size(1, p + q + 1, &format!("{p} terminals + {} links", q + 1), path)?;
        check_size(q * q + q + 1, p + q + 1, "the sum", path)?;
        Field::of(self.q, path)
    }
}

/// A point of the projective plane. The first nonzero coordinate of a point is 1.
type Point = [u32; 3];

/// The projective plane over a field.
struct Plane {
    field: Field,
}

impl Plane {
    /// The number of a point, in the order described in the header of this file.
    fn number(&self, point: Point) -> u32 {
        let q = self.field.elements();
        match point {
            [1, a, b] => a * q + b,
            [_, 1, a] => q * q + a,
            _ => q * q + q,
        }
    }

    /// The point that has this number.
    fn point(&self, number: u32) -> Point {
        let q = self.field.elements();
        match number.checked_sub(q * q) {
            None => [1, number / q, number % q],
            Some(a) if a < q => [0, 1, a],
            Some(_) => [0, 0, 1],
        }
    }

    /// The indices of the points whose scalar product with this point is 0. The point itself is included if it is a quadric.
    fn orthogonal(&self, number: u32) -> impl Iterator<Item = u32> {
        let field = &self.field;
        // `s` and `t` are two of these points; each further point is `s` plus a multiple of `t`
        let [s, t] = match self.point(number) {
            [1, a, b] => [[field.negative(a), 1, 0], [field.negative(b), 0, 1]],
            [_, 1, a] => [[1, 0, 0], [0, field.negative(a), 1]],
            _ => [[1, 0, 0], [0, 1, 0]],
        };
        let sums =
            (0..field.elements()).map(move |factor| [0, 1, 2].map(|i| field.sum(s[i], field.product(factor, t[i]))));
        sums.chain([t]).map(|vector| self.number(self.scaled(vector)))
    }

    /// The point that is a multiple of this vector.
    fn scaled(&self, vector: [u32; 3]) -> Point {
        let first = vector.into_iter().find(|&element| element != 0).expect("not all are 0");
        let factor = self.field.inverse(first);
        vector.map(|element| self.field.product(factor, element))
    }

    /// True if the product of the point with itself is 0.
    fn is_quadric(&self, number: u32) -> bool {
        let [x, y, z] = self.point(number).map(|element| self.field.product(element, element));
        self.field.sum(self.field.sum(x, y), z) == 0
    }
}

/// The racks of the source as lists of point numbers, the quadrics first.
///
/// Quadrics belong to no triangle, because a quadric and any neighbour of it have only the quadric itself as a common neighbour. So no link
/// joins two neighbours of the first quadric. Every router that is neither a quadric nor such a neighbour belongs to exactly one of their
/// racks.
fn racks(plane: &Plane) -> Vec<Vec<u32>> {
    let q = plane.field.elements();
    let (mut quadrics, others): (Vec<u32>, Vec<u32>) = (0..q * q + q + 1).partition(|&number| plane.is_quadric(number));
    let first = quadrics[0];
    let mut racks = vec![Vec::new()];
    for centre in others.into_iter().filter(|&number| plane.orthogonal(number).any(|far| far == first)) {
        let mut rack: Vec<u32> = plane.orthogonal(centre).filter(|&number| !plane.is_quadric(number)).collect();
        if rack.is_empty() {
            quadrics.push(centre);
            continue;
        }
        rack.sort_unstable();
        rack.insert(0, centre);
        racks.push(rack);
    }
    racks[0] = quadrics;
    racks
}

/// The neighbours of each router, ascending; `points` contains the number of the point of each router.
fn neighbours(plane: &Plane, points: &[u32]) -> Vec<Vec<u32>> {
    let mut routers = vec![0; points.len()];
    (0..).zip(points).for_each(|(router, &point)| routers[point as usize] = router);
    let of = |(router, &point): (u32, &u32)| {
        let fars = plane.orthogonal(point).map(|far| routers[far as usize]);
        let mut fars: Vec<u32> = fars.filter(|&far| far != router).collect();
        fars.sort_unstable();
        fars
    };
    (0..).zip(points).map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build(q: u32, terminals_per_router: u32) -> Result<Graph, Refusal> {
        PolarFly { q, terminals_per_router, trunk_width: TrunkWidth::default() }.build("topology")
    }

    #[test]
    fn three_is_wired_by_hand() {
        // squares are 0 or 1 modulo 3, so the quadrics have no coordinate 0: (1, 1, 1), (1, 1, 2), (1, 2, 1), (1, 2, 2)
        let plane = Plane { field: Field::new(3).unwrap() };
        let racks = racks(&plane);
        assert_eq!(racks[0], [4, 5, 7, 8]);
        // the neighbours of (1, 1, 1) are (1, 0, 2), (1, 2, 0) and (0, 1, 2)
        let centres: Vec<u32> = racks[1..].iter().map(|rack| rack[0]).collect();
        assert_eq!(centres, [2, 6, 9 + 2]);
        // for neighbours of (1, 0, 2), x = -2 z = z: they are (0, 1, 0), (1, 0, 1), (1, 1, 1) and (1, 2, 1). The last two are quadrics.
        assert_eq!(racks[1], [2, 1, 9]);
        let graph = build(3, 1).unwrap();
        // router 4 is (1, 0, 2). The neighbours of router 4 are router 0, which is (1, 1, 1), router 2, which is (1, 2, 1), and the routers
        // of its rack
        assert_eq!(graph.neighbours(4).collect::<Vec<_>>(), [0, 2, 5, 6]);
    }

    #[test]
    fn neighbours_are_those_with_a_product_of_zero() {
        for q in [2, 3, 4, 5, 8, 9] {
            let plane = Plane { field: Field::new(q).unwrap() };
            let field = &plane.field;
            let all = || (0..q * q + q + 1).map(|number| (number, plane.point(number)));
            for (number, point) in all() {
                assert_eq!(plane.number(point), number);
                let product = |other: Point| (0..3).fold(0, |sum, i| field.sum(sum, field.product(point[i], other[i])));
                let expected: Vec<u32> =
                    all().filter(|&(_, other)| product(other) == 0).map(|(number, _)| number).collect();
                let mut found: Vec<u32> = plane.orthogonal(number).collect();
                found.sort_unstable();
                assert_eq!(found, expected, "q = {q}: {point:?}");
                assert_eq!(plane.is_quadric(number), product(point) == 0);
            }
        }
    }

    #[test]
    fn refuses_what_has_no_construction() {
        let refusal = |q| build(q, 1).unwrap_err();
        assert_eq!(refusal(6).what, "6 is not a power of a prime, but the construction needs a field of q elements");
        assert_eq!((refusal(6).path, refusal(6).help), ("topology.q".into(), "write 5 or 7".into()));
        assert_eq!((refusal(0).help, refusal(1).help), ("write 2".into(), "write 2".into()));
        assert!([2, 5, 7].into_iter().all(|q| build(q, 1).is_ok()), "the remedies work");
        assert_eq!(refusal(u32::MAX).path, "topology.q");
        assert_eq!(refusal(521).what, "1 terminals + 522 links gives 523 ports per router; a router has at most 512");
        assert_eq!(build(5, 0).unwrap_err().path, "topology.terminals_per_router");
        // with `make test-all`, the test uses the largest network whose routers fit into 128 ports
        let q = if std::env::var_os("WEFT_TEST_ROUNDS").is_some() { 125 } else { 27 };
        assert_eq!(build(q, 2).unwrap().radix(), q + 3);
        assert_eq!(refusal(257).what, "a field of 257 elements is too large: its tables have room for 256");
    }
}
