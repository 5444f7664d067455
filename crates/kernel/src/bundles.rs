//! Bundles: sets of channels. For each bundle, a run counts the cycles in which all channels of the bundle were off. The channels of a
//! bundle may be in several blocks. Each block records when all of its channels in a bundle are off, and when one of them is no longer off.
//! The engine joins these notes (`engine/src/network/bundles.rs`). The notes cost the cycle loop almost no time, because links rarely
//! change their states.

use weft_api::base::kept::{Kept, Value};
use weft_api::state::LinkState;

/// The parts of all bundles that this block contains.
#[derive(Debug, Default, Kept)]
pub struct Bundles {
    /// For each channel, the index in `parts_of` at which its parts begin; one more entry marks the end. Empty if the run has no bundles.
    #[kept(fixed)]
    first: Vec<u32>,
    #[kept(fixed)]
    parts_of: Vec<u32>,
    #[kept(each)]
    pub parts: Vec<Part>,
    /// The changes since the engine last collected the notes, in ascending order of time.
    pub notes: Vec<Note>,
    /// True during the window, in which changes are recorded as notes.
    pub notes_taken: bool,
}

/// The part of a bundle in this block: the channels of the bundle that belong to it.
#[derive(Debug, Clone, Copy, Kept)]
pub struct Part {
    /// Index of the bundle in the network.
    #[kept(fixed)]
    pub bundle: u32,
    /// Number of channels of this part that are not off.
    pub lit: u32,
}

/// A change of a part of a bundle: the part becomes dark (all its channels are off), or one of its channels is no longer off.
#[derive(Debug, Clone, Copy, Value)]
pub struct Note {
    pub cycle: u64,
    pub bundle: u32,
    pub lit: bool,
}

impl Bundles {
    /// `channels`: for each channel of the block, its state in cycle 0 and the bundles that contain it.
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

    /// Records that a channel changes from one power state to another.
    pub fn changed(&mut self, channel: usize, from: LinkState, to: LinkState, cycle: u64) {
        let lit = to != LinkState::Off;
        if self.first.is_empty() || lit == (from != LinkState::Off) {
            return;
        }
        for &part in &self.parts_of[self.first[channel] as usize..self.first[channel + 1] as usize] {
            let Part { bundle, lit: count } = &mut self.parts[part as usize];
            *count = if lit { *count + 1 } else { *count - 1 };
            // true if this is the first channel that is no longer off, or the last channel that goes off
            if self.notes_taken && *count == u32::from(lit) {
                self.notes.push(Note { cycle, bundle: *bundle, lit });
            }
        }
    }
}
