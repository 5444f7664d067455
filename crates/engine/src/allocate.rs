//! The allocation steps of a cycle: heads take output VCs, flits cross the switch.
//!
//! In a step each input and each output sends at most one flit. With `vc_realloc` = 0 a head asks for the switch and takes
//! a free VC of its class as it crosses. With `vc_realloc` = 1 it takes the VC first (`vc_stage`), and asks for the switch
//! from the next step on; a VC then serves a packet every second step.

use crate::allocator::AllocatorConfig;
use crate::bits::{Bits, pick16};
use crate::block::Block;
use crate::hot::Hot;
use crate::net::Net;
use crate::spec::FlowControl;
use crate::state::{NO_KEY, OutPort};

impl<const W: usize, const V: usize> Block<W, V> {
    pub(crate) fn allocate<const SINGLE: bool>(&mut self, net: &Net) {
        for word in 0..self.active.0.len() {
            let mut bits = *self.active.0.hot(word);
            while bits != 0 {
                let r = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                for _ in 0..net.speedup {
                    if net.vc_realloc {
                        self.staged_step::<SINGLE>(net, r);
                    } else {
                        self.switch_step::<true, SINGLE>(net, r);
                    }
                }
                let router = self.routers.hot(r);
                if router.want.is_empty() && router.go.is_empty() {
                    self.active.clear(r);
                }
            }
        }
    }

    #[inline(always)]
    pub(crate) fn switch_step<const HEADS: bool, const SINGLE: bool>(&mut self, net: &Net, r: usize) {
        let router = self.routers.hot(r);
        let outputs = if HEADS { router.go | router.want } else { router.go };
        if !outputs.is_empty() {
            match &net.allocator {
                AllocatorConfig::Islip(n) => self.output_first::<HEADS, SINGLE, true>(net, r, outputs, n.iterations),
                AllocatorConfig::SeparableOutputFirst(n) => self.output_first::<HEADS, SINGLE, false>(net, r, outputs, n.iterations),
                AllocatorConfig::SeparableInputFirst(n) => self.input_first::<HEADS, SINGLE>(net, r, outputs, n.iterations),
            }
        }
    }

