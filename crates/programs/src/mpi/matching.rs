//! The matching of sends and receives. MPI matches sends and receives in order, by sender, communicator and tag.

use super::{Assumed, Assumptions};
use crate::form::{Comm, Kind, Op};
use std::collections::{HashMap, HashSet};

use super::late::Late;
use super::recorder::Recorder;

/// The channel of a message: sender, receiver, communicator and tag.
type Channel = (u32, u32, u32, u32);

/// The sends and receives of a channel, as indices in the calls of their rank. A send also has its size \[bytes\].
#[derive(Default)]
struct Ends {
    sends: Vec<(u32, u64)>,
    receives: Vec<u32>,
}

/// Gives each receive the size of its message. Replaces a send without a receive, or a receive without a send, by a
/// computation of 0 ns. Messages to a rank are not replaced if the rank has a receive from any source or with any tag.
/// This receive could match each of these messages.
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
    let mut alone: Vec<(Channel, u32, u64)> = Vec::new();
    for ((from, to, number, tag), ends) in channels {
        for (&index, &(_, bytes)) in ends.receives.iter().zip(&ends.sends) {
            let calls = &mut recorders[to as usize].calls;
            let op = calls.ops()[index as usize];
            calls.replace(index, Op::receive(op.peer(), bytes, op.tag()).within(op.comm()));
        }
        if open.contains(&(to, number)) {
            continue;
        }
        let both = ends.receives.len().min(ends.sends.len());
        alone.extend(ends.sends[both..].iter().map(|&(index, bytes)| ((from, to, number, tag), index, bytes)));
        for &index in &ends.receives[both..] {
            recorders[to as usize].calls.replace(index, Op::compute(0));
            *assumptions.entry(Assumed::ReceiveUnmatched).or_default() += 1;
        }
    }
    // the map `channels` has no defined order, so the sends without a receive are sorted
    alone.sort_unstable();
    let mut late: HashMap<u32, Late> = HashMap::new();
    for ((from, to, number, tag), index, bytes) in alone {
        let (receiver, comms) = (&mut recorders[to as usize], &comms[to as usize]);
        let late = late.entry(to).or_insert_with(|| Late::new(std::mem::take(&mut receiver.cancelled), comms));
        let assumed = if takes_late(receiver, late, comms, (from, number, tag), bytes) {
            Assumed::CancelledLate
        } else {
            recorders[from as usize].calls.replace(index, Op::compute(0));
            Assumed::SendUnmatched
        };
        *assumptions.entry(assumed).or_default() += 1;
    }
    assumptions
}

/// Searches a cancelled receive with unknown outcome that matches a send without a receive. If there is one, it becomes a
/// receive of this message. Returns `false` if no cancelled receive matches.
fn takes_late(
    recorder: &mut Recorder,
    late: &mut Late,
    comms: &[Comm],
    (from, number, tag): (u32, u32, u32),
    bytes: u64,
) -> bool {
    let Some((index, op)) = late.take(from, (number, tag, bytes)) else { return false };
    // the sender, as a number in the communicator of the receive
    let peer = match usize::from(op.comm()).checked_sub(1) {
        None => Some(from),
        Some(place) => comms[place].members.iter().position(|&member| member == from).map(|peer| peer as u32),
    };
    recorder.calls.replace(index, Op::receive(peer, bytes, Some(tag)).within(op.comm()));
    if let Some(count) = recorder.assumptions.get_mut(&Assumed::Cancelled) {
        *count -= 1;
        if *count == 0 {
            recorder.assumptions.remove(&Assumed::Cancelled);
        }
    }
    true
}
