//! The switch allocators: which input sends to which output, and which of its VCs.
//!
//! # Source
//! `islip`: N. McKeown, "The iSLIP Scheduling Algorithm for Input-Queued Switches", IEEE/ACM ToN 7(2), 1999. Separable:
//! W. J. Dally, B. Towles, "Principles and Practices of Interconnection Networks" (2004), section 19.3; BookSim2's
//! allocators of the same names.
//! # Parameters
//! `iterations`: rounds of matching per allocation step \[count\].
//! # Guarantees
//! In an iteration every free output and every free input is matched at most once, with requests that can be served
//! now (a flit, a VC and a credit). `islip` and `separable_output_first`: outputs grant, inputs accept;
//! `separable_input_first`: inputs choose, outputs choose among them. Arbiters are round robin, or by age.
//! # Not modelled
//! Wavefront and maximum-size allocators; speculation. VC allocation in a stage of its own is always one iteration of
//! iSLIP, whatever the switch allocator.
//! # Validation
//! `engine/tests/theory.rs`: `islip` has the head-of-line limit of Hluchyj and Karol. `engine/tests/conservation.rs`:
//! nothing is lost with any of the three. BookSim2: all rows of `tests/data/golden/booksim.csv` are for `islip`, but for
//! two of `separable_input_first` and those for information; `separable_output_first` has no rows.

use crate::base::bits::{Bits, pick16};
use crate::base::unchecked::Hot;
use crate::pipeline::block::Block;
use crate::pipeline::net::Net;
use crate::pipeline::switch_allocation::{Ports, matching};

impl<const W: usize, const V: usize> Block<W, V> {
    #[inline(never)]
    pub(crate) fn match_output_first<const HEADS: bool, const SINGLE: bool, const SLIP: bool, const AGE: bool>(
        &mut self,
        net: &Net,
        r: usize,
        outputs: Bits<W>,
        iterations: u8,
    ) -> usize {
        self.ports::<AGE>(net, r).output_first::<HEADS, SINGLE, SLIP>(outputs, iterations)
    }

    #[inline(never)]
    pub(crate) fn match_input_first<const HEADS: bool, const SINGLE: bool, const AGE: bool>(
        &mut self,
        net: &Net,
        r: usize,
        outputs: Bits<W>,
        iterations: u8,
    ) -> usize {
        self.ports::<AGE>(net, r).input_first::<HEADS, SINGLE>(outputs, iterations)
    }
}

