//! VEF traces. A trace has the sends and collectives of a program, each with the event for which it waits. **Unverified**: we had
//! no file from VEF's own tools, so this reader only follows the description of the format.
//!
//! # Source
//! F. J. Andujar et al., "VEF traces" (CLUSTER 2015, doi 10.1109/CLUSTER.2015.141); the reader uses the fields that
//! `CARV-ICS-FORTH/taz` reads (`src/simulate/parsers/VEFParser.cpp`).
//!
//! # Parameters
//! None. Times are in nanoseconds, and sizes in bytes.
//!
//! # Guarantees
//! The reader adds a receive at the destination of each message. The receive is posted at the start of the program, and its tag
//! is the number of the message in the file. If several records depend on the same event with different delays, the delays
//! become a sequence of computations after this event. Times are rounded to whole nanoseconds. Weft writes a program only if
//! VEF can express the whole program. Each operation must depend on at most one other operation, and receives must depend on
//! none. Another operation must depend on each computation. If Weft writes a program to a file and reads the file again, the
//! program is the same.
//!
//! # Not modelled
//! Blocks of different sizes: a collective uses the largest size, and an all-to-all the mean size. Reduce-scatter, which the format
//! does not have.
//!
//! # Validation
//! `programs/tests/programs/vef.rs` checks programs that are written and read again, dependencies that were derived by hand, and
//! damaged files. The reader was not compared with another tool.

mod rank;
mod write;

use self::rank::{Rank, Shared, Step};
use super::Format;
use crate::form::{Op, Operation, Program};
use std::collections::HashMap;
use std::sync::Arc;
use weft_units::Refusal;

/// The reader and writer for VEF traces.
pub struct Vef;

/// The collectives, in the order of their numbers in the format.
const OPERATIONS: [Operation; 8] = [
    Operation::Broadcast,
    Operation::Reduce,
    Operation::AllReduce,
    Operation::Gather,
    Operation::Scatter,
    Operation::AllGather,
    Operation::Barrier,
    Operation::AllToAll,
];

impl Format for Vef {
    fn name(&self) -> &'static str {
        "vef"
    }

    fn fits(&self, head: &[u8]) -> bool {
        head.starts_with(b"VEF")
    }

    fn has_collectives(&self) -> bool {
        true
    }

    fn read(&self, file: &str, bytes: &[u8]) -> Result<Program, Refusal> {
        Reader { file, line: 0 }.program(bytes)
    }

    fn write(&self, program: &Program) -> Result<Vec<u8>, Refusal> {
        write::program(program)
    }
}

/// The event for which a record waits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum After {
    Nothing,
    Sent(u32),
    Received(u32),
    Collective(u32),
}

/// The collectives of a file by their numbers, and how many collectives each communicator has.
struct Collectives {
    known: HashMap<u32, Shared>,
    of_comm: Vec<u32>,
}

struct Reader<'a> {
    file: &'a str,
    line: usize,
}

/// The numbers in the first line of a file.
struct Head {
    ranks: u32,
    messages: u32,
    comms: u32,
    collectives: u32,
    /// Number of tasks that take part in a collective, summed over all collectives. The file has a line for each task of each
    /// collective.
    parts: u64,
}

