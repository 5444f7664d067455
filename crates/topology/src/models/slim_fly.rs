//! Slim Fly: a graph by McKay, Miller and Siran (MMS), which has diameter 2 and almost as many routers as the Moore bound allows.
//!
//! # Source
//! M. Besta, T. Hoefler, "Slim Fly: A Cost Effective Low-Diameter Network Topology", SC'14; B. D. McKay, M. Miller,
//! J. Siran, "A Note on Large Graphs of Diameter Two and Given Maximum Degree", J. Combin. Theory B 74 (1998);
//! P. R. Hafner, "Geometric Realisation of the Graphs of McKay-Miller-Siran", J. Combin. Theory B 90 (2004), for the
//! generators where q is 0 or 3 modulo 4.
//!
//! # Parameters
//! `q` \[a power of a prime\], `terminals_per_router` p \[terminals\], `trunk_width` \[links, by link class\].
//!
//! # Guarantees
//! q = 4w + d with d in {-1, 0, 1} is a power of a prime, but not 2 itself. All arithmetic is that of the Galois field of q elements.
//! Routers are (0, x, y) and (1, m, c). A link joins (0, x, y) and (1, m, c) if y = m x + c. A link joins two routers (0, x, .) if the
//! difference of their y is in a set X. A link joins two routers (1, m, .) if the difference of their c is in a set X'. X contains even
//! powers and X' contains odd powers of a primitive element. The sets X and X' are large enough to contain the negative of each of their
//! elements. The network has 2 q^2 routers, degree (3 q - d) / 2 and diameter 2. The routers (0, i, .) and (1, i, .) form group i, like the
//! racks of the source. Router id = group * 2 q + side * q + y (or c). In this formula, an element of the field is the number whose digits
//! are the element's coefficients. Every two groups are joined by 2 q links. Link classes: "local" in a group, "global" between groups.
//! Terminal id = router * p + port. The ports to terminals come first, then the links sorted by neighbour, then the ports of the other
//! links of trunks.
//!
//! # Not modelled
//! The extended graphs in the source, which have diameter 3.
//!
//! # Validation
//! `topology/tests/slim_fly.rs` checks routers, degree, diameter 2 and links between groups for every q up to 49. It also checks the
//! Hoffman-Singleton graph (q = 5), the only Moore graph of degree 7 and diameter 2. `topology/tests/conformance.rs` checks wiring and
//! views. No other simulator was compared.

use super::TopologyModel;
use super::galois::{Field, prime_power};
use crate::graph::{check_positive, check_size};
use crate::{Graph, GraphBuilder, Groups, Peer, Port, Structure, TrunkWidth};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_units::Refusal;

/// MMS graph of diameter 2 with 2 q^2 routers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SlimFly {
    /// q: a power of a prime, 3 or more; the network has 2 q^2 routers.
    pub q: u32,
    /// p: number of terminals on each router, 1 or more. Half of the degree, rounded up, gives full global bandwidth.
    pub terminals_per_router: u32,
    /// Number of parallel links that replace each link between routers, 1 or more: for all classes, or by link class.
    #[serde(default)]
    pub trunk_width: TrunkWidth,
}

impl TopologyModel for SlimFly {
    fn build(&self, path: &str) -> Result<Graph, Refusal> {
        let field = self.check(path)?;
        let (q, p) = (self.q, self.terminals_per_router);
        let neighbours = neighbours(&field);
        let mut builder = GraphBuilder::new("slim_fly", ["local", "global"]);
        for (router, fars) in (0..).zip(&neighbours) {
            let terminals =
                (router * p..(router + 1) * p).map(|terminal| Port { peer: Peer::Terminal(terminal), class: 0 });
            let links = fars.iter().map(|&far| {
                let back = neighbours[far as usize].partition_point(|&other| other < router);
                let class = if far / (2 * q) == router / (2 * q) { 1 } else { 2 };
                Port { peer: Peer::Router { router: far, port: (p as usize + back) as u16 }, class }
            });
            builder.router(terminals.chain(links));
        }
        builder.trunks(&self.trunk_width);
        builder.build(Structure::of_groups(Groups::in_a_row(q, 2 * q)), path)
    }

    fn examples() -> Vec<Self> {
        let new = |q, terminals_per_router, trunk_width| Self { q, terminals_per_router, trunk_width };
        let single = [(3, 2), (4, 1), (5, 4), (7, 1), (8, 3), (9, 6)];
        let single = single.map(|(q, p)| new(q, p, TrunkWidth::default()));
        let mixed = TrunkWidth::ByClass([("global".to_owned(), 2)].into());
        single.into_iter().chain([new(3, 1, mixed)]).collect()
    }
}

impl SlimFly {
    /// Checks all sizes, and returns the Galois field of the network.
    fn check(&self, path: &str) -> Result<Field, Refusal> {
        let (q, p) = (self.q, self.terminals_per_router);
        let fits = |q: &u32| prime_power(*q).is_some() && q % 4 != 2;
        if !fits(&q) {
            let what = match prime_power(q) {
                Some(_) => format!("{q} = 4 * {} + 2, but the construction needs 4w - 1, 4w or 4w + 1", q / 4),
                None => format!("{q} is not a power of a prime, but the construction needs a field of q elements"),
            };
            let smaller = (3..q).rev().find(fits);
            let larger = (q..u32::MAX).find(fits);
            let names: Vec<String> = smaller.into_iter().chain(larger).map(|q| q.to_string()).collect();
            return Err(Refusal::new(format!("{path}.q"), what, format!("write {}", names.join(" or "))));
        }
        check_positive(&[("terminals_per_router", p)], path)?;
        let degree = degree(q);
        let sum = format!("{p} terminals + {degree} links");
        check_size(1, u64::from(p) + degree, &sum, path)?;
        check_size(2 * u64::from(q) * u64::from(q), u64::from(p) + degree, "the sum", path)?;
        Field::of(q, path)
    }
}

