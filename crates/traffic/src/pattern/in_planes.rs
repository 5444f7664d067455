//! Turns a pattern between nodes into a pattern between terminals. Each node has one terminal in each of several planes, and packets stay
//! in their plane.

use super::{Destinations, Group, Pattern};
use rand_pcg::Pcg32;

/// A pattern for terminals: terminal n * planes + p belongs to node n in plane p.
#[derive(Debug)]
pub struct InPlanes {
    pub planes: u32,
    /// The pattern of traffic between nodes.
    pub of: Pattern,
}

impl InPlanes {
    /// The terminal of `node` that is in the same plane as terminal `source`.
    fn beside(&self, source: u32, node: u32) -> u32 {
        node * self.planes + source % self.planes
    }
}

impl Destinations for InPlanes {
    fn draw(&self, source: u32, rng: &mut Pcg32) -> Option<u32> {
        let node = self.of.destination(source / self.planes, rng)?;
        Some(self.beside(source, node))
    }

    fn distribution(&self, source: u32) -> Vec<(u32, f64)> {
        let nodes = self.of.distribution(source / self.planes);
        nodes.into_iter().map(|(node, probability)| (self.beside(source, node), probability)).collect()
    }

    fn relative_load(&self, source: u32) -> f64 {
        self.of.relative_load(source / self.planes)
    }

    fn groups(&self) -> Vec<Group> {
        let terminals = |node: u32| node * self.planes..(node + 1) * self.planes;
        let of_nodes =
            |group: Group| Group { terminals: group.terminals.into_iter().flat_map(terminals).collect(), ..group };
        self.of.groups().into_iter().map(of_nodes).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::{PatternConfig, Population, stream};

    #[test]
    fn a_terminal_sends_to_its_plane_in_the_nodes_of_the_pattern() {
        let build = |text: &str| {
            let config: PatternConfig = serde_json::from_str(text).expect("a pattern");
            config.build(&Population::of(8), "pattern").expect("it fits").in_planes(3)
        };
        // Node n sends to node 7 - n, in each of three planes.
        let complement = build(r#"{"bit_complement": {}}"#);
        for source in 0..24 {
            let to = (7 - source / 3) * 3 + source % 3;
            assert_eq!(complement.destination(source, &mut stream(1, 0, 0)), Some(to));
            assert_eq!(complement.distribution(source), [(to, 1.0)]);
        }
        // Each of the 7 other nodes has the same probability.
        let uniform = build(r#"{"uniform": {}}"#).distribution(4);
        let nodes = [0, 2, 3, 4, 5, 6, 7].map(|node| node * 3 + 1);
        assert!(uniform.iter().map(|&(to, _)| to).eq(nodes));
        assert!(uniform.iter().all(|&(_, share)| (share - 1.0 / 7.0).abs() < 1e-12));
    }
}
