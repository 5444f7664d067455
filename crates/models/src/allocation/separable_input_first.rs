//! A separable allocator that matches inputs first: each input chooses one of its requests, then each output chooses one input. The
//! round-robin pointers move past every winner.
//!
//! # Source
//! W. J. Dally, B. Towles, "Principles and Practices of Interconnection Networks" (2004), section 19.3; BookSim2's
//! allocator of the same name.
//! # Parameters
//! `iterations`: rounds of matching per allocation step \[count\].
//! # Guarantees
//! In an iteration every free output and every free input is matched at most once. An input takes part for an output only if one of its VCs
//! has a flit for that output, and the output VC has a credit. Arbiters choose round robin, or by the age of packets.
//! # Not modelled
//! Wavefront and maximum-size allocators, and speculation. If VC allocation is a separate stage, it always uses one iteration of iSLIP,
//! whichever switch allocator the scenario chooses.
//! # Validation
//! `conformance/src/allocator.rs` checks that no packet is lost. Two rows of `tests/data/golden/booksim.csv` compare this allocator with
//! BookSim2.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_api::allocation::{Allocator, AllocatorModel};
use weft_api::base::arrays::PerPort;
use weft_api::base::bits::Bits;
use weft_api::switch::Ports;
use weft_api::switch_step::SwitchStep;

/// Each input chooses one of its requests, then each output chooses one input. Pointers move past every winner.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SeparableInputFirst {
    /// Rounds of matching per allocation step; at least 1.
    #[serde(default = "super::one")]
    pub iterations: u8,
}

impl AllocatorModel for SeparableInputFirst {
    fn iterations(&self) -> u8 {
        self.iterations
    }

    fn examples() -> Vec<Self> {
        vec![Self { iterations: 1 }]
    }
}

// SAFETY: `input_first` returns the number of moves that it entered, and matches no input or output twice.
unsafe impl Allocator for SeparableInputFirst {
    #[inline(always)]
    unsafe fn allocate<const W: usize, const V: usize, S: SwitchStep>(
        &self,
        ports: &mut Ports<'_, W, V, S>,
        outputs: Bits<W>,
    ) -> usize {
        // SAFETY: the caller guarantees that `outputs` are ports of the router.
        unsafe { input_first(ports, outputs, self.iterations) }
    }
}

/// Matches inputs first: each input chooses one of its requests, then each output chooses one input. Returns the number of moves.
///
/// # Safety
/// All `outputs` must be ports of the router.
#[inline(always)]
unsafe fn input_first<const W: usize, const V: usize, S: SwitchStep>(
    ports: &mut Ports<'_, W, V, S>,
    mut outputs: Bits<W>,
    iterations: u8,
) -> usize {
    let (mut matched, mut moves) = (Bits::<W>::default(), 0);
    for _ in 0..iterations {
        // `grants` first stores, for each input, the outputs to which it may send. Later it stores, for each output, the inputs that chose
        // it.
        let mut asking = Bits::<W>::default();
        let mut choices = PerPort::<u16, W>::new(0);
        let mut pending = outputs;
        while let Some(p) = pending.take_first() {
            // SAFETY: the caller guarantees that `outputs` are ports of the router.
            let all = unsafe { ports.requests(p) };
            if all.is_empty() {
                ports.clear_requests(p);
                outputs.clear(p);
            }
            let mut inputs = all.without(&matched);
            while let Some(i) = inputs.take_first() {
                ports.grants[i].set(p);
                asking.set(i);
            }
        }
        if asking.is_empty() {
            break;
        }
        let mut inputs = asking;
        while let Some(i) = inputs.take_first() {
            let may = std::mem::take(&mut ports.grants[i]);
            // SAFETY: both ports are in masks of the router's ports.
            choices[i] = unsafe { ports.pick_output(i, may) } as u16;
        }
        let mut chosen = Bits::<W>::default();
        while let Some(i) = asking.take_first() {
            let p = usize::from(choices[i]);
            ports.grants[p].set(i);
            chosen.set(p);
        }
        while let Some(p) = chosen.take_first() {
            let rivals = std::mem::take(&mut ports.grants[p]);
            // SAFETY: the inputs in `rivals` requested this output.
            let i = unsafe { ports.pick_input(p, rivals) };
            ports.outs[p].rr_in = i as u16 + 1;
            ports.ins[i].rr_out = p as u16 + 1;
            matched.set(i);
            outputs.clear(p);
            // SAFETY: input `i` requested output `p`, so both are ports of the router.
            unsafe { ports.enter(p, i, moves) };
            moves += 1;
        }
    }
    moves
}
