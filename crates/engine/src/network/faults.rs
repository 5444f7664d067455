//! Faults: links and routers that fail at run time and may return.
//!
//! # Source
//! Kim et al., "TCEP", ISCA 2018, Section VII-D, argues that links that are off are spares: if a link fails, others are activated. The
//! paper gives no further details; the rest is our own design.
//! # Parameters
//! `faults`: a list. Each fault has `link`, the two routers of the links that fail, or `router`, the number of a router. `class`: only the
//! links of this class between the two routers; `member`: only this one of their parallel links. `at` \[time\]: the first cycle in which
//! the part is broken. `until` \[time\]: the first cycle in which the part works again (omitted: never). `patience` and `rebuild_delay` of
//! `fault_model` \[time\]: how fast a routing reacts (`FaultTimes`).
//! # Guarantees
//! Under every policy: packets that hold a VC of a link when it fails, and flits on the link, still cross it (link-level retry). The
//! accounts then list the link as `off`, whatever state the policy sets. That state takes effect when the link works again. A dead router
//! discards every packet that holds no output VC yet or arrives later, including packets from its own terminals. The packet of a head whose
//! output is broken is treated as the routing declares (`AroundFaults`): it is discarded, takes another hop whose link works, or waits for
//! tables of the remaining network. The policy's overseer is notified in the next cycle (`Overseer::fault`), and may switch other links on.
//! A head that has lost its escape (Duato) but has other candidates with working links waits for `patience` cycles at most. Without this
//! limit, packets without an escape might wait for each other forever. If the escape is a ring, a fault cuts the ring. Until the ring is
//! whole again, every head waits for `patience` cycles at most. All other heads wait only for links that the dependency check has included.
//! Therefore no packet is blocked forever, with one exception: packets that follow the tables from before a fault and packets that follow
//! those from after it can block each other. Only a VC class that rises with each hop excludes this. The function `unproven` (`rebuild.rs`)
//! reports the other routings. The tables of up to 64 states of the network are checked for cycles.
//!
//! If the policy replaces links that fail (`replaces_failed_links`; tcep), the following rules apply instead:
//!
//! Links: a link that fails loses no flits. Packets that hold one of its VCs, and flits on the link, still cross it (link-level retry).
//! After them the link carries nothing. The two routers of the link detect the fault at once (loss of signal), and control packets inform
//! the other routers. The policy never activates a broken link. A link that works again is off at first.
//!
//! Routers: a router fails with all its links, and its neighbours detect that the router has failed. A failed router forwards nothing and
//! sends no control packets. When a router returns, its neighbours send it the states of their links. The epochs of the router continue
//! during the fault. The router answers no request that was sent before the fault. The fault of a link may begin before the fault of a
//! router at its end, but not while this router is dead.
//!
//! Packets: a head that waits for a failed link searches for another path in the same cycle: directly, over the hub (the member of the
//! subnetwork whose links all stay on), the next hub, or another member. If there is no other path, the head waits in its queue. Hops on VC
//! class 0 are taken in the order of the members, with the hub last. The only packets that can break this order and wait for each other are
//! packets at an intermediate when a fault occurs. These packets choose again whenever their router receives new link states. Therefore
//! they stay blocked only if a failed part never returns. The stall analysis would then list them.
//!
//! Discarded packets: a dead router discards every packet that holds no output VC yet or arrives later, including packets from its own
//! terminals. Other routers discard a packet as soon as its path leads to a dead router. The dead router can be the packet's destination,
//! the router where the packet changes the dimension, or the far end of its link between groups. A path over another router would break the
//! order of dimensions and of links between groups, and could deadlock. Because of this rule, no queue waits for a dead router. The result
//! counts discarded packets in `dropped_packets`. A discarded packet frees its buffers. The energy that it used before counts in the energy
//! accounts. Each created packet is delivered, dropped or missing: created = delivered + dropped + missing.
//!
//! Policy: all agreements between the ends of a failed link become invalid. If the hub fails or has a broken link, another member becomes
//! the hub at once. The new hub is the member with the fewest broken links; among equals, the one with the lowest number. No link of the
//! subnetwork is switched off until a hub has all its links, except those to dead members. Links that waiting heads need are requested
//! first. A link that works again is requested at once in two cases: it belongs to a star (the links of a hub), or it was on and the policy
//! never switches links off (`deactivate: false`). A run without faults has the same results with and without these rules.
//! # Not modelled
//! Flits that links destroy; retransmission of lost packets by terminals; wrong reports of faults; a detour round a dead router at which
//! packets change the dimension. A control packet that is in a router when the router fails still reaches its receiver. A router without
//! active links sends its control packets on the side channels of its links. These side channels carry credits, and Weft assumes that they
//! work while the link works. Control packets to the far end of a broken link use the side channels of a member with working links to both
//! ends. Two causes of permanent blocking remain, but neither occurred in the tests. In the first, heads at intermediates wait for each
//! other (see the rules for packets). In the second, the tail of a worm holds a VC of a broken link while its head waits for the same link
//! at a later hop. With virtual cut-through this is impossible, because the buffer at the far end takes the whole packet.
//! # Validation
//! `engine/tests/conformance/random_faults.rs`: thousands of short rounds over all routings, topologies and policies;
//! `engine/tests/broken.rs`: cyclic tables, patience, watched heads, links of terminals; `engine/tests/conformance/faults.rs`: every
//! routing and every policy with faults of links and routers, in buffers of one packet: each packet is delivered or counted as lost, all
//! credits return, and accounts are complete. `engine/tests/faults.rs`: the shares of lost packets, for routings with and without a choice
//! of hops, and with new tables. For tcep: no packet is lost or blocked under random faults of links in rows, grids and groups. With faults
//! of routers, every packet that is not delivered counts as dropped. In a row, the dropped packets are exactly those from and to the dead
//! router. Small rows with several faults at the same time; links that are dark while broken; moves of the hub; the same results and
//! control packets for any number of blocks. `power/tcep/link_model.rs`: a fault between any two messages of the policy's link protocol.
//! The rules for faults have not been compared with another simulator.

