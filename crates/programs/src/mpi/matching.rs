//! Which send meets which receive: MPI matches them in order, by sender, communicator and tag.

use super::{Assumed, Assumptions};
use crate::form::{Comm, Kind, Op};
use std::collections::{HashMap, HashSet};

use super::recorder::Recorder;

/// Sender, receiver, communicator and tag of messages.
type Channel = (u32, u32, u32, u32);

/// The operations of a channel: rank and number of each.
#[derive(Default)]
struct Ends {
    sends: Vec<(u32, u64)>,
    receives: Vec<u32>,
}

/// Gives receives the sizes of their messages, and replaces messages that have one end only by computations of 0 ns. A rank
/// that keeps a receive from any source or with any tag keeps all its messages: such a receive takes any of them.
pub fn complete(recorders: &mut [Recorder], comms: &[Vec<Comm>]) -> Assumptions {
    let mut channels: HashMap<Channel, Ends> = HashMap::new();
    let mut open: HashSet<(u32, u32)> = HashSet::new();
    for (rank, recorder) in (0..).zip(&*recorders) {
        for (index, op) in (0..).zip(recorder.calls.ops()) {
            let comm = usize::from(op.comm()).checked_sub(1).map(|place| &comms[rank as usize][place]);
            let number = comm.map_or(0, |comm| comm.number);
            let peer = op.peer().and_then(|peer| match comm {
                Some(comm) => comm.members.get(peer as usize).copied(),
                None => Some(peer),
            });
            match (op.kind(), peer, op.tag()) {
                (Kind::Send, Some(to), Some(tag)) => {
                    channels.entry((rank, to, number, tag)).or_default().sends.push((index, op.size()));
                }
                (Kind::Receive, Some(from), Some(tag)) => {
                    channels.entry((from, rank, number, tag)).or_default().receives.push(index);
                }
                (Kind::Receive, ..) => _ = open.insert((rank, number)),
                (Kind::Send | Kind::Compute | Kind::Collective(_), ..) => {}
            }
        }
    }
    let mut assumptions = Assumptions::new();
    for ((from, to, number, _), ends) in channels {
        for (&index, &(_, bytes)) in ends.receives.iter().zip(&ends.sends) {
            let calls = &mut recorders[to as usize].calls;
            let op = calls.ops()[index as usize];
            calls.replace(index, Op::receive(op.peer(), bytes, op.tag()).within(op.comm()));
        }
        if open.contains(&(to, number)) {
            continue;
        }
        let both = ends.receives.len().min(ends.sends.len());
        for &(index, _) in &ends.sends[both..] {
            recorders[from as usize].calls.replace(index, Op::compute(0));
            *assumptions.entry(Assumed::SendUnmatched).or_default() += 1;
        }
        for &index in &ends.receives[both..] {
            recorders[to as usize].calls.replace(index, Op::compute(0));
            *assumptions.entry(Assumed::ReceiveUnmatched).or_default() += 1;
        }
    }
    assumptions
}
