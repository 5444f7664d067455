//! The records of one task as operations.

use super::After;
use crate::form::{Comm, Draft, Kind, Op, RankProgram, When};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// A record of a task: what it follows, its delay \[ns\] behind that, and its operation. A collective has the number of the file as
/// its instance.
pub struct Step {
    pub after: After,
    pub delay: u64,
    pub op: Op,
}

/// What all tasks of a collective have in common.
pub struct Shared {
    pub comm: usize,
    pub instance: u32,
    pub root: u32,
    pub bytes: u64,
}

/// The records of a task, and the receives of its messages.
#[derive(Default)]
pub struct Rank {
    pub steps: Vec<Step>,
    pub receives: Vec<(u32, Op)>,
}

impl Rank {
    /// The operations of task `number`. The error says which dependency has no sense.
    pub fn finish(
        self,
        number: u32,
        comms: &[Arc<[u32]>],
        collectives: &HashMap<u32, Shared>,
    ) -> Result<RankProgram, String> {
        let (own, numbers) = own_comms(number, comms);
        let mut draft = Draft::default();
        let mut events: HashMap<After, u32> = HashMap::new();
        for &(id, op) in &self.receives {
            events.insert(After::Received(id), draft.add(op));
        }
        let mut followers: BTreeMap<After, Vec<(u64, u32)>> = BTreeMap::new();
        for step in &self.steps {
            let (event, op) = match step.op.kind() {
                Kind::Collective(operation) => {
                    let id = step.op.instance();
                    let shared = collectives.get(&id).ok_or_else(|| format!("collective {id} is not known"))?;
                    let comm = numbers[usize::from(step.op.comm())];
                    let op = Op::collective(operation, shared.root, shared.bytes, shared.instance).within(comm);
                    (After::Collective(id), op)
                }
                Kind::Send | Kind::Receive | Kind::Compute => (After::Sent(step.op.tag().unwrap_or(0)), step.op),
            };
            let index = draft.add(op);
            if events.insert(event, index).is_some() {
                return Err(format!("{} is recorded twice", named(event)));
            }
            followers.entry(step.after).or_default().push((step.delay, index));
        }
        for (after, mut steps) in followers {
            steps.sort_by_key(|&(delay, _)| delay);
            let mut anchor = match after {
                After::Nothing => None,
                _ => Some(
                    *events
                        .get(&after)
                        .ok_or_else(|| format!("a record follows {}, which is not of this task", named(after)))?,
                ),
            };
            let mut since = 0;
            for (delay, index) in steps {
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
        let ops = draft.finish().map_err(|_| "a record waits for itself through its dependencies".to_owned())?;
        Ok(RankProgram { ops: Arc::new(ops), comms: own })
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

/// The communicators of a task, and for each communicator of the file its number at the task.
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
