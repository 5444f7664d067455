//! Finds several embedded rings, no two of which have a link in common.
//!
//! A dragonfly with the arrangement `palm_tree` and the largest number of groups has such rings by construction. In other networks with a
//! grid whose lines are closed, the first ring follows the lines of the grid. A search finds the other rings among the remaining links.

use super::search::Neighbours;
use super::{Ring, links_to};
use crate::{Arrangement, Graph, Grid, Line};
use weft_units::Refusal;

/// Finds `count` rings. If this is impossible, the refusal states how many rings exist or were found.
pub(super) fn rings(graph: &Graph, count: u32, path: &str) -> Result<Vec<Ring>, Refusal> {
    if count == 0 {
        return Err(Refusal::new(path, "0 rings are too few", "write 1 or more"));
    }
    if let Some(palm_tree) = PalmTree::of(graph) {
        let most = palm_tree.steps();
        if count as usize > most.len() {
            let what = format!("{count} rings are too many: {}", palm_tree.has(most.len()));
            return Err(Refusal::new(path, what, format!("write at most {}", most.len())));
        }
        let orders = most.into_iter().take(count as usize).map(|(entry, step)| palm_tree.order(entry, step));
        let rings: Result<Vec<Ring>, _> = orders.map(|order| Ring::along(graph, &order)).collect();
        // a link can be missing, because the graph can be a network after faults
        if let Ok(rings) = rings {
            return Ok(rings);
        }
    }
    refuse_too_many(graph, count, path)?;
    let mut left = Neighbours::of((0..graph.routers()).map(|r| links_to(graph, r).map(|(_, far, _)| far)));
    let mut rings = Vec::new();
    while rings.len() < count as usize {
        let by_lines = graph.structure().grid.as_ref().filter(|_| rings.is_empty()).and_then(around);
        let by_lines = by_lines.and_then(|order| Ring::along(graph, &order).ok());
        let by_search = || left.ring().and_then(|order| Ring::along(graph, &order).ok());
        let Some(ring) = by_lines.or_else(by_search) else {
            let asked = if count == 1 { "1 ring".to_owned() } else { format!("{count} rings without a common link") };
            let what = format!("the scenario needs {asked}; a search found {}", rings.len());
            let help = match rings.len() {
                0 => "use another topology, such as a dragonfly with arrangement: palm_tree".to_owned(),
                found => format!("write at most {found}"),
            };
            return Err(Refusal::new(path, what, help));
        };
        left.remove(&ring.order());
        rings.push(ring);
    }
    Ok(rings)
}

/// Refuses a number of rings for which a router does not have enough links.
fn refuse_too_many(graph: &Graph, count: u32, path: &str) -> Result<(), Refusal> {
    let neighbours = |&router: &u32| {
        let mut others: Vec<u32> = links_to(graph, router).map(|(_, far, _)| far).collect();
        others.sort_unstable();
        others.dedup();
        others.len() as u32
    };
    let least = (0..graph.routers()).min_by_key(neighbours).expect("a router");
    let links = neighbours(&least);
    if count <= links / 2 {
        return Ok(());
    }
    let what = format!(
        "{count} rings without a common link need {} links of each router; router {least} has {links} neighbours",
        2 * u64::from(count)
    );
    let help = match links / 2 {
        0 => "use another topology, such as a dragonfly with arrangement: palm_tree".to_owned(),
        most => format!("write at most {most}"),
    };
    Err(Refusal::new(path, what, help))
}

/// A palm tree of g = a*h + 1 groups of a routers (a is even), with one link between every two groups.
///
/// A link from group i to group i + s has port g - s - 1 at its first end. At its other end it has port s - 1. The link leaves router
/// (a*h - s) / h and enters router (s - 1) / h, both rounded down. If it enters router e, it leaves router a - 1 - e. A ring goes from
/// every group i to group i + s, with the same step s for all groups. The ring visits all groups if s and g have no common factor. In each
/// group the ring follows a path from e to a - 1 - e that visits all routers of the group.
///
/// Paths of this kind without a common link are the zigzags of a complete graph (E. Lucas 1892, after Walecki). Path j visits j, j + 1, j -
/// 1, j + 2, ..., j + a/2 mod a. Rename the routers so that path 0 visits them in the order of their labels. After renaming, v <= a/2
/// becomes 2v - 1, and any other v becomes 2(a - v). With the new labels path j ends at 2j - 1 and a - 2j, whose sum is a - 1. Path j is
/// the path for e = 2j - 1 or, in the opposite direction, for e = a - 2j. The h steps whose links enter the same router would use the same
/// path. At most one ring therefore exists for each e < a/2. The step 1 gives the ring in label order.
struct PalmTree {
    a: u32,
    h: u32,
    g: u32,
}

