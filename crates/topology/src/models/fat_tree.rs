//! Fat tree as data centres buy it: levels of equal routers, with any oversubscription of each level and any number of terminals.
//!
//! # Source
//! M. Al-Fares, A. Loukissas, A. Vahdat, "A Scalable, Commodity Data Center Network Architecture", SIGCOMM'08: three
//! levels without oversubscription. The general form: S. Ohring, M. Ibel, S. K. Das, M. J. Kumar, "On
//! Generalized Fat Trees", IPPS'95.
//!
//! # Parameters
//! `k` \[ports\]: the tree of pods of the paper, which is `radix: k` with three levels and no oversubscription. Or `radix` \[ports\],
//! `levels`, `oversubscription` \[downward links per upward link, by level\], `terminals`. `trunk_width` \[links, by link class\], only
//! together with `k`.
//!
//! # Guarantees
//! A router below the top has at least radix / (1 + oversubscription) upward links. A level is therefore never oversubscribed by more than
//! the given ratio. The remaining ports of a router are unused. Routers on the top level have only downward links. With `terminals`, the
//! tree has only as many subtrees as the terminals need. All subtrees have the same number of routers, and the numbers of terminals of two
//! leaves differ by at most one. If at least half of the ports of top routers would be unused, the tree has fewer top routers if possible.
//! Each link to a top router is then a trunk, so the number of links of a level does not change. Routers are numbered level by level, the
//! leaves first; ports and digits are those of [`Tree`]. Terminals are numbered from leaf to leaf. With `k`: k pods of k/2 leaves and k/2
//! routers above them, (k/2)^2 tops, and k^3/4 terminals. Each class has k^3/4 links: "level1" (to the leaves) and "level2" (to the top). A
//! class is named after the level of the upper ends of its links.
//!
//! # Not modelled
//! Subtrees with different numbers of routers; top routers that have more links to some leaves than to others.
//!
//! # Validation
//! `topology/tests/conformance.rs` checks counts and the wiring pod by pod, and compares diameter and mean distance with a search. The
//! tests of this file check four pods as in the paper, and the ports that remain unused if a level is oversubscribed.
//! `topology/tests/structure.rs` compares the bisection with all cuts. No other simulator was compared.

use super::TopologyModel;
use crate::graph::check_size;
use crate::{Graph, GraphBuilder, Levels, Peer, Port, Structure, Tree, TrunkWidth};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use weft_units::{Refusal, Remark};

weft_units::codes! {
    NEEDLESS_LEVEL = "fat_tree_needless_level", Warning,
        means: "The terminals of the fat tree fit into fewer levels. The highest levels need routers but have no benefit.",
        computed: "n levels have room for as many terminals as radix x the product of the downward links per router at each level below \
                   the top. A single leaf has room for as many terminals as it has downward links.",
        helps: "Write fewer `levels`, more terminals or a smaller radix.";
    OTHER_RATIO = "fat_tree_other_ratio", Warning,
        means: "A level of the fat tree has less oversubscription than the scenario states, because the ports of a router cannot be \
                divided in that ratio.",
        computed: "A router of r ports has r / (1 + ratio) upward links, rounded up; its other ports are downward links. The warning \
                   appears if the downward links per upward link are more than 10 % below the ratio.",
        helps: "Write a radix that is a multiple of 1 + ratio, or write the ratio of the ports.";
}

/// Maximum number of levels, because a routing packs the level and the digits of a router into eight bytes.
const MAX_LEVELS: u32 = 8;
/// Maximum number of values of a digit in the position of a router.
const MAX_DIGIT: u32 = 256;
/// The remark on oversubscription appears if the real ratio of downward links to upward links is below this share of the given ratio.
const SAME_RATIO: f64 = 0.9;
/// Number of levels of the tree of pods (`k`).
const OF_PODS: u32 = 3;

