//! Converts the records of one task to operations.

use super::After;
use crate::form::{Comm, Draft, Kind, Op, RankProgram, When};
use std::collections::HashMap;
use std::sync::Arc;

/// A record of a task: the event for which it waits, its delay \[ns\] after this event, and its operation. The `instance` of a
/// collective is its number in the file.
pub struct Step {
    pub after: After,
    pub delay: u64,
    pub op: Op,
}

/// The properties of a collective that are equal for all its tasks.
pub struct Shared {
    pub comm: usize,
    pub instance: u32,
    pub root: u32,
    pub bytes: u64,
}

/// The records of a task, and the receives for messages to this task.
#[derive(Default)]
pub struct Rank {
    pub steps: Vec<Step>,
    pub receives: Vec<(u32, Op)>,
}

impl Rank {
    /// Returns the operations of task `number`. The error message names an invalid dependency.
    pub fn finish(
        self,
        number: u32,
        comms: &[Arc<[u32]>],
        collectives: &HashMap<u32, Shared>,
    ) -> Result<RankProgram, String> {
        let (own, numbers) = own_comms(number, comms);
        let mut draft = Draft::default();
        let mut events = Events::default();
        for &(id, op) in &self.receives {
            events.received.push((id, draft.add(op)));
        }
        let mut followers: Vec<(After, u64, u32)> = Vec::with_capacity(self.steps.len());
        for step in &self.steps {
            let (event, op) = match step.op.kind() {
                Kind::Collective(operation) => {
                    let id = step.op.instance();
                    let shared = collectives.get(&id).ok_or_else(|| format!("the file has no collective {id}"))?;
                    let comm = numbers[usize::from(step.op.comm())];
                    let op = Op::collective(operation, shared.root, shared.bytes, shared.instance).within(comm);
                    (After::Collective(id), op)
                }
                Kind::Send | Kind::Receive | Kind::Compute => (After::Sent(step.op.tag().unwrap_or(0)), step.op),
            };
            let index = draft.add(op);
            if !events.insert(event, index) {
                return Err(format!("{} is recorded twice", named(event)));
            }
            followers.push((step.after, step.delay, index));
        }
        // records with the same event and delay have the order of the file
        followers.sort_by_key(|&(after, delay, _)| (after, delay));
        for steps in followers.chunk_by(|a, b| a.0 == b.0) {
            let after = steps[0].0;
            let mut anchor = match after {
                After::Nothing => None,
                After::Sent(_) | After::Received(_) | After::Collective(_) => {
                    Some(events.get(after).ok_or_else(|| {
                        format!("a record depends on {}, which this task does not have", named(after))
                    })?)
                }
            };
            let mut since = 0;
            for &(_, delay, index) in steps {
                if delay > since {
                    let compute = draft.add(Op::compute(delay - since));
                    if let Some(anchor) = anchor {
                        draft.depend(compute, anchor, When::Finish);
                    }
                    (anchor, since) = (Some(compute), delay);
                }
                if let Some(anchor) = anchor {
                    draft.depend(index, anchor, When::Finish);
                }
            }
        }
        let ops = draft.finish().map_err(|_| "a record is part of a cycle of dependencies".to_owned())?;
        Ok(RankProgram { ops: Arc::new(ops), comms: own })
    }
}

/// The indices of a task's operations, by the numbers of their messages and collectives in the file. The lists of messages are
/// sorted by number, because the file lists messages in this order.
#[derive(Default)]
struct Events {
    sent: Vec<(u32, u32)>,
    received: Vec<(u32, u32)>,
    collectives: HashMap<u32, u32>,
}

impl Events {
    /// Stores the operation of a record under its number. Returns `false` if the task already has this collective.
    fn insert(&mut self, event: After, index: u32) -> bool {
        match event {
            After::Nothing => true,
            After::Sent(id) => {
                self.sent.push((id, index));
                true
            }
            After::Received(id) => {
                self.received.push((id, index));
                true
            }
            After::Collective(id) => self.collectives.insert(id, index).is_none(),
        }
    }

    fn get(&self, event: After) -> Option<u32> {
        let of = |list: &[(u32, u32)], id: u32| {
            list.binary_search_by_key(&id, |&(id, _)| id).ok().map(|place| list[place].1)
        };
        match event {
            After::Nothing => None,
            After::Sent(id) => of(&self.sent, id),
            After::Received(id) => of(&self.received, id),
            After::Collective(id) => self.collectives.get(&id).copied(),
        }
    }
}

fn named(event: After) -> String {
    match event {
        After::Nothing => "nothing".to_owned(),
        After::Sent(id) => format!("the send of message {id}"),
        After::Received(id) => format!("the arrival of message {id}"),
        After::Collective(id) => format!("collective G{id}"),
    }
}

/// Returns the communicators of a task. Also returns, for each communicator of the file, the number that it has at the task.
fn own_comms(task: u32, comms: &[Arc<[u32]>]) -> (Vec<Comm>, Vec<u16>) {
    let (mut own, mut numbers) = (Vec::new(), vec![0]);
    for (number, members) in (1..).zip(&comms[1..]) {
        let me = members.iter().position(|&member| member == task);
        if let Some(me) = me {
            own.push(Comm { number, members: Arc::clone(members), me: me as u32 });
        }
        numbers.push(if me.is_some() { own.len() as u16 } else { 0 });
    }
    (own, numbers)
}
