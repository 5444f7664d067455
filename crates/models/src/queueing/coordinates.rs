//! Coordinates of destinations on a grid, by which `iodet` and `bbq` choose queues.

use weft_api::queueing::Crossing;
use weft_topology::{Graph, Grid};

/// The grid of a network, and the router of each terminal.
#[derive(Debug)]
pub struct OnGrid {
    pub grid: Grid,
    router_of: Vec<u32>,
}

impl OnGrid {
    /// Creates the view of a network. Returns `None` for a network without dimensions.
    pub fn of(graph: &Graph) -> Option<Self> {
        let grid = graph.structure().grid.clone().filter(|grid| !grid.dimensions.is_empty())?;
        Some(Self { grid, router_of: (0..graph.terminals()).map(|t| graph.terminal_at(t).0).collect() })
    }

    /// The coordinate of the destination in the dimension of the channel that the packet crosses, and the width of that dimension. A
    /// channel from a terminal has no dimension. For such a channel, the function uses the lowest dimension in which source and destination
    /// differ, or dimension 0 if they do not differ.
    pub fn of_destination(&self, crossing: &Crossing) -> (u32, u32) {
        let to = self.router_of[crossing.dst as usize];
        let crossed = crossing.from.and_then(|(_, port)| self.grid.dimension_of(port));
        let dimension = crossed.unwrap_or_else(|| {
            // a channel from a terminal leads to the router of the source
            let from = self.grid.coordinates(crossing.to);
            from.zip(self.grid.coordinates(to)).position(|(from, to)| from != to).unwrap_or(0)
        });
        let coordinate = self.grid.coordinates(to).nth(dimension).unwrap_or(0);
        (coordinate, self.grid.dimensions[dimension].width)
    }
}