/// Fat tree of levels of equal routers: `k` for the tree of pods, or `radix` with levels, oversubscription, terminals.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FatTree {
    /// k: number of ports of every router without trunks, an even number from 2 to 512; the tree has k pods and k^3/4 terminals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub k: Option<u32>,
    /// In place of k: number of ports of every router, 2 to 512.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub radix: Option<u32>,
    /// Number of levels of routers, 2 to 8, with `radix`; default: 3. With two levels, the tree has leaves and spines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub levels: Option<u32>,
    /// Downward links per upward link of the routers of each level, the leaves first, with `radix`. If the list is too short, the ratio of
    /// the other levels is 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub oversubscription: Vec<f64>,
    /// Number of terminals, with `radix`; default: one for each port that can have a terminal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terminals: Option<u32>,
    /// Number of parallel links that replace each link between routers, 1 or more: for all classes, or by link class; with `k`.
    #[serde(default)]
    pub trunk_width: TrunkWidth,
}

/// The sizes of a tree: numbers of downward and upward links of a router on each level, and the width of the trunks to the top.
#[derive(Debug, Clone, PartialEq)]
struct Plan {
    down: Vec<u32>,
    up: Vec<u32>,
    trunk: u32,
    terminals: u32,
}

impl TopologyModel for FatTree {
    fn build(&self, path: &str) -> Result<Graph, Refusal> {
        let plan = self.plan(path)?;
        let levels = plan.down.len();
        let sizes: Vec<u32> = (0..levels).map(|level| plan.size(level)).collect();
        let mut builder = GraphBuilder::new("fat_tree", (1..levels).map(|level| format!("level{level}")));
        for (level, &size) in sizes.iter().enumerate() {
            for position in 0..size {
                builder.router(plan.ports(level, position));
            }
        }
        builder.trunks(&self.trunks(&plan));
        let needless = self.needless_level(&plan, path)?;
        builder.remarks(needless.into_iter().chain(self.other_ratios(path)?).collect());
        let digits = (0..levels).flat_map(|level| (0..sizes[level]).map(move |position| (level, position)));
        let digits = digits.map(|(level, position)| plan.digits(level, position)).collect();
        let tree = Some(Tree { down: plan.down.clone(), up: plan.up.clone(), digits });
        builder.build(Structure::of_levels(Levels { tree, ..Levels::in_rows(&sizes) }), path)
    }

    fn examples() -> Vec<Self> {
        let bought = |radix, levels, oversubscription: &[f64], terminals| Self {
            radix: Some(radix),
            levels: Some(levels),
            oversubscription: oversubscription.to_vec(),
            terminals,
            ..Self::default()
        };
        let pods = (1..=8).map(|half| Self::of_pods(2 * half, TrunkWidth::Same(1)));
        let others = [
            Self::of_pods(4, TrunkWidth::Same(2)),
            bought(6, 2, &[2.0], None),
            bought(8, 2, &[3.0], Some(22)),
            bought(6, 3, &[2.0], Some(29)),
            bought(4, 4, &[], Some(16)),
        ];
        pods.chain(others).collect()
    }
}

impl FatTree {
    /// Parameters of the tree of k pods in the paper.
    pub fn of_pods(k: u32, trunk_width: TrunkWidth) -> Self {
        Self { k: Some(k), trunk_width, ..Self::default() }
    }

    fn plan(&self, path: &str) -> Result<Plan, Refusal> {
        let plan = self.any_plan(path)?;
        let most = plan.down[1..].iter().chain(&plan.up).copied().max().unwrap_or(0);
        if most > MAX_DIGIT {
            let key = if self.k.is_some() { "k" } else { "radix" };
            let what = format!(
                "a router has {most} links to another level; its position is stored in digits of a byte, for {MAX_DIGIT} links"
            );
            return Err(Refusal::new(format!("{path}.{key}"), what, format!("write at most {MAX_DIGIT}")));
        }
        Ok(plan)
    }

