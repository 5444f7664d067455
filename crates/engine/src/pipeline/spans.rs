//! Link states over time: which state each managed channel was in from when to when, over the whole run.
//!
//! A block notes the changes of its own channels. The bound acts on all of them together, so that what is kept does not
//! depend on the blocks: everything before the cycle of the first change that has no room.

use crate::pipeline::block::Block;
use crate::state::LinkState;

/// One channel in one state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Place in `Outcome::channels`.
    pub channel: u32,
    pub state: LinkState,
    /// First cycle, and the one after the last.
    pub from: u64,
    pub to: u64,
}

/// The states of all managed channels; the spans of a channel abut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkStates {
    /// By channel, then by time.
    pub spans: Vec<Span>,
    /// Whether they reach to the end of the run.
    pub complete: bool,
}

/// An output enters a state.
#[derive(Debug, Clone, Copy)]
struct Change {
    at: u64,
    out: u32,
    state: LinkState,
}

/// What the outputs of a block entered, the beginning of the run included.
#[derive(Debug)]
pub(crate) struct SpanLog {
    changes: Vec<Change>,
    most: usize,
}

impl SpanLog {
    /// Room for `most` spans.
    pub fn new(most: usize) -> Self {
        Self { changes: Vec::new(), most }
    }

    /// Output `o` enters a state. One change more than there is room for tells where the room ended.
    pub fn note(&mut self, o: usize, state: LinkState, at: u64) {
        if self.changes.len() <= self.most {
            self.changes.push(Change { at, out: o as u32, state });
        }
    }
}

/// The states up to cycle `end`, as far as there was room. `order`: place of every output of every block.
pub(crate) fn finish<const W: usize, const V: usize>(
    blocks: &[Block<W, V>],
    order: &[Option<u32>],
    most: usize,
    end: u64,
) -> LinkStates {
    let (mut changes, mut first) = (Vec::new(), 0);
    for block in blocks {
        let noted = block.power.log.iter().flat_map(|log| &log.changes);
        changes.extend(noted.filter_map(|c| Some((c.at, order[first + c.out as usize]?, c.state))));
        first += block.outs.len();
    }
    // stable: changes of a channel in one cycle stay in their order
    changes.sort_by_key(|&(at, channel, _)| (at, channel));
    let cut = changes.get(most).map(|&(at, ..)| at);
    let end = cut.unwrap_or(end);
    changes.truncate(changes.partition_point(|&(at, ..)| at < end));
    changes.sort_by_key(|&(at, channel, _)| (channel, at));
    let next = |k: usize| changes.get(k + 1).filter(|next| next.1 == changes[k].1).map_or(end, |next| next.0);
    let span = |(k, &(from, channel, state))| Span { channel, state, from, to: next(k) };
    // a channel may pass through a state without staying
    let spans = changes.iter().enumerate().map(span).filter(|span| span.from < span.to).collect();
    LinkStates { spans, complete: cut.is_none() }
}
