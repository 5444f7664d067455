//! The registry of power policies, which switch links or change their rate.
//!
//! Each channel, with its power state, belongs to the router that sends on it. Some policies act through agents, one in each block. The
//! loop calls the agents when a timer ends, a control packet arrives, or a packet requests a link. The other policies act through an
//! overseer, which sees the whole network between two cycles (`api/src/policy.rs`, `api/src/agents.rs`).

weft_units::registry! {
    /// The power policies that a scenario can choose.
    pub enum PolicyConfig as PolicyModel declares OFFERS: Offers, with examples, open to AddedPolicy:
    "always_on" => always_on::AlwaysOn,
    "elastic_tree" => elastic_tree::ElasticTree,
    "fewest_links" => fewest_links::FewestLinks,
    "idle_timeout" => idle_timeout::IdleTimeout,
    "neighbour_sleep" => neighbour_sleep::NeighbourSleep,
    "rate_ladder" => rate_ladder::RateLadder,
    "slac" => slac::Slac,
    "static" => static_links::Static,
    "tcep" => tcep::Tcep,
    "timetable" => timetable::Timetable,
    "trunk" => trunk::Trunk,
    "width" => width::Width,
}

mod changes;
mod detours;
mod rungs;
mod stars;
mod thresholds;

use weft_api::policy::{LinkKnowledge, Offers, PolicyModel, Site};
pub use weft_api::policy::{OffTime, Schedule};
pub use weft_api::state::{Account, LinkState, Mode, Modes, PerMode, modes};
use weft_api::subnetworks::Subnets;
use weft_topology::{Graph, TopologyConfig};
use weft_units::{Cycles, Refusal, Remark, Time};

impl Default for PolicyConfig {
    /// The default policy, under which all links stay on.
    fn default() -> Self {
        Self::AlwaysOn(always_on::AlwaysOn {})
    }
}

impl PolicyConfig {
    /// The link states that a channel can have under this policy. The power model must define the power of each of these states. `modes`:
    /// the link states of this run. Refuses a state that the policy's parameters name but `modes` does not contain.
    pub fn states(&self, modes: &Modes) -> Result<Vec<LinkState>, Refusal> {
        self.model().states(modes)
    }

    /// A length of time [cycles] in which the policy takes each of its decisions at least once. `None` if the policy never switches a
    /// channel during a run, or only at fixed times that do not repeat.
    pub fn settling_period(&self, graph: &Graph, modes: &Modes, cycle_fs: u128) -> Result<Option<Cycles>, Refusal> {
        self.model().settling_period(graph, modes, cycle_fs)
    }

    /// Longest time for which a packet waits for one link that is off, if nothing else delays the packet.
    pub fn longest_wait(&self, cycle_fs: u128) -> Result<Cycles, Refusal> {
        self.model().longest_wait(cycle_fs)
    }

    /// A warning about the risks of accepted parameters.
    pub fn risk(&self, cycle_fs: u128) -> Result<Option<Remark>, Refusal> {
        self.model().risk(cycle_fs)
    }

    /// Names of the kinds of control packets, over all policies.
    pub fn control_packets() -> Vec<&'static str> {
        let mut names: Vec<&str> = Vec::new();
        for name in Self::declared().flat_map(|(_, offers)| offers.control_packets) {
            if !names.contains(name) {
                names.push(name);
            }
        }
        names
    }

    /// True if every link that has not failed is on in every cycle.
    pub fn stays_on(&self) -> bool {
        self.model().stays_on()
    }

    /// The policies that can keep all links on, each in the notation of a scenario.
    pub fn all_on() -> Vec<String> {
        let of = |(name, offers): (&'static str, Offers)| match offers.all_on {
            Some(parameters) => Some(format!("{name}: {parameters}")),
            None => (offers == Offers::ALWAYS_ON).then(|| name.to_owned()),
        };
        Self::declared().filter_map(of).collect()
    }

    /// The kind of information about its links that the policy gives to routings.
    pub fn knowledge_of_links(&self) -> LinkKnowledge {
        self.declares().links
    }

    /// The offers of this policy. Before a run, checks compare the offers with the needs of the routing and of simulated faults.
    pub fn offers(&self) -> Offers {
        self.declares()
    }
}

/// The remedy of refusals that can be avoided by keeping all links on.
pub fn leave_links_on() -> String {
    let never_off = PolicyConfig::declared().filter(|(_, offers)| *offers == Offers::ALWAYS_ON);
    let names: Vec<&str> = never_off.map(|(name, _)| name).collect();
    format!("write policy: {}", names.join(" or "))
}

weft_units::codes! {
    SLEEPS_TOO_SOON = "sleeps_too_soon", Warning,
        means: "A link goes off after an idle time that is shorter than the time to go off and wake. The network may collapse at loads \
                that it carries with all links on. The start of the run decides whether it collapses.",
        computed: "The idle time of the policy is shorter than its transition. While packets wait for a link, the links behind it get no \
                   flits, so they also go off.",
        helps: "Write an idle time that is not shorter than the transition. To see whether the network wakes, begin with a low load and \
                change to the full load with `traffic.phases` before the window.";
}

