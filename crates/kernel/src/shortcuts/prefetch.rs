//! Prefetches the records that the cycle loop will read next, if a network is larger than the cache (`Kind::Prefetch`).
//!
//! Each phase of the cycle loop processes a list: events of a calendar wheel, routers, or moves. For each list, the cycle loop first
//! prefetches the records to which its items refer, then the records to which those records refer. In this way many memory accesses
//! overlap.

use super::facts::Facts;
use super::{Shortcut, Shortcuts};
use crate::block::{Fabric, Interfaces};
use crate::net::Net;
use crate::parts::bypass::BypassFlit;
use weft_api::base::arrays::At;
use weft_api::base::bits::Bits;
use weft_api::base::unchecked::Hot;
use weft_api::state::split;
use weft_api::state::{Flit, NO_REQUEST, NONE, OutputUnit, UNDECIDED, matching};
use weft_api::workload::JobSources;
use weft_units::prefetch::{prefetch, prefetch_first_line};

/// Marker type for the shortcut that the header of this file describes.
pub struct Prefetch;

impl Shortcut for Prefetch {
    const SKIPS: &'static str = "waits for memory";

    fn applies(facts: &Facts) -> bool {
        facts.is_large
    }
}

impl<const W: usize, const V: usize> Fabric<W, V> {
    /// Prefetches records for the flits of a chunk, which the block receives next: first their input units, then the outputs that their
    /// heads will request.
    #[inline(never)]
    pub(crate) fn bring_for_flits(&self, shortcuts: &Shortcuts, net: &Net, (first, len): (u32, usize)) {
        let flits = self.wires.flits.items(first, len);
        for flit in flits {
            if net.single {
                prefetch_first_line(&self.buffers.ins, (flit.to >> 4) as usize);
            } else {
                prefetch(&self.buffers.ins, (flit.to >> 4) as usize);
            }
            if net.single && !shortcuts.bypass_trial.heads_try {
                prefetch(&self.buffers.segments.items, flit.packet as usize);
            }
        }
        flits.iter().for_each(|flit| self.bring_for_flit(net, flit));
    }

    #[inline(always)]
    fn bring_for_flit(&self, net: &Net, flit: &Flit) {
        let (i, v) = ((flit.to >> 4) as usize, (flit.to & 15) as usize);
        // SAFETY: a flit stores a valid input number (checked by `assert_numbers`).
        let input = unsafe { self.buffers.ins.hot(i) };
        let last = input.last(v);
        if last != NONE {
            prefetch(&self.buffers.segments.items, last as usize);
        } else if flit.packet != NONE && flit.key < UNDECIDED {
            let (p, class) = split(flit.key, net.class_bits);
            let o = input.base(i) + p;
            prefetch(&self.wires.outs, o);
            prefetch(&self.requests.requesters, net.slot(o, class));
        } else if flit.key == UNDECIDED {
            prefetch(&self.buffers.packets.items, flit.packet as usize);
        }
    }

    /// Prefetches records for a flit that may bypass the allocator, shortly before the cycle loop processes the flit. The records that
    /// `bring_for_flits` prefetched may have left the nearest cache while the cycle loop processed earlier flits. Therefore this function
    /// prefetches them again, together with the records that change when the flit crosses.
    #[inline(always)]
    pub(crate) fn bring_for_bypass(&self, net: &Net, flit: &BypassFlit) {
        let o = flit.out as usize;
        prefetch_first_line(&self.buffers.ins, (flit.at >> 4) as usize);
        prefetch(&self.wires.outs, o);
        prefetch(
            &self.requests.requesters,
            net.slot(o, if flit.key == NO_REQUEST { 0 } else { split(flit.key, net.class_bits).1 }),
        );
        prefetch(&self.wires.next_router, o);
        if net.single {
            prefetch(&self.buffers.packets.items, flit.segment as usize);
        } else {
            prefetch(&self.buffers.segments.items, flit.segment as usize);
        }
    }

    /// Prefetches records for the alarms of a chunk: first their terminals, then the terminals' injection channels and sources' clocks.
    #[inline(never)]
    pub(crate) fn bring_for_alarms(&self, interfaces: &Interfaces, (first, len): (u32, usize)) {
        let alarms = interfaces.alarms.items(first, len);
        alarms.iter().for_each(|&t| prefetch(&interfaces.terminals, t as usize));
        for terminal in alarms.iter().map(|&t| &interfaces.terminals[t as usize]) {
            prefetch(&self.wires.outs, terminal.out as usize);
            if let JobSources::Clocks(clocks) = &interfaces.sources[usize::from(terminal.job)] {
                clocks.bring(terminal.source as usize);
            }
        }
    }