    /// One of the `heads` (VCs of input `i` that want this class of output `p`) takes one of the VCs in `room`, both in
    /// turn; its request ends. Returns the input VC and the output VC.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    fn take_vc(&mut self, net: &Net, base: usize, p: usize, class: usize, i: usize, heads: u16, room: u16) -> (u8, u8) {
        let port = self.ins.hot_mut(base + i);
        let only = heads & (heads - 1) == 0;
        let v = if only { heads.trailing_zeros() as u8 } else { pick16(heads, port.rr_vc) };
        port.rr_vc = (v + 1) & 15;
        *port.keys.hot_mut(v as usize) = NO_KEY;
        let out = self.outs.hot_mut(base + p);
        let vc = pick16(room, out.rr_vc);
        out.rr_vc = (vc + 1) & 15;
        if only {
            let want = self.want.hot_mut(net.slot(base + p, class));
            want.clear(i);
            if want.is_empty() {
                out.wanting &= !(1 << class);
            }
        }
        (v, vc)
    }

    /// Inputs that could send to output `p` now. Notes in `offers` which classes of heads may have which VCs.
    #[inline(always)]
    fn requests<const HEADS: bool, const SINGLE: bool>(&mut self, net: &Net, base: usize, p: usize) -> Bits<W> {
        let out = self.outs.hot(base + p);
        let mut inputs = Bits::default();
        if !HEADS || !SINGLE {
            let mut held = out.ready & out.credit;
            while held != 0 {
                inputs.set((out.holder.hot(held.trailing_zeros() as usize) >> 4) as usize);
                held &= held - 1;
            }
        }
        if HEADS && out.wanting != 0 {
            // an output that holds the switch offers nothing to heads while a packet is crossing
            let closed = !SINGLE && net.hold_switch && out.free != net.links.hot(out.class as usize).all;
            let room = if closed { 0 } else { with_room(out, if SINGLE { 1 } else { net.room() }) };
            let mut classes = out.wanting;
            let mut offers = 0;
            while classes != 0 {
                let class = classes.trailing_zeros() as usize;
                classes &= classes - 1;
                if room & net.vcs(out.class, class) != 0 {
                    inputs = inputs | *self.want.hot(net.slot(base + p, class));
                    offers |= 1 << class;
                }
            }
            *self.offers.hot_mut(p) = (offers, room);
        }
        inputs
    }

    /// Separable, output first: outputs grant, inputs accept. `SLIP`: pointers move only past a grant accepted in the
    /// first iteration.
    #[inline(always)]
    fn output_first<const HEADS: bool, const SINGLE: bool, const SLIP: bool>(
        &mut self,
        net: &Net,
        r: usize,
        outputs: Bits<W>,
        iterations: u8,
    ) {
        let (mut outputs, mut matched) = (outputs, Bits::default());
        for iteration in 0..iterations {
            let (served, winners) = if iteration == 0 {
                self.match_once::<HEADS, SINGLE, SLIP, true>(net, r, outputs, matched)
            } else {
                self.match_once::<HEADS, SINGLE, SLIP, false>(net, r, outputs, matched)
            };
            if winners.is_empty() {
                break;
            }
            outputs = outputs.without(&served);
            matched = matched | winners;
        }
    }

    /// One round of grants and accepts among `outputs` and the inputs not in `matched`: (outputs, inputs) that sent.
    #[inline(never)]
    fn match_once<const HEADS: bool, const SINGLE: bool, const SLIP: bool, const FIRST: bool>(
        &mut self,
        net: &Net,
        r: usize,
        outputs: Bits<W>,
        matched: Bits<W>,
    ) -> (Bits<W>, Bits<W>) {
        let base = self.routers.hot(r).base as usize;
        let (mut granted, mut served) = (Bits::<W>::default(), Bits::default());
        let mut pending = outputs;
        while let Some(p) = pending.take_first() {
            let mut inputs = self.requests::<HEADS, SINGLE>(net, base, p);
            if inputs.is_empty() {
                self.routers.hot_mut(r).rest::<HEADS>(p);
                continue;
            }
            if !FIRST {
                inputs = inputs.without(&matched);
                if inputs.is_empty() {
                    continue;
                }
            }
            let out = self.outs.hot_mut(base + p);
            let i = inputs.pick_from(out.rr_in as usize);
            if !SLIP {
                out.rr_in = i as u8 + 1;
            }
            self.grants.hot_mut(i).set(p);
            granted.set(i);
        }
        let winners = granted;
        while let Some(i) = granted.take_first() {
            let port = self.ins.hot_mut(base + i);
            let p = std::mem::take(self.grants.hot_mut(i)).pick_from(port.rr_out as usize);
            if !SLIP || FIRST {
                port.rr_out = p as u8 + 1;
            }
            if SLIP && FIRST {
                self.outs.hot_mut(base + p).rr_in = i as u8 + 1;
            }
            served.set(p);
            self.cross::<HEADS, SINGLE>(net, r, base, p, i);
        }
        (served, winners)
    }

    /// Separable, input first: inputs choose one of their requests, outputs choose one input.
    #[inline(never)]
    fn input_first<const HEADS: bool, const SINGLE: bool>(&mut self, net: &Net, r: usize, mut outputs: Bits<W>, iterations: u8) {
        let base = self.routers.hot(r).base as usize;
        let mut matched = Bits::<W>::default();
        for _ in 0..iterations {
            // `grants` first collects the outputs that each input may send to, then the inputs that chose each output
            let mut asking = Bits::<W>::default();
            let mut choices = [0u8; 128];
            let mut pending = outputs;
            while let Some(p) = pending.take_first() {
                let all = self.requests::<HEADS, SINGLE>(net, base, p);
                if all.is_empty() {
                    self.routers.hot_mut(r).rest::<HEADS>(p);
                    outputs.clear(p);
                }
                let mut inputs = all.without(&matched);
                while let Some(i) = inputs.take_first() {
                    self.grants.hot_mut(i).set(p);
                    asking.set(i);
                }
            }
            if asking.is_empty() {
                break;
            }
            let mut inputs = asking;
            while let Some(i) = inputs.take_first() {
                let may = std::mem::take(self.grants.hot_mut(i));
                *choices.hot_mut(i) = may.pick_from(self.ins.hot(base + i).rr_out as usize) as u8;
            }
            let mut chosen = Bits::<W>::default();
            while let Some(i) = asking.take_first() {
                let p = usize::from(*choices.hot(i));
                self.grants.hot_mut(p).set(i);
                chosen.set(p);
            }
            while let Some(p) = chosen.take_first() {
                let rivals = std::mem::take(self.grants.hot_mut(p));
                let out = self.outs.hot_mut(base + p);
                let i = rivals.pick_from(out.rr_in as usize);
                out.rr_in = i as u8 + 1;
                self.ins.hot_mut(base + i).rr_out = p as u8 + 1;
                matched.set(i);
                outputs.clear(p);
                self.cross::<HEADS, SINGLE>(net, r, base, p, i);
            }
        }
    }

    /// Input `i` has won output `p`: one of its VCs that may use it sends a flit, in turn.
    #[inline(always)]
    fn cross<const HEADS: bool, const SINGLE: bool>(&mut self, net: &Net, r: usize, base: usize, p: usize, i: usize) {
        let (v, vc) = if HEADS && SINGLE {
            self.head_enters(net, base, p, i)
        } else {
            let held = self.held_by(base + p, i);
            let turn = self.ins.hot(base + i).rr_vc;
            if held == 0 || (HEADS && pick16(held, turn) < turn && self.wanted_by(net, base, p, i)) {
                let (v, vc) = self.head_enters(net, base, p, i);
                self.ins.hot_mut(base + i).hold(v, p, vc);
                self.outs.hot_mut(base + p).hold(vc, i, v);
                (v, vc)
            } else {
                let port = self.ins.hot_mut(base + i);
                let v = pick16(held, turn);
                port.rr_vc = (v + 1) & 15;
                (v, (port.held.hot(v as usize) & 15) as u8)
            }
        };
        self.send::<SINGLE>(net, r, base, p, i, v as usize, vc as usize);
        let out = self.outs.hot(base + p);
        if HEADS && out.wanting == 0 && out.ready == 0 {
            self.routers.hot_mut(r).rest::<HEADS>(p);
        }
    }

    /// VCs of input `i` whose packet holds a VC of output `o`, with a flit and a credit.
    #[inline(always)]
    fn held_by(&self, o: usize, i: usize) -> u16 {
        let out = self.outs.hot(o);
        let (mut held, mut vcs) = (0u16, out.ready & out.credit);
        while vcs != 0 {
            let holder = *out.holder.hot(vcs.trailing_zeros() as usize);
            vcs &= vcs - 1;
            held |= u16::from(usize::from(holder >> 4) == i) << (holder & 15);
        }
        held
    }

    /// Whether a head of input `i` may have a VC of output `p`.
    fn wanted_by(&self, net: &Net, base: usize, p: usize, i: usize) -> bool {
        let mut classes = if self.outs.hot(base + p).wanting == 0 { 0 } else { self.offers.hot(p).0 };
        while classes != 0 {
            if self.want.hot(net.slot(base + p, classes.trailing_zeros() as usize)).contains(i) {
                return true;
            }
            classes &= classes - 1;
        }
        false
    }

    /// A head of input `i` takes one of the VCs that output `p` offers: the first class that has both.
    #[inline(always)]
    fn head_enters(&mut self, net: &Net, base: usize, p: usize, i: usize) -> (u8, u8) {
        let (mut classes, room) = *self.offers.hot(p);
        loop {
            let class = classes.trailing_zeros() as usize;
            classes &= classes - 1;
            let heads = matching(&self.ins.hot(base + i).keys, net.key(p, class));
            if heads != 0 {
                let room = room & net.vcs(self.outs.hot(base + p).class, class);
                return self.take_vc(net, base, p, class, i, heads, room);
            }
            debug_assert!(classes != 0, "input {i} won output {p} without a head for it");
        }
    }
}

