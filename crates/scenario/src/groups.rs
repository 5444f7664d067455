//! Energy accounts of groups: trunks, routers or cabinets, each with the energy of its channels and routers. Each channel belongs to
//! exactly one account, that of the group in which it begins. Each router also belongs to one account. So the sum over the groups and the
//! parts without a group is exactly the bill of the run.

use crate::channels::{Channel, Channels};
use crate::energy::{Energy, RouterCycles, RouterEnergy, on_cycles};
use crate::name::check_line;
use crate::routers::RouterSet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use weft_engine::Spec;
use weft_engine::outcome::ChannelCount;
use weft_engine::power::LinkState;
use weft_engine::recording::{Column, Table};
use weft_engine::spec::{ChannelEnds, channel_ends};
use weft_topology::Graph;
use weft_units::{Refusal, fj_f64};

/// Name of the row for all channels and routers without a group.
const NO_GROUP: &str = "(in no group)";
const PATH: &str = "power.groups";

/// Groups of links or routers for which Weft writes separate accounts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Groups {
    /// Kind of the groups: trunks, routers or cabinets.
    pub by: By,
    /// With `by: cabinet`: number of routers in each cabinet. The first cabinet contains the first N routers, the second the next N, and so
    /// on; the last cabinet can have fewer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub routers_per_cabinet: Option<u32>,
    /// With `by: cabinet`: the cabinets by name, each with a list of its routers. The list contains names, and ranges [first, last] of
    /// numbers, both included. Routers that no cabinet lists are in no group.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub cabinets: BTreeMap<String, Vec<RouterSet>>,
}

/// Kind of the groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// A group is a trunk: all links between two routers, both directions. Routers and terminal links are in no group.
    Trunk,
    /// A group is a router with the channels on which it and its terminals send.
    Router,
    /// A group is a cabinet: its routers, with the channels on which they and their terminals send.
    Cabinet,
}

/// The groups of a network.
pub(crate) struct Grouping {
    names: Vec<Arc<str>>,
    /// The group of each channel, in the order of the table of channels. The next field has the group of each router.
    channels: Vec<Option<usize>>,
    routers: Vec<Option<usize>>,
}

impl Groups {
    /// Assigns the channels and routers of this network to groups. Refuses groups that do not fit the network.
    pub(crate) fn on(&self, graph: &Graph) -> Result<Grouping, Refusal> {
        let named = !self.cabinets.is_empty();
        let key = if named { "cabinets" } else { "routers_per_cabinet" };
        let refuse = |what: &str, help: String| Err(Refusal::new(format!("{PATH}.{key}"), what, help));
        match (self.by, self.routers_per_cabinet, named) {
            (By::Trunk | By::Router, Some(_), _) | (By::Trunk | By::Router, _, true) => refuse(
                "cabinets are given, but the groups are not cabinets",
                "write `by: cabinet`, or leave this key out".to_owned(),
            ),
            (By::Trunk, None, false) => trunks(graph),
            (By::Router, None, false) => {
                Ok(cabinets((0..graph.routers()).map(|r| (graph.router_name(r).into_owned(), vec![r])), graph))
            }
            (By::Cabinet, None, false) => {
                let what = "the groups are cabinets, but no key assigns routers to cabinets";
                let help = "write `routers_per_cabinet: 8`, or `cabinets: {A: [[0, 7]]}`: names with ranges of routers";
                Err(Refusal::new(PATH, what, help))
            }
            (By::Cabinet, Some(_), true) => refuse(
                "cabinets are given both by name and by size",
                "leave `routers_per_cabinet` or `cabinets` out".to_owned(),
            ),
            (By::Cabinet, Some(0), false) => {
                refuse("a cabinet of 0 routers has no channels", format!("write 1 to {}", graph.routers()))
            }
            (By::Cabinet, Some(size), false) => {
                let firsts = (0..graph.routers()).step_by(size as usize);
                let named = |first: u32| {
                    let last = first.saturating_add(size - 1).min(graph.routers() - 1);
                    (graph.link_name(first, last), (first..=last).collect())
                };
                Ok(cabinets(firsts.map(named), graph))
            }
            (By::Cabinet, None, true) => Ok(cabinets(check_cabinets(&self.cabinets, graph)?.into_iter(), graph)),
        }
    }
}

/// Makes a group of each pair of neighbouring routers.
fn trunks(graph: &Graph) -> Result<Grouping, Refusal> {
    let ends = channel_ends(graph);
    let pair = |ends: &ChannelEnds| ends.from.zip(ends.to).map(|(from, to)| (from.min(to), from.max(to)));
    let mut pairs: Vec<_> = ends.iter().filter_map(pair).collect();
    pairs.sort_unstable();
    pairs.dedup();
    if pairs.is_empty() {
        let what = "the network has no link between two routers, so there is no trunk";
        return Err(Refusal::new(PATH, what, "write `by: router`, or leave `groups` out"));
    }
    Ok(Grouping {
        channels: ends.iter().map(|ends| pair(ends).and_then(|pair| pairs.binary_search(&pair).ok())).collect(),
        routers: vec![None; graph.routers() as usize],
        names: pairs.into_iter().map(|(a, b)| graph.link_name(a, b).into()).collect(),
    })
}

