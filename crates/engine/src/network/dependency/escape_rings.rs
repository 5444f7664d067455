//! Checks routings whose packets may always escape into a ring that visits every router (M. Garcia et al., ICPP 2012).
//!
//! Outside the rings packets may depend on each other in any order. A ring keeps a bubble, so the packets of the ring move on. Each packet
//! in the ring passes its destination router within one round and leaves the ring there. Therefore space in the ring becomes free
//! repeatedly, and a packet that waits outside eventually enters the ring. The proof of this needs buffers that hold whole packets
//! (`network/bubbles.rs`), and three properties:
//! - each ring visits all routers in a cycle of hops, and no two rings share VCs;
//! - at each router, a packet outside the rings may enter a ring, except at its destination router;
//! - at each router, a packet in a ring may move on in the ring, except at its destination router.
//!
//! A packet that has not left its source router occupies no buffer between routers. Such a packet does not need an escape.

use super::walks::{Lost, Taken, Walks};
use super::{Dependencies, Node};
use foldhash::{HashMap, HashMapExt};
use weft_api::routing::{Decides, Hop};
use weft_api::walk::{EscapeRing, RingHop, Step};

/// The largest number of packet states that the check follows for each destination in its sample.
const MOST_STATES: usize = 20_000;

/// The largest number of destinations in this sample.
const DESTINATIONS: usize = 8;

const MEND: &str = "check `steps`, `taken` and the rings of `proof`";

impl Dependencies<'_> {
    /// Adds the dependencies along the rings. Refuses a routing whose packets can't always use the rings.
    pub(super) fn escape_rings(&mut self, walks: &Walks, rings: &[EscapeRing]) -> Result<(), Lost> {
        if walks.needs.decides != Decides::EachStep {
            let what = "relies on rings, but a head that has requested another hop never requests the ring";
            return Err(Lost::new(what, "let `Needs::decides` be `EachStep`, or return another `proof`"));
        }
        let mut ring_of: HashMap<Node, usize> = HashMap::new();
        for (number, ring) in rings.iter().enumerate() {
            for node in self.along(ring)? {
                if let Some(other) = ring_of.insert(node, number) {
                    let what = format!("has rings {other} and {number} that share the channel {}", self.describe(node));
                    return Err(Lost::new(what, MEND));
                }
            }
        }
        if self.ring_entries.is_empty() {
            return Ok(()); // without bubbles the rings are cycles, and a check with merged classes only searches for cycles
        }
        for to in walks.sample().step_by(walks.sample().count().div_ceil(DESTINATIONS).max(1)) {
            walks.some_states(to, MOST_STATES, |last, at, steps| {
                self.may_escape(to, (last, at, steps), rings, &ring_of)
            })?;
        }
        Ok(())
    }

    /// Follows a ring for one round. Returns the nodes of its channels. Adds an edge from the node of each channel to the node of the next
    /// channel in the ring.
    fn along(&mut self, ring: &EscapeRing) -> Result<Vec<Node>, Lost> {
        let routers = self.graph.routers();
        let hop =
            |at: u32| ring.hops.get(at as usize).map(|&RingHop { port, move_on, .. }| Hop { port, class: move_on });
        let wrong = |what: String| Err(Lost::new(what, MEND));
        let (mut at, mut nodes) = (0, Vec::with_capacity(routers as usize));
        for _ in 0..routers {
            let Some((here, next)) = hop(at).and_then(|hop| Some((hop, self.neighbour(at, hop.port)?))) else {
                return wrong(format!("has a ring that leads from router {at} to no other router"));
            };
            let onward = hop(next).ok_or_else(|| Lost::new(format!("has a ring without router {next}"), MEND))?;
            self.turn(at, here, onward);
            nodes.push(self.node(at, here.port, here.class));
            at = next;
            if at == 0 {
                break;
            }
        }
        match nodes.len() as u32 {
            all if all == routers && at == 0 => Ok(nodes),
            visited => wrong(format!(
                "has a ring that visits {visited} routers, beginning at router 0, and ends at router {at}; the network has {routers} \
                 routers"
            )),
        }
    }

    /// Refuses a packet state, on a path to router `to`, from which the packet can't escape into a ring.
    fn may_escape(
        &self,
        to: u32,
        (last, at, steps): (Option<Taken>, u32, &[Step]),
        rings: &[EscapeRing],
        ring_of: &HashMap<Node, usize>,
    ) -> Result<(), Lost> {
        let Some((before, hop)) = last else { return Ok(()) };
        if at == to {
            return match steps.first() {
                None => Ok(()),
                Some(_) => {
                    Err(Lost::new(format!("does not deliver a packet that is at its destination router {to}"), MEND))
                }
            };
        }
        let vcs = self.vcs_of(self.node(before, hop.port, hop.class));
        let may = |port: u16, class: u8| steps.iter().any(|step| step.hop == Hop { port, class });
        let (found, what) = match ring_of.get(&vcs) {
            Some(&ring) => {
                let RingHop { port, move_on, .. } = rings[ring].hops[at as usize];
                (may(port, move_on), "move on in its ring")
            }
            None => {
                let enters = |ring: &EscapeRing| may(ring.hops[at as usize].port, ring.hops[at as usize].enter);
                (rings.iter().any(enters), "enter a ring")
            }
        };
        if found {
            return Ok(());
        }
        Err(Lost::new(format!("does not let a packet to router {to} {what} at router {at}"), MEND))
    }
}

#[cfg(test)]
mod tests;
