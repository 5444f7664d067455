//! Requests: a head requests a VC of an output, and a flit whose packet holds a VC requests the switch. The request of a head begins
//! in [`Fabric::note_request`], or where it has compared open VCs (`choose.rs`), and ends in [`end_request`].

use crate::block::{Fabric, Requests};
use crate::net::Net;
use weft_api::base::unchecked::Hot;
use weft_api::state::{OutputUnit, matching};
use weft_api::switch::end_request;

impl<const W: usize, const V: usize> Fabric<W, V> {
    /// Enters the request of a head of input `i` for a VC of this class at output `p`.
    #[inline(always)]
    pub(crate) fn request_vc(&mut self, net: &Net, i: usize, p: usize, class: usize) {
        // SAFETY: a head waits at an input (`assert_numbers`).
        let port = unsafe { self.buffers.ins.hot(i) };
        let r = port.router as usize;
        if self.note_request(net, (port.base(i) + p, class), (port.router, port.port)) {
            self.requests.ask_for_vc(r, p);
        }
    }

    /// Notes that a head of this router and input requests a VC of this class of its routing at output `o`. Returns
    /// whether one is open.
    ///
    /// # Panics
    /// If `o` is no output of the router: a routing has named it, which may come from outside.
    #[inline(always)]
    pub(crate) fn note_request(&mut self, net: &Net, (o, class): (usize, usize), (router, input): (u32, u16)) -> bool {
        if o >= self.buffers.ins.len() {
            no_such_hop();
        }
        // SAFETY: outputs of routers have the numbers of inputs, and requests for each of their classes (`assert_numbers`).
        let (requesters, out) =
            unsafe { (self.requests.requesters.hot_mut(net.slot(o, class)), self.wires.outs.hot_mut(o)) };
        if out.router != router {
            no_such_hop();
        }
        requesters.set(input.into());
        out.requested |= 1 << class;
        // whether there is also room to enter a ring is checked in the next step
        let is_open = has_open_vc(net, out, class);
        if !is_open && out.is_closed() {
            self.requests.note_closed(o);
        }
        is_open
    }

    /// Ends request `key` of input `i` for one head, unless another head of the same input also requests `key`.
    pub(crate) fn withdraw(&mut self, net: &Net, r: usize, i: usize, key: u16) {
        // SAFETY: a head waits at an input (`assert_numbers`).
        let port = unsafe { self.buffers.ins.hot(i) };
        if matching(&port.requests, key) != 0 {
            return;
        }
        let (p, class) = weft_api::state::split(key, net.class_bits);
        let (o, number) = (port.base(i) + p, usize::from(port.port));
        // SAFETY: a route key names an output of the router, and one of its classes (`assert_numbers`).
        let (requesters, out, router) = unsafe {
            let requesters = self.requests.requesters.hot_mut(net.slot(o, class));
            (requesters, self.wires.outs.hot_mut(o), self.requests.routers.hot_mut(r))
        };
        if end_request(requesters, out, number, class) {
            router.vc_requests.clear(p);
        }
    }
}

/// Panics: a routing, perhaps one from outside of Weft, has named a hop that does not exist.
#[cold]
#[inline(never)]
pub(crate) fn no_such_hop() -> ! {
    panic!("the routing names a port that the router does not have, or a VC class that it has not declared")
}

impl<const W: usize> Requests<W> {
    /// Notes that a head requests output `o`, which is closed.
    #[cold]
    fn note_closed(&mut self, o: usize) {
        self.of_closed.push(o as u32);
    }

    /// Enters the request of a head at router `r`, for which a VC of output `p` is open, for the allocator.
    #[inline(always)]
    pub(crate) fn ask_for_vc(&mut self, r: usize, p: usize) {
        // SAFETY: an input names its router, which has a bit (`assert_numbers`).
        unsafe {
            self.routers.hot_mut(r).vc_requests.set(p);
            self.active.set_hot(r);
        }
    }

    /// Enters the request of a flit at router `r`, whose packet holds a VC of output `p`, for the allocator.
    #[inline(always)]
    pub(crate) fn ask_for_switch(&mut self, r: usize, p: usize) {
        // SAFETY: an input names its router, which has a bit (`assert_numbers`).
        unsafe {
            self.routers.hot_mut(r).switch_requests.set(p);
            self.active.set_hot(r);
        }
    }
}

/// Whether a VC of this class at output `out` is free, and has the credits that a head needs.
#[inline(always)]
pub(crate) fn has_open_vc<const V: usize>(net: &Net, out: &OutputUnit<V>, class: usize) -> bool {
    let open = out.available_vcs();
    open != 0 && (net.class_bits == 0 || open & net.vcs(out.class, class) != 0)
}
