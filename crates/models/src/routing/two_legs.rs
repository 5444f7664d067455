//! Paths over an intermediate router. Each of the two legs is a path of another routing.

use super::{About, AnyRouting, Classes, Hop, MAX_CLASSES, Proof, RoutingConfig, Step, below, draw};
use std::sync::Arc;
use weft_api::state::{DETOUR, Packet};
use weft_topology::Graph;
use weft_units::Refusal;

/// The paths over an intermediate router, for a routing such as Valiant. Methods identify routers by their numbers. Packets in phase 0 go
/// to the intermediate, and packets in phase 1 to their destination. In both phases, `Packet::target` is the router at which the leg ends.
/// The VC classes of the second leg are above those of the first leg. A packet without an intermediate is in phase 1 from the beginning.
#[derive(Debug, Clone)]
pub struct TwoLegs {
    leg: Arc<dyn AnyRouting>,
    /// For each router: its coordinates in the routing of the legs.
    coords: Arc<[u64]>,
    pub classes: Classes,
    /// For each port index: the first VC class of the second leg.
    second: Arc<[u8]>,
    /// Largest number of classes that the first leg has on any link of the network.
    most_of_first: u8,
    /// The routers that can be intermediates: all routers with terminals.
    pub mids: Arc<[u32]>,
}

impl TwoLegs {
    /// Creates paths whose two legs follow the routing `leg`. In the scenario, `leg` is the value of key `key` of the
    /// routing `name`.
    pub fn of(graph: &Graph, leg: &RoutingConfig, name: &str, key: &str) -> Result<Self, Refusal> {
        let leg = build_leg(graph, leg, name, key)?;
        let (classes, second) = classes_of_both(graph, &leg.needs().classes);
        refuse_too_many(&classes).map_err(|(what, help)| Refusal::new(format!("routing.{name}.{key}"), what, help))?;
        let mids = (0..graph.routers()).filter(|&router| graph.terminals_of(router) > 0).collect();
        let most_of_first = second.iter().copied().max().unwrap_or(0);
        Ok(Self { coords: leg.coordinates(graph).into(), leg, classes, second: second.into(), most_of_first, mids })
    }

    /// Computes the paths again for `left`, the network without its failed parts. The first VC class of the second leg does not change,
    /// because packets in flight already use the VC classes. If a first leg has become longer, its second leg begins with a higher class
    /// ([`turn`](Self::turn)).
    pub fn rebuilt(&self, left: &Graph) -> Result<Self, Refusal> {
        let leg = self.leg.rebuild(left)?;
        let (classes, _) = classes_of_both(left, &leg.needs().classes);
        refuse_too_many(&classes).map_err(|(what, help)| Refusal::new("routing", what, help))?;
        Ok(Self { leg: leg.into(), classes, ..self.clone() })
    }

    pub fn leg(&self) -> &dyn AnyRouting {
        &*self.leg
    }

    /// Draws a random intermediate router for this packet.
    #[inline(always)]
    pub fn draw_mid(&self, packet: &Packet, seed: u64) -> u64 {
        self.mids[below(draw(seed, packet, 0x51), self.mids.len() as u32) as usize].into()
    }

    /// Sets the router at `mid` as the intermediate of the packet.
    #[inline(always)]
    pub fn detour(&self, packet: &mut Packet, mid: u64) {
        packet.target = mid;
        packet.flags |= DETOUR;
    }

    /// Returns the intermediate of a packet on its first leg; `None` for other packets.
    pub fn over(packet: &Packet) -> Option<u64> {
        let detours = packet.phase == 0 && packet.flags & DETOUR != 0 && packet.target != packet.dest;
        detours.then_some(packet.target)
    }

    /// If a packet on its first leg is at its intermediate, begins its second leg. This leg begins in its first VC class, or in a higher
    /// class if the first leg has used more classes (`lane`) because of faults.
    #[inline(always)]
    fn turn(&self, at: u64, packet: &mut Packet) {
        if packet.phase == 0 && at == packet.target {
            let more = packet.lane.saturating_sub(self.most_of_first);
            (packet.phase, packet.dim, packet.lane, packet.target) = (1, 0, more, packet.dest);
        }
    }

