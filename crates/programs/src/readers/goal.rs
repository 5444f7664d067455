//! GOAL as text.
//!
//! # Source
//! T. Hoefler, C. Siebert, A. Lumsdaine, "Group operation assembly language" (ICPP 2009). The grammar is that of `txt2bin`, a
//! program of LogGOPSim.
//!
//! # Parameters
//! None. Times of `calc` are in nanoseconds, and sizes in bytes.
//!
//! # Guarantees
//! The reader reads files in the same way as `txt2bin`, in time and memory proportional to their length. Operations and edges
//! keep the order of the file. If Weft writes a program to a file and reads the file again, the program is the same.
//!
//! # Not modelled
//! Dependencies between ranks, which do not exist in the GOAL language. Tags of more than 32 bits, which ATLAHS writes. The reader
//! uses only their lower 32 bits, and refuses a file in which two tags have the same lower bits.
//!
//! # Validation
//! `programs/tests/programs/answers.rs` compares text files of LogGOPSim with its binary files.
//! `programs/tests/programs/damage.rs` checks damaged files and random text.

mod lines;
mod quantities;

use self::lines::{Reader, Statement, Token};
use super::Format;
use crate::form::{Draft, Kind, Op, Program, RankProgram, When};
use std::collections::HashMap;
use std::fmt::Write;
use weft_units::Refusal;

/// The reader and writer for GOAL in text form.
pub struct Goal;

/// Number of bytes at the beginning of a file by which the reader recognises a text file.
const HEAD: usize = 64;

impl Format for Goal {
    fn name(&self) -> &'static str {
        "goal"
    }

    fn fits(&self, head: &[u8]) -> bool {
        let words = [&b"num_ranks"[..], b"/", b" ", b"\t", b"\n", b"\r"];
        words.iter().any(|word| head.starts_with(word))
    }

    fn read(&self, file: &str, bytes: &[u8]) -> Result<Program, Refusal> {
        if bytes.iter().take(HEAD).any(|&byte| byte < b'\t') {
            let what = "the file is neither text nor one of the binary formats of programs and traces";
            return Err(Refusal::new(file, what, "name a program or a trace; unpack a .zip archive first"));
        }
        let mut reader = Reader::new(file, bytes);
        let mut ranks: Vec<RankProgram> = Vec::new();
        let mut wanted: Option<u32> = None;
        while let Some(head) = reader.head()? {
            match (head, wanted) {
                (Token::Ranks(0), _) => {
                    return Err(reader.refusal("a program needs at least 1 rank", "write num_ranks 1 or more"));
                }
                (Token::Ranks(count), None) => wanted = Some(count),
                (Token::Ranks(_), Some(_)) => {
                    return Err(reader.refusal("num_ranks occurs twice", "keep only the first"));
                }
                (Token::Rank(rank), Some(count)) if rank < count => {
                    let place = rank as usize;
                    if place > ranks.len() {
                        let what = format!("the block of rank {rank} follows that of rank {}", ranks.len() as i64 - 1);
                        return Err(reader.refusal(
                            &what,
                            "write the ranks in order, with an empty block for a rank that does nothing",
                        ));
                    }
                    if place < ranks.len() {
                        return Err(
                            reader.refusal(&format!("rank {rank} has two blocks"), "write one block for each rank")
                        );
                    }
                    ranks.push(RankProgram::new(block(&mut reader, count)?));
                }
                (Token::Rank(rank), Some(count)) => {
                    let what =
                        format!("rank {rank} does not exist: with num_ranks {count} the ranks are 0 to {}", count - 1);
                    return Err(reader.refusal(&what, "raise num_ranks, or correct the rank"));
                }
                (Token::Rank(_), None) => {
                    return Err(reader.refusal("a rank comes before num_ranks", "begin the file with num_ranks N"));
                }
            }
        }
        let count =
            wanted.ok_or_else(|| reader.refusal("the file has no num_ranks", "begin the file with num_ranks N"))?;
        if (ranks.len() as u64) < u64::from(count) {
            let what = format!("the file ends after {} of {count} ranks", ranks.len());
            return Err(reader.refusal(&what, "the file is cut off or num_ranks is too large: correct one of them"));
        }
        let program = Program { ranks };
        check_tags(&reader, &program)?;
        Ok(program)
    }

    fn write(&self, program: &Program) -> Result<Vec<u8>, Refusal> {
        let mut text = format!("num_ranks {}\n", program.len());
        for (rank, of) in program.ranks.iter().enumerate() {
            let _ = writeln!(text, "\nrank {rank} {{");
            let ops = &of.ops;
            for (place, op) in ops.ops().iter().enumerate() {
                statement(&mut text, place, of.rank_of(op.comm(), op.peer().unwrap_or(0)), op);
            }
            // writes the dependencies by their earlier operation, so that a reader finds the successors of an operation in the same order
            for op in 0..ops.len() as u32 {
                for (when, word) in [(When::Finish, "requires"), (When::Start, "irequires")] {
                    for later in ops.successors(op, when) {
                        let _ = writeln!(text, "l{} {word} l{}", later + 1, op + 1);
                    }
                }
            }
            text.push_str("}\n");
        }
        Ok(text.into_bytes())
    }
}