impl Reader<'_> {
    fn refusal(&self, what: &str, help: &str) -> Refusal {
        Refusal::new(format!("{}:{}", self.file, self.line), what, help)
    }

    fn damaged(&self, what: &str) -> Refusal {
        self.refusal(what, "correct this line; if the file is cut off, copy it again")
    }

    fn number<T: std::str::FromStr>(&self, word: Option<&str>, what: &str) -> Result<T, Refusal> {
        let word = word.ok_or_else(|| self.damaged(&format!("{what} is missing")))?;
        word.parse().map_err(|_| self.damaged(&format!("expected {what}, found `{}`", word.escape_default())))
    }

    fn program(&mut self, bytes: &[u8]) -> Result<Program, Refusal> {
        let text =
            std::str::from_utf8(bytes).map_err(|_| Refusal::new(self.file, "the file is not text", "copy it again"))?;
        let mut lines = text.lines();
        self.line = 1;
        let head = self.head(lines.next().unwrap_or_default())?;
        // the reader needs memory for each rank. To limit this memory, the file must be long enough for the line of communicator 0,
        // which lists all ranks
        if u64::from(head.ranks) > bytes.len() as u64 || u64::from(head.comms) > bytes.len() as u64 {
            return Err(self.damaged("the file is too short for the numbers in its first line"));
        }
        let mut comms = Vec::with_capacity(head.comms as usize);
        for number in 0..head.comms {
            self.line += 1;
            comms.push(self.comm(lines.next().unwrap_or_default(), number, head.ranks)?);
        }
        let mut ranks: Vec<Rank> = (0..head.ranks).map(|_| Rank::default()).collect();
        let mut parts = 0;
        let (mut messages, mut collectives) = (0, Collectives { known: HashMap::new(), of_comm: vec![0; comms.len()] });
        for line in lines {
            self.line += 1;
            if line.trim().is_empty() {
                continue;
            }
            match line.strip_prefix('G') {
                Some(rest) => {
                    self.collective(rest, &comms, &mut collectives, &mut ranks)?;
                    parts += 1;
                }
                None => {
                    self.message(line, messages, &mut ranks)?;
                    messages += 1;
                }
            }
        }
        let found = collectives.known.len() as u64;
        for (found, said, name) in [
            (messages.into(), head.messages.into(), "messages"),
            (found, head.collectives.into(), "collectives"),
            (parts, head.parts, "records of tasks in collectives"),
        ] {
            if found != said {
                self.line = 1;
                let what = format!("the file has {found} {name}, but its first line gives {said}");
                return Err(self.damaged(&what));
            }
        }
        let mut programs = Vec::with_capacity(ranks.len());
        for (number, rank) in (0..).zip(ranks) {
            programs.push(rank.finish(number, &comms, &collectives.known).map_err(|what| {
                Refusal::new(format!("{}, task {number}", self.file), what, "correct the dependency of this record")
            })?);
        }
        let program = Program { ranks: programs };
        program.check()?;
        Ok(program)
    }

    fn head(&self, line: &str) -> Result<Head, Refusal> {
        let mut words = line.split_ascii_whitespace();
        let magic = words.next().unwrap_or_default();
        let version = magic.strip_prefix("VEF").filter(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()));
        if version.is_none() {
            return Err(self.damaged("the first line does not begin with VEF"));
        }
        let ranks: u32 = self.number(words.next(), "the number of tasks")?;
        let messages = self.number(words.next(), "the number of messages")?;
        let comms = self.number(words.next(), "the number of communicators")?;
        let collectives = self.number(words.next(), "the number of collectives")?;
        let parts = self.number(words.next(), "the number of records of tasks in collectives")?;
        if ranks == 0 || comms == 0 {
            return Err(self.damaged("a trace needs 1 or more tasks, and communicator 0 with all of them"));
        }
        Ok(Head { ranks, messages, comms, collectives, parts })
    }

    fn comm(&self, line: &str, number: u32, ranks: u32) -> Result<Arc<[u32]>, Refusal> {
        let mut words = line.split_ascii_whitespace();
        let name = words.next().and_then(|word| word.strip_prefix('C'));
        if self.number::<u32>(name, "a communicator such as C0")? != number {
            return Err(self.damaged(&format!("expected communicator C{number}")));
        }
        let mut members = Vec::new();
        for word in words {
            let task: u32 = self.number(Some(word), "the number of a task")?;
            if task >= ranks || members.contains(&task) {
                return Err(self.damaged(&format!("task {task} occurs twice, or is above the last task {}", ranks - 1)));
            }
            members.push(task);
        }
        if number == 0 && (0..ranks).ne(members.iter().copied()) {
            return Err(self.damaged(&format!("communicator C0 must have the tasks 0 to {} in this order", ranks - 1)));
        }
        Ok(members.into())
    }

    /// Reads the dependency at the end of a record: its kind, the delay \[ns\], and the number of the message or collective.
    fn after<'w>(&self, mut words: impl Iterator<Item = &'w str>) -> Result<(After, u64), Refusal> {
        let kind: u8 = self.number(words.next(), "a kind of dependency (0 to 3)")?;
        let time: f64 = self.number(words.next(), "a time [ns]")?;
        if !(0.0..1e18).contains(&time) {
            return Err(self.damaged(&format!("{time} is not a time from 0 to 10^18 ns")));
        }
        let id = words.next();
        let after = match kind {
            0 => After::Nothing,
            1 => After::Sent(self.number(id, "the number of a message")?),
            2 => After::Received(self.number(id, "the number of a message")?),
            3 => After::Collective(self.number(id.map(|id| id.trim_start_matches('G')), "the number of a collective")?),
            _ => return Err(self.damaged(&format!("{kind} is not a kind of dependency (0 to 3)"))),
        };
        if words.next().is_some() {
            return Err(self.damaged("the record has more fields than its kind allows"));
        }
        Ok((after, time.round() as u64))
    }

    fn message(&self, line: &str, number: u32, ranks: &mut [Rank]) -> Result<(), Refusal> {
        let mut words = line.split_ascii_whitespace();
        let id: u32 = self.number(words.next(), "the number of a message, or G and the number of a collective")?;
        if id != number {
            return Err(self.damaged(&format!("found message {id} in the place of message {number}")));
        }
        let [from, to] =
            [self.number(words.next(), "the number of a task")?, self.number(words.next(), "the number of a task")?];
        if let Some(task) = [from, to].into_iter().find(|&task: &u32| task as usize >= ranks.len()) {
            return Err(self.damaged(&format!("task {task} is above the last task {}", ranks.len() - 1)));
        }
        let bytes = self.number(words.next(), "a number of bytes")?;
        let (after, delay) = self.after(words)?;
        let op = Op::send(to, bytes, Some(id));
        ranks[from as usize].steps.push(Step { after, delay, op });
        ranks[to as usize].receives.push((id, Op::receive(Some(from), bytes, Some(id))));
        Ok(())
    }

    fn collective(
        &self,
        rest: &str,
        comms: &[Arc<[u32]>],
        collectives: &mut Collectives,
        ranks: &mut [Rank],
    ) -> Result<(), Refusal> {
        let mut words = rest.split_ascii_whitespace();
        let id: u32 = self.number(words.next(), "the number of a collective")?;
        let comm: usize =
            self.number(words.next().map(|word| word.trim_start_matches('C')), "the number of a communicator")?;
        let kind: usize = self.number(words.next(), "a kind of collective (0 to 7)")?;
        let task: u32 = self.number(words.next(), "the number of a task")?;
        let sends: u64 = self.number(words.next(), "the number of bytes to send")?;
        let receives: u64 = self.number(words.next(), "the number of bytes to receive")?;
        let (after, delay) = self.after(words)?;
        let members = comms.get(comm).ok_or_else(|| self.damaged(&format!("communicator {comm} has no line")))?;
        let Some(me) = members.iter().position(|&member| member == task) else {
            return Err(self.damaged(&format!("task {task} is not in communicator {comm}")));
        };
        let operation =
            *OPERATIONS.get(kind).ok_or_else(|| self.damaged(&format!("{kind} is not a collective (0 to 7)")))?;
        let next = &mut collectives.of_comm[comm];
        let shared = collectives.known.entry(id).or_insert_with(|| {
            *next += 1;
            Shared { comm, instance: *next - 1, root: 0, bytes: 0 }
        });
        if shared.comm != comm {
            return Err(self.damaged(&format!("collective {id} has communicator {} on an earlier line", shared.comm)));
        }
        let count = members.len() as u64;
        let (is_root, bytes) = match operation {
            Operation::Broadcast => (sends > 0, sends.max(receives)),
            Operation::Reduce => (receives > 0, sends.max(receives)),
            Operation::Gather => (receives > 0, sends),
            Operation::Scatter => (sends > 0, receives),
            Operation::AllToAll if receives == 1 => (false, sends.div_ceil(count)),
            Operation::AllReduce | Operation::AllGather | Operation::AllToAll => (false, sends),
            Operation::Barrier | Operation::ReduceScatter => (false, 0),
        };
        if is_root {
            shared.root = me as u32;
        }
        shared.bytes = shared.bytes.max(bytes);
        let op = Op::collective(operation, 0, 0, id).within(comm as u16);
        ranks[task as usize].steps.push(Step { after, delay, op });
        Ok(())
    }
}
