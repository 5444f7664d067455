//! Paced channels. A paced channel has a rate other than one flit per cycle, or a limit on the flits that wait for the link
//! (`state/rate.rs`).
//!
//! The code that only paced channels need is marked cold, so that the compiler keeps the common path short.
//!
//! An output is full if no more flits may wait at it. The switch grants it no flit until the link has taken enough of the waiting flits.

use crate::block::{Fabric, Interfaces, Observers, Requests, Routers, Wires};
use crate::net::Net;
use crate::parts::pace::{Event, Slowed, cycle_near};
use weft_api::base::unchecked::Hot;
use weft_api::spec::InputSpeedup;
use weft_api::state::ChannelEnd;
use weft_api::state::rate::{Rate, whole};

impl<const W: usize, const V: usize> Fabric<W, V> {
    /// Two cycles in which a flit from input `i` could be on the link of output `o`: the first if it did not have to wait for other flits,
    /// and the second after the flits that wait for the link. `earliest`: the first cycle in which the flit can leave.
    pub(crate) fn departure(&self, net: &Net, i: usize, o: usize, earliest: u64) -> (u64, u64) {
        let out = &self.wires.outs[o];
        let next_free = cycle_near(earliest, out.next_free);
        match &net.rates {
            Some(rates) if net.links.of(out.class).paced => {
                let pace = &self.wires.paces.of[o];
                let ready = rates.ready(self.came(i), (out.class, pace), earliest);
                (whole(ready), pace.complete(next_free, ready))
            }
            _ => (earliest, earliest.max(next_free)),
        }
    }

    /// The link class of the channel into input `i`, and the share of the channel's full rate at which its present flits were sent.
    fn came(&self, i: usize) -> (u8, Rate) {
        // SAFETY: if some channels are paced, each input has a pace (checked by `assert_numbers`).
        unsafe { (*self.wires.paces.from.hot(i), self.wires.paces.came.hot(i).0) }
    }

    /// True if the injection channel of terminal `t` can take a flit in this cycle. If it cannot, the terminal will be woken when the
    /// channel can take a flit.
    #[cold]
    #[inline(never)]
    pub(crate) fn is_open_to_terminal(&mut self, interfaces: &mut Interfaces, t: usize) -> bool {
        let o = interfaces.channel_of(t);
        let next_free = cycle_near(self.now, self.wires.outs[o].next_free);
        let full_for = self.wires.paces.of[o].full_for(next_free, self.now);
        if full_for > 0 {
            self.wires.paces.events.push(self.now, self.now + full_for, Event::Opens(o as u32));
        }
        full_for == 0
    }

    /// The cycle in which a flit (head or not) that terminal `t` sends now is on its injection channel.
    #[cold]
    #[inline(never)]
    pub(crate) fn inject_paced(
        &mut self,
        interfaces: &mut Interfaces,
        observers: &mut Observers,
        net: &Net,
        t: usize,
        head: bool,
    ) -> u64 {
        let rates = net.rates.as_ref().expect("links that are paced have rates");
        let o = interfaces.channel_of(t);
        let out = &mut self.wires.outs[o];
        let ready = rates.ready_at_source(&self.wires.paces.of[o], self.now);
        if head {
            observers.tally.delayed(self.now, whole(ready) - self.now);
        }
        let (depart, next_free) = self.wires.paces.of[o].take(cycle_near(self.now, out.next_free), ready);
        out.next_free = next_free as u32;
        depart
    }

    /// True if all requests at router `r` wait for outputs that are full.
    #[cold]
    #[inline(never)]
    pub(crate) fn waits_for_links(&self, net: &Net, r: usize) -> bool {
        if net.rates.is_none() {
            return false;
        }
        // SAFETY: the caller passes the number of a router of the block, and each router has a mask of full outputs if some channels are
        // paced (checked by `assert_numbers`).
        let (router, full) = unsafe { (self.requests.routers.hot(r), self.wires.paces.full.hot(r)) };
        // heads can take VCs of full outputs if VC allocation is a separate stage
        let asked =
            if net.router.vc_realloc { router.switch_requests } else { router.switch_requests | router.vc_requests };
        let heads_wait = !net.router.vc_realloc || router.vc_requests.is_empty();
        heads_wait && asked.without(full).is_empty()
    }
}

