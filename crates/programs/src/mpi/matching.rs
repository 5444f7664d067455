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
    // the order of the map is none
    alone.sort_unstable();
    for (channel, index, bytes) in alone {
        let assumed = if takes_late(recorders, comms, channel, bytes) {
            Assumed::CancelledLate
        } else {
            recorders[channel.0 as usize].calls.replace(index, Op::compute(0));
            Assumed::SendUnmatched
        };
        *assumptions.entry(assumed).or_default() += 1;
    }
    assumptions
}

/// Gives a send without a receive to a cancelled receive of unknown outcome that fits it; `false` if there is none.
fn takes_late(recorders: &mut [Recorder], comms: &[Vec<Comm>], (from, to, number, tag): Channel, bytes: u64) -> bool {
    let recorder = &mut recorders[to as usize];
    let comm_of = |op: &Op| usize::from(op.comm()).checked_sub(1).map(|place| &comms[to as usize][place]);
    // the sender, as the communicator of the receive numbers it
    let peer_in = |op: &Op| match comm_of(op) {
        None => (number == 0).then_some(from),
        Some(comm) if comm.number == number => {
            comm.members.iter().position(|&member| member == from).map(|place| place as u32)
        }
        Some(_) => None,
    };
    let fits = |op: &Op| {
        let peer = peer_in(op);
        peer.is_some()
            && op.peer().is_none_or(|wanted| peer == Some(wanted))
            && op.tag().is_none_or(|wanted| wanted == tag)
            && bytes <= op.size()
    };
    // the last that fits: all messages that the receives up to it need were sent before, whichever took one in the recorded run
    let Some(place) = recorder.cancelled.iter().rposition(|(_, op)| fits(op)) else { return false };
    let (index, op) = recorder.cancelled.remove(place);
    recorder.calls.replace(index, Op::receive(peer_in(&op), bytes, Some(tag)).within(op.comm()));
    if let Some(count) = recorder.assumptions.get_mut(&Assumed::Cancelled) {
        *count -= 1;
        if *count == 0 {
            recorder.assumptions.remove(&Assumed::Cancelled);
        }
    }
    true
}
