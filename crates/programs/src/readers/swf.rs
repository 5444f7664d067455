//! Queues of jobs in the Standard Workload Format. A file has a line for each job of a machine, with its times and its
//! processors.
//!
//! # Source
//! The definition of the Parallel Workloads Archive, version 2.2 (D. Feitelson et al., cs.huji.ac.il/labs/parallel/workload/swf.html).
//!
//! # Parameters
//! None. Times are in seconds. The reader reads fractions down to 1 ns.
//!
//! # Guarantees
//! The line of a job has 18 numbers between white space. A line that begins with `;` is a comment. A comment `; Name: value` before the
//! first job is a field of the header. In a job, -1 means that the field is missing. If a line is not a valid job, the reader returns the
//! line number and the reason, and continues with the next line. Only one job is in memory at a time.
//!
//! # Not modelled
//! Wait time, used time and memory, requested memory, status, user, group, partition, preceding job and think time. These fields can have
//! any numbers, and the reader ignores them.
//!
//! # Validation
//! The tests of this file check the fields of a line, and faults with their line numbers.
//! `programs/tests/programs/fuzz.rs` checks damaged files.

use std::borrow::Cow;
use std::collections::BTreeMap;

/// Number of fields that each line has.
const FIELDS: usize = 18;
/// Names of the fields, for messages of refusals.
const NAMES: [&str; FIELDS] = [
    "job number",
    "submit time",
    "wait time",
    "run time",
    "allocated processors",
    "average CPU time",
    "used memory",
    "requested processors",
    "requested time",
    "requested memory",
    "status",
    "user",
    "group",
    "executable",
    "queue",
    "partition",
    "preceding job",
    "think time",
];
/// Indices of the fields that the reader uses, in `NAMES`.
const KEPT: [usize; 8] = [0, 1, 3, 4, 7, 8, 13, 14];
/// Bytes that some editors write at the beginning of UTF-8 text; `GZIP` has the first bytes of a gzip file.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
const GZIP: &[u8] = b"\x1f\x8b";
/// The numbers of fields must be below 2^34. In seconds this limit is 544 years, and the limit times 10^9 fits into 64 bits.
const MOST: u64 = 1 << 34;

/// A job of the file, as its line describes it. A field with `None` is missing in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Job {
    /// Number of the job's line in the file, counted from 1.
    pub line: usize,
    pub number: u64,
    /// Submission time \[ns\].
    pub submit_ns: u64,
    /// Run time \[ns\].
    pub run_ns: Option<u64>,
    /// Requested time \[ns\].
    pub requested_ns: Option<u64>,
    pub allocated: Option<u64>,
    pub requested: Option<u64>,
    pub executable: Option<u64>,
    pub queue: Option<u64>,
}

/// A line that is not a valid job, with the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    pub line: usize,
    pub kind: DamageKind,
    pub what: String,
}

/// The kinds of [`Damage`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DamageKind {
    /// The line has more or fewer than 18 fields, or a field is not a number.
    Malformed,
    /// The job was submitted earlier than the job in the line above.
    Backwards,
}

/// True if a file is compressed with gzip, like the files in the Parallel Workloads Archive.
pub fn is_packed(bytes: &[u8]) -> bool {
    bytes.starts_with(GZIP)
}

