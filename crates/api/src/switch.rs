//! The ports of a router as a switch allocator sees them: who asks for which output, and what happens when one wins.

use super::common::Common;
use crate::base::bits::{Bits, pick16};
use crate::base::unchecked::Hot;
use crate::state::{InputUnit, Move, NO_REQUEST, OutputUnit, Router, matching};

/// The ports of one router, as its allocators see them. `AGE`: arbiters go by age, or heads enter rings that keep a bubble
/// (with round robin arbiters all packets then have age 0, and ties go round robin).
pub struct Ports<'a, const W: usize, const V: usize, const AGE: bool> {
    pub common: &'a Common,
    pub router: &'a mut Router<W>,
    pub ins: &'a mut [InputUnit<V>],
    pub outs: &'a mut [OutputUnit<V>],
    /// [route key] -> inputs whose head has it.
    pub requesters: &'a mut [Bits<W>],
    /// Scratch: outputs that granted each input, and the flits that cross in this step.
    pub grants: &'a mut [Bits<W>],
    /// Scratch: the output that each input would accept.
    pub offers: &'a mut [u16],
    pub moves: &'a mut [Move],
    /// [input * V + VC]; empty unless `AGE`.
    pub ages: &'a [u64],
}

/// No head of input `i` asks for this VC class of an output any more, whose `requesters` these are. Returns whether nobody asks for
/// the output now.
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

impl<const W: usize, const V: usize, const AGE: bool> Ports<'_, W, V, AGE> {
    /// One of the `heads` (VCs of input `i` that ask for this class of output `p`) takes one of the VCs in `room`; both
    /// are chosen in turn. The request of the head ends. Returns the input VC and the output VC.
    #[inline(always)]
    pub fn take_vc(&mut self, p: usize, class: usize, i: usize, heads: u16, room: u16) -> (u8, u8) {
        let out = self.outs.hot_mut(p);
        let vc = pick16(room, out.rr_vc);
        out.rr_vc = (vc + 1) & 15;
        let port = self.ins.hot_mut(i);
        let v = if heads & (heads - 1) == 0 {
            // it was the only such head of this input
            if end_request(self.requesters.hot_mut(self.common.slot(p, class)), out, i, class) {
                self.router.vc_requests.clear(p);
            }
            heads.trailing_zeros() as u8
        } else {
            pick16(heads, port.rr_vc)
        };
        port.rr_vc = (v + 1) & 15;
        *port.requests.hot_mut(v as usize) = NO_REQUEST;
        if self.router.choosing.contains(i) {
            port.choosing &= !(1 << v);
            if port.choosing == 0 {
                self.router.choosing.clear(i);
            }
        }
        (v, vc)
    }
}

