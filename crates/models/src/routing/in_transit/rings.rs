//! The escape rings of a network. This file computes the hops along rings, and the hops with which packets enter a
//! ring. Its functions identify routers by their numbers.

use super::{IN_RING, RingConfig, RingKind};
use crate::routing::{Classes, Hop, RingEntry};
use weft_api::state::Packet;
use weft_api::walk::{EscapeRing, RingHop};
use weft_topology::{Graph, Ring};
use weft_units::Refusal;

/// A direction in which packets travel around a ring.
#[derive(Debug, Clone)]
struct Direction {
    /// For each router: the port that leads to the next router of the ring in this direction.
    ports: Vec<u16>,
}

#[derive(Debug, Clone)]
pub struct Rings {
    /// The position of each router on each ring, indexed by ring and router.
    places: Vec<Vec<u32>>,
    /// The directions of all rings. Ring r has the `per_ring` directions from index r * `per_ring` on.
    directions: Vec<Direction>,
    per_ring: u8,
    /// VC class of a hop into a ring.
    entering: u8,
    /// VC class of a hop along a ring.
    moving_on: u8,
    classes: Classes,
    entries: Vec<RingEntry>,
}

impl Rings {
    /// Builds the rings. `path`: the path of the configuration in the scenario. `single`: returns the embedded ring if
    /// only one is requested.
    pub fn of(
        graph: &Graph,
        config: &RingConfig,
        path: &str,
        single: impl FnOnce(&str) -> Result<Ring, Refusal>,
    ) -> Result<Self, Refusal> {
        let physical = &graph.structure().rings;
        let kind = config.kind.unwrap_or(if physical.is_empty() { RingKind::Embedded } else { RingKind::Physical });
        let rings = match kind {
            RingKind::Physical if physical.is_empty() => {
                let what = "physical, but the topology has no ring with its own links";
                let help = match graph.structure().groups.as_ref().and_then(|groups| groups.complete) {
                    Some(_) => "write kind: embedded, or give the topology escape_rings: 1",
                    None => "write kind: embedded",
                };
                return Err(Refusal::new(format!("{path}.kind"), what, help));
            }
            RingKind::Physical => {
                refuse_embedded_keys(config, path)?;
                physical.clone()
            }
            RingKind::Embedded if config.rings == 1 => vec![single(path)?],
            RingKind::Embedded => Ring::disjoint(graph, config.rings, &format!("{path}.rings"))?,
        };
        Ring::check_all(&rings, graph).map_err(|what| Refusal::new(path, what, "give the topology another ring"))?;
        let (enter, move_on) = if kind == RingKind::Physical { (0, 1) } else { (1, 2) };
        let entry = |link: u8, vcs: Option<u8>| RingEntry { link, enter, move_on, vcs };
        let links: Vec<u8> = (1..graph.class_names().len() as u8).collect();
        let of_rings = |link: &u8| {
            let on_ring =
                |ring: &Ring| (0..graph.routers()).any(|r| class_of(graph, r, ring.forward[r as usize]) == *link);
            rings.iter().any(on_ring)
        };
        let vcs = (kind == RingKind::Embedded).then_some(config.vcs as u8);
        let entries: Vec<RingEntry> = links.iter().copied().filter(of_rings).map(|link| entry(link, vcs)).collect();
        let classes = |link: u8| if entries.iter().any(|entry| entry.link == link) { move_on + 1 } else { 1 };
        let classes = std::iter::once(1).chain(links.iter().map(|&link| classes(link))).collect();
        let one_way = |ports: &[u16]| Direction { ports: ports.to_vec() };
        let both = |ring: &Ring| {
            let directions = [one_way(&ring.forward), one_way(&ring.backward)];
            directions.into_iter().take(config.directions as usize)
        };
        Ok(Self {
            directions: rings.iter().flat_map(both).collect(),
            places: rings.iter().map(|ring| ring.place.clone()).collect(),
            per_ring: config.directions as u8,
            entering: enter,
            moving_on: move_on,
            classes,
            entries,
        })
    }

