//! Returning credits: output units count the credits, and heads, flits and terminals that wait for a credit try again.

use crate::block::{Interfaces, Requests, Wires};
use crate::net::Net;
use crate::parts::profile::Kind;
use crate::shortcuts::prefetch::bring_for_credits;
use weft_api::base::arrays::At;
use weft_api::base::unchecked::Hot;
use weft_api::state::{ChannelEnd, OutputUnit, port_and_vc};

/// The credits of a VC for which a head, flit or terminal waits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Awaited {
    /// Only the first credit, because all packets have one flit.
    First,
    /// Two numbers of credits: the first credit, for which flits wait, and the number that a head needs, for which heads wait.
    FirstAndEnough,
    /// Any credit. Needed if VC allocation is a separate stage, because heads of long packets can then take VCs without credits, and try
    /// again after each move. Also needed if heads enter rings, because these wait for more than `room` credits.
    Each,
}

/// Counts the credits that return in cycle `now`. (In blocks with streams, `shortcuts/streams/cycle.rs` does this instead.)
pub fn receive<const W: usize, const V: usize>(
    wires: &mut Wires<W, V>,
    wakes: (&mut Requests<W>, &mut Interfaces),
    now: u64,
    net: &Net,
) {
    // the compiler builds the loop over the credits separately for each case
    match (net.router.each_credit_wakes, net.single) {
        (true, _) => count(wires, wakes, now, net, Awaited::Each),
        (false, true) => count(wires, wakes, now, net, Awaited::First),
        (false, false) => count(wires, wakes, now, net, Awaited::FirstAndEnough),
    }
}

#[inline(always)]
fn count<const W: usize, const V: usize>(
    wires: &mut Wires<W, V>,
    (requests, interfaces): (&mut Requests<W>, &mut Interfaces),
    now: u64,
    net: &Net,
    awaited: Awaited,
) {
    let Wires { outs, credits, history, .. } = wires;
    while let Some((first, len)) = credits.due(now) {
        let words = credits.items(first, len);
        if net.shortcuts.has(Kind::Prefetch) {
            bring_for_credits(outs, words);
        }
        for &word in words {
            count_one(outs, (&mut *requests, &mut *interfaces), port_and_vc::<V>(word), net, awaited);
        }
        credits.release(now);
    }
    if let Some(history) = history {
        history.expire(now);
    }
}

/// Counts a returned credit: the buffer behind output `o` has space for one more flit in VC `vc`.
#[inline(always)]
pub(crate) fn count_one<const W: usize, const V: usize>(
    outs: &mut [OutputUnit<V>],
    wakes: (&mut Requests<W>, &mut Interfaces),
    (o, vc): (usize, usize),
    net: &Net,
    awaited: Awaited,
) {
    // SAFETY: a credit stores a valid output number (checked by `assert_numbers`).
    let out = unsafe { outs.hot_mut(o) };
    let credits = out.credits.at_mut(vc);
    *credits += 1;
    let first = *credits == 1;
    let enough = if awaited == Awaited::First { first } else { *credits == net.router.room };
    if first || enough || awaited == Awaited::Each {
        let bit = 1u16 << vc;
        out.vcs_with_credit |= bit;
        if enough {
            out.vcs_with_room |= bit;
        }
        wake(out, o, bit, wakes);
    }
}

/// Lets the heads, flits or terminal that wait for VC `vc` of output `o` try again.
#[inline(always)]
fn wake<const W: usize, const V: usize>(
    out: &OutputUnit<V>,
    o: usize,
    vc: u16,
    (requests, interfaces): (&mut Requests<W>, &mut Interfaces),
) {
    let r = out.router as usize;
    if out.is(ChannelEnd::Injection) {
        interfaces.unblock(r);
        return;
    }
    // SAFETY: an output stores the valid number of its router (checked by `assert_numbers`).
    let router = unsafe { requests.routers.hot_mut(r) };
    let port = o - router.base as usize;
    if out.vcs_with_flit & vc != 0 {
        router.switch_requests.set(port);
        requests.active.set(r);
    }
    if out.requested != 0 && out.free_vcs & vc != 0 {
        router.vc_requests.set(port);
        requests.active.set(r);
    }
    if !router.choosing.is_empty() {
        requests.active.set(r);
    }
}