impl<const W: usize, const V: usize> Routers<W, V> {
    /// Lets a flit (head or not) from VC `v` of input `i` occupy the link of output `o`. Returns the cycle in which the flit is on the
    /// link: the second cycle that `departure` returns.
    #[cold]
    #[inline(never)]
    pub(crate) fn depart_paced(
        &mut self,
        net: &Net,
        (i, v): (usize, usize),
        o: usize,
        earliest: u64,
        head: bool,
    ) -> u64 {
        let rates = net.rates.as_ref().expect("links that are paced have rates");
        let before = self.fabric.came(i);
        // SAFETY: a flit leaves by an existing output, and each output has a pace if some channels are paced (checked by
        // `assert_numbers`).
        let (out, pace) = unsafe { (self.fabric.wires.outs.hot_mut(o), self.fabric.wires.paces.of.hot_mut(o)) };
        let mut ready = rates.ready(before, (out.class, pace), earliest);
        if head {
            self.beside.observers.tally.delayed(self.fabric.now, whole(ready) - earliest);
        }
        if net.router.input_speedup != InputSpeedup::Unlimited {
            // not before the previous flit has left the VC, plus the time for which this flit occupies the link
            ready = ready.max((
                self.fabric.buffers.opens[i * V + v] + net.router.after_grant + pace.rate().cycles_per_flit() - 1,
                0,
            ));
        }
        let (depart, next_free) = pace.take(cycle_near(earliest, out.next_free), ready);
        out.next_free = next_free as u32;
        let full_for = pace.full_for(next_free, self.fabric.now + net.router.after_grant);
        if full_for > 0 {
            let r = out.router as usize;
            // SAFETY: an output stores the valid number of its router, and each router has a mask of full outputs (checked by
            // `assert_numbers`).
            let (router, full) =
                unsafe { (self.fabric.requests.routers.hot(r), self.fabric.wires.paces.full.hot_mut(r)) };
            full.set(o - router.base as usize);
            self.fabric.wires.paces.events.push(self.fabric.now, self.fabric.now + full_for, Event::Opens(o as u32));
        }
        if net.router.input_speedup != InputSpeedup::Unlimited {
            self.fabric.read_until(net, (i, v), depart, head);
        }
        depart
    }
}

/// From cycle `now` on, lets paced channel `o` carry flits at this share of its bandwidth. The input at the far end stores the cycle in
/// which the first flit of the new rate arrives.
pub(crate) fn change<const W: usize, const V: usize>(
    wires: &mut Wires<W, V>,
    net: &Net,
    o: usize,
    share: Rate,
    now: u64,
) {
    let rates = net.rates.as_ref().expect("links that are paced have rates");
    let out = &mut wires.outs[o];
    let rate = rates.of[usize::from(out.class)].times(share);
    let pace = &mut wires.paces.of[o];
    if pace.rate() == rate {
        return;
    }
    let is_slower = rate.is_below(pace.rate());
    let next_free = pace.change(rate, cycle_near(now, out.next_free));
    out.next_free = next_free as u32;
    let (end, far_end, change) = (out.kind(), out.peer, pace.changes());
    let slowed = |input: u32| Slowed { input, share, change };
    // flits that were granted earlier still leave at the previous rate
    let first = (now + net.router.after_grant).max(if is_slower { next_free } else { 0 });
    let at = first + net.links.of(out.class).latency;
    match end {
        ChannelEnd::Local | ChannelEnd::Injection => wires.paces.slow_from(now, at, slowed(far_end)),
        ChannelEnd::Remote => {
            let (mail, port) = wires.mail_to(far_end);
            mail.slowed.push((at, slowed(port)));
        }
        ChannelEnd::Ejection | ChannelEnd::Unused => {}
    }
}

/// Carries out the changes of rate data that are due in cycle `now`: outputs can take flits again, terminals that waited for their link can
/// send, and incoming flits have another rate.
#[cold]
#[inline(never)]
pub fn keep<const W: usize, const V: usize>(
    wires: &mut Wires<W, V>,
    (requests, interfaces): (&mut Requests<W>, &mut Interfaces),
    now: u64,
) {
    let Wires { outs, paces, .. } = wires;
    while let Some((first, len)) = paces.events.due(now) {
        for k in 0..len {
            match paces.events.item(first, k) {
                Event::Opens(output) => {
                    // SAFETY: an event stores a valid output number (checked by `assert_numbers`).
                    let out = unsafe { outs.hot(output as usize) };
                    let r = out.router as usize;
                    if out.is(ChannelEnd::Injection) {
                        interfaces.unblock(r);
                    } else {
                        // SAFETY: an output stores the valid number of its router, and each router has a mask of full outputs (checked by
                        // `assert_numbers`).
                        let (router, full) = unsafe { (requests.routers.hot(r), paces.full.hot_mut(r)) };
                        full.clear((output - router.base) as usize);
                        requests.active.set(r);
                    }
                }
                Event::Comes(Slowed { input, share, change }) => {
                    let came = &mut paces.came[input as usize];
                    // the counter can wrap around: a wrapped number counts as later than the number before it
                    if change.wrapping_sub(came.1) < 1 << 31 {
                        *came = (share, change);
                    }
                }
            }
        }
        paces.events.release(now);
    }
}
