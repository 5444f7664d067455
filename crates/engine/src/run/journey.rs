//! The journeys of watched packets, assembled from the records of the blocks (`watch.rs`).

use serde::Serialize;
use std::collections::BTreeMap;
use weft_api::spec::Watched;
use weft_kernel::face::AnyBlock;
use weft_kernel::net::Net;
use weft_kernel::parts::watch::{Birth, Decision, Stay, Wait};
use weft_kernel::spy::Weighed;
use weft_topology::Graph;

/// The events of a watched packet. The packet is number `seq` of the packets that `terminal` created.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Journey {
    pub terminal: u32,
    pub seq: u32,
    /// Number of packets that the terminal created in this run.
    pub made: u32,
    /// The packet's events; `None` if the terminal did not create this packet.
    pub life: Option<Life>,
}

/// The cycles in which the events of a packet happened. A cycle is absent if the run ended before its event.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Life {
    pub to_terminal: u32,
    pub flits: u16,
    /// Whether the packet is measured, because it was created in the window.
    pub measured: bool,
    /// The cycle in which the packet entered the source queue.
    pub created_cycle: u64,
    /// The cycle in which the packet reached the front of the source queue.
    pub first_cycle: u64,
    /// The cycle in which the packet's head flit was injected.
    pub injected_cycle: Option<u64>,
    pub injection_vc: Option<u8>,
    /// The cycle in which the packet's tail flit was injected.
    pub tail_injected_cycle: Option<u64>,
    /// One entry for each router that the packet reached, in the order of its path.
    pub routers: Vec<Visit>,
    pub delivered_cycle: Option<u64>,
    pub latency: Option<Latency>,
}

/// The stay of the packet in a router.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Visit {
    pub router: u32,
    pub port: u32,
    pub vc: u8,
    /// The cycle in which the head arrived.
    pub arrived_cycle: u64,
    /// The cycle in which the head reached the front of its queue.
    pub front_cycle: Option<u64>,
    /// The hop that the routing chose for the packet, with the candidates. If a head chooses in every step, the list has one entry for each
    /// step in which its choice changed.
    pub choices: Vec<Choice>,
    /// Number of changes between the last two entries that the list omits.
    pub choices_left_out: u32,
    pub waits: Vec<Wait>,
    pub exit: Option<Exit>,
}

/// The departure of the packet from a router.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Exit {
    pub port: u32,
    pub vc: u8,
    /// Name of the link class.
    pub link: String,
    /// The router at the far end of the link; `None` if a terminal is there.
    pub next_router: Option<u32>,
    pub vc_cycle: u64,
    /// The cycle in which the head crossed the switch.
    pub head_crossed_cycle: u64,
    /// The cycle in which the head entered the link.
    pub head_left_cycle: u64,
    /// Number of cycles for which the head waited for the link behind other flits.
    pub link_wait_cycles: u64,
    /// Cycles by which this link needed longer than the previous link to carry the whole head; 0 if this link is not slower.
    pub link_serial_cycles: u64,
    pub tail_crossed_cycle: Option<u64>,
    pub tail_left_cycle: Option<u64>,
    /// The cycle in which the head reaches the far end of the link.
    pub head_arrives_cycle: u64,
}

/// A hop that the routing chose for the packet.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Choice {
    /// The cycle in which the routing made the choice. If the choice does not depend on queues, this cycle is before the arrival of the
    /// packet.
    pub cycle: u64,
    pub rule: String,
    /// The intermediate router, if the packet takes a detour.
    pub via_router: Option<u32>,
    pub candidates: Vec<Candidate>,
    /// Index of the chosen hop among the candidates; `None` if it is not among them.
    pub chosen: Option<usize>,
    pub port: u32,
    pub vc_class: u8,
}

/// A hop that the routing compared with others, with the compared numbers at the time of the choice.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Candidate {
    pub port: u32,
    pub next_router: Option<u32>,
    pub vc_class: u8,
    /// cost = queue * hops + bias; the candidate with the lowest cost wins. The queue is at an output of this router, or at an output of
    /// `queue_router`.
    pub queue_flits: Option<i32>,
    pub queue_router: Option<u32>,
    pub queue_port: Option<u32>,
    pub hops: Option<u32>,
    pub bias_flits: Option<i32>,
    pub cost_flits: Option<i32>,
    /// Credits of the VCs that the head could take at that time. The candidate with the most credits wins.
    pub credits: Option<u32>,
    /// Whether this candidate ranks equal to the chosen candidate.
    pub tied: bool,
}

