//! The allocation steps of a cycle: heads take output VCs, flits that hold one cross the switch.
//!
//! In a step each input and each output sends at most one flit. With `vc_realloc` = 1 a VC taken in a step takes part in
//! switch allocation only in the next one, as in a router with separate VC and switch allocation stages.

use crate::allocator::AllocatorConfig;
use crate::bits::{Bits, pick16};
use crate::block::Block;
use crate::net::Net;
use crate::spec::FlowControl;
use crate::state::{InPort, NO_KEY, OutPort};

/// Outputs and VCs that won the switch in a step.
pub(crate) struct Winners {
    len: usize,
    list: [(u8, u8); 128],
}

impl Winners {
    #[inline(always)]
    pub(crate) fn push(&mut self, output: usize, vc: u8) {
        self.list[self.len] = (output as u8, vc);
        self.len += 1;
    }
}

impl<const W: usize, const V: usize> Block<W, V> {
    pub(crate) fn allocate(&mut self, net: &Net) {
        for word in 0..self.active.0.len() {
            let mut bits = self.active.0[word];
            while bits != 0 {
                let r = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                for _ in 0..net.speedup {
                    self.allocate_router(net, r);
                }
                let router = &self.routers[r];
                if router.want.is_empty() && router.go.is_empty() {
                    self.active.clear(r);
                }
            }
        }
    }

    #[inline(always)]
    fn allocate_router(&mut self, net: &Net, r: usize) {
        let taken = if self.routers[r].want.is_empty() { Bits::default() } else { self.take_vcs(net, r) };
        if !net.vc_realloc {
            self.make_ready(r, taken);
        }
        if !self.routers[r].go.is_empty() {
            let mut winners = Winners { len: 0, list: [(0, 0); 128] };
            match &net.allocator {
                AllocatorConfig::Islip(n) => self.grant_accept(r, n.iterations, true, &mut winners),
                AllocatorConfig::SeparableOutputFirst(n) => self.grant_accept(r, n.iterations, false, &mut winners),
                AllocatorConfig::SeparableInputFirst(n) => self.request_grant(r, n.iterations, &mut winners),
            }
            for &(output, vc) in &winners.list[..winners.len] {
                self.send(net, r, output as usize, vc as usize);
            }
        }
        if net.vc_realloc {
            self.make_ready(r, taken);
        }
    }

    /// Lets the VCs taken in this step take part in switch allocation.
    #[inline(always)]
    fn make_ready(&mut self, r: usize, mut outputs: Bits<W>) {
        let router = &mut self.routers[r];
        while let Some(p) = outputs.take_first() {
            let out = &mut self.outs[router.base as usize + p];
            out.ready |= out.fresh;
            if out.fresh & out.credit != 0 {
                router.go.set(p);
            }
            out.fresh = 0;
        }
    }

    /// VC allocation: every free VC goes to one of the heads that want its class, in turn. Returns the outputs touched.
    #[inline(always)]
    fn take_vcs(&mut self, net: &Net, r: usize) -> Bits<W> {
        let mut touched = Bits::default();
        let mut outputs = self.routers[r].want;
        let base = self.routers[r].base as usize;
        let need = if net.flow_control == FlowControl::VirtualCutThrough { net.packet_flits } else { 1 };
        while let Some(p) = outputs.take_first() {
            let out = &mut self.outs[base + p];
            let mut classes = out.wanting;
            while classes != 0 {
                let class = classes.trailing_zeros() as usize;
                classes &= classes - 1;
                let mut free = with_room(out, need) & net.links[out.class as usize].vcs_of[class];
                let want = &mut self.want[(base + p) * net.classes + class];
                let key = (p * net.classes + class) as u16;
                while free != 0 && !want.is_empty() {
                    let i = want.pick_from(out.rr_want as usize);
                    let port = &mut self.ins[base + i];
                    let same = matching(&port.keys, key);
                    let v = pick16(same, port.rr_vc);
                    let vc = pick16(free, out.rr_vc);
                    free &= !(1 << vc);
                    out.free &= !(1 << vc);
                    out.fresh |= 1 << vc;
                    out.holder[vc as usize] = (i << 4) as u16 | u16::from(v);
                    out.rr_vc = (vc + 1) & 15;
                    out.rr_want = i as u8 + 1;
                    port.keys[v as usize] = NO_KEY;
                    port.held[v as usize] = (p << 4) as u16 | u16::from(vc);
                    port.rr_vc = (v + 1) & 15;
                    if same & (same - 1) == 0 {
                        want.clear(i);
                    }
                    touched.set(p);
                }
                if want.is_empty() {
                    out.wanting &= !(1 << class);
                }
            }
            // what is still wanted waits for a VC or a credit: their return sets the bit again
            self.routers[r].want.clear(p);
        }
        touched
    }