/// A reader that returns the jobs of a file line by line.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    rest: &'a [u8],
    line: usize,
    header: BTreeMap<String, String>,
    has_jobs: bool,
    /// Submission time of the last job \[ns\], and the number of its line.
    last: (u64, usize),
}

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        let rest = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
        Self { rest, line: 0, header: BTreeMap::new(), has_jobs: false, last: (0, 0) }
    }

    /// Returns the value of a header field such as `MaxNodes`, if it was read so far.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.header.get(name).map(String::as_str)
    }

    fn next_line(&mut self) -> Option<Cow<'a, str>> {
        if self.rest.is_empty() {
            return None;
        }
        let end = self.rest.iter().position(|&byte| byte == b'\n').unwrap_or(self.rest.len());
        let (line, rest) = self.rest.split_at(end);
        self.rest = rest.get(1..).unwrap_or_default();
        self.line += 1;
        Some(String::from_utf8_lossy(line))
    }

    fn note_header(&mut self, comment: &str) {
        if let Some((name, value)) = comment.split_once(':').filter(|_| !self.has_jobs) {
            self.header.entry(name.trim().to_owned()).or_insert_with(|| value.trim().to_owned());
        }
    }

    fn job(&mut self, text: &str) -> Result<Job, Damage> {
        let line = self.line;
        let malformed = |what: String| Damage { line, kind: DamageKind::Malformed, what };
        let words: Vec<&str> = text.split_ascii_whitespace().collect();
        let Ok(words) = <[&str; FIELDS]>::try_from(words.as_slice()) else {
            let missing =
                NAMES.get(words.len()).map_or(String::new(), |name| format!("; the first missing field is the {name}"));
            return Err(malformed(format!("{} fields, but a job has {FIELDS}{missing}", words.len())));
        };
        let mut values = [None; FIELDS];
        for (place, (value, word)) in values.iter_mut().zip(words).enumerate() {
            let read = if KEPT.contains(&place) { number(word) } else { any_number(word) };
            *value = read.map_err(|why| malformed(format!("field {}, the {}: {why}", place + 1, NAMES[place])))?;
        }
        let whole = |place: usize| match values[place] {
            Some(value) if value % 1_000_000_000 != 0 => {
                let what =
                    format!("field {}, the {}: `{}` is not a whole number", place + 1, NAMES[place], words[place]);
                Err(malformed(what))
            }
            value => Ok(value.map(|value| value / 1_000_000_000)),
        };
        let present = |value: Option<u64>, place: usize| {
            value.ok_or_else(|| malformed(format!("field {}, the {}, is missing (-1)", place + 1, NAMES[place])))
        };
        let job = Job {
            line,
            number: present(whole(0)?, 0)?,
            submit_ns: present(values[1], 1)?,
            run_ns: values[3],
            allocated: whole(4)?,
            requested: whole(7)?,
            requested_ns: values[8],
            executable: whole(13)?,
            queue: whole(14)?,
        };
        self.has_jobs = true;
        let (last, of_line) = self.last;
        if job.submit_ns < last {
            let seconds = |ns: u64| ns as f64 / 1e9;
            let what = format!(
                "the job is submitted at {} s, before the job of line {of_line} at {} s",
                seconds(job.submit_ns),
                seconds(last)
            );
            return Err(Damage { line, kind: DamageKind::Backwards, what });
        }
        self.last = (job.submit_ns, line);
        Ok(job)
    }
}

impl Iterator for Reader<'_> {
    type Item = Result<Job, Damage>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let text = self.next_line()?;
            match text.trim_ascii() {
                "" => {}
                comment if comment.starts_with(';') => self.note_header(comment.trim_start_matches(';')),
                job => return Some(self.job(job)),
            }
        }
    }
}

fn no_number(word: &str) -> String {
    let shown: String = word.escape_default().take(40).collect();
    format!("`{shown}` is not a number")
}

/// Reads a field that is not used: accepts any number in any notation, and returns `None`.
fn any_number(word: &str) -> Result<Option<u64>, String> {
    match word.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(None),
        Ok(_) | Err(_) => Err(no_number(word)),
    }
}

