//! Writes the state of a run into a checkpoint, and reads it back.
//!
//! [`Kept`] is for objects that are created when a network is assembled. A checkpoint restores such objects in place, into a newly
//! assembled network. The new network already has its reserved memory and all data that follow from the scenario. [`Value`] is for objects
//! that are created and removed during a run. Macros derive [`Kept`] and [`Value`] (`crates/derive`). Every field is saved, unless an
//! attribute excludes the field and gives the reason.
//!
//! In a checkpoint, whole numbers are written in groups of 7 bits, lowest group first (LEB128). Floating-point numbers are written as their
//! 8 bytes. The bytes of a checkpoint contain no names and no version. The caller must check that the program and the scenario are the same
//! as at writing, and that no byte was changed. The reader makes no further checks: it may read wrong numbers from damaged bytes.

pub use weft_derive::{Kept, Value};

use hdrhistogram::Histogram;
use rand_pcg::Pcg32;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

/// The bytes of a checkpoint during writing.
pub type Writer = Vec<u8>;

/// The error for bytes that end too early, or that do not encode the expected value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unreadable;

/// The bytes of a checkpoint that are still to be read.
#[derive(Debug)]
pub struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Checks that all bytes were read, and returns an error if not.
    pub fn end(&self) -> Result<(), Unreadable> {
        if self.0.is_empty() { Ok(()) } else { Err(Unreadable) }
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], Unreadable> {
        let (first, rest) = self.0.split_first_chunk().ok_or(Unreadable)?;
        self.0 = rest;
        Ok(*first)
    }

    fn number(&mut self) -> Result<u128, Unreadable> {
        let mut number = 0;
        for shift in (0..u128::BITS).step_by(7) {
            let [byte] = self.take()?;
            let bits = u128::from(byte & 0x7f);
            if bits << shift >> shift != bits {
                return Err(Unreadable);
            }
            number |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(Unreadable)
    }

    /// Reads the number of elements of a list. The reader refuses a number above the number of bytes that are left, because each element
    /// takes at least one byte.
    fn length(&mut self) -> Result<usize, Unreadable> {
        let length = usize::read(self)?;
        if length <= self.0.len() { Ok(length) } else { Err(Unreadable) }
    }
}

fn write_number(mut number: u128, to: &mut Writer) {
    while number >= 0x80 {
        to.push(number as u8 | 0x80);
        number >>= 7;
    }
    to.push(number as u8);
}

/// Saves and restores an object that exists as soon as a network has been assembled.
#[diagnostic::on_unimplemented(
    message = "a checkpoint can't keep `{Self}`: it is not `Kept`",
    label = "a part of the state of a run",
    note = "derive `Kept` for its type; for a value created during a run, derive `Value`, which includes `Kept`",
    note = "write `#[kept(fixed)]` at the field if its value follows from the scenario and never changes in a run",
    note = "write `#[kept(scratch)]` at the field if nothing reads it again between two cycles",
    note = "write `#[kept(each)]` at a list whose length follows from the scenario"
)]
pub trait Kept {
    /// Writes the state of the object to the checkpoint.
    fn keep(&self, to: &mut Writer);

    /// Reads the state of the object from the checkpoint. After an error the object may have wrong data, and must not
    /// be used any more.
    fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), Unreadable>;
}

/// An object that is created when it is read from a checkpoint.
#[diagnostic::on_unimplemented(
    message = "a checkpoint can't make `{Self}`: it is not a `Value`",
    label = "a part of a list or of a value that changes in a run",
    note = "derive `Value` for its type, and for the types of all its fields",
    note = "for a list whose length follows from the scenario write `#[kept(each)]` at the field: then its parts need only `Kept`",
    note = "write `#[kept(fixed)]` at the field if its value follows from the scenario and never changes in a run"
)]
pub trait Value: Kept + Sized {
    fn read(from: &mut Reader<'_>) -> Result<Self, Unreadable>;
}

/// Generates the method `restore` of a type. The method reads a new value and replaces the old one.
macro_rules! restored_by_reading {
    () => {
        fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), Unreadable> {
            *self = Value::read(from)?;
            Ok(())
        }
    };
}

