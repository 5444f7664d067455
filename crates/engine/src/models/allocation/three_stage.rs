//! The three-stage allocator: every head has chosen an output (stage 1, `choose`), every input picks one of its VCs that
//! may send (stage 2), every output one of the inputs that picked it (stage 3). One pass, no iteration.
//!
//! # Source
//! BlueGene/L: N. R. Adiga et al., "Blue Gene/L torus interconnection network", IBM J. R&D 49(2/3), 2005.
//! # Parameters
//! None.
//! # Guarantees
//! Every input and every output is matched at most once per allocation step. Arbiters are round robin, or by age.
//! # Not modelled
//! The rest of that router. Heads of routings that are decided at arrival ask for that one output.
//! # Validation
//! `engine/tests/conservation.rs`: nothing is lost; `engine/tests/determinism.rs`: the same on any number of threads. No
//! rows of a peer.

use crate::api::allocation::{Allocator, AllocatorModel};
use crate::api::switch::Ports;
use crate::base::bits::{Bits, pick16};
use crate::base::unchecked::Hot;
use crate::state::{NO_REQUEST, UNDECIDED};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Heads choose an output, inputs choose one of their VCs, outputs choose one input, once; pointers move past every
/// winner (BlueGene/L, Adiga et al. 2005).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ThreeStage {}

impl AllocatorModel for ThreeStage {
    fn examples() -> Vec<Self> {
        vec![Self {}]
    }
}

impl Allocator for ThreeStage {
    #[inline(always)]
    fn allocate<const W: usize, const V: usize, const HEADS: bool, const SINGLE: bool, const AGE: bool>(
        &self,
        ports: &mut Ports<'_, W, V, AGE>,
        outputs: Bits<W>,
    ) -> usize {
        ports.three_stage::<HEADS, SINGLE>(outputs)
    }
}

impl<const W: usize, const V: usize, const AGE: bool> Ports<'_, W, V, AGE> {
    /// Stages 2 and 3. Returns the number of moves.
    #[inline(always)]
    fn three_stage<const HEADS: bool, const SINGLE: bool>(&mut self, mut outputs: Bits<W>) -> usize {
        let mut asking = Bits::<W>::default();
        while let Some(p) = outputs.take_first() {
            let inputs = self.requests::<HEADS, SINGLE>(p);
            if inputs.is_empty() {
                self.router.clear_requests::<HEADS>(p);
            }
            asking = asking | inputs;
        }
        let (mut chosen, mut picks) = (Bits::<W>::default(), [0u8; 128]);
        while let Some(i) = asking.take_first() {
            let v = self.pick_vc(i, self.sendable::<HEADS, SINGLE>(i));
            let p = self.output_of(i, v);
            *picks.hot_mut(i) = v;
            self.grants.hot_mut(p).set(i);
            chosen.set(p);
        }
        let mut moves = 0;
        while let Some(p) = chosen.take_first() {
            let rivals = std::mem::take(self.grants.hot_mut(p));
            let turn = usize::from(self.outs.hot(p).rr_in);
            let i = if AGE { self.oldest_pick(rivals, &picks, turn) } else { rivals.pick_from(turn) };
            self.outs.hot_mut(p).rr_in = i as u8 + 1;
            self.cross_from::<SINGLE>(p, i, *picks.hot(i), moves);
            moves += 1;
        }
        moves
    }

    /// VCs of input `i` that could send a flit now.
    fn sendable<const HEADS: bool, const SINGLE: bool>(&self, i: usize) -> u16 {
        let port = self.ins.hot(i);
        let mut vcs = 0;
        for v in 0..V {
            let key = *port.requests.hot(v);
            let may = if key == NO_REQUEST {
                // an empty queue still has the output VC that it held last
                let (p, vc) = (usize::from(*port.output_vc.hot(v) >> 4), usize::from(*port.output_vc.hot(v) & 15));
                let out = self.outs.hot(p);
                (out.vcs_with_flit & out.vcs_with_credit) >> vc & 1 != 0
                    && usize::from(*out.holder.hot(vc)) == i << 4 | v
            } else if !HEADS || key == UNDECIDED {
                false
            } else {
                let (p, class) = self.common.split(key);
                let (open, link) = (self.available_vcs::<SINGLE>(p), self.outs.hot(p).class);
                self.open_to(p, link, open, class) != 0
            };
            vcs |= u16::from(may) << v;
        }
        vcs
    }

    /// The VC of `vcs` whose turn it is at input `i`.
    fn pick_vc(&self, i: usize, vcs: u16) -> u8 {
        if AGE { self.oldest_of(i, vcs).1 } else { pick16(vcs, self.ins.hot(i).rr_vc) }
    }

    fn output_of(&self, i: usize, v: u8) -> usize {
        let port = self.ins.hot(i);
        let key = *port.requests.hot(v as usize);
        if key == NO_REQUEST { usize::from(*port.output_vc.hot(v as usize) >> 4) } else { self.common.port(key) }
    }

    /// The input of `rivals` whose picked VC has the oldest packet; ties in turn.
    fn oldest_pick(&self, rivals: Bits<W>, picks: &[u8], turn: usize) -> usize {
        self.least(rivals, turn, |i| self.age(i, *picks.hot(i)))
    }
}
