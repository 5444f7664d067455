//! The state of the agents of TCEP: links, requests, and the members of subnetworks. The actions of agents are in other files. `duties.rs`
//! has the actions after calls of the engine, and `answers.rs` those after control packets. `channel.rs` applies changes of links to
//! channels, and `epoch.rs` ends epochs.

use super::Rules;
use super::link::End;
use super::meters::{Counts, Meters};
use crate::power::detours::Detours;
use std::sync::Arc;
use weft_api::agents::{BlockSite, ChannelSite, Channels, RouterSite};
use weft_api::base::kept::{Kept, Value};
use weft_api::state::LinkState;
use weft_api::subnetworks::Views;

/// A request from another router, which this agent answers at the end of the epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Value)]
pub(super) struct Request {
    /// The value by which the agent compares requests. In a request to activate a link: virtual utilisation \[flits\], or a larger constant
    /// (`activation::FIRST`, `CUT`). In a request to deactivate a link: flits on minimal paths over the link \[flits\].
    pub value: u32,
    /// `Some(c)`: the request is about this router's link to member `c`. `None`: the request is about the link on which it arrived.
    pub yours: Option<u8>,
}

/// The state of one end of a link.
#[derive(Debug, Clone, Kept)]
pub(super) struct LinkAgent {
    pub end: End,
    /// Number of present faults due to which the link does not work: faults of the link itself, and of the routers at its ends.
    pub faults: u8,
    /// Number of times that the link has failed so far. The ends write this number into their messages, so that the receiver can ignore
    /// messages from before a fault.
    pub era: u8,
    /// True if the link was on when it failed, and the run never switches links off (`deactivate: false`). The link is then switched on
    /// again after the repair.
    pub returns: bool,
    /// First cycle in which the side channel of the link can deliver another control packet.
    pub side_free: u64,
    /// Virtual utilisation in this epoch: flits that left on a detour because this link, their direct link, was not active. Each flit of a
    /// long packet counts in the epoch in which it leaves.
    pub virtually: u32,
    /// Flits in this epoch that left on a detour for any reason instead of on this link, their direct link.
    pub around: u32,
    /// True if the outgoing channel was above the high-water mark in the last activation epoch.
    pub was_crowded: bool,
    /// Values of the traffic counters of the link at the end of the last activation epoch.
    pub short: Counts,
    /// Values of the traffic counters of the link at the end of the last deactivation epoch.
    pub long: Counts,
    /// Requests of the router at the other end of the link that arrived in this epoch.
    pub activate: Option<Request>,
    pub deactivate: Option<Request>,
    /// The cycle in which the time of the link as a shadow link ends.
    pub expires: u64,
    /// The router at this end, numbered in the block.
    #[kept(fixed)]
    router: u32,
}

impl LinkAgent {
    /// True if the link, or a router at one of its ends, has failed.
    pub fn is_broken(&self) -> bool {
        self.faults > 0
    }
}

/// Records that a packet to member `to` of subnetwork `net` took a detour over a link above the high-water mark. This is a reason to
/// request another path to that member.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Value)]
pub(super) struct Crowded {
    pub at: u64,
    pub net: u8,
    pub to: u8,
}

/// The agent of a router.
#[derive(Debug, Clone, Default, Kept)]
pub(super) struct RouterAgent {
    /// The cycle in which the router's first activation epoch ends.
    #[kept(fixed)]
    pub first_end: u64,
    /// True if a physical transition of a link (waking, going off) has begun in this epoch.
    pub moved: bool,
    /// The request of this router to activate a link, until it is answered: the output of the link, and the value of the request.
    pub activating: Option<(usize, u32)>,
    /// The output of the link that this router has requested to deactivate, until the request is answered.
    pub deactivating: Option<usize>,
    /// The output of the link in this router's last refused request for an activation. Used only if links fail in this run.
    pub refused: Option<usize>,
    /// For each subnetwork: the output of the router's link that was activated last.
    pub latest: [Option<usize>; 8],
    /// For each subnetwork: the member that will be the next hub.
    pub next_hub: [Option<u8>; 8],
    /// For each subnetwork: the cycle in which the present hub announced itself (low 32 bits), and its member number.
    pub crowned: [(u32, u8); 8],
    /// The first packet of this epoch that took a detour over a link above the high-water mark.
    pub crowded: Option<Crowded>,
    /// Number of the router in the whole network.
    #[kept(fixed)]
    pub id: u32,
    #[kept(fixed)]
    coords: u64,
    /// The first output of the router in the block.
    #[kept(fixed)]
    pub base: usize,
}

/// The agents of a block, one per router. In its methods, routers (`r`) and outputs (`o`) have their numbers in the block. Subnetworks
/// (`d`) and members (`c`) have their numbers in [`Subnets`](weft_api::subnetworks::Subnets).
#[derive(Debug, Kept)]
pub(super) struct Team {
    #[kept(fixed)]
    pub rules: Arc<Rules>,
    /// The state of each link's end: one entry per output of the block.
    #[kept(each)]
    pub links: Vec<LinkAgent>,
    #[kept(each)]
    pub routers: Vec<RouterAgent>,
    pub meters: Meters,
    pub detours: Detours,
    /// For each router and each link between two members of its subnetworks: the cycle (low 32 bits) in which the newest received message
    /// about the link was sent.
    #[kept(each)]
    pub stamps: Vec<u32>,
    /// True if links or routers fail in this run.
    #[kept(fixed)]
    pub faults: bool,
    /// For each router: the links that, to its knowledge, have not failed. Empty if no links can fail in this run.
    pub healthy: Views,
    /// True if all packets have one flit.
    #[kept(fixed)]
    pub single: bool,
}

