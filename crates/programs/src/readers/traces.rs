//! The formats of traces. A trace is a recording in several files, often one per rank, which becomes a program. Each
//! format is one file and one line of [`FORMATS`].

pub use super::trace_files::{Clock, Files, TraceFormat};

/// All formats. The first format that matches a file reads the trace.
pub const FORMATS: &[&dyn TraceFormat] =
    &[&super::capture::Capture, &super::dumpi::Dumpi, &super::liballprof::Liballprof, &super::chakra::Chakra];

/// Returns the trace format with this name.
pub fn named(name: &str) -> Option<&'static dyn TraceFormat> {
    FORMATS.iter().copied().find(|format| format.name() == name)
}

/// Finds the format of a file by its name and its first bytes.
pub fn of(name: &str, head: &[u8]) -> Option<&'static dyn TraceFormat> {
    FORMATS.iter().copied().find(|format| format.fits(name, head))
}
