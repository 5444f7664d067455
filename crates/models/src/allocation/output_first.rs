//! Output-first matching, which the allocators `islip` and `separable_output_first` use.

use weft_api::base::bits::Bits;
use weft_api::base::unchecked::Hot;
use weft_api::switch::Ports;
use weft_api::switch_step::SwitchStep;

/// The condition under which the round-robin pointers of arbiters move.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Pointers {
    /// The pointer of an output moves past each input that the output grants. The pointer of an input moves past each output that the
    /// input accepts.
    PastAll,
    /// If a grant is accepted in the first iteration, the pointers of its input and of its output move past it.
    PastAccepted,
    /// The pointers never move.
    Stay,
}

impl Pointers {
    #[inline(always)]
    fn after_first_iteration(self) -> Self {
        match self {
            Self::PastAll => Self::PastAll,
            Self::PastAccepted | Self::Stay => Self::Stay,
        }
    }
}

/// Matches outputs first: each output grants one input, then each input accepts one grant. Returns the number of moves (matched pairs of
/// input and output).
///
/// # Safety
/// All `outputs` must be ports of the router.
#[inline(always)]
pub unsafe fn output_first<const W: usize, const V: usize, S: SwitchStep>(
    ports: &mut Ports<'_, W, V, S>,
    mut outputs: Bits<W>,
    pointers: Pointers,
    iterations: u8,
) -> usize {
    // SAFETY: the caller guarantees that `outputs` are ports of the router, and `grant` gives an offer to each input that it returns.
    let (mut matched, mut moves) = unsafe {
        let matched = grant(ports, outputs, Bits::default(), pointers);
        (matched, accept(ports, matched, &mut outputs, pointers, 0))
    };
    let pointers = pointers.after_first_iteration();
    for _ in 1..iterations {
        // SAFETY: the caller guarantees that `outputs` are ports of the router.
        let granted = unsafe { grant(ports, outputs, matched, pointers) };
        if granted.is_empty() {
            break;
        }
        // SAFETY: `grant` gives an offer of one of the router's outputs to each input that it returns.
        moves = unsafe { accept(ports, granted, &mut outputs, pointers, moves) };
        matched = matched | granted;
    }
    moves
}

/// Lets each input in `granted` accept its offer, and removes the accepted output from `outputs`. Returns the total number of moves:
/// `moves` plus the new ones.
///
/// # Safety
/// All inputs in `granted` must be inputs of the router, and each must have an offer of one of the router's outputs.
#[inline(always)]
unsafe fn accept<const W: usize, const V: usize, S: SwitchStep>(
    ports: &mut Ports<'_, W, V, S>,
    mut granted: Bits<W>,
    outputs: &mut Bits<W>,
    pointers: Pointers,
    mut moves: usize,
) -> usize {
    while let Some(i) = granted.take_first() {
        let p = usize::from(ports.offers[i]);
        outputs.clear(p);
        // SAFETY: the caller guarantees an offer of an output for each input in `granted`.
        unsafe {
            if pointers != Pointers::Stay {
                ports.ins.hot_mut(i).rr_out = p as u16 + 1;
            }
            if pointers == Pointers::PastAccepted {
                ports.outs.hot_mut(p).rr_in = i as u16 + 1;
            }
            ports.enter(p, i, moves);
        }
        moves += 1;
    }
    moves
}

/// Lets each output in `outputs` grant an input that is not in `matched`. An input that several outputs grant keeps the best of these
/// offers. Returns the inputs with a grant.
///
/// # Safety
/// All `outputs` must be ports of the router.
#[inline(always)]
unsafe fn grant<const W: usize, const V: usize, S: SwitchStep>(
    ports: &mut Ports<'_, W, V, S>,
    mut outputs: Bits<W>,
    matched: Bits<W>,
    pointers: Pointers,
) -> Bits<W> {
    let mut granted = Bits::default();
    while let Some(p) = outputs.take_first() {
        // SAFETY: the caller guarantees that `outputs` are ports of the router.
        let all = unsafe { ports.requests(p) };
        if all.is_empty() {
            ports.clear_requests(p);
            continue;
        }
        let inputs = all.without(&matched);
        if inputs.is_empty() {
            continue;
        }
        // SAFETY: the caller guarantees that `outputs` are ports of the router.
        let i = unsafe { ports.pick_input(p, inputs) };
        if pointers == Pointers::PastAll {
            ports.outs[p].rr_in = i as u16 + 1;
        }
        let mut best = p;
        if granted.contains(i) {
            let mut both = Bits::default();
            both.set(p);
            both.set(usize::from(ports.offers[i]));
            // SAFETY: both ports are in masks of the router's ports.
            best = unsafe { ports.pick_output(i, both) };
        }
        ports.offers[i] = best as u16;
        granted.set(i);
    }
    granted
}