macro_rules! whole_numbers {
    ($($number:ty)+) => {
        $(
            impl Kept for $number {
                #[inline]
                fn keep(&self, to: &mut Writer) {
                    if *self < 0x80 { to.push(*self as u8) } else { write_number(*self as u128, to) }
                }

                restored_by_reading!();
            }

            impl Value for $number {
                #[inline]
                fn read(from: &mut Reader<'_>) -> Result<Self, Unreadable> {
                    from.number()?.try_into().map_err(|_| Unreadable)
                }
            }
        )+
    };
}

whole_numbers!(u8 u16 u32 u64 u128 usize);

/// Implements [`Kept`] and [`Value`] for types that are saved as a value of another type, and converted back when they are read.
macro_rules! kept_as {
    ($($type:ty: $own:ident => $given:expr, $read:ident => $made:expr;)+) => {
        $(
            impl Kept for $type {
                fn keep(&self, to: &mut Writer) {
                    let $own = self;
                    $given.keep(to);
                }

                restored_by_reading!();
            }

            impl Value for $type {
                fn read(from: &mut Reader<'_>) -> Result<Self, Unreadable> {
                    let $read = Value::read(from)?;
                    $made
                }
            }
        )+
    };
}

kept_as! {
    bool: own => u8::from(*own), read => match read {
        0u8 => Ok(false),
        1 => Ok(true),
        _ => Err(Unreadable),
    };
    i64: own => ((own << 1) ^ (own >> 63)) as u64, read => {
        let read: u64 = read;
        Ok((read >> 1) as i64 ^ -((read & 1) as i64))
    };
    NonZeroU64: own => own.get(), read => Self::new(read).ok_or(Unreadable);
    String: own => own.as_bytes().to_vec(), read => Self::from_utf8(read).map_err(|_| Unreadable);
    &'static str: own => (*own).to_owned(), read => Ok(word(read));
    // the random generator gives access to its state only through serde
    Pcg32: own => serde_json::to_string(own).expect("two numbers"), read => {
        let read: String = read;
        serde_json::from_str(&read).map_err(|_| Unreadable)
    };
}

/// Returns a string equal to `read` that lives as long as the program. This leaks little memory, because all these strings are names in the
/// source code, and each name is stored once.
fn word(read: String) -> &'static str {
    static WORDS: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut words = WORDS.lock().expect("no panic while a word is looked up");
    words.get(read.as_str()).copied().unwrap_or_else(|| {
        let word: &'static str = read.leak();
        words.insert(word);
        word
    })
}

impl Kept for f64 {
    fn keep(&self, to: &mut Writer) {
        to.extend_from_slice(&self.to_le_bytes());
    }

    restored_by_reading!();
}

impl Value for f64 {
    fn read(from: &mut Reader<'_>) -> Result<Self, Unreadable> {
        from.take().map(Self::from_le_bytes)
    }
}

impl Kept for AtomicU32 {
    fn keep(&self, to: &mut Writer) {
        self.load(Relaxed).keep(to);
    }

    fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), Unreadable> {
        self.get_mut().restore(from)
    }
}

/// A histogram is saved as a list of values and their counts. Each bucket of the histogram is saved as one value that falls into the
/// bucket.
impl Kept for Histogram<u64> {
    fn keep(&self, to: &mut Writer) {
        let counted: Vec<(u64, u64)> =
            self.iter_recorded().map(|step| (step.value_iterated_to(), step.count_at_value())).collect();
        counted.keep(to);
    }

    fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), Unreadable> {
        self.reset();
        let counted: Vec<(u64, u64)> = Value::read(from)?;
        counted.into_iter().try_for_each(|(value, count)| self.record_n(value, count)).map_err(|_| Unreadable)
    }
}

/// A list that changes its length during a run. When the list is restored, it keeps its reserved memory.
impl<T: Value> Kept for Vec<T> {
    fn keep(&self, to: &mut Writer) {
        self.as_slice().keep(to);
    }

    fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), Unreadable> {
        self.clear();
        (0..from.length()?).try_for_each(|_| {
            self.push(T::read(from)?);
            Ok(())
        })
    }
}

