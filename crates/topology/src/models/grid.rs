//! Code that HyperX, torus and mesh share: routers on a grid of `widths` (dimension 0 changes fastest), with `terminals` on each router.

use crate::graph::{check_positive, check_size};
use crate::{Dimension, Line, Peer, Port, Structure};
use weft_units::Refusal;

/// Maximum number of dimensions of a grid.
const MAX_DIMENSIONS: usize = 8;

/// A grid of routers whose sizes have been checked.
#[derive(Debug, Clone)]
pub(crate) struct RouterGrid {
    pub widths: Vec<u32>,
    pub terminals: u32,
}

impl RouterGrid {
    /// Checks that the grid has 1 to 8 dimensions of `least` to 255 routers each, and that the graph is not too large.
    /// `ports_across(w)`: number of ports that a router has for a dimension of width w.
    pub fn new(
        widths: &[u32],
        terminals: u32,
        least: u32,
        ports_across: impl Fn(u32) -> u32,
        path: &str,
    ) -> Result<Self, Refusal> {
        let at_widths = format!("{path}.widths");
        let dimensions = widths.len();
        if dimensions == 0 || dimensions > MAX_DIMENSIONS {
            let what = format!("the number of dimensions is {dimensions}, not 1 to {MAX_DIMENSIONS}");
            return Err(Refusal::new(at_widths, what, "write one width per dimension, such as [8, 8]"));
        }
        if let Some((d, width)) = widths.iter().enumerate().find(|(_, width)| !(least..=255).contains(*width)) {
            let what = format!("dimension {d} has width {width}, not {least} to 255");
            return Err(Refusal::new(at_widths, what, "change the width, or remove the dimension"));
        }
        check_positive(&[("terminals_per_router", terminals)], path)?;
        let routers = widths.iter().fold(1u64, |product, &width| product.saturating_mul(width.into()));
        let links: Vec<u32> = widths.iter().map(|&width| ports_across(width)).collect();
        let radix = u64::from(terminals) + links.iter().map(|&ports| u64::from(ports)).sum::<u64>();
        let links: Vec<String> = links.iter().map(u32::to_string).collect();
        check_size(routers, radix, &format!("{terminals} terminals + {} links", links.join(" + ")), path)?;
        Ok(Self { widths: widths.to_vec(), terminals })
    }

    pub fn routers(&self) -> u32 {
        self.widths.iter().product()
    }

    /// Names of the link classes: one per dimension.
    pub fn class_names(&self) -> impl Iterator<Item = String> {
        (0..self.widths.len()).map(|d| format!("dim{d}"))
    }

    /// The structure of the grid. The ports to terminals come first, then the ports of dimension 0, then those of dimension 1, and so on.
    pub fn structure(&self, line: Line) -> Structure {
        let mut port = self.terminals;
        let dimension = |(&width, class): (&u32, u8)| {
            let dimension = Dimension { width, line, first_port: port as u16, class };
            port += dimension.ports();
            dimension
        };
        Structure::of_grid(self.widths.iter().zip(1..).map(dimension).collect())
    }

    /// The ports of a router to its terminals. These ports are the first ports of the router.
    pub fn terminal_ports(&self, router: u32) -> impl Iterator<Item = Port> {
        let first = router * self.terminals;
        (first..first + self.terminals).map(|terminal| Port { peer: Peer::Terminal(terminal), class: 0 })
    }

    /// For each dimension, seen from a router: (dimension, width, coordinate of the router, difference of router ids between neighbours).
    pub fn axes(&self, router: u32) -> impl Iterator<Item = (usize, u32, u32, u32)> {
        let mut stride = 1;
        self.widths.iter().enumerate().map(move |(d, &width)| {
            let axis = (d, width, router / stride % width, stride);
            stride *= width;
            axis
        })
    }
}
