//! Reads files of Weft's recording library (`capture/`), record by record.

use crate::readers::timer::Times;
use weft_units::Refusal;

/// The first bytes of every file.
pub const MAGIC: [u8; 8] = *b"WEFTCAP\0";
/// The format version that this reader supports.
const VERSION: u32 = 1;
/// Size of the header of a file [bytes]; `RECORD` is the size of the header of a record.
const HEAD: usize = 32;
const RECORD: usize = 40;
/// Size of a word of a record [bytes].
const WORD: usize = 8;

/// The kinds of records, with the same numbers as in `capture/record.h`.
macro_rules! kinds {
    ($($(#[$about:meta])* $kind:ident = $number:literal,)*) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Kind { $($(#[$about])* $kind,)* }

        impl Kind {
            /// All kinds with their numbers.
            pub const ALL: &[(u16, Self)] = &[$(($number, Self::$kind),)*];

            const fn of(number: u16) -> Option<Self> {
                match number {
                    $($number => Some(Self::$kind),)*
                    _ => None,
                }
            }
        }
    };
}

kinds! {
    Init = 1,
    /// Sums over the file: number of sends, bytes of all sends, number of receives, number of collectives.
    Finalize = 2,
    /// Unsuccessful tests (`MPI_Test`) and all non-blocking probes: their number, and the wall-clock and processor
    /// time that they took.
    Poll = 3,
    /// The name of a call that the format cannot record.
    Refused = 4,
    /// A new communicator: its number, and its ranks.
    Comm = 5,
    /// A file was opened.
    File = 6,
    /// An interval in which the library recorded no calls: its length in wall-clock time and in processor time.
    Pause = 7,
    Send = 16,
    Recv = 17,
    Sendrecv = 18,
    Isend = 19,
    Irecv = 20,
    SendInit = 21,
    RecvInit = 22,
    Start = 23,
    /// Requests that have ended, with five words for each request.
    Complete = 24,
    RequestFree = 25,
    Cancel = 26,
    Probe = 27,
    Barrier = 32,
    Bcast = 33,
    Reduce = 34,
    Allreduce = 35,
    Gather = 36,
    Scatter = 37,
    Allgather = 38,
    Alltoall = 39,
    Gatherv = 40,
    Scatterv = 41,
    Allgatherv = 42,
    Alltoallv = 43,
    ReduceScatter = 44,
    Scan = 45,
}

/// The head of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    pub rank: u32,
    pub ranks: u32,
    /// The number of the run. All files of a run have the same number.
    pub run: u64,
}

fn u32_at(bytes: &[u8], place: usize) -> u32 {
    u32::from_le_bytes(std::array::from_fn(|byte| bytes[place + byte]))
}

fn u64_at(bytes: &[u8], place: usize) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|byte| bytes[place + byte]))
}

impl Head {
    /// Reads the head of a file.
    pub fn read(file: &str, bytes: &[u8]) -> Result<Self, Refusal> {
        if bytes.len() < HEAD || !bytes.starts_with(&MAGIC) {
            let what = format!("the file has {} bytes and does not begin with the header of a recording", bytes.len());
            return Err(Refusal::new(file, what, "the file is cut off or damaged: copy it again"));
        }
        let version = u32_at(bytes, 8);
        if version != VERSION {
            let what = format!("the file has version {version} of the format, but Weft reads only version {VERSION}");
            return Err(Refusal::new(file, what, "record the program again with the library of this version of Weft"));
        }
        let (rank, ranks) = (u32_at(bytes, 12), u32_at(bytes, 16));
        if rank >= ranks {
            let what = format!("the header of the file gives rank {rank} of {ranks} ranks, which does not exist");
            return Err(Refusal::new(file, what, "the file is damaged: copy it again"));
        }
        Ok(Self { rank, ranks, run: u64_at(bytes, 24) })
    }
}

/// A record of a file.
#[derive(Debug, Clone, Copy)]
pub struct Record<'a> {
    /// Position in the file at which the record begins [bytes].
    pub place: usize,
    /// The number of the record's kind in the file.
    pub number: u16,
    /// The record's kind; `None` if this reader does not support the kind.
    pub kind: Option<Kind>,
    /// True if the call was made by another thread than the one that called `MPI_Init`.
    pub is_of_other_thread: bool,
    pub wall: Times,
    pub processor: Times,
    words: &'a [u8],
}

impl Record<'_> {
    /// Number of words that the record has.
    pub const fn count(&self) -> usize {
        self.words.len() / WORD
    }

    /// Returns word `place`. The word must exist.
    pub fn word(&self, place: usize) -> i64 {
        u64_at(self.words, place * WORD).cast_signed()
    }

    /// Returns the words from `place` on.
    pub fn words(&self, place: usize) -> impl Iterator<Item = i64> {
        (place..self.count()).map(|place| self.word(place))
    }

    /// Returns the bytes of the words as a string, without zero bytes at the end.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(self.words).trim_end_matches('\0').to_owned()
    }
}

/// An iterator over the records of a file.
pub struct Stream<'a> {
    file: &'a str,
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Stream<'a> {
    /// Returns the records that follow the header of a file.
    pub const fn new(file: &'a str, bytes: &'a [u8]) -> Self {
        Self { file, bytes, at: HEAD }
    }

    /// Returns a refusal that names a position in the file.
    pub fn refusal(&self, place: usize, what: &str, help: &str) -> Refusal {
        Refusal::new(format!("{}, byte {place}", self.file), what, help)
    }

    /// Reads the next record; `None` at the end of the file.
    pub fn read(&mut self) -> Result<Option<Record<'a>>, Refusal> {
        let (place, rest) = (self.at, &self.bytes[self.at.min(self.bytes.len())..]);
        if rest.is_empty() {
            return Ok(None);
        }
        let words = if rest.len() < RECORD { None } else { rest.get(RECORD..RECORD + WORD * u32_at(rest, 4) as usize) };
        let Some(words) = words else {
            return Err(self.refusal(place, "the file ends within this record", "the file is cut off: copy it again"));
        };
        self.at += RECORD + words.len();
        let number = u16::from_le_bytes([rest[0], rest[1]]);
        Ok(Some(Record {
            place,
            number,
            kind: Kind::of(number),
            is_of_other_thread: rest[2] != 0 || rest[3] != 0,
            wall: [u64_at(rest, 8), u64_at(rest, 16)],
            processor: [u64_at(rest, 24), u64_at(rest, 32)],
            words,
        }))
    }
}