    fn any_plan(&self, path: &str) -> Result<Plan, Refusal> {
        match (self.k, self.radix) {
            (Some(k), None) => self.of_k(k, path),
            (None, Some(radix)) => self.bought(radix, path),
            (Some(_), Some(_)) => {
                let what = "both `k` and `radix` set the number of ports of a router";
                Err(Refusal::new(path, what, "remove k: `radix: 16` alone builds the same tree as `k: 16`"))
            }
            (None, None) => {
                let what = "the number of ports of a router is missing";
                Err(Refusal::new(
                    path,
                    what,
                    "write `k: 16`, or `radix: 64` with levels, oversubscription and terminals",
                ))
            }
        }
    }

    /// The sizes of the tree of k pods.
    fn of_k(&self, k: u32, path: &str) -> Result<Plan, Refusal> {
        let others = [
            ("levels", self.levels.is_some()),
            ("oversubscription", !self.oversubscription.is_empty()),
            ("terminals", self.terminals.is_some()),
        ];
        if let Some((key, _)) = others.iter().find(|(_, is_there)| *is_there) {
            let what = format!("`{key}` does not apply to `k`, a tree of three levels without oversubscription");
            return Err(Refusal::new(
                format!("{path}.{key}"),
                what,
                format!("write `radix: {k}` in place of `k: {k}`"),
            ));
        }
        if k < 2 || k % 2 == 1 {
            let what = format!("half of the {k} ports of a router lead up: the number must be even, and at least 2");
            return Err(Refusal::new(format!("{path}.k"), what, format!("write {}", k.saturating_add(1).max(2))));
        }
        check_size(1, k.into(), &format!("{} downward links + {} upward links", k / 2, k / 2), &format!("{path}.k"))?;
        let half = k / 2;
        let terminals = half * half * k;
        Ok(Plan { down: vec![half, half, k], up: vec![half, half], trunk: 1, terminals })
    }

    /// The sizes of the smallest tree of routers with `radix` ports that has enough ports for the terminals.
    fn bought(&self, radix: u32, path: &str) -> Result<Plan, Refusal> {
        let levels = self.levels.unwrap_or(OF_PODS);
        if !(2..=MAX_LEVELS).contains(&levels) {
            let what = format!("the number of levels is {levels}, not 2 to {MAX_LEVELS}");
            return Err(Refusal::new(format!("{path}.levels"), what, "write 2 for leaves and spines, or 3"));
        }
        if self.trunk_width != TrunkWidth::default() {
            let what = "trunks would need more ports than `radix` allows";
            return Err(Refusal::new(
                format!("{path}.trunk_width"),
                what,
                "remove trunk_width, or write `k` in place of `radix`",
            ));
        }
        if radix < 2 {
            let what = format!("{radix} ports per router are too few: a router needs downward and upward links");
            let help = "write the number of ports of a router, such as 64";
            return Err(Refusal::new(format!("{path}.radix"), what, help));
        }
        check_size(1, radix.into(), "the radix", &format!("{path}.radix"))?;
        let split = (0..levels as usize - 1).map(|level| self.split(level, radix, path));
        let (mut down, mut up): (Vec<u32>, Vec<u32>) = split.collect::<Result<Vec<_>, _>>()?.into_iter().unzip();
        if let Some(extra) = self.oversubscription.get(down.len()) {
            let what = format!("the ratio is {extra} for level {}, but its routers have no upward links", down.len());
            let at = format!("{path}.oversubscription.{}", down.len());
            return Err(Refusal::new(at, what, format!("write {} numbers, or more levels", down.len())));
        }
        down.push(radix);
        let most: u64 = down.iter().map(|&links| u64::from(links)).product();
        let wanted = self.terminals.map_or(most, u64::from);
        if wanted < 2 || wanted > most {
            let ports = down.iter().map(u32::to_string).collect::<Vec<_>>().join(" x ");
            let what = format!(
                "{wanted} terminals are not possible: {levels} levels of routers with {radix} ports have room for \
                 {ports} = {most}"
            );
            let help = format!("write 2 to {most}, another radix, or `levels: {}`", (levels + 1).min(MAX_LEVELS));
            return Err(Refusal::new(format!("{path}.terminals"), what, help));
        }
        // from the top down, each level gets only as many subtrees as the terminals need, all of the same size
        let mut rest = wanted;
        for level in (1..levels as usize).rev() {
            let below: u64 = down[..level].iter().map(|&links| u64::from(links)).product();
            down[level] = rest.div_ceil(below) as u32;
            rest = rest.div_ceil(u64::from(down[level]));
        }
        down[0] = rest as u32;
        let last = levels as usize - 2;
        let trunk =
            (1..=up[last]).rev().find(|&n| up[last].is_multiple_of(n) && n * down[last + 1] <= radix).unwrap_or(1);
        up[last] /= trunk;
        let plan = Plan { down, up, trunk, terminals: u32::try_from(wanted).unwrap_or(u32::MAX) };
        let routers: u64 = (0..levels as usize).map(|level| plan.count(level)).sum();
        check_size(routers, radix.into(), "the radix", path)?;
        Ok(plan)
    }

