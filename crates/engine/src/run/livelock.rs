//! Checks that no packet of a run took more hops than its routing guarantees. A packet with more hops might circulate forever (livelock).

use crate::network::simulation::Simulation;
use weft_api::state::NONE;
use weft_kernel::face::AnyBlock;
use weft_units::Refusal;

impl Simulation {
    /// The largest number of links between routers that any packet in flight has crossed.
    pub(crate) fn longest_under_way(&self) -> u32 {
        self.blocks.iter().map(|block| longest_in(&**block)).max().unwrap_or(0)
    }
}

/// The largest number of links that any packet in flight in one block has crossed.
fn longest_in(block: &dyn AnyBlock) -> u32 {
    let (records, mut longest) = (block.records(), 0);
    let mut see = |packet: u32| {
        // if the head of a packet is in another block, only its body is here, and its record is in the other block
        if packet != NONE {
            longest = longest.max(records.packets.items[packet as usize].links_crossed);
        }
    };
    records.flits.for_each(|flit| see(flit.packet));
    for mut segment in block.ins().flat_map(|input| input.head.iter().copied()) {
        while segment != NONE {
            let queued = &records.segments.items[segment as usize];
            see(queued.packet);
            segment = queued.next;
        }
    }
    longest
}

/// Refuses the results of a run if a packet crossed `longest` links, but the routing `name` guarantees at most `most`.
pub(crate) fn refuse(name: &str, most: Option<u32>, longest: u32) -> Result<(), Refusal> {
    let Some(most) = most.filter(|&most| longest > most) else { return Ok(()) };
    let what = format!(
        "{name} guarantees that a packet crosses at most {most} links, but in this run a packet crossed {longest}: packets may travel for \
         ever (livelock)"
    );
    let help = format!(
        "choose another routing; the developer of {name} must correct the routing: check `taken` and `most_hops`"
    );
    Err(Refusal::new(format!("routing.{name}"), what, help))
}

#[cfg(test)]
mod tests;
