//! Reads the records of a DUMPI file, one after the other.

use super::calls::{self, Call, END};
use weft_units::Refusal;

/// The first eight bytes of a file. The eight bytes before the index of a file are the same.
pub const MAGIC: u64 = 0xffaa_dd44_554d_5049;
/// Bits in the mask of a record, which say which optional data the record has.
const STATUS: u8 = 0x03;
const CPU: u8 = 0x04;
const WALL: u8 = 0x08;
const THREAD: u8 = 0x40;
const COUNTERS: u8 = 0x80;
/// The oldest supported version. Records of earlier versions have errors, which depend on the version.
const OLDEST: [u8; 3] = [0, 6, 9];
/// The newest major version whose layouts are known. Records do not contain their length. If the layout of a call were
/// different, the reader would therefore read wrong numbers.
const NEWEST: u8 = 13;

/// The times at which a call began and ended \[ns\].
pub type Times = [u64; 2];

/// The status of a completed receive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Status {
    pub bytes: i64,
    pub source: i64,
    pub is_cancelled: bool,
    pub error: i64,
    pub tag: i64,
}

/// Number of values of a status in a [`Record`].
const STATUS_NUMBERS: usize = 5;

/// A record: an MPI call with its arguments. The reader reuses the same object for each call.
#[derive(Debug, Default)]
pub struct Record {
    pub number: u16,
    /// Position of the record in the file \[bytes\].
    pub place: usize,
    pub thread: u16,
    pub cpu: Option<Times>,
    pub wall: Option<Times>,
    numbers: Vec<i64>,
    ends: Vec<usize>,
}

impl Record {
    pub fn call(&self) -> Option<&'static Call> {
        calls::call(self.number)
    }

    /// Returns all numbers of an argument. The list is empty if the record lacks the argument.
    pub fn list(&self, argument: usize) -> &[i64] {
        let Some(&end) = self.ends.get(argument) else { return &[] };
        let start = argument.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.numbers[start..end]
    }

    /// Returns an argument that is one number, or 0 if the record lacks the argument.
    pub fn int(&self, argument: usize) -> i64 {
        self.list(argument).first().copied().unwrap_or(0)
    }

    /// Returns the statuses of an argument. The list is empty if the program ignored them.
    pub fn statuses(&self, argument: usize) -> impl Iterator<Item = Status> + '_ {
        self.list(argument).chunks_exact(STATUS_NUMBERS).map(|numbers| Status {
            bytes: numbers[0],
            source: numbers[1],
            is_cancelled: numbers[2] != 0,
            error: numbers[3],
            tag: numbers[4],
        })
    }

    fn close(&mut self) {
        self.ends.push(self.numbers.len());
    }
}

/// A reader of the file of one rank, record by record.
pub struct Stream<'a> {
    file: &'a str,
    bytes: &'a [u8],
    at: usize,
    /// Position in the file at which the records must end [bytes].
    end: usize,
    cpu_bias_s: u64,
    wall_bias_s: u64,
    pub version: [u8; 3],
    /// Size of each datatype \[bytes\], by its number.
    pub sizes: Vec<u32>,
}

impl<'a> Stream<'a> {
    /// Reads the index at the end of the file, and then the header and the table of sizes, whose positions are in the index.
    pub fn open(file: &'a str, bytes: &'a [u8]) -> Result<Self, Refusal> {
        let mut stream = Self {
            file,
            bytes,
            at: 0,
            end: bytes.len(),
            cpu_bias_s: 0,
            wall_bias_s: 0,
            version: [0; 3],
            sizes: Vec::new(),
        };
        if stream.u64()? != MAGIC {
            return Err(stream.refusal(
                0,
                "the file does not begin like a file of DUMPI",
                "name the files that DUMPI has written",
            ));
        }
        let index = stream.index()?;
        let [sizes, header, body] = index;
        stream.at = header;
        stream.version = [stream.u8()?, stream.u8()?, stream.u8()?];
        let [major, minor, patch] = stream.version;
        if major > NEWEST {
            let what = format!("the file has version {major}.{minor}.{patch}, but Weft reads only up to {NEWEST}");
            return Err(stream.refusal(header, &what, "record the program again with sst-dumpi 13"));
        }
        if stream.version < OLDEST {
            let what = format!("the file has version {major}.{minor}.{patch}, but Weft reads only 0.6.9 and later");
            return Err(stream.refusal(header, &what, "record the program again with a newer DUMPI"));
        }
        if sizes > 0 {
            stream.at = sizes;
            let count = stream.count(4)?;
            stream.sizes = (0..count).map(|_| stream.u32()).collect::<Result<_, _>>()?;
        }
        stream.at = body;
        stream.end = header;
        stream.cpu_bias_s = stream.u32()?.into();
        stream.wall_bias_s = stream.u32()?.into();
        Ok(stream)
    }