/// A warning about an idle time that is shorter than the transition of a link. A link that goes off this early can starve the links behind
/// it of packets, so that they also go off. `path`: the path of the policy in the scenario.
fn sleeps_too_soon(idle: Time, transition: Time, path: &str, [idle_cycles, transition_cycles]: [Cycles; 2]) -> Remark {
    let what = format!(
        "a link goes off after {idle} without packets, but needs {transition} to go off and to wake again. While packets wait for a link, \
         the links behind it get no packets and also go off, so the network can collapse at loads that it carries with all links on. The \
         start of the run decides whether it collapses: all links are on in cycle 0, and a load that the network carries from then on may \
         be too high after links have gone off"
    );
    let help = format!(
        "write an idle time of {transition} or more; or, to see whether the network wakes, begin with a low load and change to the full \
         load with `traffic.phases` before the window"
    );
    let numbers = [("idle_cycles", idle_cycles as f64), ("transition_cycles", transition_cycles as f64)];
    Remark::new(&SLEEPS_TOO_SOON, format!("{path}.idle"), numbers, what, help)
}

/// The subnetworks of the network, for a policy that manages subnetworks. Refuses a topology without subnetworks.
fn subnets_of(site: &Site, policy: &str, path: &str) -> Result<Subnets, Refusal> {
    let nets = Subnets::of(site.graph).filter(|nets| nets.count > 0).ok_or_else(|| {
        let what = format!("{policy} manages links between routers that are all neighbours, but this network has none");
        let has_some = |graph: &Graph| Subnets::of(graph).is_some_and(|nets| nets.count > 0);
        if let Some(narrow) = site.graph.narrowed(has_some) {
            let what = format!("{policy} manages single links between routers, but this network has trunks");
            return Refusal::new(
                path,
                what,
                format!("{narrow}, at least for the link classes that the policy manages"),
            );
        }
        let able = TopologyConfig::names_with(has_some);
        Refusal::new(path, what, format!("choose a topology that has such routers: {}", able.join(", ")))
    })?;
    nets.check(policy, path)?;
    if managed_of(site, &nets).next().is_none() {
        let what =
            format!("{policy} has no link to manage: no managed class has links between routers of one subnetwork");
        return Err(Refusal::new("power.manages", what, manageable(site, &nets)));
    }
    let mut others = (1..site.managed.len()).filter(|&class| site.managed[class]);
    if let Some(class) = others.find(|&class| !nets.classes[..nets.count].contains(&(class as u8))) {
        let what =
            format!("{policy} can't switch {} links: their routers are not all neighbours", site.class_name(class));
        return Err(Refusal::new("power.manages", what, manageable(site, &nets)));
    }
    Ok(nets)
}

/// The remedy of a refusal: names the link classes that a policy of subnetworks can manage. If there are none, proposes to leave links on.
fn manageable(site: &Site, nets: &Subnets) -> String {
    let wide = (0..nets.count).filter(|&d| nets.widths[d] > 1);
    let mut names: Vec<_> = wide.map(|d| site.class_name(usize::from(nets.classes[d]))).collect();
    names.dedup();
    if names.is_empty() { leave_links_on() } else { format!("write manages: [{}]", names.join(", ")) }
}

/// Indices of the subnetworks whose links the policy switches.
fn managed_of(site: &Site, nets: &Subnets) -> impl Iterator<Item = usize> {
    (0..nets.count).filter(|&d| site.managed[usize::from(nets.classes[d])] && nets.widths[d] > 1)
}

/// Refuses the hub with index `hub` if a managed subnetwork has no member with this index.
fn check_hub(site: &Site, nets: &Subnets, hub: u8, path: &str) -> Result<(), Refusal> {
    match managed_of(site, nets).map(|d| nets.widths[d]).min() {
        Some(width) if hub >= width => {
            let what = format!("{hub}, but a subnetwork has only {width} routers");
            Err(Refusal::new(format!("{path}.hub"), what, format!("write 0 to {}", width - 1)))
        }
        _ => Ok(()),
    }
}

/// Refuses a high-water mark that is not a valid share of a link's bandwidth.
fn check_high_water(share: f64, path: &str) -> Result<(), Refusal> {
    if share > 0.0 && share < 1.0 {
        return Ok(());
    }
    let what = format!("{share} is not between 0 and 1");
    Err(Refusal::new(format!("{path}.high_water"), what, "write a share of a link, such as 0.75"))
}

/// Refuses a deactivation epoch that is not a multiple of the activation epoch (both in cycles).
fn check_deactivation_epoch(long: u64, epoch: u64, path: &str) -> Result<(), Refusal> {
    if long >= epoch && long.is_multiple_of(epoch) {
        return Ok(());
    }
    let what = format!("{long} cycles is not a multiple of the activation epoch of {epoch} cycles");
    let help = format!("write a multiple, such as {}cycles", epoch.saturating_mul(10));
    Err(Refusal::new(format!("{path}.deactivation_epoch"), what, help))
}