    /// The remark that the terminals would fit into fewer levels. The upper levels then carry only packets that a lower level could carry.
    fn needless_level(&self, plan: &Plan, path: &str) -> Result<Option<Remark>, Refusal> {
        let (Some(radix), Some(terminals)) = (self.radix, self.terminals) else { return Ok(None) };
        let levels = plan.down.len();
        let mut holds = vec![self.split(0, radix, path)?.0];
        for level in 1..levels - 1 {
            let below: u32 =
                (0..level).map(|below| Ok(self.split(below, radix, path)?.0)).product::<Result<u32, _>>()?;
            holds.push(below.saturating_mul(radix));
        }
        let Some(fewer) = holds.iter().position(|&holds| terminals <= holds) else { return Ok(None) };
        let (enough, hold) = (fewer + 1, holds[fewer]);
        let routers: u64 = (0..levels).map(|level| plan.count(level)).sum();
        let used = plan.down[levels - 1] * plan.trunk;
        let (smaller, help) = match enough {
            1 => (
                format!("one leaf has room for {hold}"),
                format!("write more than {hold} terminals, or a smaller radix"),
            ),
            _ => (
                format!("{enough} levels have room for {hold}"),
                format!("write `levels: {enough}`, more than {hold} terminals, or a smaller radix"),
            ),
        };
        let what = format!(
            "{terminals} terminals in {levels} levels need {routers} routers, and each top router uses {used} of its {radix} \
             ports; {smaller}"
        );
        let numbers = [
            ("terminals", f64::from(terminals)),
            ("levels", levels as f64),
            ("routers", routers as f64),
            ("top_ports_used", f64::from(used)),
            ("enough_levels", enough as f64),
            ("enough_holds_terminals", f64::from(hold)),
        ];
        let numbers = numbers.map(|(name, value)| (name.to_owned(), value)).into();
        Ok(Some(Remark { code: &NEEDLESS_LEVEL, path: format!("{path}.terminals"), numbers, what, help }))
    }

    /// The remarks on levels whose real oversubscription is below the given ratio, because of the number of ports of a router.
    fn other_ratios(&self, path: &str) -> Result<Vec<Remark>, Refusal> {
        let Some(radix) = self.radix else { return Ok(Vec::new()) };
        let of_level = |(level, &ratio): (usize, &f64)| {
            let (down, up) = self.split(level, radix, path)?;
            let own = f64::from(down) / f64::from(up);
            if own >= SAME_RATIO * ratio {
                return Ok(None);
            }
            let rounded = (own * 1000.0).ceil() / 1000.0;
            let what = format!(
                "a router of {radix} ports has {down} downward and {up} upward links: {rounded} downward links per upward \
                 link, not {ratio}"
            );
            let help = format!("write a radix that is a multiple of {}, or the ratio {rounded}", 1.0 + ratio);
            let numbers = [
                ("radix", f64::from(radix)),
                ("ports_down", f64::from(down)),
                ("ports_up", f64::from(up)),
                ("written_ratio", ratio),
            ];
            Ok(Some(Remark::new(&OTHER_RATIO, format!("{path}.oversubscription.{level}"), numbers, what, help)))
        };
        self.oversubscription.iter().enumerate().map(of_level).filter_map(Result::transpose).collect()
    }