use crate::network::failures::{FIRST, Fault, Member, Part};
use crate::network::pairs;
use crate::network::spec::Spec;
use weft_api::coordinates;
use weft_api::routing::Routing;
use weft_api::state::Packet;
use weft_api::subnetworks::Subnets;
use weft_topology::{Peer, Port};
use weft_units::{Cycles, Refusal};

impl Spec {
    /// The cycle in which new tables take effect after failures or repairs in cycle `change`: `FaultTimes::rebuild_delay` later. Cycle 0
    /// for parts that are broken from the start, because the first tables of a run already exclude these.
    pub fn rebuilt(&self, change: Cycles) -> Cycles {
        if change <= FIRST { 0 } else { change.saturating_add(self.fault_times.rebuild_delay) }
    }

    /// Refuses faults of links or routers that do not exist, times that contradict each other, and faults that leave no path although the
    /// scenario guarantees one.
    pub fn check_faults(&self) -> Result<(), Refusal> {
        if self.faults.is_empty() {
            return Ok(());
        }
        pairs::check_faults(self)?;
        let nets = Subnets::of(&self.graph).filter(|_| pairs::replaces_faults(self));
        (0..self.faults.len()).try_for_each(|k| self.check_fault(nets.as_ref(), k))?;
        (0..self.faults.len()).try_for_each(|k| self.check_member(k))?;
        let lost = |router| self.faults.iter().any(|f| f.until.is_none() && f.is_of(Part::Router(router)));
        if (0..self.graph.routers()).all(lost) {
            let what = "every router fails forever: no router remains that could deliver a packet";
            return Err(Refusal::new("faults", what, "give a router an `until`, or remove its fault"));
        }
        nets.map_or(Ok(()), |nets| self.check_ways(&nets))
    }