    /// Returns the positions of the table of sizes (0 if there is none), of the header and of the records. The index is a list
    /// of positions at the end of the file. Newer versions added entries at the beginning of this list.
    fn index(&self) -> Result<[usize; 3], Refusal> {
        let word = |back: usize| {
            let start = self.bytes.len().checked_sub(8 * back)?;
            Some(u64::from_be_bytes(self.bytes.get(start..start + 8)?.try_into().ok()?))
        };
        let magic = (5..=8).find(|&back| word(back) == Some(MAGIC)).ok_or_else(|| {
            self.refusal(self.bytes.len(), "the file has no index at its end", "the file is cut off: copy it again")
        })?;
        let place = |back: usize| {
            let place = word(back).unwrap_or(0);
            let fits = usize::try_from(place).ok().filter(|&place| place < self.bytes.len());
            fits.ok_or_else(|| {
                let what = format!("the index names byte {place}, but the file has {} bytes", self.bytes.len());
                self.refusal(self.bytes.len() - 8 * back, &what, "the file is damaged: copy it again")
            })
        };
        Ok([if magic == 8 { place(7)? } else { 0 }, place(4)?, place(3)?])
    }

    pub fn refusal(&self, place: usize, what: &str, help: &str) -> Refusal {
        Refusal::new(format!("{}, byte {place}", self.file), what, help)
    }

    /// Reads the next record. Returns `false` after the last record.
    pub fn next(&mut self, record: &mut Record) -> Result<bool, Refusal> {
        let place = self.at;
        record.number = self.u16()?;
        (record.place, record.thread, record.cpu, record.wall) = (place, 0, None, None);
        record.numbers.clear();
        record.ends.clear();
        if record.number == END {
            if self.at != self.end {
                let what = format!("the records end at this byte, but the index gives byte {} as their end", self.end);
                return Err(self.refusal(place, &what, "the file is damaged: copy it again"));
            }
            return Ok(false);
        }
        let call = record.call().filter(|call| call.layout != b"!").ok_or_else(|| {
            let what = match record.call() {
                Some(call) => {
                    format!("Weft does not know the layout of MPI_{}, so it can't read any later call", call.name)
                }
                None => format!("no call has the number {}", record.number),
            };
            self.refusal(place, &what, "record the program again without this call, or copy the file again")
        })?;
        let mask = self.u8()?;
        if mask & THREAD != 0 {
            record.thread = self.u16()?;
        }
        if mask & CPU != 0 {
            record.cpu = Some(self.times(self.cpu_bias_s)?);
        }
        if mask & WALL != 0 {
            record.wall = Some(self.times(self.wall_bias_s)?);
        }
        if mask & COUNTERS != 0 {
            let counters = self.u8()?;
            self.take(16 * usize::from(counters))?;
        }
        self.arguments(call, mask & STATUS != 0, record)?;
        Ok(true)
    }

