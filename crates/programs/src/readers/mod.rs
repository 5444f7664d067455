//! The file formats of programs. Each format is one file and one line of [`FORMATS`]. The module [`swf`] also reads
//! queues of jobs.

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

/// A format of programs that Weft can read and write.
pub trait Format: Sync {
    /// Name of the format on the command line, and ending of its files.
    fn name(&self) -> &'static str;

    /// True if a file that begins with `head` has this format.
    fn fits(&self, head: &[u8]) -> bool;

    /// Reads a program; `file` is the name of the file in refusals.
    fn read(&self, file: &str, bytes: &[u8]) -> Result<Program, Refusal>;

    /// True if files of the format can contain collectives. In other formats, programs contain the messages of
    /// collectives instead.
    fn has_collectives(&self) -> bool {
        false
    }

    /// Writes a program. The program must not have collectives unless the format can contain them.
    fn write(&self, program: &Program) -> Result<Vec<u8>, Refusal>;
}

/// All formats. The first format that matches a file reads the file.
pub const FORMATS: &[&dyn Format] = &[&goal_binary::GoalBinary, &vef::Vef, &goal::Goal];

/// Returns the program format with this name.
pub fn named(name: &str) -> Option<&'static dyn Format> {
    FORMATS.iter().copied().find(|format| format.name() == name)
}

/// Finds the format of a file by its first bytes. If no format matches, returns the last format,
/// whose reader then reports the faults of the file.
pub fn of(bytes: &[u8]) -> &'static dyn Format {
    FORMATS.iter().copied().find(|format| format.fits(bytes)).unwrap_or(FORMATS[FORMATS.len() - 1])
}
