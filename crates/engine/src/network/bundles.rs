//! Accounts of bundles (named sets of channels): for how many cycles each bundle was asleep. The account of a bundle counts the cycles of
//! the window in which all channels of the bundle were off at once.
//!
//! A bundle is asleep while all its channels are off (dark). Each block records the cycle in which the last of its channels of a bundle
//! goes dark, and the cycle in which one of them is on again. Between two advances, when all blocks are at the same cycle, the records of
//! all blocks are merged in the order of time. Records of the same cycle may be in any order: a bundle that goes to sleep and wakes in the
//! same cycle adds 0 cycles. Therefore the accounts do not depend on the division into blocks.

use crate::network::rows;
use crate::network::simulation::Simulation;
use crate::network::spec::Spec;
use weft_api::base::kept::Kept;
use weft_api::state::LinkState;
use weft_kernel::bundles::{Bundles, Note};
use weft_kernel::face::AnyBlock;

/// The bundles that each channel belongs to.
pub(crate) struct Members {
    first_links: Vec<u32>,
    /// For each row of the table of channels, the index in `of` of its first bundle; the last entry is the end.
    first: Vec<u32>,
    of: Vec<u32>,
}

impl Members {
    /// Makes the table of the spec's bundles; `None` if the spec has no bundles.
    pub fn new(spec: &Spec) -> Option<Self> {
        if spec.bundles.is_empty() {
            return None;
        }
        let first_links = rows::first_links(&spec.graph);
        let channels = (first_links[first_links.len() - 1] + spec.graph.terminals()) as usize;
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        for (bundle, rows) in spec.bundles.iter().enumerate() {
            pairs.extend(rows.iter().map(|&row| (row, bundle as u32)));
        }
        pairs.sort_unstable();
        let mut first = vec![0; channels + 1];
        pairs.iter().for_each(|&(row, _)| first[row as usize + 1] += 1);
        (1..first.len()).for_each(|row| first[row] += first[row - 1]);
        Some(Self { first_links, first, of: pairs.into_iter().map(|(_, bundle)| bundle).collect() })
    }

    /// The channels of each bundle that are in this block. When this is called, the channels of the block must have the
    /// states of cycle 0.
    pub fn of_block(&self, block: &dyn AnyBlock) -> Bundles {
        let of = |row: Option<u32>| {
            let place = |row: u32| self.first[row as usize] as usize;
            row.map_or(&[][..], |row| &self.of[place(row)..place(row + 1)])
        };
        let rows = rows::of_block(block, &self.first_links);
        Bundles::new(block.outs().zip(rows).map(|(out, row)| (LinkState::of(out.state), of(row))))
    }
}

/// The accounts of all bundles; empty if the spec has no bundles.
#[derive(Debug, Default, Kept)]
pub(crate) struct SleepAccounts {
    #[kept(each)]
    accounts: Vec<SleepAccount>,
    /// Scratch memory for the records of all blocks.
    #[kept(scratch)]
    notes: Vec<Note>,
}

#[derive(Debug, Clone, Copy, Kept)]
struct SleepAccount {
    /// Number of blocks in which at least one channel of the bundle is not dark.
    lit: u32,
    /// The cycle from which all channels are dark; the beginning of the window if that is later.
    since: u64,
    /// Number of cycles of the window in which the bundle slept before cycle `since`.
    asleep: u64,
}

impl SleepAccounts {
    /// Makes accounts for the spec's bundles; a bundle without channels never counts as asleep.
    pub fn new(spec: &Spec) -> Self {
        let account = |rows: &Vec<u32>| SleepAccount { lit: u32::from(rows.is_empty()), since: 0, asleep: 0 };
        Self { accounts: spec.bundles.iter().map(account).collect(), notes: Vec::new() }
    }

    /// For each bundle, the number of cycles of the window before cycle `now` in which it was asleep.
    pub fn at(&self, now: u64) -> Vec<u64> {
        let asleep = |account: &SleepAccount| match account.lit {
            0 => account.asleep + now - account.since,
            _ => account.asleep,
        };
        self.accounts.iter().map(asleep).collect()
    }

    fn enter(&mut self, note: Note) {
        let account = &mut self.accounts[note.bundle as usize];
        if note.lit {
            account.asleep += if account.lit == 0 { note.cycle - account.since } else { 0 };
            account.lit += 1;
        } else {
            account.lit -= 1;
            account.since = note.cycle;
        }
    }
}

impl Simulation {
    /// Starts the window of the accounts in the current cycle.
    pub(crate) fn open_bundles(&mut self) {
        self.bundles.accounts.iter_mut().for_each(|account| account.since = self.now);
        for bundles in self.blocks.iter_mut().map(|block| &mut block.policy_mut().power.bundles) {
            bundles.notes_taken = true;
            for part in bundles.parts.iter().filter(|part| part.lit > 0) {
                self.bundles.accounts[part.bundle as usize].lit += 1;
            }
        }
    }

    /// Updates the accounts with the records of all blocks, up to the current cycle.
    pub(crate) fn settle_bundles(&mut self) {
        if self.bundles.accounts.is_empty() {
            return;
        }
        let mut notes = std::mem::take(&mut self.bundles.notes);
        self.blocks.iter_mut().for_each(|block| notes.append(&mut block.policy_mut().power.bundles.notes));
        // the sort is stable, so records of the same block and cycle stay in order
        notes.sort_by_key(|note| note.cycle);
        notes.drain(..).for_each(|note| self.bundles.enter(note));
        self.bundles.notes = notes;
    }

    /// Ends the window of the accounts before the current cycle. Returns, for each bundle, the number of cycles of the
    /// window in which it was asleep.
    pub(crate) fn close_bundles(&mut self) -> Vec<u64> {
        self.settle_bundles();
        self.blocks.iter_mut().for_each(|block| block.policy_mut().power.bundles.notes_taken = false);
        self.bundles.at(self.now)
    }
}
