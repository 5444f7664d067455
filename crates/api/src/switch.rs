//! The ports of a router as a switch allocator sees them: the requests of the inputs, and the functions that carry out grants.

use super::common::Common;
use crate::base::arrays::{At, PerPort};
use crate::base::bits::{Bits, pick16};
use crate::base::unchecked::Hot;
use crate::state::{InputUnit, Move, NO_REQUEST, OutputUnit, Router, matching};
use crate::switch_step::SwitchStep;
use std::marker::PhantomData;

/// The ports of one router, in the form that allocators use. The cycle loop creates this view so that `ins`, `outs` and `requesters` begin
/// with the router's own entries. All masks contain only ports of the router. `S`: the kind of this step, which determines whether heads,
/// flits that hold a VC, or both may cross the switch.
pub struct Ports<'a, const W: usize, const V: usize, S: SwitchStep> {
    pub step: PhantomData<S>,
    pub common: &'a Common,
    pub router: &'a mut Router<W>,
    pub ins: &'a mut [InputUnit<V>],
    pub outs: &'a mut [OutputUnit<V>],
    /// For each route key, the mask of the inputs with a head that has this key.
    pub requesters: &'a mut [Bits<W>],
    /// Scratch memory of allocators: for each input, the outputs that have granted its request.
    pub grants: &'a mut PerPort<Bits<W>, W>,
    /// Scratch memory of allocators: for each input, the output whose grant it would accept.
    pub offers: &'a mut PerPort<u16, W>,
    pub moves: &'a mut PerPort<Move, W>,
    /// Packet ages by [input * V + VC]; empty if arbiters do not decide by age (`SwitchStep::BY_AGE`).
    pub ages: &'a [u64],
}

/// Removes the request of input `i` for VC class `class` of output `out`. `requesters`: mask of the inputs that request this class. Returns
/// true if no head requests the output any more.
#[inline(always)]
pub fn end_request<const W: usize, const V: usize>(
    requesters: &mut Bits<W>,
    out: &mut OutputUnit<V>,
    i: usize,
    class: usize,
) -> bool {
    requesters.clear(i);
    if requesters.is_empty() {
        out.requested &= !(1 << class);
        return out.requested == 0;
    }
    false
}

impl<const W: usize, const V: usize, S: SwitchStep> Ports<'_, W, V, S> {
    /// Assigns one of the VCs in mask `room` of output `p` to one of the heads in mask `heads`. The head and the VC are chosen in
    /// round-robin order. `heads`: mask of the VCs of input `i` whose heads request VC class `class` of output `p`. The request of the
    /// chosen head ends. Returns the input VC of the chosen head, and the output VC.
    ///
    /// # Safety
    /// `p` and `i` are ports of this router, output `p` has VC class `class`, and `heads` contains only VCs of input
    /// `i`.
    #[inline(always)]
    pub unsafe fn take_vc(&mut self, p: usize, class: usize, i: usize, heads: u16, room: u16) -> (u8, u8) {
        // SAFETY: the caller guarantees valid ports and a valid VC class.
        let (port, out, requesters) = unsafe {
            let requesters = self.requesters.hot_mut(self.common.slot(p, class));
            (self.ins.hot_mut(i), self.outs.hot_mut(p), requesters)
        };
        let vc = pick16(room, out.rr_vc);
        out.rr_vc = (vc + 1) & 15;
        let v = if heads & (heads - 1) == 0 {
            // this head was the input's only one with this request
            if end_request(requesters, out, i, class) {
                self.router.vc_requests.clear(p);
            }
            heads.trailing_zeros() as u8
        } else {
            pick16(heads, port.rr_vc)
        };
        port.rr_vc = (v + 1) & 15;
        // SAFETY: `v` is a member of `heads`, so it is a VC of the input.
        *unsafe { port.requests.hot_mut(v as usize) } = NO_REQUEST;
        if self.router.choosing.contains(i) {
            self.router.stop_choosing(port, v.into());
        }
        (v, vc)
    }
}