/// Refuses a file in which a tag of at most 32 bits equals the lower 32 bits of a longer tag.
fn check_tags(reader: &Reader, program: &Program) -> Result<(), Refusal> {
    if reader.folded.is_empty() {
        return Ok(());
    }
    let mut left = reader.folded.clone();
    let messages = program.ranks.iter().flat_map(|rank| rank.ops.ops()).filter(|op| op.kind() != Kind::Compute);
    for op in messages {
        let Some((tag, count)) = op.tag().and_then(|tag| left.get_mut(&tag)) else { continue };
        *count = count.checked_sub(1).ok_or_else(|| {
            let Refusal { what, help, .. } = reader.two_tags(*tag, u64::from(*tag as u32));
            Refusal::new(reader.file, what, help)
        })?;
    }
    Ok(())
}

fn statement(text: &mut String, place: usize, peer: u32, op: &Op) {
    let any = |number: Option<u32>| number.map_or("-1".to_owned(), |number| number.to_string());
    let _ = write!(text, "l{}: ", place + 1);
    let _ = match op.kind() {
        Kind::Compute => write!(text, "calc {}", op.size()),
        Kind::Send => write!(text, "send {}b to {peer} tag {}", op.size(), any(op.tag())),
        Kind::Receive => {
            let from = op.peer().map(|_| peer);
            write!(text, "recv {}b from {} tag {}", op.size(), any(from), any(op.tag()))
        }
        Kind::Collective(_) => unreachable!("collectives become messages before they are written"),
    };
    if op.cpu() > 0 {
        let _ = write!(text, " cpu {}", op.cpu());
    }
    if op.nic() > 0 && op.kind() != Kind::Compute {
        let _ = write!(text, " nic {}", op.nic());
    }
    text.push('\n');
}

/// The labels of a rank's operations. In most files the labels are `l1`, `l2`, ... in order.
#[derive(Default)]
struct Labels<'a> {
    /// Entry N is for the label `lN`: the index of the operation with this label plus 1, or 0 if no operation has the label.
    numbered: Vec<u32>,
    others: HashMap<&'a [u8], u32>,
}

impl<'a> Labels<'a> {
    /// Returns N for a label `lN`, if N is small enough for the list `numbered`. This limit depends on the number `ops` of operations so
    /// far, and prevents that a label with a large number needs much memory.
    fn place(&self, label: &[u8], ops: u32) -> Option<usize> {
        let digits =
            label.strip_prefix(b"l").filter(|digits| !digits.is_empty() && digits.len() < 9 && digits[0] != b'0')?;
        let number = digits
            .iter()
            .try_fold(0usize, |sum, &digit| digit.is_ascii_digit().then(|| sum * 10 + usize::from(digit - b'0')))?;
        (number < 4 * ops as usize + 64).then_some(number)
    }

    /// Stores the label of an operation. Returns `false` if another operation has the same label.
    fn define(&mut self, label: &'a [u8], op: u32) -> bool {
        match self.place(label, op) {
            Some(place) if !self.others.contains_key(label) => {
                if place >= self.numbered.len() {
                    self.numbered.resize((place + 1).max(self.numbered.len() * 2), 0);
                }
                let is_new = self.numbered[place] == 0;
                self.numbered[place] = op + 1;
                is_new
            }
            _ => self.find(label, op).is_none() && self.others.insert(label, op).is_none(),
        }
    }

    fn find(&self, label: &[u8], ops: u32) -> Option<u32> {
        let numbered =
            self.place(label, ops).and_then(|place| self.numbered.get(place)).and_then(|op| op.checked_sub(1));
        numbered.or_else(|| self.others.get(label).copied())
    }
}

/// Reads the block of a rank up to its closing bracket.
fn block<'a>(reader: &mut Reader<'a>, ranks: u32) -> Result<crate::form::Ops, Refusal> {
    let (mut draft, mut labels) = (Draft::default(), Labels::default());
    loop {
        match reader.statement()? {
            Statement::End => break,
            Statement::Op { label, op } => {
                if let Some(peer) = op.peer().filter(|&peer| peer >= ranks && op.kind() != Kind::Compute) {
                    let what =
                        format!("rank {peer} does not exist: with num_ranks {ranks} the ranks are 0 to {}", ranks - 1);
                    return Err(reader.refusal(&what, "correct the rank, or raise num_ranks"));
                }
                let number = draft.add(op);
                if let Some(label) = label.filter(|&label| !labels.define(label, number)) {
                    let what = format!("two operations have the label {}", String::from_utf8_lossy(label));
                    return Err(reader.refusal(&what, "give each operation of a rank a different label"));
                }
            }
            Statement::Edge { later, earlier, when } => {
                let mut found = [0; 2];
                for (place, label) in [later, earlier].into_iter().enumerate() {
                    found[place] = labels.find(label, draft.len()).ok_or_else(|| {
                        let what = format!("label {} is not defined above this line", String::from_utf8_lossy(label));
                        reader.refusal(&what, "define the operation with this label before you use the label")
                    })?;
                }
                draft.depend(found[0], found[1], when);
            }
        }
    }
    draft.finish().map_err(|op| {
        let what = format!("operation {} of this rank is part of a cycle of dependencies", op + 1);
        reader.refusal(&what, "remove one dependency of this cycle")
    })
}