    /// The number of downward links and the number of upward links of a router on this level. The level is below the top.
    fn split(&self, level: usize, radix: u32, path: &str) -> Result<(u32, u32), Refusal> {
        let ratio = self.oversubscription.get(level).copied().unwrap_or(1.0);
        let at = || format!("{path}.oversubscription.{level}");
        if !(ratio.is_finite() && ratio > 0.0) {
            let what = format!("the ratio of {ratio} downward links per upward link is not a number above 0");
            let help = "write 1 for no oversubscription, or 3 for three downward links per upward link";
            return Err(Refusal::new(at(), what, help));
        }
        let up = (f64::from(radix) / (1.0 + ratio)).ceil() as u32;
        let down = (f64::from(up) * ratio).floor().min(f64::from(radix - up.min(radix))) as u32;
        if up == 0 || down == 0 {
            let what =
                format!("with {ratio} downward links per upward link, {down} of {radix} ports lead down and {up} up");
            return Err(Refusal::new(at(), what, format!("write 1 to {}", radix.saturating_sub(1).max(1))));
        }
        Ok((down, up))
    }

    /// The trunk width of each link class.
    fn trunks(&self, plan: &Plan) -> TrunkWidth {
        match plan.trunk {
            1 => self.trunk_width.clone(),
            width => TrunkWidth::ByClass(BTreeMap::from([(format!("level{}", plan.up.len()), width)])),
        }
    }
}

impl Plan {
    /// Number of routers on a level.
    fn count(&self, level: usize) -> u64 {
        let above = self.down[level + 1..].iter();
        above.chain(&self.up[..level]).fold(1u64, |count, &links| count.saturating_mul(links.into()))
    }

    fn size(&self, level: usize) -> u32 {
        self.count(level) as u32
    }

    /// Number of routers on the levels below this level. The sum is also the id of the first router on this level.
    fn first(&self, level: usize) -> u32 {
        (0..level).map(|below| self.size(below)).sum()
    }

    /// The digits of the position of a router on this level, as index and base, the least significant digit first. First come the digits
    /// that upward links choose, in reverse order, and then the digits that downward links choose.
    fn places(&self, level: usize) -> impl DoubleEndedIterator<Item = (usize, u32)> {
        let chosen_up = (0..level).rev().map(|place| (place, self.up[place]));
        chosen_up.chain((level..self.up.len()).map(|place| (place, self.down[place + 1])))
    }

    fn digits(&self, level: usize, position: u32) -> [u8; 8] {
        let (mut rest, mut digits) = (position, [0; 8]);
        for (place, base) in self.places(level) {
            (digits[place], rest) = ((rest % base) as u8, rest / base);
        }
        digits
    }

    /// The router on this level that has these digits.
    fn router(&self, level: usize, digits: [u8; 8]) -> u32 {
        let position =
            self.places(level).rev().fold(0, |position, (place, base)| position * base + u32::from(digits[place]));
        self.first(level) + position
    }