/// Makes groups of the named sets of routers.
fn cabinets(named: impl Iterator<Item = (String, Vec<u32>)>, graph: &Graph) -> Grouping {
    let mut routers = vec![None; graph.routers() as usize];
    let mut names: Vec<Arc<str>> = Vec::new();
    for (group, (name, own)) in named.enumerate() {
        names.push(name.into());
        own.into_iter().for_each(|router| routers[router as usize] = Some(group));
    }
    // an injection channel belongs to the router of its terminal
    let of = |ends: ChannelEnds| ends.from.or(ends.to).and_then(|router| routers[router as usize]);
    Grouping { channels: channel_ends(graph).into_iter().map(of).collect(), routers, names }
}

/// The routers of each cabinet that the scenario lists. Refuses cabinets without routers, cabinets with unknown routers, and cabinets that
/// share a router.
fn check_cabinets(named: &BTreeMap<String, Vec<RouterSet>>, graph: &Graph) -> Result<Vec<(String, Vec<u32>)>, Refusal> {
    let path = format!("{PATH}.cabinets");
    let mut cabinets = Vec::with_capacity(named.len());
    let mut owners: Vec<Option<&str>> = vec![None; graph.routers() as usize];
    for (name, sets) in named {
        check_line(&path, name)?;
        let path = format!("{path}.{name}");
        if name == NO_GROUP {
            return Err(Refusal::new(
                path,
                "the table uses this name for the row of all other parts",
                "write another name",
            ));
        }
        if sets.is_empty() {
            let what = format!("the cabinet `{name}` has no routers, so it has no channels");
            let such = match graph.router_names() {
                Some(ids) => format!("[{}]", ids[0]),
                None => format!("[[0, {}]]", graph.routers() - 1),
            };
            return Err(Refusal::new(
                path,
                what,
                format!("write the routers of the cabinet, such as {such}, or remove the cabinet"),
            ));
        }
        let mut own = Vec::new();
        for (place, set) in sets.iter().enumerate() {
            let path = format!("{path}.{place}");
            for router in set.of(graph, &path)? {
                own.push(router);
                if let Some(other) = owners[router as usize].replace(name) {
                    let router = graph.router_name(router);
                    let what = match other == name {
                        true => format!("the cabinet `{name}` names router {router} twice"),
                        false => format!("router {router} is in the cabinets `{other}` and `{name}`"),
                    };
                    return Err(Refusal::new(path, what, "name each router once, in one cabinet"));
                }
            }
        }
        cabinets.push((name.clone(), own));
    }
    Ok(cabinets)
}

/// Sets of channels (bundles) for which the run counts the cycles in which all channels of the set sleep. The first sets belong to the
/// routers: all channels that leave or reach the router. Further sets belong to the groups: the channels of the group, and all channels
/// that leave or reach its routers. `grouping` is `None` if the scenario requests no groups.
pub(crate) fn bundles(spec: &Spec, grouping: Option<&Grouping>) -> Vec<Vec<u32>> {
    if grouping.is_none() && !routers_sleep(spec) {
        return Vec::new();
    }
    let (routers, groups) = (spec.graph.routers() as usize, grouping.map_or(0, Grouping::len));
    let mut bundles = vec![Vec::new(); routers + groups];
    for (row, ends) in channel_ends(&spec.graph).into_iter().enumerate() {
        let at = [ends.from, ends.to].map(|router| router.map(|router| router as usize));
        let of_routers = at.into_iter().flatten();
        let of_groups = grouping.into_iter().flat_map(|grouping| {
            let touched = at.map(|router| router.map(|router| grouping.router(router)));
            [Some(grouping.channel(row)), touched[0], touched[1]].into_iter().flatten()
        });
        let mut all: Vec<usize> = of_routers.chain(of_groups.map(|group| routers + group)).collect();
        all.sort_unstable();
        all.dedup();
        all.into_iter().for_each(|bundle| bundles[bundle].push(row as u32));
    }
    bundles
}

/// True if sleeping routers have a separate price.
fn routers_sleep(spec: &Spec) -> bool {
    spec.router_price.is_some_and(|price| price.asleep_yj_per_cycle.is_some())
}

/// For each router, the number of cycles in which it was asleep. `asleep` contains these numbers of cycles for all bundles; the bundles of
/// routers come first. Empty if the run did not count these cycles.
pub(crate) fn of_routers<'a>(asleep: &'a [u64], spec: &Spec) -> &'a [u64] {
    asleep.get(..spec.graph.routers() as usize).unwrap_or_default()
}

