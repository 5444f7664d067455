//! Traces: recordings of several files, often one per rank, which become programs. A format is one file and one line of
//! [`FORMATS`].

pub use super::trace_files::{Clock, Files, TraceFormat};

/// All formats. The first format that matches a file reads it.
pub const FORMATS: &[&dyn TraceFormat] =
    &[&super::capture::Capture, &super::dumpi::Dumpi, &super::liballprof::Liballprof, &super::chakra::Chakra];

/// The trace format with the name `name`.
pub fn named(name: &str) -> Option<&'static dyn TraceFormat> {
    FORMATS.iter().copied().find(|format| format.name() == name)
}

/// The format of a file by its name and its first bytes.
pub fn of(name: &str, head: &[u8]) -> Option<&'static dyn TraceFormat> {
    FORMATS.iter().copied().find(|format| format.fits(name, head))
}