impl<const W: usize, const V: usize, const AGE: bool> Ports<'_, W, V, AGE> {
    /// VCs that heads may take at output `p`. One that holds the switch offers none while a packet is crossing.
    #[inline(always)]
    pub(crate) fn open<const SINGLE: bool>(&self, p: usize) -> u16 {
        let out = self.outs.hot(p);
        let closed = !SINGLE && self.net.hold_switch && out.free != self.net.links.hot(out.class as usize).all;
        if closed { 0 } else { out.open::<SINGLE>() }
    }

    /// Inputs that could send to output `p` now.
    #[inline(always)]
    pub(crate) fn requests<const HEADS: bool, const SINGLE: bool>(&self, p: usize) -> Bits<W> {
        let out = self.outs.hot(p);
        let mut inputs = Bits::default();
        if !HEADS || !SINGLE {
            let mut held = out.ready & out.credit;
            while held != 0 {
                inputs.set((out.holder.hot(held.trailing_zeros() as usize) >> 4) as usize);
                held &= held - 1;
            }
        }
        if HEADS {
            let (open, mut classes) = (self.open::<SINGLE>(p), out.wanting);
            if self.net.class_bits == 0 {
                return if open == 0 { inputs } else { inputs | *self.want.hot(p) };
            }
            while classes != 0 {
                let class = classes.trailing_zeros() as usize;
                classes &= classes - 1;
                if open & self.net.vcs(out.class, class) != 0 {
                    inputs = inputs | *self.want.hot(self.net.slot(p, class));
                }
            }
        }
        inputs
    }

    /// Separable, output first: outputs grant, inputs accept. `SLIP`: pointers move only past a grant accepted in the
    /// first iteration. Returns the number of moves.
    #[inline(always)]
    fn output_first<const HEADS: bool, const SINGLE: bool, const SLIP: bool>(
        &mut self,
        mut outputs: Bits<W>,
        iterations: u8,
    ) -> usize {
        let mut matched = self.grant::<HEADS, SINGLE, SLIP>(outputs, Bits::default());
        let mut moves = self.accept::<HEADS, SINGLE, SLIP, true>(matched, &mut outputs, 0);
        for _ in 1..iterations {
            let granted = self.grant::<HEADS, SINGLE, SLIP>(outputs, matched);
            if granted.is_empty() {
                break;
            }
            moves = self.accept::<HEADS, SINGLE, SLIP, false>(granted, &mut outputs, moves);
            matched = matched | granted;
        }
        moves
    }

    /// Each of the inputs `granted` accepts one output, which leaves `outputs`. Returns the number of moves, now.
    #[inline(always)]
    fn accept<const HEADS: bool, const SINGLE: bool, const SLIP: bool, const FIRST: bool>(
        &mut self,
        mut granted: Bits<W>,
        outputs: &mut Bits<W>,
        mut moves: usize,
    ) -> usize {
        while let Some(i) = granted.take_first() {
            let grants = std::mem::take(self.grants.hot_mut(i));
            let p = self.pick_output::<HEADS, SINGLE>(i, grants);
            if !SLIP || FIRST {
                self.ins.hot_mut(i).rr_out = p as u8 + 1;
            }
            if SLIP && FIRST {
                self.outs.hot_mut(p).rr_in = i as u8 + 1;
            }
            outputs.clear(p);
            self.enter::<HEADS, SINGLE>(p, i, moves);
            moves += 1;
        }
        moves
    }

    /// Each of `outputs` grants one input that is not in `matched`. Returns the inputs with a grant.
    #[inline(always)]
    fn grant<const HEADS: bool, const SINGLE: bool, const SLIP: bool>(
        &mut self,
        mut outputs: Bits<W>,
        matched: Bits<W>,
    ) -> Bits<W> {
        let mut granted = Bits::default();
        while let Some(p) = outputs.take_first() {
            let all = self.requests::<HEADS, SINGLE>(p);
            if all.is_empty() {
                self.router.rest::<HEADS>(p);
                continue;
            }
            let inputs = all.without(&matched);
            if inputs.is_empty() {
                continue;
            }
            let i = self.pick_input::<HEADS, SINGLE>(p, inputs);
            if !SLIP {
                self.outs.hot_mut(p).rr_in = i as u8 + 1;
            }
            self.grants.hot_mut(i).set(p);
            granted.set(i);
        }
        granted
    }

    /// Separable, input first: inputs choose one of their requests, outputs choose one input. Returns the number of moves.
    #[inline(always)]
    fn input_first<const HEADS: bool, const SINGLE: bool>(&mut self, mut outputs: Bits<W>, iterations: u8) -> usize {
        let (mut matched, mut moves) = (Bits::<W>::default(), 0);
        for _ in 0..iterations {
            // `grants` first collects the outputs that each input may send to, then the inputs that chose each output
            let mut asking = Bits::<W>::default();
            let mut choices = [0u8; 128];
            let mut pending = outputs;
            while let Some(p) = pending.take_first() {
                let all = self.requests::<HEADS, SINGLE>(p);
                if all.is_empty() {
                    self.router.rest::<HEADS>(p);
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
                *choices.hot_mut(i) = self.pick_output::<HEADS, SINGLE>(i, may) as u8;
            }
            let mut chosen = Bits::<W>::default();
            while let Some(i) = asking.take_first() {
                let p = usize::from(*choices.hot(i));
                self.grants.hot_mut(p).set(i);
                chosen.set(p);
            }
            while let Some(p) = chosen.take_first() {
                let rivals = std::mem::take(self.grants.hot_mut(p));
                let i = self.pick_input::<HEADS, SINGLE>(p, rivals);
                self.outs.hot_mut(p).rr_in = i as u8 + 1;
                self.ins.hot_mut(i).rr_out = p as u8 + 1;
                matched.set(i);
                outputs.clear(p);
                self.enter::<HEADS, SINGLE>(p, i, moves);
                moves += 1;
            }
        }
        moves
    }

    /// Input `i` has won output `p`: one of its VCs that may use it sends a flit, in turn, as move `k`.
    #[inline(always)]
    fn enter<const HEADS: bool, const SINGLE: bool>(&mut self, p: usize, i: usize, k: usize) {
        if AGE {
            return self.enter_oldest::<HEADS, SINGLE>(p, i, k);
        }
        let (v, vc) = if HEADS && SINGLE {
            self.head_enters::<SINGLE>(p, i)
        } else {
            let out = self.outs.hot(p);
            let vcs = out.ready & out.credit;
            if vcs != 0 && vcs & (vcs - 1) == 0 && (!HEADS || out.wanting == 0) {
                // the only request
                let vc = vcs.trailing_zeros() as u8;
                let v = (out.holder.hot(vc as usize) & 15) as u8;
                self.ins.hot_mut(i).rr_vc = (v + 1) & 15;
                (v, vc)
            } else {
                self.in_turn::<HEADS, SINGLE>(p, i)
            }
        };
        let m = self.moves.hot_mut(k);
        m.i = i as u8;
        m.v = v;
        m.p = p as u8;
        m.vc = vc;
    }

    /// The VC of input `i` whose turn it is to send to output `p`, of those that hold a VC and of heads.
    #[inline(always)]
    fn in_turn<const HEADS: bool, const SINGLE: bool>(&mut self, p: usize, i: usize) -> (u8, u8) {
        let held = self.held_by(p, i);
        let turn = self.ins.hot(i).rr_vc;
        if held == 0 || (HEADS && pick16(held, turn) < turn && self.wanted_by::<SINGLE>(p, i)) {
            let (v, vc) = self.head_enters::<SINGLE>(p, i);
            self.ins.hot_mut(i).hold(v, p, vc);
            self.outs.hot_mut(p).hold(vc, i, v);
            self.router.go.set(p);
            return (v, vc);
        }
        let port = self.ins.hot_mut(i);
        let v = pick16(held, turn);
        port.rr_vc = (v + 1) & 15;
        (v, (port.held.hot(v as usize) & 15) as u8)
    }

    /// VCs of input `i` whose packet holds a VC of output `p`, with a flit and a credit.
    #[inline(always)]
    pub(crate) fn held_by(&self, p: usize, i: usize) -> u16 {
        let out = self.outs.hot(p);
        let (mut held, mut vcs) = (0u16, out.ready & out.credit);
        while vcs != 0 {
            let holder = *out.holder.hot(vcs.trailing_zeros() as usize);
            vcs &= vcs - 1;
            held |= u16::from(usize::from(holder >> 4) == i) << (holder & 15);
        }
        held
    }

    /// Whether a head of input `i` may have a VC of output `p`.
    fn wanted_by<const SINGLE: bool>(&self, p: usize, i: usize) -> bool {
        let (out, open) = (self.outs.hot(p), self.open::<SINGLE>(p));
        let mut classes = out.wanting;
        while classes != 0 {
            let class = classes.trailing_zeros() as usize;
            classes &= classes - 1;
            if open & self.net.vcs(out.class, class) != 0 && self.want.hot(self.net.slot(p, class)).contains(i) {
                return true;
            }
        }
        false
    }

    /// A head of input `i` takes a VC of output `p`: the first class that has both.
    #[inline(always)]
    fn head_enters<const SINGLE: bool>(&mut self, p: usize, i: usize) -> (u8, u8) {
        let out = self.outs.hot(p);
        let (open, link, mut classes) = (self.open::<SINGLE>(p), out.class, out.wanting);
        let keys = self.ins.hot(i).keys;
        if self.net.class_bits == 0 {
            return self.take_vc(p, 0, i, matching(&keys, p as u16), open);
        }
        loop {
            debug_assert!(classes != 0, "input {i} won output {p} without a head for it");
            let class = classes.trailing_zeros() as usize;
            let room = open & self.net.vcs(link, class);
            if room != 0 {
                let heads = matching(&keys, self.net.key(p, class));
                if heads != 0 {
                    return self.take_vc(p, class, i, heads, room);
                }
            }
            classes &= classes - 1;
        }
    }
}
