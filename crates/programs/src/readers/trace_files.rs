//! Access to the files of a trace, for the readers of trace formats: names and bytes, the files of the ranks in order,
//! and the requested clock.

use crate::mpi::Converted;
use weft_units::Refusal;

weft_units::words! {
    /// The clock by which computations are measured.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Clock {
        /// The processor time of the rank.
        Processor = "processor",
        /// Wall-clock time.
        Wall = "wall",
    }
}

impl Clock {
    /// Returns the clock with this name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Processor, Self::Wall].into_iter().find(|clock| clock.name() == name)
    }
}

/// The files of a trace. The files are loaded one at a time, so that only one file is in memory.
pub trait Files {
    /// Names of the files without their folder.
    fn names(&self) -> &[String];

    /// Loads the bytes of the file whose index in `names` is `place`.
    fn load(&mut self, place: usize) -> Result<Vec<u8>, Refusal>;
}

/// A trace format that Weft reads but does not write.
pub trait TraceFormat: Sync {
    fn name(&self) -> &'static str;

    /// True if a file with this name and these first bytes belongs to a trace of this format.
    fn fits(&self, name: &str, head: &[u8]) -> bool;

    /// Reads a trace. If `clock` is `None`, computations are measured in processor time if the trace has it, and
    /// otherwise in wall-clock time.
    fn read(&self, files: &mut dyn Files, clock: Option<Clock>) -> Result<Converted, Refusal>;
}

/// Returns the indices of the files of the ranks, in the order of the ranks. `rank_of` returns the rank of a file from
/// its name. Refuses a trace in which the file of a rank is missing, or whose number of files is not `wanted`.
pub fn by_rank(
    names: &[String],
    wanted: Option<u32>,
    rank_of: impl Fn(&str) -> Option<u32>,
) -> Result<Vec<usize>, Refusal> {
    let mut found: Vec<(u32, usize)> =
        names.iter().enumerate().filter_map(|(place, name)| Some((rank_of(name)?, place))).collect();
    found.sort_unstable();
    if let Some(pair) = found.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        let what = format!("{} and {} both belong to rank {}", names[pair[0].1], names[pair[1].1], pair[0].0);
        return Err(Refusal::new("the trace", what, "put each trace into a separate folder, or name its .meta file"));
    }
    let has_all = wanted.map_or(u64::from(!found.is_empty()), u64::from) <= found.len() as u64;
    let gap = (0..).zip(&found).find(|(rank, found)| *rank != found.0).map(|(rank, _)| rank);
    if let Some(rank) = gap.or_else(|| (!has_all).then_some(found.len() as u32)) {
        let count = wanted.unwrap_or_else(|| found.last().map_or(1, |last| last.0.saturating_add(1)));
        let what = format!("the trace has {count} ranks, but the file of rank {rank} is missing");
        return Err(Refusal::new("the trace", what, "copy the files of all ranks into one folder"));
    }
    if let Some(wanted) = wanted.filter(|&wanted| (wanted as usize) < found.len()) {
        let what = format!("the trace has {wanted} ranks, but there are files of {} ranks", found.len());
        return Err(Refusal::new("the trace", what, "put each trace into a separate folder"));
    }
    Ok(found.into_iter().map(|(_, place)| place).collect())
}

/// Removes the extension `ending` from a file name. Returns the part before the number at the end of the rest, and
/// this number.
pub fn number_of<'a>(name: &'a str, ending: &str) -> Option<(&'a str, u32)> {
    let stem = name.strip_suffix(ending)?;
    let digits = stem.bytes().rev().take_while(u8::is_ascii_digit).count();
    let (before, number) = stem.split_at(stem.len() - digits);
    Some((before, number.parse().ok()?))
}
