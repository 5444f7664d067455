//! Ranks of a binary GOAL file. The executor reads them from the file during a run.

use super::layout::{self, NODE, Node, Rank};
use crate::form::{Cursor, Op, When};
use std::sync::Arc;
use weft_units::Refusal;

/// Access to the bytes of a file. The file is in memory, or the caller has opened it.
pub trait Storage {
    /// Length of the file \[bytes\].
    fn length(&self) -> u64;

    /// Reads bytes into `bytes`, beginning at position `at` of the file.
    fn read_at(&self, at: u64, bytes: &mut [u8]) -> Result<(), Refusal>;
}

impl Storage for &[u8] {
    fn length(&self) -> u64 {
        self.len() as u64
    }

    fn read_at(&self, at: u64, bytes: &mut [u8]) -> Result<(), Refusal> {
        let part = usize::try_from(at).ok().and_then(|at| self.get(at..at.checked_add(bytes.len())?));
        match part {
            Some(part) => {
                bytes.copy_from_slice(part);
                Ok(())
            }
            None => {
                let what = format!("{} bytes from byte {at} on are not within its {} bytes", bytes.len(), self.len());
                Err(layout::broken("the file", "", what))
            }
        }
    }
}

#[cfg(unix)]
impl Storage for std::fs::File {
    fn length(&self) -> u64 {
        self.metadata().map_or(0, |about| about.len())
    }

    fn read_at(&self, at: u64, bytes: &mut [u8]) -> Result<(), Refusal> {
        use std::os::unix::fs::FileExt;
        self.read_exact_at(bytes, at).map_err(|problem| {
            let what = format!("{} bytes from byte {at} on can't be read: {problem}", bytes.len());
            Refusal::new("the file", what, "check the disk, and let no program change the file while Weft reads it")
        })
    }
}

/// Number of bytes of a page of the cache; `PAGES` is the number of pages of each rank.
const PAGE: u64 = 4096;
const PAGES: usize = 8;

/// A rank of a file, with a cache in memory for up to 32 KiB of the file.
pub struct OnDisk<S> {
    storage: Arc<S>,
    rank: Rank,
    pages: Vec<(u64, Vec<u8>)>,
    failure: Option<Refusal>,
}

/// Checks the ranks of a file, and returns them. `file` is the name of the file in refusals.
pub fn open<S: Storage>(file: &str, storage: S) -> Result<Vec<OnDisk<S>>, Refusal> {
    let ranks = layout::ranks(file, &storage)?;
    for (number, rank) in ranks.iter().enumerate() {
        rank.check(file, number, &storage, ranks.len() as u32)?;
    }
    let storage = Arc::new(storage);
    let on_disk = |rank| OnDisk { storage: Arc::clone(&storage), rank, pages: Vec::new(), failure: None };
    Ok(ranks.into_iter().map(on_disk).collect())
}

impl<S: Storage> OnDisk<S> {
    /// Returns bytes of the file through the cache. Bytes that could not be read are zeros, and
    /// `failure` then has the refusal.
    fn bytes<const N: usize>(&mut self, at: u64) -> [u8; N] {
        let mut bytes = [0; N];
        for (place, byte) in bytes.iter_mut().enumerate() {
            *byte = self.byte(at + place as u64);
        }
        bytes
    }

    fn byte(&mut self, at: u64) -> u8 {
        let (page, inside) = (at / PAGE, (at % PAGE) as usize);
        let slot = (page % PAGES as u64) as usize;
        if self.pages.is_empty() {
            self.pages = vec![(u64::MAX, Vec::new()); PAGES];
        }
        if self.pages[slot].0 != page {
            let start = page * PAGE;
            let mut content = vec![0; PAGE.min(self.storage.length().saturating_sub(start)) as usize];
            if let Err(refusal) = self.storage.read_at(start, &mut content) {
                self.failure.get_or_insert(refusal);
            }
            self.pages[slot] = (page, content);
        }
        self.pages[slot].1.get(inside).copied().unwrap_or(0)
    }

    fn node(&mut self, index: u32) -> Node {
        let at = self.rank.node_at(index);
        Node::from_bytes(&self.bytes::<NODE>(at))
    }

    fn number(&mut self, at: u64) -> u32 {
        u32::from_le_bytes(self.bytes(at))
    }
}

impl<S: Storage> Cursor for OnDisk<S> {
    fn len(&self) -> u32 {
        self.rank.nodes
    }

    fn roots(&mut self, mut each: impl FnMut(u32)) {
        // operations are visited in the order of their indices. The file also has a list of these
        // operations, but that list can have another order
        for index in 0..self.rank.nodes {
            if self.node(index).predecessors == 0 && self.failure.is_none() {
                each(index);
            }
        }
    }

    fn op(&mut self, index: u32) -> Op {
        self.node(index).op()
    }

    fn predecessors(&mut self, index: u32) -> u32 {
        self.node(index).predecessors
    }

    fn successors(&mut self, index: u32, when: When, mut each: impl FnMut(u32)) {
        let (count, first) = self.node(index).after(when);
        for place in 0..count {
            let at = self.rank.entry_at(u64::from(first) + u64::from(place));
            let later = self.number(at);
            if self.failure.is_none() {
                each(later);
            }
        }
    }

    fn sizes(&mut self, _list: u16) -> Option<Arc<[u64]>> {
        None
    }

    fn is_in_memory(&self) -> bool {
        false
    }

    fn failure(&self) -> Option<Refusal> {
        self.failure.clone()
    }
}