impl<T: Value> Value for Vec<T> {
    fn read(from: &mut Reader<'_>) -> Result<Self, Unreadable> {
        let mut list = Self::new();
        list.restore(from)?;
        Ok(list)
    }
}

impl<T: Value> Kept for VecDeque<T> {
    fn keep(&self, to: &mut Writer) {
        self.len().keep(to);
        self.iter().for_each(|item| item.keep(to));
    }

    fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), Unreadable> {
        self.clear();
        (0..from.length()?).try_for_each(|_| {
            self.push_back(T::read(from)?);
            Ok(())
        })
    }
}

impl<K: Value + Ord, T: Value> Kept for BTreeMap<K, T> {
    fn keep(&self, to: &mut Writer) {
        self.len().keep(to);
        self.iter().for_each(|(key, item)| {
            key.keep(to);
            item.keep(to);
        });
    }

    restored_by_reading!();
}

impl<K: Value + Ord, T: Value> Value for BTreeMap<K, T> {
    fn read(from: &mut Reader<'_>) -> Result<Self, Unreadable> {
        (0..from.length()?).map(|_| Ok((K::read(from)?, T::read(from)?))).collect()
    }
}

/// A list whose length follows from the scenario.
impl<T: Kept> Kept for [T] {
    fn keep(&self, to: &mut Writer) {
        self.len().keep(to);
        self.iter().for_each(|item| item.keep(to));
    }

    fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), Unreadable> {
        if usize::read(from)? != self.len() {
            return Err(Unreadable);
        }
        self.iter_mut().try_for_each(|item| item.restore(from))
    }
}

impl<T: Kept, const N: usize> Kept for [T; N] {
    fn keep(&self, to: &mut Writer) {
        self.iter().for_each(|item| item.keep(to));
    }

    fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), Unreadable> {
        self.iter_mut().try_for_each(|item| item.restore(from))
    }
}

impl<T: Value + Copy + Default, const N: usize> Value for [T; N] {
    fn read(from: &mut Reader<'_>) -> Result<Self, Unreadable> {
        let mut all = [T::default(); N];
        all.restore(from)?;
        Ok(all)
    }
}

impl<T: Value> Kept for Option<T> {
    fn keep(&self, to: &mut Writer) {
        self.as_slice().keep(to);
    }

    restored_by_reading!();
}

impl<T: Value> Value for Option<T> {
    fn read(from: &mut Reader<'_>) -> Result<Self, Unreadable> {
        if bool::read(from)? { T::read(from).map(Some) } else { Ok(None) }
    }
}

impl<T: Kept + ?Sized> Kept for Box<T> {
    fn keep(&self, to: &mut Writer) {
        (**self).keep(to);
    }

    fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), Unreadable> {
        (**self).restore(from)
    }
}

impl<T: Value> Kept for Arc<T> {
    fn keep(&self, to: &mut Writer) {
        (**self).keep(to);
    }

    restored_by_reading!();
}

impl<T: Value> Value for Arc<T> {
    fn read(from: &mut Reader<'_>) -> Result<Self, Unreadable> {
        T::read(from).map(Self::new)
    }
}

macro_rules! tuples {
    ($(($($name:ident $place:tt),+))+) => {
        $(
            impl<$($name: Kept),+> Kept for ($($name,)+) {
                fn keep(&self, to: &mut Writer) {
                    $(self.$place.keep(to);)+
                }

                fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), Unreadable> {
                    $(self.$place.restore(from)?;)+
                    Ok(())
                }
            }

            impl<$($name: Value),+> Value for ($($name,)+) {
                fn read(from: &mut Reader<'_>) -> Result<Self, Unreadable> {
                    Ok(($($name::read(from)?,)+))
                }
            }
        )+
    };
}

tuples! { (A 0, B 1) (A 0, B 1, C 2) }

impl Kept for () {
    fn keep(&self, _: &mut Writer) {}

    fn restore(&mut self, _: &mut Reader<'_>) -> Result<(), Unreadable> {
        Ok(())
    }
}

