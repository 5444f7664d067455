//! File formats of programs. Each format is one file and one line of [`FORMATS`]. In addition, [`swf`] reads queues of jobs.

pub mod capture;
pub mod chakra;
pub mod dumpi;
pub mod goal;
pub mod goal_binary;
pub mod liballprof;
pub mod swf;
mod timer;
pub mod trace_files;
pub mod traces;
pub mod vef;

use crate::form::Program;
use weft_units::Refusal;

/// A format that Weft reads and writes.
pub trait Format: Sync {
    /// Name on the command line, and the ending of its files.
    fn name(&self) -> &'static str;

    /// True if a file that begins with `head` has this format.
    fn fits(&self, head: &[u8]) -> bool;

    /// Reads a program. `file` is its name for refusals.
    fn read(&self, file: &str, bytes: &[u8]) -> Result<Program, Refusal>;

    /// True if the format has collectives. In other formats, collectives are written as messages.
    fn has_collectives(&self) -> bool {
        false
    }

    /// Writes a program. It must not have collectives unless the format has them.
    fn write(&self, program: &Program) -> Result<Vec<u8>, Refusal>;
}

/// All formats. The first format that matches a file reads it.
pub const FORMATS: &[&dyn Format] = &[&goal_binary::GoalBinary, &vef::Vef, &goal::Goal];

/// The program format with the name `name`.
pub fn named(name: &str) -> Option<&'static dyn Format> {
    FORMATS.iter().copied().find(|format| format.name() == name)
}

/// The format of a file by its first bytes. If no other format matches, it is the last format, which then reports the faults
/// of the file.
pub fn of(bytes: &[u8]) -> &'static dyn Format {
    FORMATS.iter().copied().find(|format| format.fits(bytes)).unwrap_or(FORMATS[FORMATS.len() - 1])
}
