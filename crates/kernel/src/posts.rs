//! Posts the numbers that a routing publishes about the routers of a block on the board, where other routers can read them.

use crate::block::{Fabric, queues_at};
use crate::net::Net;
use weft_api::board::Board;
use weft_api::state::ChannelEnd;

impl<const W: usize, const V: usize> Fabric<W, V> {
    /// Lets each router post its numbers on the board, if posts are due in this cycle. `posts`: scratch buffer for the numbers of one
    /// router.
    #[inline(always)]
    pub(crate) fn post(&self, posts: &mut [u32], net: &Net, board: &Board) {
        if board.is_due(self.now) {
            self.post_all(net, board, posts);
        }
    }

    #[inline(never)]
    fn post_all(&self, net: &Net, board: &Board, posts: &mut [u32]) {
        for (r, router) in self.requests.routers.iter().enumerate() {
            let at = net.coords[router.id as usize];
            let here = queues_at!(self, net, r);
            let ports = router.base as usize
                ..self.requests.routers.get(r + 1).map_or(self.buffers.ins.len(), |next| next.base as usize);
            let from_terminal = |&port: &usize| self.wires.outs[port].is(ChannelEnd::Ejection);
            let flits = |port: usize| self.wires.outs[self.buffers.ins[port].upstream() as usize].flits;
            let sent = || ports.clone().filter(from_terminal).map(flits).fold(0, u32::wrapping_add);
            posts.fill(0);
            self.routing.post(at, &here, &sent, posts);
            board.post(self.now, router.id, posts);
        }
    }
}
