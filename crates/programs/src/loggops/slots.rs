//! Records with numbers, which are used again.

use super::event::PLACES;
use weft_units::prefetch::prefetch_whole;

/// Records that events name by their places.
#[derive(Debug)]
pub struct Slots<T> {
    records: Vec<T>,
    /// Places of records that are no longer needed, the last one last: its data are still in the cache.
    free: Vec<u32>,
}

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Self { records: Vec::new(), free: Vec::new() }
    }
}

impl<T: Copy> Slots<T> {
    /// Keeps a record and returns its place.
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
    pub fn get(&self, place: u32) -> T {
        self.records[place as usize]
    }

    #[inline]
    pub fn get_mut(&mut self, place: u32) -> &mut T {
        &mut self.records[place as usize]
    }

    /// A record is no longer needed.
    #[inline]
    pub fn release(&mut self, place: u32) {
        self.free.push(place);
    }

    /// Brings a record into the cache.
    #[inline]
    pub fn bring(&self, place: u32) {
        prefetch_whole(&self.records, place as usize);
    }
}