    pub fn classes(&self) -> (Classes, Vec<RingEntry>) {
        (self.classes.clone(), self.entries.clone())
    }

    /// Returns the index of the direction that a hop follows; `None` for a hop outside the rings.
    pub fn direction(&self, router: usize, hop: Hop) -> Option<u8> {
        if hop.class != self.entering && hop.class != self.moving_on {
            return None;
        }
        let is = |direction: &Direction| direction.ports[router] == hop.port;
        self.directions.iter().position(is).map(|number| number as u8)
    }

    /// Returns the ports of all routers, one slice per direction.
    pub fn ports(&self) -> impl Iterator<Item = &[u16]> {
        self.directions.iter().map(|direction| &direction.ports[..])
    }

    /// Returns the hop with which a packet in a ring continues in its present direction.
    pub fn onward(&self, router: usize, packet: &Packet) -> Hop {
        let port = self.directions[usize::from(packet.dim - IN_RING)].ports[router];
        Hop { port, class: self.moving_on }
    }

    /// Returns the hops from this router along all rings, in all directions.
    pub fn all_onward(&self, router: usize) -> impl Iterator<Item = Hop> + '_ {
        self.directions.iter().map(move |direction| Hop { port: direction.ports[router], class: self.moving_on })
    }

    /// Number of rings.
    pub fn count(&self) -> u32 {
        self.places.len() as u32
    }

    /// Returns the largest number of hops in one stay in a ring, which a packet leaves at the latest at its destination router. With two
    /// directions, a stay has at most half as many hops, unless a link is broken.
    pub fn longest_stay(&self) -> u32 {
        self.places[0].len() as u32 - 1
    }

    /// Returns the hop into a ring in the direction with the shorter path to router `to`. If the paths in both
    /// directions are equally long, `tie` decides.
    pub fn enter(&self, ring: u32, router: usize, to: usize, tie: bool) -> Hop {
        self.ways(ring, router, to, tie)[0]
    }

    /// Returns the hops into a ring in both directions. The direction with the shorter path to router `to` comes first. If
    /// the ring has only one direction, both hops are equal.
    pub fn ways(&self, ring: u32, router: usize, to: usize, tie: bool) -> [Hop; 2] {
        let places = &self.places[ring as usize];
        let (routers, own, to) = (places.len() as u32, places[router], places[to]);
        let ahead = (to + routers - own) % routers;
        let back = self.per_ring == 2 && (2 * ahead > routers || 2 * ahead == routers && tie);
        let first = ring as usize * usize::from(self.per_ring);
        let hop = |direction: usize| Hop { port: self.directions[direction].ports[router], class: self.entering };
        let (shorter, longer) = (first + usize::from(back), first + usize::from(self.per_ring == 2 && !back));
        [hop(shorter), hop(longer)]
    }

    pub fn escapes(&self) -> Vec<EscapeRing> {
        let (enter, move_on) = (self.entering, self.moving_on);
        let hops =
            |direction: &Direction| direction.ports.iter().map(|&port| RingHop { port, enter, move_on }).collect();
        self.directions.iter().map(|direction| EscapeRing { hops: hops(direction) }).collect()
    }
}

/// Refuses the keys of embedded rings if the topology has physical rings.
fn refuse_embedded_keys(config: &RingConfig, path: &str) -> Result<(), Refusal> {
    for (key, value) in [("rings", config.rings), ("vcs", config.vcs)] {
        if value != 1 {
            let what = format!(
                "{value}, but the rings are physical: `escape_rings` of the topology sets their number, and the links `ring_local` and \
                 `ring_global` set their VCs"
            );
            let help = format!("write {key}: 1, or kind: embedded");
            return Err(Refusal::new(format!("{path}.{key}"), what, help));
        }
    }
    Ok(())
}

fn class_of(graph: &Graph, router: u32, port: u16) -> u8 {
    graph.ports(router)[usize::from(port)].class
}