/// Sum over routers of the cycles in which they were asleep.
pub(crate) fn routers_asleep(asleep: &[u64], spec: &Spec) -> u128 {
    of_routers(asleep, spec).iter().copied().map(u128::from).sum()
}

/// The sums over the channels and routers of a group.
#[derive(Debug, Clone, Copy, Default)]
struct Account {
    channels: u64,
    routers: u64,
    flits: u64,
    transitions: u64,
    off: u64,
    asleep: u64,
    routers_asleep: u64,
    of_channels: Energy,
    of_routers: Energy,
}

impl Grouping {
    /// Number of groups, plus one for the parts without a group.
    fn len(&self) -> usize {
        self.names.len() + 1
    }

    /// The index of a channel's group. Channels without a group have the last index.
    fn channel(&self, row: usize) -> usize {
        self.channels[row].unwrap_or(self.names.len())
    }

    fn router(&self, router: usize) -> usize {
        self.routers[router].unwrap_or(self.names.len())
    }

    /// The table of groups, with one row per group. If some channels or routers have no group, the last row contains their sums. `asleep`:
    /// cycles in which each bundle was asleep.
    pub fn table(&self, channels: &Channels, asleep: &[u64], spec: &Spec) -> Table {
        let window = channels.window;
        let accounts = self.accounts(channels, asleep, spec);
        let rest: Arc<str> = NO_GROUP.into();
        let names = self.names.iter().chain([&rest]);
        let (names, accounts): (Vec<_>, Vec<_>) =
            names.zip(accounts).filter(|(_, account)| account.channels + account.routers > 0).unzip();
        let counts = |of: fn(&Account) -> u64| Column::Counts(accounts.iter().map(of).collect());
        let energy = |of: fn(&Account) -> u128| Column::Energies(accounts.iter().map(of).collect());
        let seconds = (spec.cycle_fs * u128::from(window.max(1))) as f64 / 1e15;
        let share = |account: &Account| account.asleep as f64 / window.max(1) as f64;
        let watts = |account: &Account| fj_f64(account.energy().total_yj()) * 1e-15 / seconds;
        Table::whole([
            ("group", Column::Texts(names.into_iter().cloned().collect())),
            ("channels", counts(|account| account.channels)),
            ("routers", counts(|account| account.routers)),
            ("flits", counts(|account| account.flits)),
            ("transitions", counts(|account| account.transitions)),
            ("asleep_cycles", counts(|account| account.asleep)),
            ("asleep_share", Column::Floats(accounts.iter().map(share).collect())),
            ("channels_off_cycles", counts(|account| account.off)),
            ("routers_asleep_cycles", counts(|account| account.routers_asleep)),
            ("energy_channels_fj", energy(|account| account.of_channels.total_yj())),
            ("energy_routers_fj", energy(|account| account.of_routers.total_yj())),
            ("energy_static_fj", energy(|account| account.energy().standing_yj)),
            ("energy_dynamic_fj", energy(|account| account.energy().dynamic_yj)),
            ("energy_fj", energy(|account| account.energy().total_yj())),
            ("power_mean_w", Column::Floats(accounts.iter().map(watts).collect())),
        ])
    }

    fn accounts(&self, channels: &Channels, asleep: &[u64], spec: &Spec) -> Vec<Account> {
        let mut accounts = vec![Account::default(); self.len()];
        let mut leaving: Vec<Vec<&ChannelCount>> = vec![Vec::new(); self.len()];
        for (row, Channel { count, energy, .. }) in channels.rows.iter().enumerate() {
            let account = &mut accounts[self.channel(row)];
            account.channels += 1;
            account.flits += count.flits.iter().sum::<u64>();
            account.transitions += count.transitions;
            account.off += count.cycles[LinkState::Off];
            account.of_channels = account.of_channels + *energy;
            if let Some(router) = count.from {
                leaving[self.router(router as usize)].push(count);
            }
        }
        for (router, cycles) in of_routers(asleep, spec).iter().enumerate() {
            let account = &mut accounts[self.router(router)];
            account.routers += 1;
            account.routers_asleep += cycles;
        }
        let of_groups = asleep.get(spec.graph.routers() as usize..).unwrap_or_default();
        for ((account, asleep), leaving) in accounts.iter_mut().zip(of_groups).zip(leaving) {
            account.asleep = *asleep;
            if let Some(price) = &spec.router_price {
                let all = u128::from(account.routers) * u128::from(channels.window);
                let cycles = RouterCycles { all, asleep: account.routers_asleep.into() };
                account.of_routers =
                    RouterEnergy::of(leaving.into_iter(), cycles.cost_yj(price), price, on_cycles).into();
            }
        }
        accounts
    }
}

impl Account {
    fn energy(&self) -> Energy {
        self.of_channels + self.of_routers
    }
}
