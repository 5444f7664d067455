//! Bundles: sets of channels of which a run counts the cycles in which all were off at once. A bundle may lie in
//! several blocks. Each block notes when all of its channels in a bundle are off, and when one of them no longer is.
//! The network joins the notes (`network/bundles.rs`). This costs the loop nothing, because links change their states
//! rarely.

use weft_api::base::kept::{Kept, Value};
use weft_api::state::LinkState;

/// The parts of all bundles in a block.
#[derive(Debug, Default, Kept)]
pub struct Bundles {
    /// For each channel, the first index of its parts in `parts_of`; then one index for the end. Empty if nothing is
    /// counted.
    #[kept(fixed)]
    first: Vec<u32>,
    #[kept(fixed)]
    parts_of: Vec<u32>,
    #[kept(each)]
    pub parts: Vec<Part>,
    /// The changes since the network last took the notes, in order of time.
    pub notes: Vec<Note>,
    /// Whether notes are taken: in the window.
    pub notes_taken: bool,
}

/// The channels of a bundle that lie in a block.
#[derive(Debug, Clone, Copy, Kept)]
pub struct Part {
    /// Number of the bundle in the network.
    #[kept(fixed)]
    pub bundle: u32,
    /// Number of its channels that are not off.
    pub lit: u32,
}

/// A part of a bundle becomes dark (all its channels are off) or has a channel that is not off again.
#[derive(Debug, Clone, Copy, Value)]
pub struct Note {
    pub cycle: u64,
    pub bundle: u32,
    pub lit: bool,
}

impl Bundles {
    /// `channels`: for each channel of the block its state in cycle 0, and the bundles that it is in.
    pub fn new<'a>(channels: impl Iterator<Item = (LinkState, &'a [u32])>) -> Self {
        let (mut first, mut bundles, mut lit) = (vec![0], Vec::new(), Vec::new());
        for (state, own) in channels {
            bundles.extend_from_slice(own);
            lit.resize(bundles.len(), state != LinkState::Off);
            first.push(bundles.len() as u32);
        }
        let mut known = bundles.clone();
        known.sort_unstable();
        known.dedup();
        let mut parts: Vec<_> = known.iter().map(|&bundle| Part { bundle, lit: 0 }).collect();
        let place = |bundle| known.binary_search(bundle).expect("one of those known") as u32;
        let parts_of: Vec<u32> = bundles.iter().map(place).collect();
        parts_of.iter().zip(lit).for_each(|(&part, lit)| parts[part as usize].lit += u32::from(lit));
        let notes = Vec::with_capacity(2 * parts.len());
        Self { first, parts_of, parts, notes, notes_taken: false }
    }

    /// Notes that a channel goes from one power state to another.
    pub fn changed(&mut self, channel: usize, from: LinkState, to: LinkState, cycle: u64) {
        let lit = to != LinkState::Off;
        if self.first.is_empty() || lit == (from != LinkState::Off) {
            return;
        }
        for &part in &self.parts_of[self.first[channel] as usize..self.first[channel + 1] as usize] {
            let Part { bundle, lit: count } = &mut self.parts[part as usize];
            *count = if lit { *count + 1 } else { *count - 1 };
            // the first channel that is not off, or the last one that was
            if self.notes_taken && *count == u32::from(lit) {
                self.notes.push(Note { cycle, bundle: *bundle, lit });
            }
        }
    }
}