    /// Returns the packet in the form that the routing of its leg expects. In the original packet, `phase` and `target` describe the whole
    /// path.
    #[inline(always)]
    fn on_leg(&self, packet: &Packet) -> Packet {
        let dest = self.coords[packet.target as usize];
        Packet { dest, target: dest, phase: 0, ..*packet }
    }

    #[inline(always)]
    fn classed(&self, hop: Hop, packet: &Packet) -> Hop {
        Hop { class: hop.class + packet.phase * self.second[usize::from(hop.port)], ..hop }
    }

    /// Returns the next hop on the path of the packet; `None` if its leg has no further hop.
    #[inline(always)]
    pub fn hop(&self, at: u64, packet: &mut Packet, seed: u64) -> Option<Hop> {
        self.turn(at, packet);
        if packet.phase == 1 && at == packet.dest {
            return Some(Hop::to_terminal(packet));
        }
        let mut on_leg = self.on_leg(packet);
        let hop = self.leg.next(self.coords[at as usize], &mut on_leg, seed)?;
        (packet.dim, packet.lane) = (on_leg.dim, on_leg.lane);
        Some(self.classed(hop, packet))
    }

    /// Follows a packet along a leg, from router `from` to router `to`. Calls `cross` with each router on the leg and the port that the
    /// packet takes there. `cross` returns the next router, or `None` if the port has no link. Changes `packet`.
    #[inline(always)]
    pub fn follow(
        &self,
        (from, to): (u64, u64),
        packet: &mut Packet,
        seed: u64,
        mut cross: impl FnMut(u64, u16) -> Option<u64>,
    ) -> Option<()> {
        let (leg, coords) = (&*self.leg, &*self.coords);
        packet.dest = coords[to as usize];
        packet.target = packet.dest;
        let mut at = from;
        while at != to {
            let hop = leg.next(coords[at as usize], packet, seed)?;
            at = cross(at, hop.port)?;
        }
        Some(())
    }

    /// Lists every hop that the packet may take at router `at`, with the packet's state after the hop.
    pub fn steps(&self, at: u64, packet: &Packet, seed: u64) -> Vec<Step> {
        self.by_leg(at, packet, |at, on_leg| self.leg.steps(at, on_leg, seed))
    }

    /// Lists every hop that the packet may take if its output is broken.
    pub fn steps_around(&self, at: u64, packet: &Packet, seed: u64) -> Vec<Step> {
        self.by_leg(at, packet, |at, on_leg| self.leg.steps_around(at, on_leg, seed))
    }

    fn by_leg(&self, at: u64, packet: &Packet, steps: impl Fn(u64, &Packet) -> Vec<Step>) -> Vec<Step> {
        let mut packet = *packet;
        self.turn(at, &mut packet);
        if packet.phase == 1 && at == packet.dest {
            return vec![Step::deliver(&packet)];
        }
        let steps = steps(self.coords[at as usize], &self.on_leg(&packet)).into_iter();
        let after = |on_leg: Packet| Packet { dim: on_leg.dim, lane: on_leg.lane, ..packet };
        steps.map(|step| Step { hop: self.classed(step.hop, &packet), after: after(step.after), ..step }).collect()
    }

    /// Undoes the last call of [`hop`](Self::hop). Called if the packet does not take the returned hop.
    pub fn forget_hop(&self, packet: &mut Packet) {
        let mut on_leg = self.on_leg(packet);
        self.leg.forget_hop(&mut on_leg);
        (packet.dim, packet.lane) = (on_leg.dim, on_leg.lane);
    }

    /// Returns a rank that rises with each hop of a path, provided that the rank of the leg's routing rises on each leg.
    pub fn rank(&self, at: u64, hop: Hop) -> u32 {
        const SECOND_LEG: u32 = 1 << 16;
        let of_leg = |class: u8| self.leg.rank(self.coords[at as usize], Hop { class, ..hop });
        match hop.class.checked_sub(self.second[usize::from(hop.port)]) {
            Some(class) => SECOND_LEG + of_leg(class),
            None => of_leg(hop.class),
        }
    }