/// The parts of a packet's latency. The sum of all parts is the time from creation to delivery.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Latency {
    pub total_cycles: u64,
    /// Time from creation to the injection of the head [cycles].
    pub source_cycles: u64,
    /// Cycles that the head spent in routers.
    pub routers_cycles: u64,
    /// The part of `routers_cycles` that exceeds the delays of the routers.
    pub waiting_cycles: u64,
    /// Cycles that the head spent on links, including both terminal links, and including the time that slow links needed to carry the whole
    /// head.
    pub wires_cycles: u64,
    /// Time between the head and the tail on the last link [cycles].
    pub tail_cycles: u64,
    /// Delay between the arrival at the terminal and the delivery [cycles].
    pub ejection_cycles: u64,
}

struct Maker<'a> {
    net: &'a Net,
    graph: &'a Graph,
    stays: BTreeMap<(u32, u32), Vec<&'a Stay>>,
    delay: u64,
}

/// The journeys of the watched packets, in the order of the request or of time.
pub(crate) fn all(
    net: &Net,
    graph: &Graph,
    blocks: &[Box<dyn AnyBlock>],
    watched: &Watched,
    delay: u64,
) -> Vec<Journey> {
    let mut stays: BTreeMap<(u32, u32), Vec<&Stay>> = BTreeMap::new();
    blocks
        .iter()
        .flat_map(|b| &b.observers().watch.stays)
        .for_each(|stay| stays.entry(stay.name).or_default().push(stay));
    stays.values_mut().for_each(|own| own.sort_by_key(|stay| stay.hop));
    let maker = Maker { net, graph, stays, delay };
    let made: BTreeMap<u32, u32> =
        blocks.iter().flat_map(|b| &b.interfaces().terminals).map(|t| (t.id, t.made)).collect();
    let mut births: Vec<&Birth> = blocks.iter().flat_map(|b| &b.observers().watch.births).collect();
    births.sort_by_key(|birth| (birth.first, birth.packet.src));
    let name = |birth: &&Birth| (birth.packet.src, birth.packet.seq);
    let names = match watched {
        Watched::Nobody => Vec::new(),
        Watched::Packets(names) => names.clone(),
        Watched::First(n) => births.iter().take(*n).map(name).collect(),
    };
    let births: BTreeMap<(u32, u32), &Birth> = births.iter().map(|birth| (name(birth), *birth)).collect();
    let journey = |(terminal, seq): (u32, u32)| {
        let life = births.get(&(terminal, seq)).map(|birth| maker.life(birth));
        Journey { terminal, seq, made: made.get(&terminal).copied().unwrap_or(0), life }
    };
    names.into_iter().map(journey).collect()
}

