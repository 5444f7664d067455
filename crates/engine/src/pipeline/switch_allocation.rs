//! The allocation steps of a cycle: heads take output VCs, flits cross the switch.
//!
//! In a step each input and each output sends at most one flit. With `vc_realloc` = 0 a head asks for the switch and takes
//! a free VC of its class as it crosses. With `vc_realloc` = 1 it takes the VC first (`vc_stage`), and asks for the switch
//! from the next step on; a VC then serves a packet every second step.

use crate::base::bits::{Bits, pick16};
use crate::base::unchecked::Hot;
use crate::models::allocation::AllocatorConfig;
use crate::pipeline::block::Block;
use crate::pipeline::net::Net;
use crate::state::{InPort, Move, NO_KEY, OutPort, Router, key_of};

impl<const W: usize, const V: usize> Block<W, V> {
    pub(crate) fn allocate<const SINGLE: bool>(&mut self, net: &Net) {
        for word in 0..self.active.0.len() {
            let mut bits = *self.active.0.hot(word);
            while bits != 0 {
                let r = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                let moved = self.tally.flit_hops;
                for _ in 0..net.speedup {
                    if net.chooses && !self.routers.hot(r).choosing.is_empty() {
                        self.choose::<SINGLE>(net, r);
                    }
                    if net.vc_realloc {
                        self.staged_step::<SINGLE>(net, r);
                    } else {
                        self.switch_step::<true, SINGLE>(net, r);
                    }
                }
                let router = self.routers.hot(r);
                if router.want.is_empty() && router.go.is_empty() {
                    // a VC that has become free is news to heads that choose
                    let news = net.chooses && !router.choosing.is_empty() && self.tally.flit_hops != moved;
                    if !news {
                        self.active.clear(r);
                    }
                }
            }
        }
    }

    /// Flits with a VC, and with `HEADS` heads that take one, cross the switch of router `r`.
    #[inline(always)]
    pub(crate) fn switch_step<const HEADS: bool, const SINGLE: bool>(&mut self, net: &Net, r: usize) {
        let router = self.routers.hot(r);
        if HEADS && !router.want.is_empty() {
            self.cross::<true, SINGLE>(net, r, router.go | router.want);
        } else if !router.go.is_empty() {
            // body flits only, the common case of long packets
            self.cross::<false, SINGLE>(net, r, router.go);
        }
    }

    /// Matches inputs to `outputs` and sends what has won.
    #[inline(always)]
    fn cross<const HEADS: bool, const SINGLE: bool>(&mut self, net: &Net, r: usize, outputs: Bits<W>) {
        let moves = if net.crosses_apart {
            self.matched_apart::<HEADS, SINGLE>(net, r, outputs)
        } else {
            self.matched::<HEADS, SINGLE, false>(net, r, outputs)
        };
        self.send_all::<SINGLE>(net, r, moves);
    }

    /// By age, watched, or with a delay behind every packet.
    #[inline(never)]
    fn matched_apart<const HEADS: bool, const SINGLE: bool>(&mut self, net: &Net, r: usize, outputs: Bits<W>) -> usize {
        let moves = if net.by_age {
            self.matched::<HEADS, SINGLE, true>(net, r, outputs)
        } else {
            self.matched::<HEADS, SINGLE, false>(net, r, outputs)
        };
        if net.watches {
            self.watch_moves(net, r, moves);
        }
        if net.routing_delay > 0 {
            self.close_behind(net, r, moves);
        }
        moves
    }

    /// Runs the allocator; returns the number of moves.
    #[inline(always)]
    fn matched<const HEADS: bool, const SINGLE: bool, const AGE: bool>(
        &mut self,
        net: &Net,
        r: usize,
        outputs: Bits<W>,
    ) -> usize {
        match &net.allocator {
            AllocatorConfig::Islip(n) => {
                self.match_output_first::<HEADS, SINGLE, true, AGE>(net, r, outputs, n.iterations)
            }
            AllocatorConfig::SeparableOutputFirst(n) => {
                self.match_output_first::<HEADS, SINGLE, false, AGE>(net, r, outputs, n.iterations)
            }
            AllocatorConfig::ThreeStage(_) => self.match_three_stage::<HEADS, SINGLE, AGE>(net, r, outputs),
            AllocatorConfig::SeparableInputFirst(n) => {
                self.match_input_first::<HEADS, SINGLE, AGE>(net, r, outputs, n.iterations)
            }
        }
    }

    #[inline(always)]
    pub(crate) fn ports<'a, const AGE: bool>(&'a mut self, net: &'a Net, r: usize) -> Ports<'a, W, V, AGE> {
        let router = self.routers.hot_mut(r);
        let base = router.base as usize;
        Ports {
            net,
            router,
            ins: self.ins.hot_from(base),
            outs: self.outs.hot_from(base),
            want: self.want.hot_from(base << net.class_bits),
            grants: &mut self.grants,
            moves: &mut self.moves,
            ages: if AGE { self.ages.hot_slice(base * V) } else { &[] },
        }
    }
}

/// The ports of one router, as its allocators see them. `AGE`: arbiters go by age.
pub(crate) struct Ports<'a, const W: usize, const V: usize, const AGE: bool> {
    pub net: &'a Net,
    pub router: &'a mut Router<W>,
    pub ins: &'a mut [InPort<V>],
    pub outs: &'a mut [OutPort<V>],
    /// [route key] -> inputs whose head has it.
    pub want: &'a mut [Bits<W>],
    /// Scratch, see [`Block`].
    pub grants: &'a mut [Bits<W>],
    pub moves: &'a mut [Move],
    /// [input * V + VC]; empty unless arbiters go by age.
    pub ages: &'a [u64],
}

impl<const W: usize, const V: usize, const AGE: bool> Ports<'_, W, V, AGE> {
    /// One of the `heads` (VCs of input `i` that want this class of output `p`) takes one of the VCs in `room`, both in
    /// turn; its request ends. Returns the input VC and the output VC.
    #[inline(always)]
    pub(crate) fn take_vc(&mut self, p: usize, class: usize, i: usize, heads: u16, room: u16) -> (u8, u8) {
        let out = self.outs.hot_mut(p);
        let vc = pick16(room, out.rr_vc);
        out.rr_vc = (vc + 1) & 15;
        let port = self.ins.hot_mut(i);
        let v = if heads & (heads - 1) == 0 {
            // the only one: this input wants nothing more here
            let want = self.want.hot_mut(self.net.slot(p, class));
            want.clear(i);
            if want.is_empty() {
                out.wanting &= !(1 << class);
                if out.wanting == 0 {
                    self.router.want.clear(p);
                }
            }
            heads.trailing_zeros() as u8
        } else {
            pick16(heads, port.rr_vc)
        };
        port.rr_vc = (v + 1) & 15;
        *port.keys.hot_mut(v as usize) = NO_KEY;
        if port.choosing != 0 {
            port.choosing &= !(1 << v);
            if port.choosing == 0 {
                self.router.choosing.clear(i);
            }
        }
        (v, vc)
    }
}

impl Net {
    /// Route key of a class of output port `p`.
    #[inline(always)]
    pub(crate) fn key(&self, p: usize, class: usize) -> u16 {
        key_of(p, class, self.class_bits)
    }

    /// Output port of a route key.
    #[inline(always)]
    pub(crate) fn port(&self, key: u16) -> usize {
        usize::from(key) >> self.class_bits
    }

    /// Place of the requests for a class of output `o` in `Block::want`.
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