    /// Prefetches records for router `r` and the routers after it. `rest` has a bit for each of these routers, from number `first` on. For
    /// the second router after `r`: its outputs. For the router after `r`: the inputs that request its outputs. For router `r` itself: the
    /// packets that may leave.
    #[inline(never)]
    pub(crate) fn bring_for_routers(&self, net: &Net, r: usize, first: usize, rest: u64) {
        self.bring_heads(net, r);
        if rest == 0 {
            return;
        }
        self.bring_inputs(net, first + rest.trailing_zeros() as usize);
        let after = rest & (rest - 1);
        if after != 0 {
            self.bring_outputs(net, first + after.trailing_zeros() as usize);
        }
    }

    #[inline(always)]
    fn bring_outputs(&self, net: &Net, r: usize) {
        let (base, mut outputs) = self.asked(r);
        while let Some(p) = outputs.take_first() {
            prefetch(&self.wires.outs, base + p);
            prefetch(&self.requests.requesters, net.slot(base + p, 0));
            prefetch(&self.wires.next_router, base + p);
        }
    }

    #[inline(always)]
    fn bring_inputs(&self, net: &Net, r: usize) {
        self.each_request(net, r, |i, _| prefetch(&self.buffers.ins, i));
    }

    #[inline(always)]
    fn bring_heads(&self, net: &Net, r: usize) {
        self.each_request(net, r, |i, key| {
            // SAFETY: the masks of an output contain only inputs of its router (checked by `assert_numbers`).
            let input = unsafe { self.buffers.ins.hot(i) };
            let v = matching(&input.requests, key).trailing_zeros() as usize;
            let id = *input.head.at(v % V) as usize;
            prefetch(&self.buffers.segments.items, id);
            if net.single {
                prefetch(&self.buffers.packets.items, id);
            }
        });
    }

    /// Calls `each` for every request for an output that router `r` may allocate now, with the input and the requested route key.
    #[inline(always)]
    fn each_request(&self, net: &Net, r: usize, mut each: impl FnMut(usize, u16)) {
        let (base, mut outputs) = self.asked(r);
        while let Some(p) = outputs.take_first() {
            // SAFETY: the masks of a router contain only its outputs (checked by `assert_numbers`).
            let mut classes = unsafe { self.wires.outs.hot(base + p) }.requested;
            while classes != 0 {
                let class = classes.trailing_zeros() as usize;
                classes &= classes - 1;
                // SAFETY: an output has a record of requests for each of its VC classes (checked by `assert_numbers`).
                let mut inputs = unsafe { *self.requests.requesters.hot(net.slot(base + p, class)) };
                while let Some(i) = inputs.take_first() {
                    each(base + i, net.key(p, class));
                }
            }
        }
    }

    /// First port of router `r`, and the outputs that the router may allocate.
    #[inline(always)]
    fn asked(&self, r: usize) -> (usize, Bits<W>) {
        // SAFETY: the mask of active routers contains valid router numbers (checked by `assert_numbers`).
        let router = unsafe { self.requests.routers.hot(r) };
        (router.base as usize, router.vc_requests | router.switch_requests)
    }

    /// Prefetches the packets of the first `count` moves of the router whose ports begin at `base`. One-flit packets were already
    /// prefetched with their heads.
    #[inline(never)]
    pub(crate) fn bring_for_moves(&self, base: usize, count: usize) {
        for m in self.switch.moves(count) {
            let packet = self.buffers.front(base + usize::from(m.i), usize::from(m.v)).packet;
            prefetch(&self.buffers.packets.items, packet as usize);
        }
    }
}

/// Prefetches the output units for the credits of a chunk. A credit with a mark (`streams.rs`) gives an output number beyond the list of
/// outputs, for which prefetching has no effect.
#[inline(never)]
pub fn bring_for_credits<const V: usize>(outs: &[OutputUnit<V>], words: &[u32]) {
    words.iter().for_each(|word| prefetch(outs, (word >> 4) as usize));
}
