//! The three-stage allocator of BlueGene/L. Stage 1 (`choose`): every head chooses an output. Stage 2: every input picks one of its VCs
//! that may send. Stage 3: every output chooses one of the inputs that picked a VC with a flit for this output. The allocator makes one
//! pass, without iterations.
//!
//! # Source
//! BlueGene/L: N. R. Adiga et al., "Blue Gene/L torus interconnection network", IBM J. R&D 49(2/3), 2005.
//! # Parameters
//! None.
//! # Guarantees
//! Every input and every output is matched at most once per allocation step. Arbiters choose round robin, or by the age of packets.
//! # Not modelled
//! The other parts of the BlueGene/L router. If a routing chooses the output when a head arrives, stage 1 has no choice:
//! the head requests only that output.
//! # Validation
//! `conformance/src/allocator.rs` checks that no packet is lost. `engine/tests/determinism.rs` checks that results are the same on any
//! number of threads. No test compares this allocator with another simulator.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_api::allocation::{Allocator, AllocatorModel};
use weft_api::base::arrays::{At, PerPort};
use weft_api::base::bits::{Bits, pick16};
use weft_api::state::{NO_REQUEST, UNDECIDED};
use weft_api::switch::Ports;
use weft_api::switch_step::SwitchStep;

/// Once per step, heads choose an output, inputs choose one of their VCs, and outputs choose one input. Pointers move past every
/// winner (BlueGene/L, Adiga et al. 2005).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ThreeStage {}

impl AllocatorModel for ThreeStage {
    fn examples() -> Vec<Self> {
        vec![Self {}]
    }
}

// SAFETY: `two_stages` enters at most one move per output, because it takes each output from `chosen` once. Each input picks one output.
unsafe impl Allocator for ThreeStage {
    #[inline(always)]
    unsafe fn allocate<const W: usize, const V: usize, S: SwitchStep>(
        &self,
        ports: &mut Ports<'_, W, V, S>,
        outputs: Bits<W>,
    ) -> usize {
        // SAFETY: the caller guarantees that `outputs` are ports of the router.
        unsafe { two_stages(ports, outputs) }
    }
}

/// Runs stages 2 and 3 of the allocator. Returns the number of moves (matched pairs of input and output).
///
/// # Safety
/// All `outputs` must be ports of the router.
#[inline(always)]
unsafe fn two_stages<const W: usize, const V: usize, S: SwitchStep>(
    ports: &mut Ports<'_, W, V, S>,
    outputs: Bits<W>,
) -> usize {
    let (mut asking, mut left) = (Bits::<W>::default(), outputs);
    while let Some(p) = left.take_first() {
        // SAFETY: the caller guarantees that `outputs` are ports of the router.
        let inputs = unsafe { ports.requests(p) };
        if inputs.is_empty() {
            ports.clear_requests(p);
        }
        asking = asking | inputs;
    }
    let (mut chosen, mut picks) = (Bits::<W>::default(), PerPort::<u8, W>::new(0));
    while let Some(i) = asking.take_first() {
        let v = pick_vc(ports, i, sendable(ports, i, outputs));
        let p = output_of(ports, i, v);
        picks[i] = v;
        ports.grants[p].set(i);
        chosen.set(p);
    }
    let mut moves = 0;
    while let Some(p) = chosen.take_first() {
        let rivals = std::mem::take(&mut ports.grants[p]);
        let turn = usize::from(ports.outs[p].rr_in);
        let i = if S::BY_AGE { oldest_pick(ports, rivals, &picks, turn) } else { rivals.pick_from(turn) };
        ports.outs[p].rr_in = i as u16 + 1;
        // SAFETY: both ports are in masks of the router's ports.
        unsafe { ports.cross_from(p, i, picks[i], moves) };
        moves += 1;
    }
    moves
}

/// VCs of input `i` that can send a flit to one of `outputs` now. Leaves out VCs whose buffer at the other end of the link is full.
fn sendable<const W: usize, const V: usize, S: SwitchStep>(
    ports: &Ports<'_, W, V, S>,
    i: usize,
    outputs: Bits<W>,
) -> u16 {
    let port = &ports.ins[i];
    let mut vcs = 0;
    for v in 0..V {
        let key = *port.requests.at(v);
        let may = if key == NO_REQUEST {
            // `output_vc` of an empty queue is the output VC that its last packet held
            let (p, vc) = (usize::from(*port.output_vc.at(v) >> 4), usize::from(*port.output_vc.at(v) & 15));
            let out = &ports.outs[p];
            outputs.contains(p)
                && (out.vcs_with_flit & out.vcs_with_credit) >> vc & 1 != 0
                && usize::from(*out.holder.at(vc)) == i << 4 | v
        } else if !S::HEADS || key == UNDECIDED {
            false
        } else {
            let (p, class) = ports.common.split(key);
            let out = &ports.outs[p];
            outputs.contains(p) && ports.open_to(out, ports.available_vcs(out), class) != 0
        };
        vcs |= u16::from(may) << v;
    }
    vcs
}

/// The VC of `vcs` that input `i` picks. An arbiter by age picks the VC with the oldest packet, any other arbiter the next VC in
/// round-robin order.
fn pick_vc<const W: usize, const V: usize, S: SwitchStep>(ports: &Ports<'_, W, V, S>, i: usize, vcs: u16) -> u8 {
    // SAFETY: the input is in a mask of the router's ports, and `vcs` are VCs of this input.
    if S::BY_AGE { unsafe { ports.oldest_of(i, vcs) }.1 } else { pick16(vcs, ports.ins[i].rr_vc) }
}

/// The output port that the packet in VC `v` of input `i` requests, or on which it holds a VC.
fn output_of<const W: usize, const V: usize, S: SwitchStep>(ports: &Ports<'_, W, V, S>, i: usize, v: u8) -> usize {
    let port = &ports.ins[i];
    let key = *port.requests.at(v as usize);
    if key == NO_REQUEST { usize::from(*port.output_vc.at(v as usize) >> 4) } else { ports.common.port(key) }
}

/// The input in `rivals` whose picked VC has the oldest packet. Inputs with packets of equal age are chosen round robin.
fn oldest_pick<const W: usize, const V: usize, S: SwitchStep>(
    ports: &Ports<'_, W, V, S>,
    rivals: Bits<W>,
    picks: &PerPort<u8, W>,
    turn: usize,
) -> usize {
    // SAFETY: the inputs are in a mask of the router's ports, and each has picked one of its VCs.
    ports.least(rivals, turn, |i| unsafe { ports.age(i, picks[i]) })
}
