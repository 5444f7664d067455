//! What the routers of a block post on the board.

use crate::api::board::Board;
use crate::pipeline::block::{Block, queues_at};
use crate::pipeline::net::Net;

impl<const W: usize, const V: usize> Block<W, V> {
    /// The routers post their numbers, in the cycles in which posts are due.
    #[inline(always)]
    pub(crate) fn post(&mut self, net: &Net, board: &Board) {
        if board.is_due(self.now) {
            self.post_all(net, board);
        }
    }

    #[inline(never)]
    fn post_all(&mut self, net: &Net, board: &Board) {
        for (r, router) in self.routers.iter().enumerate() {
            let at = net.coords[router.id as usize];
            let here = queues_at!(self, net, r);
            self.posts.fill(0);
            self.routing.post(at, &here, &mut self.posts);
            board.post(self.now, router.id, &self.posts);
        }
    }
}