impl Value for () {
    fn read(_: &mut Reader<'_>) -> Result<Self, Unreadable> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Debug;
    use weft_traffic::stream;

    fn bytes_of(value: &(impl Kept + ?Sized)) -> Writer {
        let mut bytes = Writer::new();
        value.keep(&mut bytes);
        bytes
    }

    #[track_caller]
    fn check<T: Value + PartialEq + Debug>(value: T) {
        let bytes = bytes_of(&value);
        let mut reader = Reader::new(&bytes);
        assert_eq!(T::read(&mut reader), Ok(value));
        assert_eq!(reader.end(), Ok(()));
        for end in 0..bytes.len() {
            assert!(T::read(&mut Reader::new(&bytes[..end])).is_err(), "{end} of {} bytes", bytes.len());
        }
    }

    #[derive(Debug, PartialEq, Value)]
    enum Sort {
        Bare,
        Pair(u16, bool),
        Named { text: &'static str, list: Vec<i64> },
    }

    #[test]
    fn values_come_back_and_bytes_that_end_early_are_refused() {
        for value in [0, 1, 127, 128, 300, u64::MAX - 1, u64::MAX] {
            check(value);
            check(value as i64);
            check(u128::from(value) << 64 | 5);
            check((value as u32, value as u16, Some(value as usize)));
        }
        check(vec![f64::MIN_POSITIVE, -0.1, f64::INFINITY]);
        check(BTreeMap::from([(3u64, vec![1u128]), (7, Vec::new())]));
        for sort in [Sort::Bare, Sort::Pair(9, true), Sort::Named { text: "drained", list: vec![-1, i64::MIN] }] {
            check(sort);
        }
    }

    #[test]
    fn what_can_not_stand_in_a_place_is_refused() {
        assert!(u8::read(&mut Reader::new(&[0x80, 2])).is_err(), "256");
        assert!(u128::read(&mut Reader::new(&[0xff; 30])).is_err(), "too long");
        assert!(bool::read(&mut Reader::new(&[2])).is_err());
        assert!(Sort::read(&mut Reader::new(&[3])).is_err());
        assert!(Vec::<u64>::read(&mut Reader::new(&bytes_of(&u64::MAX))).is_err(), "a list longer than its bytes");
        assert!(String::read(&mut Reader::new(&[1, 0xff])).is_err());
        let mut places = [0u8; 3];
        assert!(places.as_mut_slice().restore(&mut Reader::new(&bytes_of(&vec![1u8, 2]))).is_err());
    }

    #[test]
    fn streams_and_histograms_go_on_where_they_were() {
        use rand_pcg::rand_core::Rng;
        let (mut one, mut other) = (stream(1, 2, 3), stream(4, 5, 6));
        one.next_u64();
        other.restore(&mut Reader::new(&bytes_of(&one))).expect("a stream");
        assert_eq!(one.next_u64(), other.next_u64());
        let mut counted = Histogram::<u64>::new_with_bounds(1, 1 << 32, 3).expect("bounds");
        for value in [0, 1, 5, 5, 3000, 1_000_003, u64::MAX] {
            counted.saturating_record(value);
        }
        let mut restored = Histogram::new_with_bounds(1, 1 << 32, 3).expect("bounds");
        restored.record(77).expect("a value");
        restored.restore(&mut Reader::new(&bytes_of(&counted))).expect("a histogram");
        assert_eq!(restored, counted);
        assert_eq!((restored.max(), restored.min_nz()), (counted.max(), counted.min_nz()));
    }

    /// A struct with an array of ten numbers, and with a list that keeps its reserved memory.
    #[derive(Kept)]
    struct Part {
        #[kept(each)]
        places: Vec<u8>,
        list: Vec<u16>,
        #[kept(fixed)]
        fixed: u8,
        #[kept(scratch)]
        scratch: Vec<u8>,
    }

    #[test]
    fn parts_are_restored_in_place() {
        let part = |fixed, list| Part { places: vec![fixed; 3], list, fixed, scratch: vec![fixed] };
        let (before, mut after) = (part(1, vec![7; 5]), part(2, Vec::with_capacity(100)));
        after.restore(&mut Reader::new(&bytes_of(&before))).expect("a part");
        assert_eq!((after.places, &after.list, after.fixed, after.scratch), (vec![1; 3], &vec![7; 5], 2, vec![2]));
        assert_eq!(after.list.capacity(), 100);
    }
}
