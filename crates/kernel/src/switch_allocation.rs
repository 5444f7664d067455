//! The allocation steps of a cycle. In a step, heads take output VCs and flits cross the switch.
//!
//! In a step each input and each output sends at most one flit. With `vc_realloc` = 0 a head requests the switch, and takes a free VC of
//! its class when it crosses. With `vc_realloc` = 1 a head first takes a VC (`vc_allocation.rs`), and requests the switch from the next
//! step on. Therefore a VC can take a new packet at most in every second step.

use crate::block::{Fabric, Reach, Routers};
use crate::net::Net;
use crate::parts::profile::Kind;
use std::fmt::Debug;
use std::marker::PhantomData;
use weft_api::allocation::Allocator;
use weft_api::base::bits::Bits;
use weft_api::base::unchecked::Hot;
use weft_api::switch::Ports;
use weft_api::switch_step::SwitchStep;

impl<const W: usize, const V: usize> Reach<W, V> {
    pub(crate) fn allocate<const SINGLE: bool>(&mut self, net: &Net, allocator: &dyn SwitchAllocator<W, V>) {
        if !SINGLE && self.routers.beside.shortcuts.has_streams() {
            self.flow(net);
            self.send_uncontended_flits::<false, true, false>(net);
        } else if !self.routers.beside.shortcuts.bypass_flits().is_empty() {
            if net.chooses {
                self.send_uncontended_flits::<SINGLE, false, true>(net);
            } else {
                self.send_uncontended_flits::<SINGLE, false, false>(net);
            }
        }
        self.routers.beside.shortcuts.decide_on_bypass(self.routers.fabric.now);
        for word in 0..self.routers.fabric.requests.active.0.len() {
            let mut bits = self.routers.fabric.requests.active.0[word];
            while bits != 0 {
                let r = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                if net.shortcuts.has(Kind::Prefetch) {
                    self.routers.fabric.bring_for_routers(net, r, word * 64, bits);
                }
                let moved = self.routers.beside.observers.tally.flit_hops;
                for _ in 0..net.router.speedup {
                    // SAFETY: `active` contains valid router numbers (checked by `assert_numbers`).
                    let router = unsafe { self.routers.fabric.requests.routers.hot(r) };
                    if net.chooses && !router.choosing.is_empty() && !self.routers.fabric.requests.have_chosen.take(r) {
                        self.choose(net, r);
                    }
                    if net.router.vc_realloc {
                        let taken = self.routers.fabric.take_vcs(net, r);
                        self.cross::<SINGLE>(net, allocator, r, false);
                        self.routers.fabric.let_cross(r, taken);
                    } else {
                        self.cross::<SINGLE>(net, allocator, r, true);
                    }
                }
                let Routers { fabric, beside } = &mut self.routers;
                // SAFETY: `active` contains valid router numbers (checked by `assert_numbers`).
                let router = unsafe { fabric.requests.routers.hot(r) };
                let nothing_asked = router.vc_requests.is_empty() && router.switch_requests.is_empty();
                if nothing_asked || net.slow.crossing && fabric.waits_for_links(net, r) {
                    // If a flit has moved, a VC may have become free, so heads that choose in every step choose again. (Flits that bypassed
                    // the allocator do not count, because after a bypass all waiting heads have just chosen an open output, and one of
                    // these heads has moved.)
                    let news = net.chooses && !router.choosing.is_empty() && beside.observers.tally.flit_hops != moved;
                    if !news {
                        // SAFETY: `r` comes from `active`, which has a bit for each router (checked by `assert_numbers`).
                        unsafe { fabric.requests.active.clear_hot(r) };
                    }
                }
            }
        }
    }

    /// Moves flits whose packets hold a VC across the switch of router `r`. `heads_cross`: whether heads also cross, and take a VC at the
    /// same time.
    #[inline(always)]
    fn cross<const SINGLE: bool>(
        &mut self,
        net: &Net,
        allocator: &dyn SwitchAllocator<W, V>,
        r: usize,
        heads_cross: bool,
    ) {
        let fabric = &mut self.routers.fabric;
        // SAFETY: `active` contains valid router numbers (checked by `assert_numbers`).
        let router = unsafe { fabric.requests.routers.hot(r) };
        let (heads, outputs) = (heads_cross && !router.vc_requests.is_empty(), router.switch_requests);
        if !heads && outputs.is_empty() {
            return;
        }
        // with long packets `heads` is usually false, because only body flits request the switch
        let outputs = if heads { outputs | router.vc_requests } else { outputs };
        let moves = if net.slow.crossing {
            match heads {
                true => self.routers.matched_slow_path::<true>(net, allocator, r, outputs),
                false => self.routers.matched_slow_path::<false>(net, allocator, r, outputs),
            }
        } else {
            matched(fabric, net, allocator, r, outputs, heads)
        };
        self.send_all::<SINGLE>(net, r, moves);
    }
}