    fn arguments(&mut self, call: &Call, has_statuses: bool, record: &mut Record) -> Result<(), Refusal> {
        let mut is_left_out = false;
        for letter in call.layout {
            if is_left_out && *letter != b')' {
                record.close();
                continue;
            }
            match letter {
                b'-' => continue,
                b'(' => {
                    // the arguments before the bracket begin with the rank and end with the root and the communicator. Only at
                    // the root does the record have the arguments in brackets
                    let before = record.ends.len();
                    is_left_out = record.int(0) != record.int(before - 2);
                    continue;
                }
                b')' => {
                    is_left_out = false;
                    continue;
                }
                b'S' if !has_statuses => {}
                b'S' => self.statuses(record)?,
                b's' => self.list(record, 1)?,
                b'A' | b'J' => {
                    for _ in 0..self.count(4)? {
                        self.list(record, if *letter == b'A' { 1 } else { 4 })?;
                    }
                }
                b'B' => self.list(record, 1)?,
                b'H' => self.list(record, 2)?,
                b'I' => self.list(record, 4)?,
                b'b' => record.numbers.push(self.u8()?.into()),
                b'h' => record.numbers.push(self.u16()?.into()),
                b'i' => record.numbers.push(i64::from(self.u32()? as i32)),
                _ => record.numbers.push(self.u64()? as i64),
            }
            record.close();
        }
        Ok(())
    }

    /// Reads a list of whole numbers of `width` bytes.
    fn list(&mut self, record: &mut Record, width: usize) -> Result<(), Refusal> {
        let count = self.count(width)?;
        let bytes = self.take(count * width)?;
        match width {
            1 => record.numbers.extend(bytes.iter().map(|&byte| i64::from(byte))),
            2 => {
                record.numbers.extend(bytes.chunks_exact(2).map(|two| i64::from(u16::from_be_bytes([two[0], two[1]]))))
            }
            _ => {
                let number = |four: &[u8]| i64::from(i32::from_be_bytes([four[0], four[1], four[2], four[3]]));
                record.numbers.extend(bytes.chunks_exact(4).map(number));
            }
        }
        Ok(())
    }

    fn statuses(&mut self, record: &mut Record) -> Result<(), Refusal> {
        for _ in 0..self.count(14)? {
            for letter in *b"iibbi" {
                let number = if letter == b'i' { i64::from(self.u32()? as i32) } else { self.u8()?.into() };
                record.numbers.push(number);
            }
        }
        Ok(())
    }

    /// Reads a number of items. Each item has at least `width` bytes. Refuses a number that is too large for the rest of
    /// the file.
    fn count(&mut self, width: usize) -> Result<usize, Refusal> {
        let (place, count) = (self.at, self.u32()? as i32);
        // if a list is missing, the recording has a negative number as its length
        let count = usize::try_from(count).unwrap_or(0);
        if count.saturating_mul(width) > self.bytes.len() - self.at {
            let what =
                format!("a list has {count} items, but the file has only {} more bytes", self.bytes.len() - self.at);
            return Err(self.refusal(place, &what, "the file is cut off or damaged: copy it again"));
        }
        Ok(count)
    }

    fn times(&mut self, bias_s: u64) -> Result<Times, Refusal> {
        let mut time = || Ok((u64::from(self.u16()?) + bias_s) * 1_000_000_000 + u64::from(self.u32()?));
        Ok([time()?, time()?])
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], Refusal> {
        let taken = self.bytes[self.at..].get(..count).ok_or_else(|| {
            self.refusal(self.at, "the file ends within a record", "the file is cut off: copy it again")
        })?;
        self.at += count;
        Ok(taken)
    }

    fn u8(&mut self) -> Result<u8, Refusal> {
        Ok(self.take(1)?[0])
    }

    fn u16(&mut self) -> Result<u16, Refusal> {
        let bytes = self.take(2)?;
        Ok(u16::from_be_bytes([bytes[0], bytes[1]]))
    }

    fn u32(&mut self) -> Result<u32, Refusal> {
        let bytes = self.take(4)?;
        Ok(u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    fn u64(&mut self) -> Result<u64, Refusal> {
        Ok(u64::from(self.u32()?) << 32 | u64::from(self.u32()?))
    }
}