    /// `nets`: the subnetworks, if the policy replaces links that fail.
    fn check_fault(&self, nets: Option<&Subnets>, k: usize) -> Result<(), Refusal> {
        let (fault, what) = (self.faults[k], self.faults[k].what);
        let in_words = |part: Part| part.in_words(&self.graph);
        let refuse = |key: &str, what: String, help: &str| {
            let dot = if key.is_empty() { "" } else { "." };
            Err(Refusal::new(format!("faults.{k}{dot}{key}"), what, help))
        };
        let routers = self.graph.routers();
        if let Some(router) = what.routers().into_iter().find(|&r| r >= routers) {
            let help = format!("write routers from 0 to {}", routers - 1);
            return refuse(
                what.key(),
                format!("there is no router {router}: the network has {routers} routers"),
                &help,
            );
        }
        self.check_part(nets, k)?;
        if fault.at == 0 {
            return refuse("at", "cycle 0".into(), "write 1cycle or more: in cycle 0 all links and routers work");
        }
        if let Some(until) = fault.until.filter(|&until| until <= fault.at) {
            let what = format!("cycle {until}, but {} fails in cycle {}", in_words(what), fault.at);
            return refuse("until", what, "write a later time, or remove `until`");
        }
        if let Some(j) = (0..k).find(|&j| self.faults[j].is_of(what) && self.faults[j].overlaps(&fault)) {
            let what = format!("faults.{j} has already broken {} at that time", in_words(what));
            return refuse("", what, "write times that neither overlap nor touch");
        }
        if let Some((ends, _)) = what.link() {
            let dead = |old: &Fault| ends.iter().any(|&end| old.what == Part::Router(end));
            let already =
                |old: &Fault| dead(old) && old.at <= fault.at && old.until.is_none_or(|until| fault.at <= until);
            if let Some(j) = self.faults.iter().position(already) {
                let [what, other] = [what, self.faults[j].what].map(in_words);
                let what = format!("faults.{j} has already broken {what} at that time, because {other} has failed");
                let help = "let the link fail before its router fails, or after the router returns, or remove it";
                return refuse("", what, help);
            }
        }
        Ok(())
    }

    /// Refuses the fault of a link that does not exist, or that the policy does not replace. Also refuses a fault that would lose packets
    /// for which a job waits.
    fn check_part(&self, nets: Option<&Subnets>, k: usize) -> Result<(), Refusal> {
        let what = self.faults[k].what;
        let name = |router| self.graph.router_name(router);
        let refuse = |what: String, help: String| {
            Err(Refusal::new(format!("faults.{k}.{}", self.faults[k].what.key()), what, help))
        };
        match (what.link(), nets) {
            (Some(([a, b], class)), Some(nets)) => {
                let managed = self.subnet_of(nets, a, b).map(|(d, ..)| nets.classes[d]);
                if managed.is_none() {
                    let what = format!("the policy manages no link between routers {} and {}", name(a), name(b));
                    return refuse(what, "write two neighbours in a subnetwork that power.manages names".into());
                }
                self.check_class(k, [a, b], class, managed)
            }
            (Some(([a, b], class)), None) => {
                if !self.neighbours(a).any(|(far, _)| far == b) {
                    let mut near: Vec<u32> = self.neighbours(a).map(|(far, _)| far).collect();
                    near.sort_unstable();
                    near.dedup();
                    let near: Vec<String> = near.iter().take(8).map(|&near| name(near).into_owned()).collect();
                    let what = format!("there is no link between routers {} and {}", name(a), name(b));
                    let help =
                        format!("write two neighbours; the neighbours of router {} are {}", name(a), near.join(", "));
                    return refuse(what, help);
                }
                self.check_class(k, [a, b], class, None)?;
                match self.faults[k].what {
                    // heads use the other members of the trunk, so no packet is lost
                    Part::Member(_) => Ok(()),
                    Part::Link(_) | Part::LinkOfClass(..) | Part::Router(_) => self.check_waits(k, self.or_leave(a, b)),
                }
            }
            (None, Some(nets)) => {
                self.check_router_fault(nets, k)?;
                self.check_waits(k, "let links fail instead of routers")
            }
            (None, None) => self.check_waits(k, "remove the faults"),
        }
    }

    /// Refuses an index without a link in the trunk. Also refuses a fault after which no member of the trunk would work, because routings
    /// would still use the trunk.
    fn check_member(&self, k: usize) -> Result<(), Refusal> {
        let Fault { what, at, .. } = self.faults[k];
        let Part::Member(Member { ends: [a, b], class, number }) = what else { return Ok(()) };
        let refuse = |what: String, help: String| Err(Refusal::new(format!("faults.{k}.member"), what, help));
        let ports = || (0..).zip(self.graph.ports(a)).filter(|(_, port)| class.is_none_or(|class| port.class == class));
        let leads_there = |port: &Port| matches!(port.peer, Peer::Router { router, .. } if router == b);
        let widths = || ports().filter(|(_, port)| leads_there(port)).map(|(p, _)| self.graph.trunk(a, p).width);
        let [a_name, b_name] = &[a, b].map(|router| self.graph.router_name(router));
        let (width, widest) = (widths().min().unwrap_or(1), widths().max().unwrap_or(1));
        if width != widest {
            let what = format!("trunks of {width} and of {widest} links connect routers {a_name} and {b_name}");
            return refuse(what, "write `class`, so that `member` names a link of one trunk".into());
        }
        if width == 1 {
            let what = format!("only one link connects routers {a_name} and {b_name}, so there are no parallel links");
            return refuse(what, "remove `member`".into());
        }
        if number >= width {
            let what = format!(
                "{width} parallel links connect routers {a_name} and {b_name}, with the numbers 0 to {}",
                width - 1
            );
            return refuse(what, format!("write member: {}", width - 1));
        }
        let broken = |member: u16| {
            let it = Part::Member(Member { ends: [a, b], class, number: member });
            self.faults.iter().any(|fault| fault.is_on(at) && fault.is_of(it))
        };
        if !(0..width).all(broken) {
            return Ok(());
        }
        let what =
            format!("all {width} links between routers {a_name} and {b_name} are broken in cycle {at}, one by one");
        refuse(what, "let one of these links work, or write one fault without `member`: routings then avoid it".into())
    }