    /// The ports of a router: first its downward links or its terminals, and then its upward links.
    fn ports(&self, level: usize, position: u32) -> Vec<Port> {
        let digits = self.digits(level, position);
        let with = |place: usize, digit: u32| {
            let mut other = digits;
            other[place] = digit as u8;
            other
        };
        let down = |port: u32| match level.checked_sub(1) {
            None => self.terminal(position, port),
            Some(below) => {
                link(self.router(below, with(below, port)), self.down[below] + u32::from(digits[below]), level as u8)
            }
        };
        let up = |port: u32| link(self.router(level + 1, with(level, port)), u32::from(digits[level]), level as u8 + 1);
        let ups = self.up.get(level).copied().unwrap_or(0);
        (0..self.down[level]).map(down).chain((0..ups).map(up)).collect()
    }

    /// Port `port` of a leaf. The terminals are divided evenly among the leaves.
    fn terminal(&self, leaf: u32, port: u32) -> Port {
        let leaves = u64::from(self.size(0));
        let first = |leaf: u32| (u64::from(self.terminals) * u64::from(leaf) / leaves) as u32;
        let terminal = first(leaf) + port;
        let peer = if terminal < first(leaf + 1) { Peer::Terminal(terminal) } else { Peer::Unused };
        Port { peer, class: 0 }
    }
}