/// Returns a number of the file times 10^9; `None` for -1.
fn number(word: &str) -> Result<Option<u64>, String> {
    let (whole, fraction) = word.split_once('.').unwrap_or((word, ""));
    let is_missing = |digits: &str| digits.bytes().all(|digit| digit == b'0');
    if whole == "-1" && is_missing(fraction) {
        return Ok(None);
    }
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(fraction) {
        let is_negative =
            whole.strip_prefix('-').is_some_and(|rest| !rest.is_empty() && digits(rest)) && digits(fraction);
        return Err(if is_negative {
            format!("`{word}` is below 0, but only -1 (missing) may be")
        } else {
            no_number(word)
        });
    }
    let Some(whole) = whole.parse::<u64>().ok().filter(|&whole| whole < MOST) else {
        return Err(format!("`{word:.40}` is not below {MOST}"));
    };
    let billionths = fraction.bytes().chain(std::iter::repeat(b'0')).take(9);
    let billionths = billionths.fold(0, |sum, digit| sum * 10 + u64::from(digit - b'0'));
    Ok(Some(whole * 1_000_000_000 + billionths))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<Result<Job, Damage>> {
        Reader::new(text.as_bytes()).collect()
    }

    #[test]
    fn a_line_is_a_job_of_18_fields() {
        let text = "; MaxNodes: 64\n;  Note: a: b\n\n 7 10.5 -1 3 16 -1 -1 32 3600 -1 1 3 1 5 2 -1 -1 -1\r\n;Late: 1\n";
        let mut reader = Reader::new(text.as_bytes());
        let job = reader.next().unwrap().unwrap();
        let expected = Job {
            line: 4,
            number: 7,
            submit_ns: 10_500_000_000,
            run_ns: Some(3_000_000_000),
            requested_ns: Some(3_600_000_000_000),
            allocated: Some(16),
            requested: Some(32),
            executable: Some(5),
            queue: Some(2),
        };
        assert_eq!((job, reader.next()), (expected, None));
        assert_eq!(
            (reader.header("MaxNodes"), reader.header("Note"), reader.header("Late")),
            (Some("64"), Some("a: b"), None)
        );
    }

    #[test]
    fn a_line_that_is_no_job_is_reported_with_its_place() {
        let job = "1 0 -1 3 16 -1 -1 32 3600 -1 1 3 1 5 2 -1 -1 -1";
        let damage_of = |text: &str| match read(text).pop() {
            Some(Err(Damage { line, kind, what })) => (line, kind, what),
            other => panic!("{text}: {other:?}"),
        };
        let malformed = |line, what: &str| (line, DamageKind::Malformed, what.to_owned());
        for (text, expected) in [
            (
                "1 0 -1 3 16",
                malformed(1, "5 fields, but a job has 18; the first missing field is the average CPU time"),
            ),
            (&format!("{job} 4"), malformed(1, "19 fields, but a job has 18")),
            (
                &format!(";\n{job}\n{}", job.replace("3600", "1e9")),
                malformed(3, "field 9, the requested time: `1e9` is not a number"),
            ),
            (
                &job.replace(" 16 ", " 1.5 "),
                malformed(1, "field 5, the allocated processors: `1.5` is not a whole number"),
            ),
            (
                &job.replace(" 16 ", " -4 "),
                malformed(1, "field 5, the allocated processors: `-4` is below 0, but only -1 (missing) may be"),
            ),
            (
                &job.replace(" 16 ", " 17179869184 "),
                malformed(1, "field 5, the allocated processors: `17179869184` is not below 17179869184"),
            ),
            (&job.replacen(" 0 ", " -1 ", 1), malformed(1, "field 2, the submit time, is missing (-1)")),
            (&job.replace("3600", "\u{fe}"), malformed(1, "field 9, the requested time: `\\u{fe}` is not a number")),
        ] {
            assert_eq!(damage_of(text), expected, "{text}");
        }
        let (line, kind, what) = damage_of(&format!("{}\n{job}", job.replacen(" 0 ", " 12.25 ", 1)));
        assert_eq!(
            (line, kind, &*what),
            (2, DamageKind::Backwards, "the job is submitted at 0 s, before the job of line 1 at 12.25 s")
        );
    }

    #[test]
    fn fields_that_are_not_kept_may_be_any_numbers() {
        let job = "1 0 -1 3 16 -1 -1 32 3600 -1 1 3 1 5 2 -1 -1 -1";
        let odd = "1 0 -7 3 16 2.5e3 99999999999999 32 3600 -1 -5 3 1 5 2 -1 -1 -60";
        assert_eq!(read(odd), read(job));
        let marked = format!("\u{feff}{job}");
        assert_eq!(read(&marked), read(job));
        assert!(read(&job.replace(" -1 1 3 ", " -1 nan 3 "))[0].is_err());
        assert!(is_packed(b"\x1f\x8b\x08") && !is_packed(job.as_bytes()));
    }

    #[test]
    fn a_file_that_is_cut_off_anywhere_loses_its_last_job_at_most() {
        let text =
            "; a\n1 0 -1 3 16 -1 -1 32 3600 -1 1 3 1 5 2 -1 -1 -1\n2 4 -1 3 16 -1 -1 32 3600 -1 1 3 1 5 2 -1 -1 -1\n";
        let second = text.rfind("2 4").unwrap();
        for end in second + 1..text.len() - 3 {
            let jobs = read(&text[..end]);
            assert!(jobs.len() == 2 && jobs[0].is_ok() && jobs[1].is_err(), "{end}: {jobs:?}");
        }
    }
}
