//! Output-first matching, which `islip` and `separable_output_first` share.

use weft_api::base::bits::Bits;
use weft_api::base::unchecked::Hot;
use weft_api::switch::Ports;

/// Separable, output first: outputs grant, inputs accept. `SLIP`: pointers move only past a grant accepted in the
/// first iteration. Returns the number of moves.
///
/// # Safety
/// `outputs` are ports of the router.
#[inline(always)]
pub unsafe fn output_first<
    const W: usize,
    const V: usize,
    const HEADS: bool,
    const SINGLE: bool,
    const SLIP: bool,
    const AGE: bool,
>(
    ports: &mut Ports<'_, W, V, AGE>,
    mut outputs: Bits<W>,
    iterations: u8,
) -> usize {
    // SAFETY: the caller says so, and `grant` gives each input that it returns an offer.
    let (mut matched, mut moves) = unsafe {
        let matched = grant::<W, V, HEADS, SINGLE, SLIP, AGE>(ports, outputs, Bits::default());
        (matched, accept::<W, V, HEADS, SINGLE, SLIP, true, AGE>(ports, matched, &mut outputs, 0))
    };
    for _ in 1..iterations {
        // SAFETY: as above.
        let granted = unsafe { grant::<W, V, HEADS, SINGLE, SLIP, AGE>(ports, outputs, matched) };
        if granted.is_empty() {
            break;
        }
        // SAFETY: as above.
        moves = unsafe { accept::<W, V, HEADS, SINGLE, SLIP, false, AGE>(ports, granted, &mut outputs, moves) };
        matched = matched | granted;
    }
    moves
}

/// Each of the inputs `granted` accepts its offer, which is removed from `outputs`. Returns the number of moves so
/// far.
///
/// # Safety
/// `granted` are inputs of the router, each with an offer of one of its outputs.
#[inline(always)]
unsafe fn accept<
    const W: usize,
    const V: usize,
    const HEADS: bool,
    const SINGLE: bool,
    const SLIP: bool,
    const FIRST: bool,
    const AGE: bool,
>(
    ports: &mut Ports<'_, W, V, AGE>,
    mut granted: Bits<W>,
    outputs: &mut Bits<W>,
    mut moves: usize,
) -> usize {
    while let Some(i) = granted.take_first() {
        let p = usize::from(ports.offers[i]);
        outputs.clear(p);
        // SAFETY: the caller says so.
        unsafe {
            if !SLIP || FIRST {
                ports.ins.hot_mut(i).rr_out = p as u16 + 1;
            }
            if SLIP && FIRST {
                ports.outs.hot_mut(p).rr_in = i as u16 + 1;
            }
            ports.enter::<HEADS, SINGLE>(p, i, moves);
        }
        moves += 1;
    }
    moves
}

/// Each of `outputs` grants one input that is not in `matched`, which keeps the best of its offers. Returns the inputs with a
/// grant.
///
/// # Safety
/// `outputs` are ports of the router.
#[inline(always)]
unsafe fn grant<
    const W: usize,
    const V: usize,
    const HEADS: bool,
    const SINGLE: bool,
    const SLIP: bool,
    const AGE: bool,
>(
    ports: &mut Ports<'_, W, V, AGE>,
    mut outputs: Bits<W>,
    matched: Bits<W>,
) -> Bits<W> {
    let mut granted = Bits::default();
    while let Some(p) = outputs.take_first() {
        // SAFETY: the caller says so.
        let all = unsafe { ports.requests::<HEADS, SINGLE>(p) };
        if all.is_empty() {
            ports.router.clear_requests::<HEADS>(p);
            continue;
        }
        let inputs = all.without(&matched);
        if inputs.is_empty() {
            continue;
        }
        // SAFETY: the caller says so.
        let i = unsafe { ports.pick_input::<HEADS, SINGLE>(p, inputs) };
        if !SLIP {
            ports.outs[p].rr_in = i as u16 + 1;
        }
        let mut best = p;
        if granted.contains(i) {
            let mut both = Bits::default();
            both.set(p);
            both.set(usize::from(ports.offers[i]));
            // SAFETY: both come from masks of the router.
            best = unsafe { ports.pick_output::<HEADS, SINGLE>(i, both) };
        }
        ports.offers[i] = best as u16;
        granted.set(i);
    }
    granted
}