    /// Refuses a link class if two neighbours have no link of this class. If `managed` is given, only links of class `managed` may fail.
    fn check_class(&self, k: usize, [a, b]: [u32; 2], class: Option<u8>, managed: Option<u8>) -> Result<(), Refusal> {
        let mut there: Vec<u8> = self.neighbours(a).filter(|&(far, _)| far == b).map(|(_, class)| class).collect();
        there.retain(|&class| managed.is_none_or(|managed| class == managed));
        there.sort_unstable();
        there.dedup();
        let Some(class) = class.filter(|class| !there.contains(class)) else { return Ok(()) };
        let name = |class: u8| &self.graph.class_names()[usize::from(class)][..];
        let names: Vec<&str> = there.into_iter().map(name).collect();
        let manages = if managed.is_some() { " that the policy manages" } else { "" };
        let [a, b] = [a, b].map(|router| self.graph.router_name(router));
        let what = format!("there is no `{}` link between routers {a} and {b}{manages}", name(class));
        let help = format!("write class: {}, or remove `class`", names.join(" or "));
        Err(Refusal::new(format!("faults.{k}.class"), what, help))
    }

    /// The routers to which router `a` has links, each with the class of the link.
    fn neighbours(&self, a: u32) -> impl Iterator<Item = (u32, u8)> + '_ {
        let far = |port: &Port| match port.peer {
            Peer::Router { router, .. } => Some((router, port.class)),
            Peer::Terminal(_) | Peer::Unused => None,
        };
        self.graph.ports(a).iter().filter_map(far)
    }

    /// Refuses the fault of a router if its neighbours would not detect it.
    fn check_router_fault(&self, nets: &Subnets, k: usize) -> Result<(), Refusal> {
        let hidden = |&d: &usize| nets.widths[d] > 1 && !self.managed[usize::from(nets.classes[d])];
        let Some(d) = (0..nets.count).find(hidden) else { return Ok(()) };
        let name = &self.graph.class_names()[usize::from(nets.classes[d])];
        let what =
            format!("the {name} links of this router fail with the router, but the policy does not manage these links");
        let help = format!("add {name} to power.manages, or let links fail instead of routers");
        Err(Refusal::new(format!("faults.{k}.router"), what, help))
    }

    /// The second remedy in the message for a job that waits for packets which would be lost if the links between the two routers fail.
    fn or_leave(&self, a: u32, b: u32) -> &'static str {
        let leads_there = |port: &Port| matches!(port.peer, Peer::Router { router, .. } if router == b);
        let is_trunk = self.graph.ports(a).iter().filter(|port| leads_there(port)).nth(1).is_some();
        if is_trunk {
            "write member: 0, because the other parallel links then lose no packets, or remove the faults"
        } else {
            "remove the faults"
        }
    }

    /// Refuses faults that would discard packets for which a job waits.
    fn check_waits(&self, k: usize, or: &str) -> Result<(), Refusal> {
        let refuse = |what: String, help: String| {
            Err(Refusal::new(format!("faults.{k}.{}", self.faults[k].what.key()), what, help))
        };
        for job in &self.traffic.jobs {
            if let Some(awaits) = job.workload.model().halts_at_losses() {
                let what =
                    format!("this fault loses packets, and job {} would wait for their {}", job.name, awaits.what);
                return refuse(what, format!("{}, or {or}", awaits.remedy));
            }
        }
        Ok(())
    }

    /// The managed subnetwork of the link between two routers, and the index of each of these routers among its members.
    fn subnet_of(&self, nets: &Subnets, a: u32, b: u32) -> Option<(usize, u8, u8)> {
        let coords = coordinates::of_all(&self.graph);
        nets.link(&coords, a, b).filter(|&(d, ..)| self.managed[usize::from(nets.classes[d])])
    }

    /// Refuses links that stay broken, if no other router of their subnetwork keeps links to both ends. Links of routers that themselves
    /// fail forever are permitted.
    fn check_ways(&self, nets: &Subnets) -> Result<(), Refusal> {
        let lost = |part: Part| self.faults.iter().any(|f| f.until.is_none() && f.is_of(part));
        let gone = |a: u32, b: u32| lost(Part::Link([a, b])) || lost(Part::Router(a)) || lost(Part::Router(b));
        for (k, fault) in self.faults.iter().enumerate().filter(|(_, fault)| fault.until.is_none()) {
            let Some(([a, b], _)) = fault.what.link() else { continue };
            let Some((d, own, c)) = self.subnet_of(nets, a, b) else { continue };
            let mut others = nets.others(d, own).filter(|&x| x != c).map(|x| nets.router(a, d, own, x));
            let ends_stay = !lost(Part::Router(a)) && !lost(Part::Router(b));
            if ends_stay && !others.any(|x| !gone(a, x) && !gone(x, b)) {
                let [a, b] = [a, b].map(|router| self.graph.router_name(router));
                let what = format!(
                    "no other router permanently keeps links to both routers {a} and {b}: packets between them could wait forever"
                );
                let help = "give this fault, or another fault at these routers, an `until`";
                return Err(Refusal::new(format!("faults.{k}"), what, help));
            }
        }
        Ok(())
    }
}

