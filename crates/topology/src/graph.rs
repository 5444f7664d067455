//! The data every topology produces.
//!
//! Ports of a router are numbered from 0, its terminals first. A link joins two ports and carries one channel in each
//! direction. Every port has a link class (index into [`Graph::class_names`]); class 0 is always "terminal".

use std::ops::Range;

/// What a port is wired to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Peer {
    /// Nothing (the edge of a mesh).
    Unused,
    Terminal(u32),
    Router {
        router: u32,
        port: u16,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Port {
    pub peer: Peer,
    /// Link class: index into [`Graph::class_names`].
    pub class: u8,
}

/// What a routing or a pattern may know about the structure, so that it can compute instead of search.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// One router, `terminals` ports.
    SingleRouter { terminals: u32 },
    /// Router id = `sum of coord[d] * prod(widths[..d])` (dimension 0 fastest). Port to coordinate `c` of dimension d:
    /// `terminals + sum_{e<d}(widths[e]-1) + (c if c < own else c-1)`. Terminal id = router * terminals + local index.
    HyperX { widths: Vec<u32>, terminals: u32 },
    /// Router numbering as HyperX. In every dimension d `trunk` parallel links lead up (+1) and as many down: port
    /// `terminals + (2d + direction) * trunk + m`, direction 0 up and 1 down, is member m of a trunk, and is wired to
    /// member m of the other direction. `wrap` false is a mesh: edge ports are `Peer::Unused`.
    Torus { widths: Vec<u32>, terminals: u32, wrap: bool, trunk: u32 },
    /// Router = group * a + index. Ports: p terminals; a-1 local (to index j: p + (j if j < own else j-1)); h global
    /// (p + a - 1 + j). Global port k = index*h + j of group i leads to group `target(i, k)`.
    Dragonfly { a: u32, p: u32, h: u32, g: u32, arrangement: crate::dragonfly::Arrangement },
    /// Router id = `level * k^(n-1) + sum of digit[i] * k^i`, i < n-1; level 0 holds the leaves, level n-1 the top.
    /// Ports: k down (terminals on a leaf), then, below the top, k up. Port k + u of level l leads to level l+1, to the
    /// router with `digit[l] = u` and all else equal, port `digit[l]`. Terminal id = leaf * k + port.
    KAryNTree { k: u32, n: u32 },
    /// k pods, with half = k/2: first the k * half edge routers, `pod * half + index`, then as many aggregation routers,
    /// `k * half + pod * half + index`, then half * half cores, `2 * k * half + index * half + u`. Ports of an edge
    /// router: half terminals, then half up (half + u to aggregation index u of its pod, port own index). Of an
    /// aggregation router: half down (e to edge index e), then half up (half + u to core `index * half + u`, port pod).
    /// Of a core: k down, port p to pod p. Terminal id = edge router * half + port.
    FatTree { k: u32 },
    /// Any wiring, from a file. Routers in the order of the file; the ports of a router are its terminals, then its links
    /// by ascending neighbour. `terminals` per router where all routers have as many, in their order.
    Graph { terminals: Option<u32> },
}

impl Shape {
    /// Widths of the router grid, dimension 0 fastest; `None` where routers have no coordinates.
    pub fn router_widths(&self) -> Option<&[u32]> {
        match self {
            Self::HyperX { widths, .. } | Self::Torus { widths, .. } => Some(widths),
            _ => None,
        }
    }
    /// (groups, routers per group); `None` where routers form no groups.
    pub fn groups(&self) -> Option<(u32, u32)> {
        match *self {
            Self::Dragonfly { a, g, .. } => Some((g, a)),
            _ => None,
        }
    }
    /// Terminals on each router that has any: terminal t is on router t / terminals_per_router; `None` where routers
    /// differ.
    pub fn terminals_per_router(&self) -> Option<u32> {
        match *self {
            Self::SingleRouter { terminals } | Self::HyperX { terminals, .. } | Self::Torus { terminals, .. } => {
                Some(terminals)
            }
            Self::Dragonfly { p, .. } => Some(p),
            Self::KAryNTree { k, .. } => Some(k),
            Self::FatTree { k } => Some(k / 2),
            Self::Graph { terminals } => terminals,
        }
    }
    /// The routers of each level, leaves first; `None` where routers form no levels.
    pub fn levels(&self) -> Option<Vec<Range<u32>>> {
        match *self {
            Self::KAryNTree { k, n } => {
                let width = k.pow(n - 1);
                Some((0..n).map(|level| level * width..(level + 1) * width).collect())
            }
            Self::FatTree { k } => {
                let half = k / 2;
                let (edges, cores) = (k * half, half * half);
                Some(vec![0..edges, edges..2 * edges, 2 * edges..2 * edges + cores])
            }
            _ => None,
        }
    }
}