impl<const W: usize, const V: usize, S: SwitchStep> Ports<'_, W, V, S> {
    /// Mask of the VCs of output `out` that heads may take now. If routers use `hold_switch`, the mask is empty while a packet holds any VC
    /// of this output.
    #[inline(always)]
    pub fn available_vcs(&self, out: &OutputUnit<V>) -> u16 {
        let closed = S::FLITS && self.common.hold_switch && out.free_vcs != self.common.links.of(out.class).all;
        if closed { 0 } else { out.available_vcs() }
    }

    /// Mask of the VCs that heads of VC class `class` may take. `open`: mask of the VCs of output `out` that heads may
    /// take at all.
    #[inline(always)]
    pub fn open_to(&self, out: &OutputUnit<V>, open: u16, class: usize) -> u16 {
        if S::BY_AGE {
            self.common.links.of(out.class).open_to(out, open, class)
        } else {
            open & self.common.vcs(out.class, class)
        }
    }

    /// Records that output `p` needs no allocation until a flit, a VC or a credit arrives.
    #[inline(always)]
    pub fn clear_requests(&mut self, p: usize) {
        self.router.switch_requests.clear(p);
        if S::HEADS {
            self.router.vc_requests.clear(p);
        }
    }

    /// Mask of the inputs that have a flit or head for output `p` which could cross now.
    ///
    /// # Safety
    /// `p` is a port of this router.
    #[inline(always)]
    pub unsafe fn requests(&self, p: usize) -> Bits<W> {
        // SAFETY: the caller guarantees that `p` is a port, and heads request only VC classes that the output has.
        let requesters = |class| unsafe { *self.requesters.hot(self.common.slot(p, class)) };
        // SAFETY: the caller guarantees that `p` is a port of the router.
        let out = unsafe { self.outs.hot(p) };
        let mut inputs = Bits::default();
        if S::FLITS {
            let mut held = out.vcs_with_flit & out.vcs_with_credit;
            while held != 0 {
                // SAFETY: masks of VCs contain only VCs that the output has (`assert_numbers` checks this).
                inputs.set((unsafe { out.holder.hot(held.trailing_zeros() as usize) } >> 4) as usize);
                held &= held - 1;
            }
        }
        if S::HEADS {
            let (open, mut classes) = (self.available_vcs(out), out.requested);
            if self.common.class_bits == 0 {
                return if open == 0 { inputs } else { inputs | requesters(0) };
            }
            while classes != 0 {
                let class = classes.trailing_zeros() as usize;
                classes &= classes - 1;
                if self.open_to(out, open, class) != 0 {
                    inputs = inputs | requesters(class);
                }
            }
        }
        inputs
    }

    /// Matches input `i` with output `p` as move number `k` of this step. A VC of the input that may use the output sends its flit; the VC
    /// is chosen in round-robin order.
    ///
    /// # Safety
    /// `p` and `i` are ports of this router. In this call of the allocator, `k` moves have already been entered, and they use other inputs
    /// and other outputs. Input `i` is a member of [`requests`](Self::requests) of output `p`.
    #[inline(always)]
    pub unsafe fn enter(&mut self, p: usize, i: usize, k: usize) {
        if S::BY_AGE {
            // SAFETY: the caller guarantees the same conditions.
            return unsafe { self.enter_oldest(p, i, k) };
        }
        // SAFETY: the caller guarantees that `p` and `i` are ports of the router.
        let (v, vc) = unsafe { if S::FLITS { self.any_enters(p, i) } else { self.head_enters(p, i) } };
        // SAFETY: there are fewer moves than ports, and `moves` has an element for each port of a mask.
        let m = unsafe { self.moves.hot_mut(k) };
        m.i = i as u16;
        m.v = v;
        m.p = p as u16;
        m.vc = vc;
    }

    /// Selects a VC of input `i` that can send to output `p`: it holds a VC of the output, or its head takes one now.
    ///
    /// # Safety
    /// `p` and `i` are ports of this router.
    #[inline(always)]
    unsafe fn any_enters(&mut self, p: usize, i: usize) -> (u8, u8) {
        // SAFETY: the caller guarantees that `p` and `i` are ports of the router.
        let (port, out) = unsafe { (self.ins.hot_mut(i), self.outs.hot(p)) };
        let vcs = out.vcs_with_flit & out.vcs_with_credit;
        if vcs != 0 && vcs & (vcs - 1) == 0 && (!S::HEADS || out.requested == 0) {
            // only one VC can send to the output now, so no choice is needed
            let vc = vcs.trailing_zeros() as u8;
            // SAFETY: masks of VCs contain only VCs that the output has (`assert_numbers` checks this).
            let v = (unsafe { out.holder.hot(vc as usize) } & 15) as u8;
            port.rr_vc = (v + 1) & 15;
            return (v, vc);
        }
        // SAFETY: the caller guarantees that `p` and `i` are ports of the router.
        unsafe { self.in_turn(p, i) }
    }

    /// Selects the VC of input `i` that sends to output `p`, in round-robin order. The selected VC holds a VC of the output, or its head
    /// takes one now.
    ///
    /// # Safety
    /// `p` and `i` are ports of this router.
    #[inline(always)]
    unsafe fn in_turn(&mut self, p: usize, i: usize) -> (u8, u8) {
        // SAFETY: the caller guarantees that `p` and `i` are ports of the router.
        let (port, out) = unsafe { (self.ins.hot_mut(i), self.outs.hot(p)) };
        let (held, turn) = (held_by(out, i), port.rr_vc);
        if held != 0 && (!S::HEADS || pick16(held, turn) >= turn || !self.wanted_by(p, i)) {
            let port = &mut self.ins[i];
            let v = pick16(held, turn);
            port.rr_vc = (v + 1) & 15;
            return (v, (port.output_vc.at(v as usize) & 15) as u8);
        }
        // SAFETY: the caller guarantees that `p` and `i` are ports of the router.
        let (v, vc) = unsafe { self.head_enters(p, i) };
        self.hold(p, i, (v, vc));
        (v, vc)
    }

    /// Assigns VC `vc` of output `p` to the packet at the head of VC `v` of input `i`, until its tail has left.
    #[inline(always)]
    pub fn hold(&mut self, p: usize, i: usize, (v, vc): (u8, u8)) {
        self.ins[i].hold(v, p, vc);
        self.outs[p].hold(vc, i, v);
        self.router.switch_requests.set(p);
    }

    /// Whether input `i` has a head that may take a VC of output `p` now.
    fn wanted_by(&self, p: usize, i: usize) -> bool {
        let out = &self.outs[p];
        let (open, mut classes) = (self.available_vcs(out), out.requested);
        while classes != 0 {
            let class = classes.trailing_zeros() as usize;
            classes &= classes - 1;
            if self.open_to(out, open, class) != 0 && self.requesters[self.common.slot(p, class)].contains(i) {
                return true;
            }
        }
        false
    }

    /// Assigns a VC of output `p` to a head of input `i`, in the first VC class with a requesting head and a free VC.
    ///
    /// # Safety
    /// `p` and `i` are ports of this router.
    #[inline(always)]
    unsafe fn head_enters(&mut self, p: usize, i: usize) -> (u8, u8) {
        // SAFETY: the caller guarantees that `p` and `i` are ports of the router.
        let (out, keys) = unsafe { (self.outs.hot(p), self.ins.hot(i).requests) };
        let (open, mut classes) = (self.available_vcs(out), out.requested);
        if self.common.class_bits == 0 {
            // SAFETY: the caller guarantees valid ports, and the output has only one VC class.
            return unsafe { self.take_vc(p, 0, i, matching(&keys, p as u16), open) };
        }
        loop {
            debug_assert!(classes != 0, "input {i} won output {p} without a head for it");
            let class = classes.trailing_zeros() as usize;
            let room = self.open_to(out, open, class);
            if room != 0 {
                let heads = matching(&keys, self.common.key(p, class));
                if heads != 0 {
                    // SAFETY: the caller guarantees valid ports, and heads request only VC classes that the output has.
                    return unsafe { self.take_vc(p, class, i, heads, room) };
                }
            }
            classes &= classes - 1;
        }
    }
}

/// Mask of the VCs of input `i` that can send to output `out`: their packet holds a VC of the output, and has a flit
/// and a credit.
#[inline(always)]
pub fn held_by<const V: usize>(out: &OutputUnit<V>, i: usize) -> u16 {
    let (mut held, mut vcs) = (0u16, out.vcs_with_flit & out.vcs_with_credit);
    while vcs != 0 {
        let holder = *out.holder.at(vcs.trailing_zeros() as usize);
        vcs &= vcs - 1;
        held |= u16::from(usize::from(holder >> 4) == i) << (holder & 15);
    }
    held
}
