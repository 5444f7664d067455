//! The wiring of links between groups: for each global port of a group, the other group and the port there.

use super::Peer;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Rule that determines to which group each global port of a group leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Arrangement {
    /// Port k leads to the other group with index k, if the other groups are listed in ascending order.
    Absolute,
    /// Port k of group i leads to group i - (k + 1) mod g. All groups have the same wiring, and the last port of a group leads to the first
    /// port of the next group.
    #[default]
    PalmTree,
    /// Port k of group i leads to group i + (k + 1) mod g. The arrangement is the mirror image of the palm tree.
    Relative,
    /// Ports 2q and 2q + 1 of group i lead to groups i + (q + 1) and i - (q + 1) mod g. Each link joins routers with the same index in
    /// their groups.
    Circulant,
}

impl Arrangement {
    /// The group to which global port `k` of group `i` leads, in a network of `g` groups; `k` is below [`GlobalLinks::used`].
    pub fn target(&self, g: u32, i: u32, k: u32) -> u32 {
        let k = if k < g - 1 { k } else { k % (g - 1) };
        match self {
            Self::Absolute => k + u32::from(k >= i),
            Self::PalmTree => before(g, i, k + 1),
            Self::Relative => before(g, i, g - (k + 1)),
            Self::Circulant if k % 2 == 0 => before(g, i, g - (k / 2 + 1)),
            Self::Circulant => before(g, i, k / 2 + 1),
        }
    }

    /// The first global port of group `i` that leads to group `j` != `i`. If several links join the two groups, the port of link m is
    /// higher by m * (g - 1), at both ends.
    pub fn port_to(&self, g: u32, i: u32, j: u32) -> u32 {
        match self {
            Self::Absolute => j - u32::from(j > i),
            Self::PalmTree => before(g, i, j) - 1,
            Self::Relative => before(g, j, i) - 1,
            // With an even number of groups, the opposite group is at distance g / 2 upward, on port g - 2.
            Self::Circulant => match before(g, j, i) {
                up if up <= g / 2 => 2 * (up - 1),
                up => 2 * (g - up - 1) + 1,
            },
        }
    }
}

/// Computes (i - distance) mod g, for i and distance up to g.
fn before(g: u32, i: u32, distance: u32) -> u32 {
    (if i >= distance { i } else { i + g }) - distance
}

/// The links between groups of equal size, whose routers have consecutive ids. All groups number their global ports in the same way.
///
/// Every two groups are joined by L = floor(ports / (groups - 1)) links, where ports is the number of global ports of a group. The wiring
/// consists of L copies of the arrangement, with groups - 1 ports of each group in a copy. Port k of a group is port k mod (groups - 1) of
/// copy k / (groups - 1), rounded down. The ports from L * (groups - 1) on are unused.
#[derive(Debug, Clone, PartialEq)]
pub struct GlobalLinks {
    pub groups: u32,
    pub arrangement: Arrangement,
    /// For each global port k of a group: the index of its router in the group, and the number of its port on the router.
    pub gateways: Vec<(u32, u16)>,
}

impl GlobalLinks {
    /// Number of links between every two groups.
    pub fn per_pair(&self) -> u32 {
        self.gateways.len() as u32 / (self.groups - 1)
    }

    /// Number of global ports of a group that are wired. The wired ports are the first ports of the group.
    pub fn used(&self) -> u32 {
        self.per_pair() * (self.groups - 1)
    }

    /// For the link at global port `k` of group `i`: the group and the global port at its other end. Both ports are in the same copy of the
    /// wiring. `None` if the port is unused.
    pub fn far_end(&self, i: u32, k: u32) -> Option<(u32, u32)> {
        let others = self.groups - 1;
        (k < self.used()).then(|| {
            let j = self.arrangement.target(self.groups, i, k);
            (j, self.arrangement.port_to(self.groups, j, i) + k / others * others)
        })
    }

    /// For the link at global port `k` of group `i`, in groups of `size` routers: the router and the port at its other end.
    pub fn peer(&self, size: u32, i: u32, k: u32) -> Peer {
        self.far_end(i, k).map_or(Peer::Unused, |(j, landing)| {
            let (index, port) = self.gateways[landing as usize];
            Peer::Router { router: j * size + index, port }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_and_targets_are_inverse() {
        use Arrangement::{Absolute, Circulant, PalmTree, Relative};
        for arrangement in [Absolute, PalmTree, Relative, Circulant] {
            for g in 2..40 {
                for i in 0..g {
                    let mut targets: Vec<_> = (0..g - 1).map(|k| arrangement.target(g, i, k)).collect();
                    assert!((0..g - 1).all(|k| arrangement.port_to(g, i, targets[k as usize]) == k));
                    assert!((0..g - 1).all(|k| arrangement.target(g, i, k + 3 * (g - 1)) == targets[k as usize]));
                    targets.sort_unstable();
                    assert!(targets.into_iter().eq((0..g).filter(|&j| j != i)), "every other group once");
                }
            }
        }
    }

    #[test]
    fn the_formulas_are_the_published_ones() {
        for g in 2..40 {
            for (i, k) in (0..g).flat_map(|i| (0..g - 1).map(move |k| (i, k))) {
                // Palm tree: port k leads to (i - (k+1)) mod g; the port there is a*h - 1 - k = g - 2 - k.
                let j = (i as i64 - (k as i64 + 1)).rem_euclid(g.into()) as u32;
                assert_eq!(Arrangement::PalmTree.target(g, i, k), j);
                assert_eq!(Arrangement::PalmTree.port_to(g, j, i), g - 2 - k);
                // Absolute: port k leads to k if k < i, otherwise to k + 1; the port there is i or i - 1.
                let j = if k < i { k } else { k + 1 };
                assert_eq!(Arrangement::Absolute.target(g, i, k), j);
                assert_eq!(Arrangement::Absolute.port_to(g, j, i), if i < j { i } else { i - 1 });
                // Relative: port k leads to (i + k + 1) mod g; the port there is g - 2 - k.
                let j = (i + k + 1) % g;
                assert_eq!(Arrangement::Relative.target(g, i, k), j);
                assert_eq!(Arrangement::Relative.port_to(g, j, i), g - 2 - k);
                // Circulant: port k leads to i +/- (k/2 + 1); the port there is the other port of the pair. At half of the ring, both ports
                // of a pair are the same.
                let distance = i64::from(k / 2 + 1) * if k % 2 == 0 { 1 } else { -1 };
                let j = (i64::from(i) + distance).rem_euclid(g.into()) as u32;
                assert_eq!(Arrangement::Circulant.target(g, i, k), j);
                assert_eq!(Arrangement::Circulant.port_to(g, j, i), if 2 * (k / 2 + 1) == g { k } else { k ^ 1 });
            }
        }
    }
}