impl Team {
    pub fn new(rules: Arc<Rules>, site: &BlockSite) -> Self {
        let (ports, routers, nets) = (site.channels.len(), site.routers.len(), &rules.nets);
        let link = |channel: &ChannelSite| LinkAgent {
            end: End::new(channel.state),
            faults: 0,
            era: 0,
            returns: false,
            side_free: 0,
            virtually: 0,
            around: 0,
            was_crowded: false,
            short: Counts::default(),
            long: Counts::default(),
            activate: None,
            deactivate: None,
            expires: 0,
            router: channel.router,
        };
        let router = |r: &RouterSite| RouterAgent {
            id: r.id,
            coords: r.coords,
            base: r.base as usize,
            ..RouterAgent::default()
        };
        Self {
            links: site.channels.iter().map(link).collect(),
            routers: site.routers.iter().map(router).collect(),
            meters: Meters::new(ports),
            detours: Detours::new(site),
            stamps: vec![0; routers * nets.pairs()],
            faults: site.faults,
            healthy: if site.faults { Views::new(nets, routers, 0) } else { Views::none() },
            single: site.single,
            rules,
        }
    }

    // ---- places -----------------------------------------------------------------------------------------------------

    /// Index of router `r` among the members of subnetwork `d`.
    pub(super) fn member(&self, r: usize, d: usize) -> u8 {
        self.rules.nets.member(self.routers[r].coords, d)
    }

    /// Output of router `r` that leads to member `c` of subnetwork `d`.
    pub(super) fn output(&self, r: usize, d: usize, c: u8) -> usize {
        self.routers[r].base + usize::from(self.rules.nets.port_to(d, self.member(r, d), c))
    }

    /// The router to which output `o` belongs.
    pub(super) fn router(&self, o: usize) -> usize {
        self.links[o].router as usize
    }

    /// For the link of output `o`: its subnetwork, the member that has the output, and the member to which the output leads.
    pub(super) fn ends(&self, o: usize) -> (usize, u8, u8) {
        let r = self.router(o);
        let port = (o - self.routers[r].base) as u16;
        let (d, c) = self.rules.nets.behind(port, |d| self.member(r, d)).expect("a port to a member");
        (d, self.member(r, d), c)
    }

    /// The router to which output `o` of router `r` leads, numbered in the whole network.
    pub(super) fn far_router(&self, r: usize, o: usize) -> u32 {
        let (d, own, c) = self.ends(o);
        self.rules.nets.router(self.routers[r].id, d, own, c)
    }

    /// The other members of subnetwork `d` by rank: the hub, then the members with higher numbers, then those with lower numbers.
    pub(super) fn by_rank(&self, channels: &dyn Channels, r: usize, d: usize) -> impl Iterator<Item = u8> + use<> {
        let (own, hub, width) = (self.member(r, d), channels.views().of(r).hub(d), self.rules.nets.widths[d]);
        (0..width).map(move |k| ((u16::from(hub) + u16::from(k)) % u16::from(width)) as u8).filter(move |&c| c != own)
    }

    /// The outputs of router `r` to the other members of subnetwork `d`.
    pub(super) fn outputs(&self, r: usize, d: usize) -> std::ops::Range<usize> {
        let first = self.output(r, d, u8::from(self.member(r, d) == 0));
        first..first + usize::from(self.rules.nets.widths[d]) - 1
    }

    /// Number of activation epochs of router `r` that have ended. Called in the cycle in which an epoch ends, and includes that epoch.
    pub(super) fn epochs(&self, channels: &dyn Channels, r: usize) -> u64 {
        (channels.now() - self.routers[r].first_end) / self.rules.epoch + 1
    }

    // ---- links ------------------------------------------------------------------------------------------------------

    /// Counters of the flits on the link of output `o` since the run began.
    pub(super) fn counts(&self, channels: &dyn Channels, o: usize) -> Counts {
        self.meters.counts(o, channels.flits(o))
    }

    /// Number of flits that channel `o` carries in an activation epoch if its utilisation is the high-water mark.
    pub(super) fn mark(&self, channels: &dyn Channels, o: usize) -> f64 {
        self.rules.config.high_water * self.rules.epoch as f64 * channels.bandwidth(o)
    }

    /// True if the link of output `o` is off, has not failed, and this router has no open request about it.
    pub(super) fn is_off(&self, o: usize) -> bool {
        let link = &self.links[o];
        link.end.state == LinkState::Off && link.end.asked.is_none() && !link.is_broken()
    }

    /// True if router `r` has a shadow link.
    pub(super) fn has_shadow(&self, r: usize) -> bool {
        let is_shadow = |o: usize| self.links[o].end.state == LinkState::Shadow;
        self.rules.managed.iter().any(|&d| self.outputs(r, d).any(is_shadow))
    }

    /// True if the link of output `o` belongs to the star of the present hub or of the next hub.
    pub(super) fn is_root(&self, channels: &dyn Channels, o: usize) -> bool {
        let (d, own, c) = self.ends(o);
        let r = self.router(o);
        let hub = channels.views().of(r).hub(d);
        let next = self.routers[r].next_hub[d].unwrap_or(hub);
        [hub, next].iter().any(|&hub| hub == own || hub == c)
    }
}