impl Maker<'_> {
    fn life(&self, birth: &Birth) -> Life {
        let packet = &birth.packet;
        let stays = self.stays.get(&(packet.src, packet.seq)).map_or(&[][..], Vec::as_slice);
        let wire = self.net.links[0].latency;
        let (router, port) = self.graph.terminal_at(packet.src);
        let mut routers = Vec::new();
        let mut next =
            birth.injected.map(|at| (router, port, birth.vc, birth.left.unwrap_or(at) + wire, birth.ahead.as_ref()));
        let mut stays = stays.iter();
        while let Some((router, port, vc, arrived, ahead)) = next {
            let stay = stays.next().copied();
            let exit = stay.and_then(|stay| self.exit(stay));
            let ahead = ahead.filter(|_| stay.is_none_or(|stay| stay.decisions.is_empty()));
            let choices = ahead.into_iter().chain(stay.into_iter().flat_map(|stay| &stay.decisions));
            next = exit.as_ref().and_then(|exit| {
                let far = self.far_port(router, exit.port);
                let ahead = stay.and_then(|stay| stay.ahead.as_ref());
                Some((exit.next_router?, far?, exit.vc, exit.head_arrives_cycle, ahead))
            });
            routers.push(Visit {
                router,
                port: port.into(),
                vc,
                arrived_cycle: arrived,
                front_cycle: stay.map(|stay| stay.front),
                choices: choices.map(|decision| self.choice(router, decision)).collect(),
                choices_left_out: stay.map_or(0, |stay| stay.dropped),
                waits: stay.map_or(Vec::new(), |stay| stay.waits.clone()),
                exit,
            });
        }
        let last = routers.last().and_then(|visit| visit.exit.as_ref()).filter(|exit| exit.next_router.is_none());
        let delivered = last.and_then(|exit| Some(exit.tail_left_cycle? + wire + self.net.router.ejection_delay));
        Life {
            to_terminal: packet.dst,
            flits: packet.len,
            measured: packet.flags & weft_api::state::MEASURED != 0,
            created_cycle: packet.created,
            first_cycle: birth.first,
            injected_cycle: birth.injected,
            injection_vc: birth.injected.map(|_| birth.vc),
            tail_injected_cycle: birth.tail_injected,
            delivered_cycle: delivered,
            latency: delivered.and_then(|at| self.latency(birth, &routers, at)),
            routers,
        }
    }

    fn latency(&self, birth: &Birth, routers: &[Visit], delivered: u64) -> Option<Latency> {
        let total = delivered - birth.packet.created;
        let source = birth.injected? - birth.packet.created;
        let exits = || routers.iter().filter_map(|visit| visit.exit.as_ref());
        // the time on a link includes the cycles that the link needs to carry the whole head
        let on_link = |exit: &Exit| exit.head_left_cycle - exit.link_serial_cycles;
        let stays = |visit: &Visit| Some(on_link(visit.exit.as_ref()?) - visit.arrived_cycle);
        let routers_cycles: u64 = routers.iter().filter_map(stays).sum();
        let wires = exits().map(|exit| exit.head_arrives_cycle - on_link(exit)).sum::<u64>();
        let last = exits().next_back()?;
        Some(Latency {
            total_cycles: total,
            source_cycles: source,
            routers_cycles,
            waiting_cycles: routers_cycles - self.delay * routers.len() as u64,
            wires_cycles: wires + routers.first()?.arrived_cycle - birth.injected?,
            tail_cycles: last.tail_left_cycle? - last.head_left_cycle,
            ejection_cycles: self.net.router.ejection_delay,
        })
    }

    fn exit(&self, stay: &Stay) -> Option<Exit> {
        let ((port, vc), (crossed, left)) = (stay.output?, stay.head?);
        let out = self.graph.ports(stay.router)[port as usize];
        Some(Exit {
            port: port.into(),
            vc,
            link: self.graph.class_names()[out.class as usize].clone(),
            next_router: self.neighbour(stay.router, port),
            vc_cycle: stay.vc_taken.unwrap_or(crossed),
            head_crossed_cycle: crossed,
            head_left_cycle: left,
            link_wait_cycles: left - stay.head_if_free,
            link_serial_cycles: stay.head_if_free - crossed - self.net.router.after_grant,
            tail_crossed_cycle: stay.tail.map(|(crossed, _)| crossed),
            tail_left_cycle: stay.tail.map(|(_, left)| left),
            head_arrives_cycle: left + self.net.links[out.class as usize].latency,
        })
    }

    fn neighbour(&self, router: u32, port: u16) -> Option<u32> {
        self.graph.neighbour(router, port).map(|(router, _)| router)
    }

    fn far_port(&self, router: u32, port: u32) -> Option<u16> {
        self.graph.neighbour(router, port as u16).map(|(_, port)| port)
    }

    /// The router with these coordinates in the plane that contains router `near`.
    fn router_at(&self, coords: u64, near: u32) -> Option<u32> {
        let planes = self.graph.planes();
        let routers = (near % planes..self.graph.routers()).step_by(planes as usize);
        routers.into_iter().find(|&router| self.net.coords[router as usize] == coords)
    }

    fn choice(&self, router: u32, decision: &Decision) -> Choice {
        // two candidate paths can begin with the same hop; the routing chose the better of these paths
        let same = (0..decision.candidates.len()).filter(|&k| decision.candidates[k].0 == decision.chosen);
        let chosen = same.min_by_key(|&k| worth(decision.candidates[k].1.as_ref()));
        let best = chosen.and_then(|k| worth(decision.candidates[k].1.as_ref()));
        let candidate = |(k, (hop, weighed)): (usize, &(weft_api::routing::Hop, Option<Weighed>))| {
            let (cost, credits) = match weighed {
                Some(Weighed::Cost { cost, queue, value, .. }) => (Some((cost, *queue, *value)), None),
                Some(Weighed::Credits { credits, .. }) => (None, Some(*credits)),
                None => (None, None),
            };
            Candidate {
                port: hop.port.into(),
                next_router: self.neighbour(router, hop.port),
                vc_class: hop.class,
                queue_flits: cost.map(|(_, queue, _)| queue),
                queue_router: cost.and_then(|(cost, ..)| self.router_at(cost.at, router)),
                queue_port: cost.map(|(cost, ..)| cost.port.into()),
                hops: cost.map(|(cost, ..)| cost.hops),
                bias_flits: cost.map(|(cost, ..)| cost.bias),
                cost_flits: cost.map(|(.., value)| value),
                credits,
                tied: Some(k) != chosen && best.is_some() && worth(weighed.as_ref()) == best,
            }
        };
        Choice {
            cycle: decision.cycle,
            rule: decision.rule.to_owned(),
            via_router: decision.via.and_then(|at| self.router_at(at, router)),
            candidates: decision.candidates.iter().enumerate().map(candidate).collect(),
            chosen,
            port: decision.chosen.port.into(),
            vc_class: decision.chosen.class,
        }
    }
}

/// The value by which the routing compared candidates, as a number whose minimum wins: the cost, or the negative number of credits.
fn worth(weighed: Option<&Weighed>) -> Option<i64> {
    weighed.map(|weighed| match *weighed {
        Weighed::Cost { value, .. } => i64::from(value),
        Weighed::Credits { credits, .. } => -i64::from(credits),
    })
}