impl PalmTree {
    fn of(graph: &Graph) -> Option<Self> {
        let groups = graph.structure().groups.as_ref().filter(|groups| groups.complete.is_some())?;
        let (links, a, g) = (groups.global.as_ref()?, groups.run()?, groups.count);
        let full = links.arrangement == Arrangement::PalmTree && links.gateways.len() as u32 + 1 == g;
        (full && a.is_multiple_of(2)).then_some(Self { a, h: (g - 1) / a, g })
    }

    /// For each entry router e, the first step s with which a ring exists.
    fn steps(&self) -> Vec<(u32, u32)> {
        let of_entry = |e: u32| (e * self.h + 1..=(e + 1) * self.h).find(|&s| gcd(s, self.g) == 1).map(|s| (e, s));
        (0..self.a / 2).filter_map(of_entry).collect()
    }

    /// For a message: the reason why at most `most` rings exist.
    fn has(&self, most: usize) -> String {
        let &Self { a, h, g } = self;
        let half = a / 2;
        let rings = format!("in a palm tree of {g} groups of {a} routers each group has {half}");
        match half as usize - most {
            0 => format!("{rings} pairs of entry and exit routers, with one ring for each pair"),
            without => format!(
                "{rings} pairs of entry and exit routers, with at most one ring for each pair; pairs without a ring: {without}, \
                 because all of the {h} steps from group to group that such a pair can use have a common factor with {g}"
            ),
        }
    }

    /// The routers in the order in which the ring with this entry router and step visits them.
    fn order(&self, entry: u32, step: u32) -> Vec<u32> {
        let path = self.across(entry);
        let group = |k: u32| (u64::from(k) * u64::from(step) % u64::from(self.g)) as u32;
        let order = (0..self.g).flat_map(|k| path.iter().map(move |index| group(k) * self.a + index));
        from_router_0(order.collect())
    }

    /// The path through a group from router `entry` to router a - 1 - `entry`.
    fn across(&self, entry: u32) -> Vec<u32> {
        let (a, reversed) = (self.a, entry > 0 && entry.is_multiple_of(2));
        let j = if reversed { (a - entry) / 2 } else { entry.div_ceil(2) };
        let vertex = |t: u32| if t % 2 == 1 { (j + t.div_ceil(2)) % a } else { (j + a - t / 2) % a };
        let renamed = |v: u32| {
            if v == 0 {
                0
            } else if v <= a / 2 {
                2 * v - 1
            } else {
                2 * (a - v)
            }
        };
        let mut path: Vec<u32> = (0..a).map(|t| renamed(vertex(t))).collect();
        if reversed {
            path.reverse();
        }
        path
    }
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Rotates the list of routers on a ring, so that it begins with router 0.
fn from_router_0(mut order: Vec<u32>) -> Vec<u32> {
    let first = order.iter().position(|&router| router == 0).expect("router 0 is on every ring");
    order.rotate_left(first);
    order
}

/// A closed path through all routers of a grid, if the lines of its first dimension are closed. The path is built dimension by dimension.
/// Let c_0, c_1, ... be such a ring through the lower dimensions. For each coordinate of the next dimension the ring visits c_1, c_2, ...
/// once, alternately forward and backward. At the end the ring returns over the routers c_0 of all coordinates. After an even number of
/// coordinates the last router is a c_1. After an odd number it is the last router of the lower ring. Each of these two routers is a
/// neighbour of c_0.
fn around(grid: &Grid) -> Option<Vec<u32>> {
    let mut order = vec![0];
    let mut stride = 1;
    for dimension in grid.dimensions.iter().filter(|dimension| dimension.width > 1) {
        let rows = 0..dimension.width;
        if order.len() == 1 {
            if dimension.line == Line::Row {
                return None;
            }
            order = rows.collect();
        } else {
            let (first, others) = (order[0], &order[1..]);
            let mut longer = Vec::with_capacity(order.len() * dimension.width as usize);
            for row in rows.clone() {
                let at = |router: &u32| router + row * stride;
                if row % 2 == 0 {
                    longer.extend(others.iter().map(at))
                } else {
                    longer.extend(others.iter().rev().map(at))
                }
            }
            longer.extend(rows.rev().map(|row| first + row * stride));
            order = longer;
        }
        stride *= dimension.width;
    }
    Some(from_router_0(order))
}
