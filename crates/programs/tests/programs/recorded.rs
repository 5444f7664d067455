//! DUMPI files that tests build call by call.

use std::cell::RefCell;
use weft_programs::mpi::Converted;
use weft_programs::readers::traces::{Clock, Files, TraceFormat};
use weft_units::Refusal;

/// Files in memory that tests pass to a reader in place of files on disk.
pub struct Memory {
    pub names: Vec<String>,
    pub bytes: Vec<Vec<u8>>,
}

impl Files for Memory {
    fn names(&self) -> &[String] {
        &self.names
    }

    fn load(&mut self, place: usize) -> Result<Vec<u8>, Refusal> {
        Ok(self.bytes[place].clone())
    }
}

/// An argument of an MPI call, in the form that DUMPI records.
pub enum Arg<'a> {
    Byte(u8),
    Half(u16),
    Int(i32),
    Ints(&'a [i32]),
    Halves(&'a [u16]),
    /// Statuses of completed requests: bytes, source, cancelled, tag.
    Statuses(&'a [(i32, i32, bool, i32)]),
}

/// The DUMPI file of one rank, to which a test adds calls. Each call begins 10 ns after the previous one and takes 5
/// ns.
pub struct Rank {
    bytes: Vec<u8>,
    /// Time at which the next call begins \[ns\].
    pub now: RefCell<u32>,
}

const MAGIC: u64 = 0xffaa_dd44_554d_5049;

impl Rank {
    pub fn new() -> Self {
        let mut bytes = MAGIC.to_be_bytes().to_vec();
        bytes.extend([0; 8]);
        Self { bytes, now: RefCell::new(0) }
    }

    /// Adds a call with times of both clocks, and with the statuses among its arguments.
    pub fn call(&mut self, number: u16, args: &[Arg<'_>]) -> &mut Self {
        self.bytes.extend(number.to_be_bytes());
        self.bytes.push(0x0f);
        let start = *self.now.borrow();
        for _ in 0..2 {
            for time in [start, start + 5] {
                self.bytes.extend([0, 0]);
                self.bytes.extend(time.to_be_bytes());
            }
        }
        *self.now.borrow_mut() = start + 15;
        args.iter().for_each(|arg| self.argument(arg));
        self
    }

    fn argument(&mut self, arg: &Arg<'_>) {
        let count = |length: usize| (length as u32).to_be_bytes();
        match arg {
            Arg::Byte(number) => self.bytes.push(*number),
            Arg::Half(number) => self.bytes.extend(number.to_be_bytes()),
            Arg::Int(number) => self.bytes.extend(number.to_be_bytes()),
            Arg::Ints(numbers) => {
                self.bytes.extend(count(numbers.len()));
                self.bytes.extend(numbers.iter().flat_map(|number| number.to_be_bytes()));
            }
            Arg::Halves(numbers) => {
                self.bytes.extend(count(numbers.len()));
                self.bytes.extend(numbers.iter().flat_map(|number| number.to_be_bytes()));
            }
            Arg::Statuses(statuses) => {
                self.bytes.extend(count(statuses.len()));
                for &(bytes, source, is_cancelled, tag) in *statuses {
                    self.bytes.extend(bytes.to_be_bytes());
                    self.bytes.extend(source.to_be_bytes());
                    self.bytes.extend([is_cancelled.into(), 0]);
                    self.bytes.extend(tag.to_be_bytes());
                }
            }
        }
    }

    /// Returns the whole file of the rank, in version 8.1.0 of the format. The file defines the datatypes 0 to 15; datatype k
    /// has k bytes.
    pub fn file(&self) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        bytes.extend(293u16.to_be_bytes());
        let header = bytes.len() as u64;
        bytes.extend([8, 1, 0]);
        let sizes = bytes.len() as u64;
        bytes.extend(16u32.to_be_bytes());
        bytes.extend((0..16u32).flat_map(u32::to_be_bytes));
        for word in [MAGIC, sizes, 0, 0, header, 8, header, 0] {
            bytes.extend(word.to_be_bytes());
        }
        bytes
    }
}

/// Reads these ranks as one trace and converts it to a program.
pub fn convert(format: &dyn TraceFormat, ranks: &[Rank], clock: Option<Clock>) -> Result<Converted, Refusal> {
    let names = (0..ranks.len()).map(|rank| format!("t-{rank:04}.bin")).collect();
    format.read(&mut Memory { names, bytes: ranks.iter().map(Rank::file).collect() }, clock)
}
