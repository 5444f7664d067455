//! Describes the waiting ranks, and the messages for which they wait, if a program cannot continue.

use crate::form::Cursor;
use crate::rank::{Key, Machine};
use serde::Serialize;
use serde_json::{Value, json};
use std::fmt;

/// Largest number of ranks and operations that the description lists.
const NAMED: usize = 8;

/// A receive that waits for a message. `operation` is its index in the program, or `None` for a receive of a
/// collective. `None` as source or tag means any.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Receive {
    pub operation: Option<u32>,
    pub source: Option<u32>,
    pub tag: Option<u32>,
}

/// A message that does not match any receive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unreceived {
    pub source: u32,
    pub tag: Option<u32>,
    pub bytes: u64,
}

/// A rank that has not finished.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Waiting {
    pub rank: u32,
    /// Number of the rank's operations that have finished.
    pub finished: u32,
    /// Number of all operations of the rank.
    pub of: u32,
    pub receives: Vec<Receive>,
    pub messages: Vec<Unreceived>,
}

/// A program that cannot continue, or that has messages without a receive. The description has the number of waiting
/// ranks, and details of the first ranks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stuck {
    pub ranks: usize,
    pub waiting: Vec<Waiting>,
}

impl Stuck {
    /// Returns `None` if all ranks have finished. `size` returns the number of bytes of a message.
    pub fn of<'a, C: Cursor + 'a, Handle: Copy + 'a>(
        machines: impl IntoIterator<Item = &'a Machine<C, Handle>>,
        size: impl Fn(Handle) -> u64,
    ) -> Option<Self> {
        let mut stuck = Self { ranks: 0, waiting: Vec::new() };
        for (rank, machine) in machines.into_iter().enumerate().filter(|(_, machine)| !machine.is_done()) {
            stuck.ranks += 1;
            if stuck.waiting.len() == NAMED {
                continue;
            }
            let (finished, of) = machine.progress();
            let named = |number: u32| (number != u32::MAX).then_some(number);
            let receives = machine.waiting().into_iter().take(NAMED);
            let receives = receives.map(|(Key { source, tag, .. }, id)| Receive {
                operation: id.in_program(),
                source: named(source),
                tag: named(tag),
            });
            let messages = machine.unexpected().into_iter().take(NAMED);
            let messages = messages.map(|(key, message)| Unreceived {
                source: key.source,
                tag: named(key.tag),
                bytes: size(message),
            });
            let (receives, messages) = (receives.collect(), messages.collect());
            stuck.waiting.push(Waiting { rank: rank as u32, finished, of, receives, messages });
        }
        (stuck.ranks > 0).then_some(stuck)
    }

    /// Returns the same information as JSON: the number of waiting ranks, and details of the first ranks.
    pub fn as_json(&self) -> Value {
        json!({"stuck_ranks": self.ranks, "waiting": self.waiting})
    }

    /// Returns the remedy for ranks that wait without end.
    pub fn help(&self) -> &'static str {
        "give every receive a send of the same ranks, tag and communicator, and every send a receive; where both exist, \
         order them so that no ranks wait for each other in a circle"
    }
}

impl fmt::Display for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let any = |number: Option<u32>| number.map_or("any".to_owned(), |number| number.to_string());
        write!(f, "rank {} has finished {} of {} operations", self.rank, self.finished, self.of)?;
        for &Receive { operation, source, tag } in &self.receives {
            let op = operation.map_or("a receive of a collective".to_owned(), |op| format!("operation {op}"));
            write!(f, "; {op} waits for a message from {} with tag {}", any(source), any(tag))?;
        }
        for &Unreceived { source, tag, bytes } in &self.messages {
            write!(f, "; no receive takes {bytes} bytes from {source} with tag {}", any(tag))?;
        }
        Ok(())
    }
}

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{} rank(s) can't go on", self.ranks)?;
        self.waiting.iter().try_for_each(|waiting| write!(f, "\n  {waiting}"))?;
        match self.ranks - self.waiting.len() {
            0 => Ok(()),
            more => write!(f, "\n  and {more} more"),
        }
    }
}