impl<const W: usize, const V: usize> Routers<W, V> {
    /// The variant for runs with one of four properties: arbiters prefer the oldest packet, the user watches packets, a routing delay
    /// follows every packet, or slow links can make outputs full.
    #[inline(never)]
    fn matched_slow_path<const HEADS: bool>(
        &mut self,
        net: &Net,
        allocator: &dyn SwitchAllocator<W, V>,
        r: usize,
        mut outputs: Bits<W>,
    ) -> usize {
        let Self { fabric, beside } = self;
        if net.rates.is_some() {
            // SAFETY: each router has a mask of full outputs if some channels are paced (checked by `assert_numbers`).
            outputs = outputs.without(unsafe { fabric.wires.paces.full.hot(r) });
        }
        let moves = matched(fabric, net, allocator, r, outputs, HEADS);
        if net.watches {
            fabric.watch_moves(&mut beside.observers, net, r, moves);
        }
        if net.router.routing_delay > 0 {
            let base = fabric.requests.routers[r].base as usize;
            fabric.buffers.close_behind(net, base, fabric.switch.moves(moves), fabric.now);
        }
        moves
    }
}

impl<const W: usize, const V: usize> Fabric<W, V> {
    #[inline(always)]
    pub(crate) fn ports<'a, S: SwitchStep>(&'a mut self, net: &'a Net, r: usize) -> Ports<'a, W, V, S> {
        // SAFETY: `active` contains valid router numbers, and each router stores its first port (checked by `assert_numbers`).
        let (router, ins, outs, requesters) = unsafe {
            let router = self.requests.routers.hot_mut(r);
            let base = router.base as usize;
            let requesters = self.requests.requesters.hot_from(base << net.class_bits);
            (router, self.buffers.ins.hot_from(base), self.wires.outs.hot_from(base), requesters)
        };
        let base = router.base as usize;
        let (grants, offers, moves) = self.switch.scratch();
        Ports {
            step: PhantomData,
            common: &net.common,
            router,
            ins,
            outs,
            requesters,
            grants,
            offers,
            moves,
            ages: if S::BY_AGE { &self.requests.ages[base * V..] } else { &[] },
        }
    }
}

/// A switch allocator compiled for the cycle loop. The cycle loop makes one virtual call per allocation step of a router.
pub trait SwitchAllocator<const W: usize, const V: usize>: Debug + Send + Sync {
    /// Matches inputs with `outputs`: heads that may get a VC, and flits whose packets already have one. Returns the number of moves.
    fn heads_and_flits(&self, fabric: &mut Fabric<W, V>, net: &Net, r: usize, outputs: Bits<W>) -> usize;
    /// Matches inputs with `outputs`: only flits whose packets already have a VC.
    fn flits(&self, fabric: &mut Fabric<W, V>, net: &Net, r: usize, outputs: Bits<W>) -> usize;
}

/// Lets the allocator match inputs with `outputs` of router `r`. `heads`: true if a head requests a VC. Returns the number of moves.
#[inline(always)]
fn matched<const W: usize, const V: usize>(
    fabric: &mut Fabric<W, V>,
    net: &Net,
    allocator: &dyn SwitchAllocator<W, V>,
    r: usize,
    outputs: Bits<W>,
    heads: bool,
) -> usize {
    if heads { allocator.heads_and_flits(fabric, net, r, outputs) } else { allocator.flits(fabric, net, r, outputs) }
}

/// An allocator compiled for two kinds of steps. `H`: heads request VCs of the router. `F`: no head does.
#[derive(Debug)]
pub struct Compiled<A, H, F> {
    allocator: A,
    steps: PhantomData<(H, F)>,
}

impl<A, H, F> Compiled<A, H, F> {
    pub fn new(allocator: A) -> Self {
        Self { allocator, steps: PhantomData }
    }
}

impl<A: Allocator, H: SwitchStep, F: SwitchStep, const W: usize, const V: usize> SwitchAllocator<W, V>
    for Compiled<A, H, F>
{
    fn heads_and_flits(&self, fabric: &mut Fabric<W, V>, net: &Net, r: usize, outputs: Bits<W>) -> usize {
        // SAFETY: the cycle loop passes only outputs that have requests.
        unsafe { self.allocator.allocate(&mut fabric.ports::<H>(net, r), outputs) }
    }

    fn flits(&self, fabric: &mut Fabric<W, V>, net: &Net, r: usize, outputs: Bits<W>) -> usize {
        // SAFETY: the cycle loop passes only outputs that have requests.
        unsafe { self.allocator.allocate(&mut fabric.ports::<F>(net, r), outputs) }
    }
}