impl<const W: usize, const V: usize, const AGE: bool> Ports<'_, W, V, AGE> {
    /// VCs of output `p` that heads may take. With `hold_switch` there are none while a packet is crossing.
    #[inline(always)]
    pub fn available_vcs<const SINGLE: bool>(&self, p: usize) -> u16 {
        let out = self.outs.hot(p);
        let closed =
            !SINGLE && self.common.hold_switch && out.free_vcs != self.common.links.hot(out.class as usize).all;
        if closed { 0 } else { out.available_vcs::<SINGLE>() }
    }

    /// Of the VCs that are `open` at output `p`, of link class `link`, those that heads of `class` may take.
    #[inline(always)]
    pub fn open_to(&self, p: usize, link: u8, open: u16, class: usize) -> u16 {
        if AGE {
            self.common.links.hot(link as usize).open_to(self.outs.hot(p), open, class)
        } else {
            open & self.common.vcs(link, class)
        }
    }

    /// Inputs that could send to output `p` now.
    #[inline(always)]
    pub fn requests<const HEADS: bool, const SINGLE: bool>(&self, p: usize) -> Bits<W> {
        let out = self.outs.hot(p);
        let mut inputs = Bits::default();
        if !HEADS || !SINGLE {
            let mut held = out.vcs_with_flit & out.vcs_with_credit;
            while held != 0 {
                inputs.set((out.holder.hot(held.trailing_zeros() as usize) >> 4) as usize);
                held &= held - 1;
            }
        }
        if HEADS {
            let (open, mut classes) = (self.available_vcs::<SINGLE>(p), out.requested);
            if self.common.class_bits == 0 {
                return if open == 0 { inputs } else { inputs | *self.requesters.hot(p) };
            }
            while classes != 0 {
                let class = classes.trailing_zeros() as usize;
                classes &= classes - 1;
                if self.open_to(p, out.class, open, class) != 0 {
                    inputs = inputs | *self.requesters.hot(self.common.slot(p, class));
                }
            }
        }
        inputs
    }

    /// Input `i` has won output `p`. One of its VCs that may use the output sends a flit, as move `k`; the VCs take
    /// turns.
    #[inline(always)]
    pub fn enter<const HEADS: bool, const SINGLE: bool>(&mut self, p: usize, i: usize, k: usize) {
        if AGE {
            return self.enter_oldest::<HEADS, SINGLE>(p, i, k);
        }
        let (v, vc) = if HEADS && SINGLE {
            self.head_enters::<SINGLE>(p, i)
        } else {
            let out = self.outs.hot(p);
            let vcs = out.vcs_with_flit & out.vcs_with_credit;
            if vcs != 0 && vcs & (vcs - 1) == 0 && (!HEADS || out.requested == 0) {
                // the only VC that can send to this output now
                let vc = vcs.trailing_zeros() as u8;
                let v = (out.holder.hot(vc as usize) & 15) as u8;
                self.ins.hot_mut(i).rr_vc = (v + 1) & 15;
                (v, vc)
            } else {
                self.in_turn::<HEADS, SINGLE>(p, i)
            }
        };
        let m = self.moves.hot_mut(k);
        m.i = i as u16;
        m.v = v;
        m.p = p as u16;
        m.vc = vc;
    }

    /// The VC of input `i` whose turn it is to send to output `p`: one that holds a VC there, or one whose head takes a
    /// VC.
    #[inline(always)]
    fn in_turn<const HEADS: bool, const SINGLE: bool>(&mut self, p: usize, i: usize) -> (u8, u8) {
        let held = self.held_by(p, i);
        let turn = self.ins.hot(i).rr_vc;
        if held == 0 || (HEADS && pick16(held, turn) < turn && self.wanted_by::<SINGLE>(p, i)) {
            let (v, vc) = self.head_enters::<SINGLE>(p, i);
            self.ins.hot_mut(i).hold(v, p, vc);
            self.outs.hot_mut(p).hold(vc, i, v);
            self.router.switch_requests.set(p);
            return (v, vc);
        }
        let port = self.ins.hot_mut(i);
        let v = pick16(held, turn);
        port.rr_vc = (v + 1) & 15;
        (v, (port.output_vc.hot(v as usize) & 15) as u8)
    }

    /// VCs of input `i` whose packets hold a VC of output `p`, and have a flit and a credit.
    #[inline(always)]
    pub fn held_by(&self, p: usize, i: usize) -> u16 {
        let out = self.outs.hot(p);
        let (mut held, mut vcs) = (0u16, out.vcs_with_flit & out.vcs_with_credit);
        while vcs != 0 {
            let holder = *out.holder.hot(vcs.trailing_zeros() as usize);
            vcs &= vcs - 1;
            held |= u16::from(usize::from(holder >> 4) == i) << (holder & 15);
        }
        held
    }

    /// Whether a head of input `i` may take a VC of output `p`.
    fn wanted_by<const SINGLE: bool>(&self, p: usize, i: usize) -> bool {
        let (out, open) = (self.outs.hot(p), self.available_vcs::<SINGLE>(p));
        let mut classes = out.requested;
        while classes != 0 {
            let class = classes.trailing_zeros() as usize;
            classes &= classes - 1;
            if self.open_to(p, out.class, open, class) != 0
                && self.requesters.hot(self.common.slot(p, class)).contains(i)
            {
                return true;
            }
        }
        false
    }

    /// A head of input `i` takes a VC of output `p`, in the first VC class that has such a head and a VC for it.
    #[inline(always)]
    fn head_enters<const SINGLE: bool>(&mut self, p: usize, i: usize) -> (u8, u8) {
        let out = self.outs.hot(p);
        let (open, link, mut classes) = (self.available_vcs::<SINGLE>(p), out.class, out.requested);
        let keys = self.ins.hot(i).requests;
        if self.common.class_bits == 0 {
            return self.take_vc(p, 0, i, matching(&keys, p as u16), open);
        }
        loop {
            debug_assert!(classes != 0, "input {i} won output {p} without a head for it");
            let class = classes.trailing_zeros() as usize;
            let room = self.open_to(p, link, open, class);
            if room != 0 {
                let heads = matching(&keys, self.common.key(p, class));
                if heads != 0 {
                    return self.take_vc(p, class, i, heads, room);
                }
            }
            classes &= classes - 1;
        }
    }
}
