//! Arbitration by age. Each packet has an age number, and among competing packets the packet with the least number wins. This is the oldest
//! packet, or (under `Transit`) a packet that has come over a link between routers. If packets have equal age numbers, the arbiter chooses
//! in round-robin order.

use crate::base::arrays::At;
use crate::base::bits::{Bits, pick16};
use crate::base::unchecked::Hot;
use crate::state::{NO_REQUEST, matching};
use crate::switch::{Ports, held_by};
use crate::switch_step::SwitchStep;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The rule by which arbiters choose one of several packets that request the same resource.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Priority {
    /// The next packet in round-robin order.
    #[default]
    RoundRobin,
    /// The packet that was created first: its age includes the time in the source queue.
    Age,
    /// The packet that was injected first: its age is the time in the network.
    NetworkAge,
    /// Packets that arrived over a link between routers win against packets from terminals of this router. Between
    /// packets of the same kind, the arbiter chooses in round-robin order.
    Transit,
}

impl<const W: usize, const V: usize, S: SwitchStep> Ports<'_, W, V, S> {
    /// Chooses the input that wins output `p`. Every input in `inputs` has a flit for output `p`.
    ///
    /// # Safety
    /// `p` and all members of `inputs` are ports of this router.
    #[inline(always)]
    pub unsafe fn pick_input(&self, p: usize, inputs: Bits<W>) -> usize {
        // SAFETY: the caller guarantees that `p` is a port of the router.
        let turn = usize::from(unsafe { self.outs.hot(p) }.rr_in);
        // SAFETY: as above.
        if S::BY_AGE { unsafe { self.oldest_input(p, inputs, turn) } } else { inputs.pick_from(turn) }
    }

    /// Chooses one of `outputs` for input `i`, which has a flit for each output in this set.
    ///
    /// # Safety
    /// `i` and all members of `outputs` are ports of this router.
    #[inline(always)]
    pub unsafe fn pick_output(&self, i: usize, outputs: Bits<W>) -> usize {
        // SAFETY: the caller guarantees that `i` and `outputs` are ports of the router.
        unsafe {
            let turn = usize::from(self.ins.hot(i).rr_out);
            if S::BY_AGE { self.oldest_output(i, outputs, turn) } else { outputs.pick_from(turn) }
        }
    }

    /// # Safety
    /// `p` and all members of `inputs` are ports of this router.
    #[inline(never)]
    unsafe fn oldest_input(&self, p: usize, inputs: Bits<W>, turn: usize) -> usize {
        // SAFETY: the caller guarantees that `p` and `inputs` are ports of the router.
        self.least(inputs, turn, |i| unsafe { self.oldest_of(i, self.senders(p, i)).0 })
    }

    /// # Safety
    /// `i` and all members of `outputs` are ports of this router.
    #[inline(never)]
    unsafe fn oldest_output(&self, i: usize, outputs: Bits<W>, turn: usize) -> usize {
        // SAFETY: the caller guarantees that `i` and `outputs` are ports of the router.
        self.least(outputs, turn, |p| unsafe { self.oldest_of(i, self.senders(p, i)).0 })
    }

    /// The member of `ports` with the least `value`. If several members have this value, the result is the first of them at or after port
    /// `turn`.
    pub fn least(&self, mut ports: Bits<W>, mut turn: usize, value: impl Fn(usize) -> u64) -> usize {
        let (mut least, mut best) = (u64::MAX, ports.pick_from(turn));
        while !ports.is_empty() {
            let port = ports.pick_from(turn);
            ports.clear(port);
            turn = port + 1;
            let own = value(port);
            if own < least {
                (least, best) = (own, port);
            }
        }
        best
    }

    /// Age of the packet at the head of VC `v` of input `i`: the cycle in which the packet was created or injected. Call this method only
    /// if arbiters decide by age.
    ///
    /// # Safety
    /// `i` is a port of this router, and `v` is a VC of that port.
    #[inline(always)]
    pub unsafe fn age(&self, i: usize, v: u8) -> u64 {
        debug_assert!(S::BY_AGE, "ages exist only with arbitration by age");
        // SAFETY: the caller guarantees that `i` and `v` are valid, and each VC of an input has an age.
        unsafe { *self.ages.hot(i * V + v as usize) }
    }

    /// Age and VC of the oldest packet among the VCs `vcs` (a bit mask) of input `i`. If ages are equal, the VC is chosen in round-robin
    /// order. Call this method only if arbiters decide by age.
    ///
    /// # Safety
    /// `i` is a port of this router, and `vcs` has only VCs of that port.
    #[inline(always)]
    pub unsafe fn oldest_of(&self, i: usize, mut vcs: u16) -> (u64, u8) {
        let mut best = (u64::MAX, 0);
        // SAFETY: the caller guarantees that `i` is a port of the router.
        let mut turn = unsafe { self.ins.hot(i) }.rr_vc;
        while vcs != 0 {
            let v = pick16(vcs, turn);
            vcs &= !(1 << v);
            turn = (v + 1) & 15;
            // SAFETY: the caller guarantees that `v`, a member of `vcs`, is a VC of input `i`.
            let age = unsafe { self.age(i, v) };
            if age < best.0 {
                best = (age, v);
            }
        }
        best
    }

    /// Mask of the VCs of input `i` that have a flit for output `p` and may send it now.
    ///
    /// # Safety
    /// `p` and `i` are ports of this router.
    #[inline(always)]
    unsafe fn senders(&self, p: usize, i: usize) -> u16 {
        // SAFETY: the caller guarantees that `p` and `i` are ports of the router.
        let (out, requests) = unsafe { (self.outs.hot(p), &self.ins.hot(i).requests) };
        let mut vcs = if S::FLITS { held_by(out, i) } else { 0 };
        if S::HEADS {
            let open = self.available_vcs(out);
            let mut classes = out.requested;
            while classes != 0 {
                let class = classes.trailing_zeros() as usize;
                classes &= classes - 1;
                if self.open_to(out, open, class) != 0 {
                    vcs |= matching(requests, self.common.key(p, class));
                }
            }
        }
        vcs
    }

    /// Matches input `i` with output `p` as move number `k` of this step; the VC of `i` with the oldest packet sends
    /// its flit.
    ///
    /// # Safety
    /// The conditions are the same as for [`enter`](Self::enter).
    #[inline(never)]
    pub unsafe fn enter_oldest(&mut self, p: usize, i: usize, k: usize) {
        // SAFETY: the caller guarantees the conditions of `enter`, and `v` is one of the VCs that can send to `p`.
        unsafe {
            let v = self.oldest_of(i, self.senders(p, i)).1;
            self.cross_from(p, i, v, k);
        }
    }

    /// Matches VC `v` of input `i` with output `p` as move number `k` of this step. If the flit is a head, it gets an
    /// output VC.
    ///
    /// # Safety
    /// The conditions are the same as for [`enter`](Self::enter). In addition, VC `v` of input `i` must have a flit
    /// that output `p` can take now.
    pub unsafe fn cross_from(&mut self, p: usize, i: usize, v: u8, k: usize) {
        // SAFETY: the caller guarantees that `i` is a port of the router.
        let port = unsafe { self.ins.hot_mut(i) };
        let (keys, key) = (port.requests, *port.requests.at(v as usize));
        let vc = if key == NO_REQUEST {
            port.rr_vc = (v + 1) & 15;
            (*port.output_vc.at(v as usize) & 15) as u8
        } else {
            // `take_vc` gives the output VC to the head of VC `rr_vc`
            port.rr_vc = v;
            let class = self.common.split(key).1;
            // SAFETY: the caller guarantees that `p` is a port of the router.
            let out = unsafe { self.outs.hot(p) };
            let room = self.open_to(out, self.available_vcs(out), class);
            // SAFETY: the caller guarantees valid ports, and heads request only VC classes that the output has.
            let (_, vc) = unsafe { self.take_vc(p, class, i, matching(&keys, key), room) };
            if S::FLITS {
                self.hold(p, i, (v, vc));
            }
            vc
        };
        let m = &mut self.moves[k];
        (m.i, m.v, m.p, m.vc) = (i as u16, v, p as u16, vc);
    }
}