impl Net {
    /// Free flits that an output VC must have before a head may take it.
    #[inline(always)]
    pub(crate) fn room(&self) -> u16 {
        if self.flow_control == FlowControl::VirtualCutThrough { self.packet_flits } else { 1 }
    }

    /// Route key of a class of output port `p`; its place in `Block::want` counts from the first output of the block.
    #[inline(always)]
    pub(crate) fn key(&self, p: usize, class: usize) -> u16 {
        self.slot(p, class) as u16
    }

    #[inline(always)]
    pub(crate) fn slot(&self, o: usize, class: usize) -> usize {
        o << self.class_bits | class
    }

    /// VCs of a routing class on a link class.
    #[inline(always)]
    pub(crate) fn vcs(&self, link: u8, class: usize) -> u16 {
        *self.links.hot(link as usize).vcs_of.hot(class)
    }
}

/// Free VCs with at least `need` credits.
#[inline(always)]
pub(crate) fn with_room<const V: usize>(out: &OutPort<V>, need: u16) -> u16 {
    let mut free = out.free & out.credit;
    if need > 1 {
        let mut rest = free;
        while rest != 0 {
            let vc = rest.trailing_zeros();
            rest &= rest - 1;
            if *out.credits.hot(vc as usize) < need {
                free &= !(1 << vc);
            }
        }
    }
    free
}

/// The VCs whose head has this key.
#[inline(always)]
pub(crate) fn matching<const V: usize>(keys: &[u16; V], key: u16) -> u16 {
    #[cfg(target_arch = "x86_64")]
    if V == 8 {
        use std::arch::x86_64::{_mm_cmpeq_epi16, _mm_loadu_si128, _mm_movemask_epi8, _mm_packs_epi16, _mm_set1_epi16};
        // SAFETY: SSE2 is part of every x86-64, and `keys` is 16 readable bytes.
        return unsafe {
            let equal = _mm_cmpeq_epi16(_mm_loadu_si128(keys.as_ptr().cast()), _mm_set1_epi16(key as i16));
            _mm_movemask_epi8(_mm_packs_epi16(equal, equal)) as u16 & 0xff
        };
    }
    keys.iter().enumerate().fold(0, |mask, (v, &k)| mask | u16::from(k == key) << v)
}
