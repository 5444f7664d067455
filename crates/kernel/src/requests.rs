//! Requests of flits to the allocators: a head requests a VC of an output, and a flit whose packet holds a VC requests the switch. A head's
//! request begins in [`Fabric::note_request`], or in `choose.rs` if the head compares open VCs. The request ends in [`end_request`].

use crate::block::{Fabric, Requests};
use crate::net::Net;
use weft_api::base::unchecked::Hot;
use weft_api::state::{OutputUnit, matching};
use weft_api::switch::end_request;

impl<const W: usize, const V: usize> Fabric<W, V> {
    /// Adds the request of a head of input `i` for a VC of VC class `class` at output `p`.
    #[inline(always)]
    pub(crate) fn request_vc(&mut self, net: &Net, i: usize, p: usize, class: usize) {
        // SAFETY: a head waits at an existing input (checked by `assert_numbers`).
        let port = unsafe { self.buffers.ins.hot(i) };
        let r = port.router as usize;
        if self.note_request(net, (port.base(i) + p, class), (port.router, port.port)) {
            self.requests.ask_for_vc(r, p);
        }
    }

    /// Records that a head at `input` of router `router` requests a VC of VC class `class` at output `o`. Returns true if a VC of this
    /// class is open.
    ///
    /// # Panics
    /// If `o` is not an output of the router. This is an error of the routing that returned the output (possibly one from outside of Weft).
    #[inline(always)]
    pub(crate) fn note_request(&mut self, net: &Net, (o, class): (usize, usize), (router, input): (u32, u16)) -> bool {
        if o >= self.buffers.ins.len() {
            no_such_hop();
        }
        // SAFETY: each output of a router has the same number as an input, and has a record of requests for each of its VC classes
        // (checked by `assert_numbers`).
        let (requesters, out) =
            unsafe { (self.requests.requesters.hot_mut(net.slot(o, class)), self.wires.outs.hot_mut(o)) };
        if out.router != router {
            no_such_hop();
        }
        requesters.set(input.into());
        out.requested |= 1 << class;
        // whether there is enough space to enter a ring is checked in the next allocation step
        let is_open = has_open_vc(net, out, class);
        if !is_open && out.is_closed() {
            self.requests.note_closed(o);
        }
        is_open
    }

    /// Ends the request of one head of input `i` for `key` (output and VC class). If another head of this input also requests `key`, its
    /// request stays.
    pub(crate) fn withdraw(&mut self, net: &Net, r: usize, i: usize, key: u16) {
        // SAFETY: a head waits at an existing input (checked by `assert_numbers`).
        let port = unsafe { self.buffers.ins.hot(i) };
        if matching(&port.requests, key) != 0 {
            return;
        }
        let (p, class) = weft_api::state::split(key, net.class_bits);
        let (o, number) = (port.base(i) + p, usize::from(port.port));
        // SAFETY: a route key stores an output of the router and a VC class of this output (checked by `assert_numbers`).
        let (requesters, out, router) = unsafe {
            let requesters = self.requests.requesters.hot_mut(net.slot(o, class));
            (requesters, self.wires.outs.hot_mut(o), self.requests.routers.hot_mut(r))
        };
        if end_request(requesters, out, number, class) {
            router.vc_requests.clear(p);
        }
    }
}

/// Panics because a routing, possibly one from outside of Weft, has returned a hop that does not exist.
#[cold]
#[inline(never)]
pub(crate) fn no_such_hop() -> ! {
    panic!("the routing returned a port that the router does not have, or a VC class that the routing has not declared")
}

impl<const W: usize> Requests<W> {
    /// Records that a head requests closed output `o`. The agents of the power policy may open it.
    #[cold]
    fn note_closed(&mut self, o: usize) {
        self.of_closed.push(o as u32);
    }

    /// Notifies the VC allocator that a head at router `r` requests output `p`. The output has an open VC for the head.
    #[inline(always)]
    pub(crate) fn ask_for_vc(&mut self, r: usize, p: usize) {
        // SAFETY: an input stores the number of its router, and the mask has a bit for each router (checked by `assert_numbers`).
        unsafe {
            self.routers.hot_mut(r).vc_requests.set(p);
            self.active.set_hot(r);
        }
    }

    /// Notifies the switch allocator that a flit at router `r` requests output `p`, where its packet holds a VC.
    #[inline(always)]
    pub(crate) fn ask_for_switch(&mut self, r: usize, p: usize) {
        // SAFETY: an input stores the number of its router, and the mask has a bit for each router (checked by `assert_numbers`).
        unsafe {
            self.routers.hot_mut(r).switch_requests.set(p);
            self.active.set_hot(r);
        }
    }
}

/// True if a VC of VC class `class` at output `out` is free and has enough credits for a head.
#[inline(always)]
pub(crate) fn has_open_vc<const V: usize>(net: &Net, out: &OutputUnit<V>, class: usize) -> bool {
    let open = out.available_vcs();
    open != 0 && (net.class_bits == 0 || open & net.vcs(out.class, class) != 0)
}
