//! Tests of the numbers that routers post on the board for other routers. These tests need a running network.

use super::Simulation;
use super::trials::{self, HYPERX};
use crate::network::spec::Execution;
use weft_api::state::ChannelEnd;

/// Under `lbr`, each router posts the number of flits that its terminals have sent so far.
#[test]
fn routers_post_the_flits_that_their_terminals_have_sent() {
    let spec = trials::spec(HYPERX, r#"{"lbr": {"every": "1cycle"}}"#, 2, 0.6, (100, 1_000));
    for blocks in [1, 3] {
        let mut simulation = Simulation::new(&spec, Execution::new(1, blocks)).expect("a simulation");
        (1..=4).for_each(|k| simulation.advance(100 * k));
        let board = simulation.net.common.board.as_ref().expect("a board");
        // the number that was posted at the beginning of cycle 399
        let post = board.known(400, 0);
        for block in &simulation.blocks {
            for (r, router) in block.places().enumerate() {
                let injection = block.outs().filter(|out| {
                    out.kind == ChannelEnd::Injection && block.input(out.peer as usize).router as usize == r
                });
                let sent: u32 = injection.map(|out| out.flits).sum();
                let posted = post.of(router.id, board.numbers() - 1);
                assert!(posted > 300 && (posted..=posted + 3).contains(&sent), "{posted} of {sent}, {blocks} blocks");
            }
        }
    }
}
