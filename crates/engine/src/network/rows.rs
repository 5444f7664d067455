//! The order of channels in the results: channels from routers by sending router and port, then injection channels by terminal.

use weft_api::state::ChannelEnd;
use weft_kernel::face::AnyBlock;
use weft_kernel::face::views::Output;
use weft_topology::{Graph, Peer};

/// The routers at the two ends of a channel; `None` for an end at a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChannelEnds {
    pub from: Option<u32>,
    pub to: Option<u32>,
    pub class: u8,
}

/// The ends of all channels, in the order of [`crate::run::outcome::Outcome::channels`].
pub fn channel_ends(graph: &Graph) -> Vec<ChannelEnds> {
    let ports = (0..graph.routers()).flat_map(|router| graph.ports(router).iter().map(move |port| (router, port)));
    let leaving = ports.filter_map(|(router, port)| {
        let ends = |to| ChannelEnds { from: Some(router), to, class: port.class };
        match port.peer {
            Peer::Unused => None,
            Peer::Terminal(_) => Some(ends(None)),
            Peer::Router { router, .. } => Some(ends(Some(router))),
        }
    });
    let injection = |t| ChannelEnds { from: None, to: Some(graph.terminal_at(t).0), class: 0 };
    leaving.chain((0..graph.terminals()).map(injection)).collect()
}

/// For each router, the row of its first outgoing channel; the last entry is the number of rows of all routers. The rows of the injection
/// channels follow, in the order of the terminals.
pub(super) fn first_links(graph: &Graph) -> Vec<u32> {
    let mut first = vec![0];
    for r in 0..graph.routers() {
        let links = graph.ports(r).iter().filter(|port| !matches!(port.peer, Peer::Unused)).count() as u32;
        first.push(first[r as usize] + links);
    }
    first
}

/// The row of each channel of a block, in the table of results; `None` for a port without a link. `first_links`: the result of the function
/// `first_links` for this network.
pub(super) fn of_block(block: &dyn AnyBlock, first_links: &[u32]) -> Vec<Option<u32>> {
    let links = first_links[first_links.len() - 1];
    let (mut router, mut next) = (u32::MAX, 0);
    let row = |out: Output<'_>| match out.kind {
        ChannelEnd::Unused => None,
        ChannelEnd::Injection => Some(links + block.interfaces().terminals[out.router as usize].id),
        ChannelEnd::Local | ChannelEnd::Remote | ChannelEnd::Ejection => {
            if router != out.router {
                (router, next) = (out.router, first_links[block.router(out.router as usize).id as usize]);
            }
            next += 1;
            Some(next - 1)
        }
    };
    block.outs().map(row).collect()
}

/// Returns a function from an input port of a router to the row of the channel that leads to this port. The function returns `None` for a
/// port without a link.
pub(super) fn filling<'a>(graph: &'a Graph, first_links: &'a [u32]) -> impl Fn(u32, usize) -> Option<u32> + 'a {
    let links = first_links[first_links.len() - 1];
    move |router, port| match graph.ports(router)[port].peer {
        Peer::Unused => None,
        Peer::Terminal(terminal) => Some(links + terminal),
        Peer::Router { router: from, port } => {
            let before = &graph.ports(from)[..usize::from(port)];
            let used = before.iter().filter(|port| !matches!(port.peer, Peer::Unused)).count();
            Some(first_links[from as usize] + used as u32)
        }
    }
}