/// Refuses faults for a routing without `Routing::aim`, the function that returns the link that a packet takes between two neighbours in a
/// subnetwork. If that link has failed, the head searches for another path on the same leg of its path.
pub(crate) fn check_aim(spec: &Spec, routing: &dyn Routing) -> Result<(), Refusal> {
    let Some(nets) = Subnets::of(&spec.graph).filter(|_| !spec.faults.is_empty() && pairs::replaces_faults(spec))
    else {
        return Ok(());
    };
    let coords = spec.graph.in_all_planes(&routing.coordinates(spec.graph.plane()));
    for (router, &at) in (0..).zip(&coords) {
        for (d, own) in (0..nets.count).map(|d| (d, nets.member(at, d))) {
            for to in nets.others(d, own) {
                let dest = coords[nets.router(router, d, own, to) as usize];
                let leg = routing.aim(at, &Packet { dest, target: dest, ..Packet::default() }, 0);
                if !leg.is_ok_and(|leg| (leg.d, leg.own, leg.to) == (d, own, to)) {
                    let name = spec.routing.name();
                    let router = spec.graph.router_name(router);
                    let what =
                        format!("under {name} a packet that loses its link at router {router} would not find another");
                    let help = format!(
                        "remove the faults; the developer of {name} must correct the routing: let `aim` return the leg"
                    );
                    return Err(Refusal::new("faults", what, help));
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::routing::routing;
    use weft_api::routing::{Hop, Needs};
    use weft_api::walk::Step;

    /// A routing that uses no subnetworks, for a test of the refusal.
    #[derive(Debug)]
    struct Aimless;

    impl Routing for Aimless {
        fn needs(&self) -> Needs {
            Needs::default()
        }

        fn next(&self, _: u64, packet: &mut Packet, _: u64) -> Option<Hop> {
            Some(Hop::to_terminal(packet))
        }

        fn steps(&self, _: u64, packet: &Packet, _: u64) -> Vec<Step> {
            vec![Step::deliver(packet)]
        }
    }

    #[test]
    fn faults_are_refused_under_a_routing_that_does_not_say_where_a_packet_aims() {
        let topology = serde_json::from_str(r#"{"full_mesh": {"routers": 4, "terminals_per_router": 1}}"#).unwrap();
        let mut spec = Spec::new(&topology, serde_json::from_str(r#"{"pal": {}}"#).unwrap()).unwrap();
        assert_eq!(check_aim(&spec, &Aimless), Ok(()), "no faults");
        spec.policy = serde_json::from_str(r#"{"tcep": {}}"#).unwrap();
        spec.faults = vec![Fault { what: Part::Link([0, 1]), at: 5, until: None }];
        assert_eq!(check_aim(&spec, &*routing(&spec).unwrap()), Ok(()));
        let refusal = check_aim(&spec, &Aimless).unwrap_err();
        assert!(refusal.what.contains("a packet that loses its link at router 0 would not find another"), "{refusal}");
    }
}