    /// Separable, output first: outputs grant, inputs accept. `slip`: pointers move only past a grant accepted in the
    /// first iteration.
    #[inline(always)]
    fn grant_accept(&mut self, r: usize, iterations: u8, slip: bool, winners: &mut Winners) {
        let base = self.routers[r].base as usize;
        let mut outputs = self.routers[r].go;
        let mut matched = Bits::<W>::default();
        for iteration in 0..iterations {
            let mut granted = Bits::<W>::default();
            let mut pending = outputs;
            while let Some(p) = pending.take_first() {
                let out = &mut self.outs[base + p];
                let ready = out.ready & out.credit;
                if ready == 0 {
                    self.routers[r].go.clear(p);
                    outputs.clear(p);
                    continue;
                }
                let Some(i) = pick_input(out, ready, &matched) else { continue };
                if !slip {
                    out.rr_in = i as u8 + 1;
                }
                self.grants[i].set(p);
                granted.set(i);
            }
            let mut any = false;
            while let Some(i) = granted.take_first() {
                let port = &mut self.ins[base + i];
                let p = self.grants[i].pick_from(port.rr_out as usize);
                self.grants[i] = Bits::default();
                let out = &mut self.outs[base + p];
                if !slip {
                    port.rr_out = p as u8 + 1;
                } else if iteration == 0 {
                    port.rr_out = p as u8 + 1;
                    out.rr_in = i as u8 + 1;
                }
                winners.push(p, pick_vc(out, port, i));
                matched.set(i);
                outputs.clear(p);
                any = true;
            }
            if !any {
                break;
            }
        }
    }

    /// Separable, input first: inputs choose one of their ready VCs, outputs choose one input.
    #[inline(always)]
    fn request_grant(&mut self, r: usize, iterations: u8, winners: &mut Winners) {
        let base = self.routers[r].base as usize;
        let mut outputs = self.routers[r].go;
        let mut matched = Bits::<W>::default();
        for _ in 0..iterations {
            // which VCs of each input are ready for an output that is still free
            let mut vcs = [0u16; 128];
            let mut asking = Bits::<W>::default();
            let mut pending = outputs;
            while let Some(p) = pending.take_first() {
                let out = &self.outs[base + p];
                let mut ready = out.ready & out.credit;
                if ready == 0 {
                    self.routers[r].go.clear(p);
                    outputs.clear(p);
                }
                while ready != 0 {
                    let holder = out.holder[ready.trailing_zeros() as usize];
                    ready &= ready - 1;
                    if !matched.contains((holder >> 4) as usize) {
                        vcs[(holder >> 4) as usize] |= 1 << (holder & 15);
                        asking.set((holder >> 4) as usize);
                    }
                }
            }
            // each input chooses; `grants` collects the inputs per output
            let mut asked = Bits::<W>::default();
            while let Some(i) = asking.take_first() {
                let port = &self.ins[base + i];
                let v = pick16(vcs[i], port.rr_out);
                let p = usize::from(port.held[v as usize] >> 4);
                self.grants[p].set(i);
                asked.set(p);
            }
            let mut any = false;
            while let Some(p) = asked.take_first() {
                let out = &mut self.outs[base + p];
                let i = self.grants[p].pick_from(out.rr_in as usize);
                self.grants[p] = Bits::default();
                out.rr_in = i as u8 + 1;
                let port = &mut self.ins[base + i];
                let v = pick16(vcs[i], port.rr_out);
                port.rr_out = (v + 1) & 15;
                winners.push(p, (port.held[v as usize] & 15) as u8);
                matched.set(i);
                outputs.clear(p);
                any = true;
            }
            if !any {
                break;
            }
        }
    }
}

/// The input that output `out` grants in turn, among those not matched yet.
#[inline(always)]
fn pick_input<const W: usize, const V: usize>(out: &OutPort<V>, mut ready: u16, matched: &Bits<W>) -> Option<usize> {
    if ready & (ready - 1) == 0 {
        let i = (out.holder[ready.trailing_zeros() as usize] >> 4) as usize;
        return (!matched.contains(i)).then_some(i);
    }
    let mut inputs = Bits::<W>::default();
    while ready != 0 {
        let i = (out.holder[ready.trailing_zeros() as usize] >> 4) as usize;
        ready &= ready - 1;
        if !matched.contains(i) {
            inputs.set(i);
        }
    }
    (!inputs.is_empty()).then(|| inputs.pick_from(out.rr_in as usize))
}

/// The VC of output `out` that input `i` uses: its VCs take turns.
#[inline(always)]
fn pick_vc<const V: usize>(out: &OutPort<V>, port: &mut InPort<V>, i: usize) -> u8 {
    let ready = out.ready & out.credit;
    if ready & (ready - 1) == 0 {
        return ready.trailing_zeros() as u8;
    }
    let (mut inputs, mut outputs) = (0u16, [0u8; 16]);
    let mut rest = ready;
    while rest != 0 {
        let vc = rest.trailing_zeros() as u8;
        rest &= rest - 1;
        let holder = out.holder[vc as usize];
        if usize::from(holder >> 4) == i {
            inputs |= 1 << (holder & 15);
            outputs[(holder & 15) as usize] = vc;
        }
    }
    let v = pick16(inputs, port.rr_switch);
    port.rr_switch = (v + 1) & 15;
    outputs[v as usize]
}

/// Free VCs with at least `need` credits.
#[inline(always)]
fn with_room<const V: usize>(out: &OutPort<V>, need: u16) -> u16 {
    let mut free = out.free & out.credit;
    if need > 1 {
        let mut rest = free;
        while rest != 0 {
            let vc = rest.trailing_zeros();
            rest &= rest - 1;
            if out.credits[vc as usize] < need {
                free &= !(1 << vc);
            }
        }
    }
    free
}

/// The VCs whose head has this key.
#[inline(always)]
fn matching<const V: usize>(keys: &[u16; V], key: u16) -> u16 {
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