/// Number of links of each router: (3 q - d) / 2 with q = 4w + d.
fn degree(q: u32) -> u64 {
    let q = u64::from(q);
    match q % 4 {
        1 => (3 * q - 1) / 2,
        3 => (3 * q).div_ceil(2),
        _ => 3 * q / 2,
    }
}

/// The neighbours of each router, in ascending order.
fn neighbours(field: &Field) -> Vec<Vec<u32>> {
    let q = field.elements();
    let router = |side: u32, group: u32, place: u32| group * 2 * q + side * q + place;
    let mut neighbours = vec![Vec::new(); 2 * (q * q) as usize];
    for (side, generators) in [0, 1].into_iter().zip(generators(field)) {
        for group in 0..q {
            for place in 0..q {
                let near = router(side, group, place);
                let in_group = generators.iter().map(|&step| router(side, group, field.sum(place, step)));
                neighbours[near as usize].extend(in_group);
            }
        }
    }
    for (x, m, c) in (0..q * q * q).map(|number| (number % q, number / q % q, number / q / q)) {
        let [point, line] = [router(0, x, field.sum(field.product(m, x), c)), router(1, m, c)];
        neighbours[point as usize].push(line);
        neighbours[line as usize].push(point);
    }
    neighbours.iter_mut().for_each(|fars| fars.sort_unstable());
    neighbours
}

/// The sets X and X': the differences of y between neighbours (0, x, y), and the differences of c between neighbours (1, m, c).
fn generators(field: &Field) -> [Vec<u32>; 2] {
    let q = field.elements();
    let w = q.div_ceil(4);
    let powers = |exponents: &mut dyn Iterator<Item = u32>| exponents.map(|e| field.power(e)).collect();
    match q % 4 {
        // -1 is an even power, so the even powers contain the negative of each element, and so do the odd powers
        1 => [powers(&mut (0..q - 1).step_by(2)), powers(&mut (1..q - 1).step_by(2))],
        // q is even, so -1 = 1, and every element is its negative. X contains 1 as the power 0, and X' contains 1 as the power q - 1
        0 => [powers(&mut (0..q - 1).step_by(2)), powers(&mut (1..q).step_by(2))],
        // -1 is the odd power 2w - 1: the first half of the even powers with their negatives, and the same set multiplied by the primitive
        // element
        _ => [0, 1].map(|first| {
            let half = (first..first + 2 * w - 1).step_by(2);
            powers(&mut half.clone().chain(half.map(|e| e + 2 * w - 1)))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build(q: u32, terminals_per_router: u32) -> Result<Graph, Refusal> {
        SlimFly { q, terminals_per_router, trunk_width: TrunkWidth::default() }.build("topology")
    }

    #[test]
    fn five_is_wired_as_in_the_source() {
        // 2 is primitive modulo 5: X = {1, 4}, X' = {2, 3}
        let field = Field::new(5).unwrap();
        assert_eq!(generators(&field).map(|mut set| (set.sort_unstable(), set).1), [[1, 4], [2, 3]]);
        let graph = build(5, 1).unwrap();
        // neighbours of (0, 1, 2): y = 1 and y = 3 in its group; for the other side, 2 = m + c gives the routers (1, m, c) with c = 2, 1,
        // 0, 4, 3
        let far: Vec<u32> = graph
            .ports(12)
            .iter()
            .filter_map(|port| match port.peer {
                Peer::Router { router, .. } => Some(router),
                _ => None,
            })
            .collect();
        assert_eq!(far, [5 + 2, 11, 13, 15 + 1, 25, 35 + 4, 45 + 3]);
    }

    #[test]
    fn both_sets_are_closed_under_change_of_sign() {
        for q in (3..=83).filter(|&q| prime_power(q).is_some()) {
            let field = Field::new(q).unwrap();
            for set in generators(&field) {
                assert!(set.iter().all(|&e| set.iter().any(|&other| field.sum(e, other) == 0)), "q = {q}: {set:?}");
            }
        }
    }

    #[test]
    fn refuses_what_has_no_construction() {
        let refusal = |q| build(q, 1).unwrap_err();
        assert_eq!(refusal(6).what, "6 is not a power of a prime, but the construction needs a field of q elements");
        assert_eq!((refusal(6).path, refusal(6).help), ("topology.q".into(), "write 5 or 7".into()));
        assert_eq!(refusal(2).what, "2 = 4 * 0 + 2, but the construction needs 4w - 1, 4w or 4w + 1");
        assert_eq!(
            (refusal(0).help, refusal(1).help, refusal(2).help),
            ("write 3".into(), "write 3".into(), "write 3".into())
        );
        assert_eq!(refusal(u32::MAX).path, "topology.q");
        assert_eq!(refusal(349).what, "1 terminals + 523 links gives 524 ports per router; a router has at most 512");
        assert_eq!(build(5, 0).unwrap_err().path, "topology.terminals_per_router");
        // with `make test-all`, the test uses the largest network whose routers fit into 128 ports
        let q = if std::env::var_os("WEFT_TEST_ROUNDS").is_some() { 83 } else { 27 };
        assert_eq!(build(q, 3).unwrap().radix(), (3 * q).div_ceil(2) + 3);
        assert_eq!(refusal(257).what, "a field of 257 elements is too large: its tables have room for 256");
    }
}