fn link(router: u32, port: u32, class: u8) -> Port {
    Port { peer: Peer::Router { router, port: port as u16 }, class }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_pods_are_wired_as_in_the_paper() {
        let graph = FatTree::of_pods(4, TrunkWidth::default()).build("topology").unwrap();
        // The tree has 8 edge routers 0..8, 8 aggregation routers 8..16, and 4 cores 16..20.
        let peers = |router| graph.ports(router).iter().map(|port| port.peer).collect::<Vec<_>>();
        let to = |router, port| Peer::Router { router, port };
        assert_eq!(peers(3), [Peer::Terminal(6), Peer::Terminal(7), to(10, 1), to(11, 1)]);
        // Aggregation router 1 of pod 1 has downward links to edge routers 2 and 3, and upward links to the cores of index 1.
        assert_eq!(peers(11), [to(2, 3), to(3, 3), to(18, 1), to(19, 1)]);
        assert_eq!(peers(18), [to(9, 2), to(11, 2), to(13, 2), to(15, 2)]);
    }

    #[test]
    fn refuses_with_the_arithmetic() {
        let refusal = |k| FatTree::of_pods(k, TrunkWidth::default()).build("topology").unwrap_err();
        assert_eq!((refusal(0).path, refusal(0).help), ("topology.k".into(), "write 2".into()));
        assert_eq!(refusal(5).help, "write 6");
        assert!(refusal(u32::MAX).what.contains("the number must be even, and at least 2"));
        let wide = "257 downward links + 257 upward links gives 514 ports per router; a router has at most 512";
        assert_eq!(refusal(514).what, wide);
        let pods = "a router has 258 links to another level; its position is stored in digits of a byte, for 256 links";
        assert_eq!((refusal(258).what.as_str(), refusal(258).help.as_str()), (pods, "write at most 256"));
        assert!(FatTree::of_pods(256, TrunkWidth::default()).plan("topology").is_ok(), "the remedy");
    }

    fn bought(json: &str) -> Result<Graph, Refusal> {
        serde_json::from_str::<FatTree>(json).unwrap().build("topology")
    }

    /// Counts the routers of each level, the terminals, and the links of each class.
    fn counted(graph: &Graph) -> (Vec<u32>, u32, Vec<u32>) {
        let levels = graph.structure().levels.as_ref().unwrap();
        let sizes = (0..levels.count).map(|level| levels.size(level)).collect();
        (sizes, graph.terminals(), graph.links_by_class().into_iter().skip(1).map(|(_, count)| count as u32).collect())
    }

    #[test]
    fn a_radix_alone_is_the_tree_of_pods() {
        let [pods, radix] = [r#"{"k": 6}"#, r#"{"radix": 6}"#].map(|json| bought(json).unwrap());
        assert_eq!(counted(&pods), counted(&radix));
        (0..pods.routers()).for_each(|router| assert_eq!(pods.ports(router), radix.ports(router)));
    }

    #[test]
    fn leaves_and_spines_as_they_are_bought() {
        // 64 ports at a ratio of 3 to 1 are 48 downward links and 16 upward links. 512 terminals need 11 leaves. Each leaf has 4 links to
        // each spine. So 44 of the 64 ports of a spine are used, and the 16 upward links of a leaf form trunks of 4 to 4 spines.
        let graph = bought(r#"{"radix": 64, "levels": 2, "oversubscription": [3], "terminals": 512}"#).unwrap();
        assert_eq!(counted(&graph), (vec![11, 4], 512, vec![11 * 16]));
        let of_leaf =
            |leaf: u32| graph.ports(leaf).iter().filter(|port| matches!(port.peer, Peer::Terminal(_))).count();
        // 11 leaves have 46 or 47 terminals, because 512 = 11 * 46 + 6
        let terminals: Vec<usize> = (0..11).map(of_leaf).collect();
        assert_eq!((terminals.iter().sum::<usize>(), terminals.iter().filter(|each| **each == 47).count()), (512, 6));
        assert!(terminals.iter().all(|each| [46, 47].contains(each)), "{terminals:?}");
        // with all 64 leaves, every port of a spine is used
        let full = bought(r#"{"radix": 64, "levels": 2, "oversubscription": [3]}"#).unwrap();
        assert_eq!(counted(&full), (vec![64, 16], 64 * 48, vec![64 * 16]));
    }

    #[test]
    fn each_level_is_oversubscribed_by_no_more_than_wanted() {
        // 64 ports at a ratio of 2 to 1: 64 / 3 = 21.3, so 22 links lead up and 42 down, which is 1.91 to 1
        let plan = |json: &str| serde_json::from_str::<FatTree>(json).unwrap().plan("topology").unwrap();
        let tapered = plan(r#"{"radix": 64, "levels": 3, "oversubscription": [2, 1.5]}"#);
        // at a ratio of 1.5 to 1: 64 / 2.5 = 25.6, so 26 links lead up; 39 could lead down, but only 38 ports remain
        assert_eq!((tapered.down, tapered.up), (vec![42, 38, 64], vec![22, 26]));
        // 1,000 terminals with 16 ports: a pod has up to 8 * 8 = 64 terminals. So 16 pods with up to 63 terminals are enough, with 8 leaves
        // each
        let pods = plan(r#"{"radix": 16, "terminals": 1000}"#);
        assert_eq!((pods.down, pods.up, pods.trunk), (vec![8, 8, 16], vec![8, 8], 1));
    }

    #[test]
    fn a_ratio_that_the_ports_do_not_have_is_reported_and_the_remedies_end_it() {
        let remarks_of = |json: &str| bought(json).unwrap().remarks().to_vec();
        // 13 ports at 2 to 1: 13 / 3 = 4.3, so 5 links lead up and 8 down
        let remarks = remarks_of(r#"{"radix": 13, "levels": 2, "oversubscription": [2]}"#);
        let [Remark { code, path, what, help, .. }] = &remarks[..] else { panic!("{remarks:?}") };
        assert_eq!((code.name, path.as_str()), ("fat_tree_other_ratio", "topology.oversubscription.0"));
        assert_eq!(
            what,
            "a router of 13 ports has 8 downward and 5 upward links: 1.6 downward links per upward link, not 2"
        );
        assert_eq!(help, "write a radix that is a multiple of 3, or the ratio 1.6");
        assert_eq!(remarks_of(r#"{"radix": 13, "levels": 2, "oversubscription": [1.6]}"#), []);
        assert_eq!(remarks_of(r#"{"radix": 12, "levels": 2, "oversubscription": [2]}"#), []);
        // no remark, because 42 downward to 22 upward links are 1.91 to 1, which is close enough
        assert_eq!(remarks_of(r#"{"radix": 64, "levels": 2, "oversubscription": [2]}"#), []);
        // 7 links lead up and 6 down; the proposed ratio 0.858 is rounded up, so it divides the ports in the same way
        let odd = remarks_of(r#"{"radix": 13, "levels": 2, "oversubscription": [1]}"#);
        assert_eq!(odd[0].help, "write a radix that is a multiple of 2, or the ratio 0.858");
        assert_eq!(remarks_of(r#"{"radix": 13, "levels": 2, "oversubscription": [0.858]}"#), []);
    }

    #[test]
    fn levels_that_the_terminals_do_not_need_are_reported() {
        let remarks_of = |json: &str| bought(json).unwrap().remarks().to_vec();
        // a leaf has 32 terminals and 32 upward links; 2 terminals need 1 leaf, 32 routers above it, and 32 top routers with trunks of 32
        let empty = remarks_of(r#"{"radix": 64, "levels": 3, "terminals": 2}"#);
        let [Remark { code, path, what, help, .. }] = &empty[..] else { panic!("{empty:?}") };
        assert_eq!((code.name, path.as_str()), ("fat_tree_needless_level", "topology.terminals"));
        assert_eq!(
            what,
            "2 terminals in 3 levels need 65 routers, and each top router uses 32 of its 64 ports; one leaf has room for 32"
        );
        assert_eq!(help, "write more than 32 terminals, or a smaller radix");
        // two levels of routers with 64 ports have space for 32 * 64 = 2,048 terminals
        let levels = remarks_of(r#"{"radix": 64, "terminals": 512}"#);
        assert!(levels[0].what.ends_with("2 levels have room for 2048"), "{levels:?}");
        assert_eq!(levels[0].help, "write `levels: 2`, more than 2048 terminals, or a smaller radix");
        // checks that the remedies in the messages are accepted
        for remedy in [
            r#"{"radix": 64, "levels": 2, "terminals": 512}"#,
            r#"{"radix": 64, "terminals": 2049}"#,
            r#"{"radix": 64, "levels": 2, "terminals": 33}"#,
            r#"{"radix": 16, "terminals": 512}"#,
            r#"{"radix": 2, "levels": 2, "terminals": 2}"#,
        ] {
            assert_eq!(remarks_of(remedy), [], "{remedy}");
        }
        assert_eq!(remarks_of(r#"{"k": 4}"#), []);
    }

    #[test]
    fn refuses_what_can_not_be_bought() {
        let refusal = |json: &str| bought(json).unwrap_err();
        let many = refusal(r#"{"radix": 8, "levels": 2, "terminals": 33}"#);
        assert_eq!(
            (many.path.as_str(), many.what.as_str()),
            (
                "topology.terminals",
                "33 terminals are not possible: 2 levels of routers with 8 ports have room for 4 x 8 = 32"
            )
        );
        assert!(bought(r#"{"radix": 8, "levels": 3, "terminals": 33}"#).is_ok(), "the remedy of one more level");
        assert_eq!(refusal(r#"{"k": 8, "terminals": 9}"#).help, "write `radix: 8` in place of `k: 8`");
        assert!(bought(r#"{"radix": 8, "terminals": 9}"#).is_ok());
        assert_eq!(refusal(r#"{"radix": 8, "oversubscription": [0]}"#).path, "topology.oversubscription.0");
        assert_eq!(
            refusal(r#"{"radix": 8, "levels": 2, "oversubscription": [1, 2]}"#).path,
            "topology.oversubscription.1"
        );
        assert_eq!(refusal(r#"{}"#).path, "topology");
        assert_eq!(refusal(r#"{"k": 8, "radix": 8}"#).path, "topology");
        assert_eq!(refusal(r#"{"radix": 8, "trunk_width": 2}"#).path, "topology.trunk_width");
        assert_eq!(refusal(r#"{"radix": 8, "levels": 1}"#).path, "topology.levels");
        assert_eq!(refusal(r#"{"radix": 1}"#).path, "topology.radix");
    }
}
