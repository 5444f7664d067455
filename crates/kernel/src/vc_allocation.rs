//! VC allocation as a separate stage before switch allocation (`vc_realloc` = 1).
//!
//! The stage runs one iteration of iSLIP between output VCs and the input VCs that request their class. Every free output VC grants one
//! head, and each head accepts one of the VCs that granted it. Heads and output VCs choose in round-robin order, and their pointers move
//! past the accepted pair. If several VCs grant the same head, the head accepts only one. The other grants are lost until the next step.
//! With wormhole flow control a head may take a VC even if the VC has no credit.

use crate::block::{Buffers, Fabric, Requests, Wires};
use crate::net::Net;
use crate::parts::vc_stage::VcStage;
use weft_api::base::arrays::At;
use weft_api::base::bits::Bits;
use weft_api::spec::FlowControl;
use weft_api::state::{NO_REQUEST, matching};
use weft_api::switch::end_request;

impl<const W: usize, const V: usize> Fabric<W, V> {
    /// Lets heads of router `r` take output VCs. Returns the outputs at which a VC was taken. The heads that took a VC cross the switch at
    /// the earliest in the next step.
    pub(crate) fn take_vcs(&mut self, net: &Net, r: usize) -> Bits<W> {
        let Self { wires, buffers, requests, vc_stage, .. } = self;
        if requests.routers[r].vc_requests.is_empty() {
            return Bits::default();
        }
        take_vcs((wires, buffers), (requests, vc_stage), net, r)
    }

    /// From now on, heads that took VCs of the outputs `taken` of router `r` may cross the switch.
    pub(crate) fn let_cross(&mut self, r: usize, mut taken: Bits<W>) {
        let router = &mut self.requests.routers[r];
        while let Some(p) = taken.take_first() {
            let out = &mut self.wires.outs[router.base as usize + p];
            let vcs = self.vc_stage.settle(p);
            out.vcs_with_flit |= vcs;
            if vcs & out.vcs_with_credit != 0 {
                router.switch_requests.set(p);
            }
        }
    }
}

/// Allocates VCs of all outputs of router `r` that heads request. Returns the outputs at which a VC was taken.
fn take_vcs<const W: usize, const V: usize>(
    (wires, buffers): (&mut Wires<W, V>, &mut Buffers<V>),
    (requests, stage): (&mut Requests<W>, &mut VcStage<W>),
    net: &Net,
    r: usize,
) -> Bits<W> {
    let mut touched = Bits::default();
    let mut outputs = requests.routers[r].vc_requests;
    let base = requests.routers[r].base as usize;
    while let Some(p) = outputs.take_first() {
        let mut again = false;
        let mut classes = wires.outs[base + p].requested;
        while classes != 0 {
            let class = classes.trailing_zeros() as usize;
            classes &= classes - 1;
            let out = &wires.outs[base + p];
            let room = match net.router.flow_control {
                FlowControl::VirtualCutThrough => out.available_vcs(),
                FlowControl::Wormhole => out.free_vcs,
            };
            let room = net.links.of(out.class).open_to(out, room, class);
            if room != 0 {
                touched.set(p);
                again |=
                    match_vcs((&mut *wires, &mut *buffers), (&mut *requests, &mut *stage), net, (base, p, class), room);
            }
        }
        if !again {
            // the remaining heads wait for a VC or a credit, which will set the bit again
            requests.routers[r].vc_requests.clear(p);
        }
    }
    touched
}

/// Runs one iteration of iSLIP between the free VCs `room` of output `p` and the heads that request VC class `class`. Returns true if the
/// next step could match more VCs with heads.
fn match_vcs<const W: usize, const V: usize>(
    (wires, buffers): (&mut Wires<W, V>, &mut Buffers<V>),
    (requests, stage): (&mut Requests<W>, &mut VcStage<W>),
    net: &Net,
    (base, p, class): (usize, usize, usize),
    room: u16,
) -> bool {
    let slot = net.slot(base + p, class);
    let mut granted = Bits::<W>::default();
    let mut left = room;
    while left != 0 {
        let vc = left.trailing_zeros() as usize;
        left &= left - 1;
        let (i, v) = next_head(buffers, requests, net, (base, p, class), stage.turn::<V>((base + p, vc)));
        stage.grant::<V>((i, v), vc);
        granted.set(i);
    }
    while let Some(i) = granted.take_first() {
        for v in 0..V {
            let vcs = stage.take_grants::<V>((i, v));
            if vcs != 0 {
                accept_vc((&mut *wires, &mut *buffers), (&mut *requests, &mut *stage), (base, p), (i, v), vcs);
            }
        }
        if matching(&buffers.ins[base + i].requests, net.key(p, class)) == 0 {
            end_request(&mut requests.requesters[slot], &mut wires.outs[base + p], i, class);
        }
    }
    !requests.requesters[slot].is_empty() && wires.outs[base + p].free_vcs & room != 0
}

/// The first head, at or after `turn` in round-robin order, that requests VC class `class` of output `p`. Heads are numbered input * V +
/// VC; the result is (input, VC).
fn next_head<const W: usize, const V: usize>(
    buffers: &Buffers<V>,
    requests: &Requests<W>,
    net: &Net,
    (base, p, class): (usize, usize, usize),
    turn: u16,
) -> (usize, usize) {
    let requesters = &requests.requesters[net.slot(base + p, class)];
    let (first, after) = ((turn as usize) / V, (turn as usize) % V);
    let heads = |i: usize| matching(&buffers.ins[base + i].requests, net.key(p, class));
    if requesters.contains(first % (64 * W)) {
        let rest = heads(first) & (u16::MAX << after);
        if rest != 0 {
            return (first, rest.trailing_zeros() as usize);
        }
    }
    let i = requesters.pick_from(first + 1);
    (i, heads(i).trailing_zeros() as usize)
}

/// Lets the head of VC `v` of input `i` accept one of the output VCs that granted it.
fn accept_vc<const W: usize, const V: usize>(
    (wires, buffers): (&mut Wires<W, V>, &mut Buffers<V>),
    (requests, stage): (&mut Requests<W>, &mut VcStage<W>),
    (base, p): (usize, usize),
    (i, v): (usize, usize),
    vcs: u16,
) {
    let port = &mut buffers.ins[base + i];
    let vc = stage.accept::<V>(base, p, (i, v), vcs);
    *port.requests.at_mut(v) = NO_REQUEST;
    requests.routers[port.router as usize].stop_choosing(port, v);
    port.hold(v as u8, p, vc);
    let out = &mut wires.outs[base + p];
    out.hold(vc, i, v as u8);
    out.vcs_with_flit &= !(1 << vc);
}