    /// Returns the proof that paths cannot deadlock. The check of dependencies follows the two legs separately ([`Proof::TwoLegs`]) only
    /// under two conditions: the packet and its random choices determine every hop, and every router can be the end of a leg.
    pub fn proof(&self) -> Proof<'_> {
        match self.leg.proof() {
            Proof::Rises { link_first: false, .. } => Proof::rises(),
            Proof::OneLeg { .. } => Proof::TwoLegs { by_line: false, minimal_phase: None },
            Proof::Rises { link_first: true, .. }
            | Proof::EveryState
            | Proof::TwoLegs { .. }
            | Proof::Packets { .. }
            | Proof::Turns(_)
            | Proof::TurnsTo { .. }
            | Proof::Escapes
            | Proof::EscapeRings(_)
            | Proof::Together(_) => Proof::EveryState,
        }
    }
}

/// Builds the routing under `key` of the routing `name`, if it can be a leg of a longer path.
pub fn build_leg(graph: &Graph, leg: &RoutingConfig, name: &str, key: &str) -> Result<Arc<dyn AnyRouting>, Refusal> {
    let path = format!("routing.{name}.{key}");
    if leg.about().can_be_a_leg && leg.fits(graph) {
        let built = leg.build(graph).map_err(|refusal| nested(refusal, &path))?;
        if built.needs().ring_entries.is_empty() {
            return Ok(built.into());
        }
    }
    let what = format!(
        "{} can't route a leg: a leg needs a routing that determines hops in advance from the destination router alone",
        leg.name()
    );
    Err(Refusal::new(path, what, format!("write one of the routings that can: {}", legs_for(graph).join(", "))))
}

/// Changes the key that a refusal of the leg's routing names: the new key is below `path`, the key of the leg in the scenario.
fn nested(refusal: Refusal, path: &str) -> Refusal {
    let within = refusal.path.strip_prefix("routing.").map_or(String::new(), |rest| format!(".{rest}"));
    Refusal { path: format!("{path}{within}"), ..refusal }
}

/// Returns the names of the routings that can be legs on this graph.
fn legs_for(graph: &Graph) -> Vec<&'static str> {
    let fits = |about: &About| about.can_be_a_leg && (about.fits)(graph);
    RoutingConfig::declared().filter(|(_, about)| fits(about)).map(|(name, _)| name).collect()
}

/// Refuses VC classes if a link would need more of them than it can have. The error has two texts: the fault and the remedy.
fn refuse_too_many(classes: &Classes) -> Result<(), (String, String)> {
    let Some(&most) = classes.iter().max().filter(|&&most| most > MAX_CLASSES) else { return Ok(()) };
    let what = format!("two legs need {most} VC classes, but a link has at most {MAX_CLASSES} VCs");
    Err((what, "choose a routing with fewer VC classes for the legs, such as one made for this topology".to_owned()))
}

/// Returns two lists. The first list has, for each link class, the number of VC classes if each leg needs `of_leg`. The second list has,
/// for each port index, the first VC class of the second leg. If ports with the same index lead to links whose legs need different numbers
/// of VC classes, all links get twice the largest number.
fn classes_of_both(graph: &Graph, of_leg: &Classes) -> (Classes, Vec<u8>) {
    let ports = (0..graph.routers()).flat_map(|router| graph.ports(router).iter().zip(0usize..));
    let mut second: Vec<Option<u8>> = vec![None; graph.radix() as usize];
    let mut alike = true;
    for (port, number) in ports.filter(|(port, _)| port.class != 0) {
        let classes = of_leg[usize::from(port.class)];
        alike &= *second[number].get_or_insert(classes) == classes;
    }
    let most = of_leg.iter().copied().max().unwrap_or(1);
    let doubled = |(link, &classes): (usize, &u8)| match link {
        0 => 1,
        _ if alike => classes.saturating_mul(2),
        _ => most.saturating_mul(2),
    };
    let classes = of_leg.iter().enumerate().map(doubled).collect();
    let second = second.into_iter().map(|classes| if alike { classes.unwrap_or(0) } else { most });
    (classes, second.collect())
}
