//! A list of records that reuses free places.

use super::event::PLACES;
use weft_units::prefetch::prefetch_whole;

/// Records that events identify by their places in the list.
#[derive(Debug)]
pub struct Slots<T> {
    records: Vec<T>,
    /// The list of free places. The place that was freed last is at the end of the list and is reused first, because
    /// its data are still in the cache.
    free: Vec<u32>,
}

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Self { records: Vec::new(), free: Vec::new() }
    }
}

impl<T: Copy> Slots<T> {
    /// Stores a record, and returns its place in the list.
    #[inline]
    pub fn keep(&mut self, record: T) -> u32 {
        match self.free.pop() {
            Some(place) => {
                self.records[place as usize] = record;
                place
            }
            None => {
                assert!(self.records.len() < PLACES as usize, "memory ends before");
                self.records.push(record);
                self.records.len() as u32 - 1
            }
        }
    }

    #[inline]
    pub fn get(&self, place: u32) -> &T {
        &self.records[place as usize]
    }

    #[inline]
    pub fn get_mut(&mut self, place: u32) -> &mut T {
        &mut self.records[place as usize]
    }

    /// Frees the place of a record that is not needed any more.
    #[inline]
    pub fn release(&mut self, place: u32) {
        self.free.push(place);
    }

    /// Prefetches a record.
    #[inline]
    pub fn bring(&self, place: u32) {
        prefetch_whole(&self.records, place as usize);
    }
}