/// A link between two routers, both directions together; `ends[0]` is the smaller (router, port).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link {
    pub ends: [(u32, u16); 2],
    /// Link class: index into [`Graph::class_names`].
    pub class: u8,
}

/// Routers, ports and links. Immutable once built.
#[derive(Debug, Clone, PartialEq)]
pub struct Graph {
    pub(crate) port_base: Vec<u32>,
    pub(crate) ports: Vec<Port>,
    pub(crate) terminal_at: Vec<(u32, u16)>,
    pub(crate) class_names: Vec<String>,
    pub(crate) router_names: Option<Vec<String>>,
    pub(crate) shape: Shape,
    pub(crate) grain: u32,
}

impl Graph {
    pub fn routers(&self) -> u32 {
        self.port_base.len() as u32 - 1
    }
    pub fn terminals(&self) -> u32 {
        self.terminal_at.len() as u32
    }
    /// Index of port 0 of `router` in the flat list of all ports; `port_base(routers())` is the number of ports.
    pub fn port_base(&self, router: u32) -> u32 {
        self.port_base[router as usize]
    }
    pub fn ports(&self, router: u32) -> &[Port] {
        &self.ports[self.port_base[router as usize] as usize..self.port_base[router as usize + 1] as usize]
    }
    /// (router, port) of a terminal.
    pub fn terminal_at(&self, terminal: u32) -> (u32, u16) {
        self.terminal_at[terminal as usize]
    }
    /// Names of the link classes; class 0 is "terminal".
    pub fn class_names(&self) -> &[String] {
        &self.class_names
    }
    /// What a file calls its routers; `None` where they have numbers only.
    pub fn router_names(&self) -> Option<&[String]> {
        self.router_names.as_deref()
    }
    pub fn shape(&self) -> &Shape {
        &self.shape
    }
    /// Routers per natural block (group, row): block boundaries that cut few or long links are multiples of it.
    pub fn grain(&self) -> u32 {
        self.grain
    }
    /// Largest number of ports on a router.
    pub fn radix(&self) -> u32 {
        (0..self.routers()).map(|r| self.ports(r).len() as u32).max().unwrap_or(0)
    }
    /// The links between routers, each once, by ascending (router, port) of their smaller end.
    pub fn links(&self) -> impl Iterator<Item = Link> + '_ {
        (0..self.routers()).flat_map(move |router| {
            self.ports(router).iter().zip(0u16..).filter_map(move |(port, number)| match port.peer {
                Peer::Router { router: far, port: far_port } if (router, number) < (far, far_port) => {
                    Some(Link { ends: [(router, number), (far, far_port)], class: port.class })
                }
                _ => None,
            })
        })
    }
    /// Number of links of each class, in the order of [`Graph::class_names`]; class 0 counts the terminals.
    pub fn links_by_class(&self) -> Vec<(String, usize)> {
        let mut counts: Vec<_> = self.class_names.iter().map(|name| (name.clone(), 0)).collect();
        counts[0].1 = self.terminals() as usize;
        for link in self.links() {
            counts[link.class as usize].1 += 1;
        }
        counts
    }
}
