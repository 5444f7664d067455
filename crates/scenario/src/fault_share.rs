//! The scenario keys with which a share of the links or routers fails. The failing links or routers are drawn once at random, with a
//! separate seed.

use crate::assemble::Clock;
use crate::diagnostic::suggestion;
use crate::fault_model::{FaultModel, Parts, is_named};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use weft_engine::Spec;
use weft_engine::spec::{Fault, Part};
use weft_traffic::{below, stream};
use weft_units::{Cycles, Refusal, Share, Time};

/// A share of the links or routers that fails. With the same seed, the same share draws the same parts, and a larger share contains the
/// parts of a smaller share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FaultShare {
    /// Share of the links or routers that fails [percent], rounded to the nearest whole number of links or routers. Parallel links between
    /// two routers fail together, and count as one.
    pub share: Share,
    /// Link class: only links of this class fail. Default: links between routers of all classes can fail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// Seed with which the failing parts are drawn. Default: the seed of the scenario.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Time of the failure [time]. Default: the parts are broken from the start, and the first tables of a routing avoid them.
    #[serde(default = "from_the_start")]
    pub at: Time,
    /// Time at which the failed parts work again [time]. Default: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Time>,
}

/// The key of a share, the cycle in which its parts fail, and the cycle in which they work again, if any.
pub(crate) struct ShareTimes {
    pub key: &'static str,
    pub at: Cycles,
    pub until: Option<Cycles>,
}

/// The links or routers that a share has drawn.
struct Drawn {
    failing: Vec<Part>,
    candidates: usize,
    /// Two numbers of links: the links among the failing parts, and the links among all candidates. Parallel links count separately.
    links: [usize; 2],
}

/// Purpose in the address of the random stream that draws failing parts.
const DRAW: u64 = 0x7368_6172;

fn from_the_start() -> Time {
    Time::Cycles(0)
}

impl FaultModel {
    /// The shares of routers and links that fail, each with its key. The share of routers comes first, because a router that fails takes
    /// its links with it.
    fn shares(&self) -> impl Iterator<Item = (Parts, &'static str, &FaultShare)> {
        let routers = self.routers.iter().map(|share| (Parts::Routers, "routers", share));
        routers.chain(self.links.iter().map(|share| (Parts::Links, "links", share)))
    }

    /// True if the scenario has a share of links or routers that fails.
    pub(crate) fn has_shares(&self) -> bool {
        self.shares().next().is_some()
    }

    /// Draws the faults of the shares. `named`: the faults in `faults`. The parts in this list fail only at the times given there, so they
    /// are not drawn.
    pub(crate) fn draw_shares(&self, named: &[Fault], spec: &Spec, clock: &Clock) -> Result<Vec<Fault>, Refusal> {
        let drawn = self.drawn(named, spec)?.into_iter().map(|(key, share, drawn)| {
            let (at, until) = share.times(key, clock)?;
            if let Some(until) = until.filter(|&until| until <= at) {
                let what = format!("the faults end in cycle {until}, but these {key} fail in cycle {at}");
                let path = format!("fault_model.{key}.until");
                return Err(Refusal::new(path, what, "write a later time, or leave `until` out"));
            }
            Ok(drawn.failing.into_iter().map(move |what| Fault { what, at, until }))
        });
        Ok(drawn.collect::<Result<Vec<_>, Refusal>>()?.into_iter().flatten().collect())
    }

    /// The times of each share.
    pub(crate) fn share_times(&self, clock: &Clock) -> Result<Vec<ShareTimes>, Refusal> {
        let times = |(_, key, share): (Parts, &'static str, &FaultShare)| {
            share.times(key, clock).map(|(at, until)| ShareTimes { key, at, until })
        };
        self.shares().map(times).collect()
    }

    /// For each share: the names of the parts that fail, and the number of all candidates. `weft check` prints these lists.
    pub(crate) fn listed_shares(&self, named: &[Fault], spec: &Spec) -> Result<Vec<Value>, Refusal> {
        let drawn = self.drawn(named, spec)?.into_iter().map(|(key, share, drawn)| {
            let names = |part: &Part| match part.routers()[..] {
                [a, b] => spec.graph.link_name(a, b),
                _ => part.routers().iter().map(|&router| spec.graph.router_name(router)).collect(),
            };
            json!({
                "of": key,
                "class": share.class,
                "share": share.share.to_string(),
                "candidates": drawn.candidates,
                "links": drawn.links,
                "failing": drawn.failing.iter().map(names).collect::<Vec<_>>(),
            })
        });
        Ok(drawn.collect())
    }

    fn drawn(&self, named: &[Fault], spec: &Spec) -> Result<Vec<(&'static str, &FaultShare, Drawn)>, Refusal> {
        let mut known = named.to_vec();
        let mut all = Vec::new();
        for (of, key, share) in self.shares() {
            let drawn = share.draw(of, &known, spec, &format!("fault_model.{key}"))?;
            known.extend(drawn.failing.iter().map(|&what| Fault { what, at: 1, until: None }));
            all.push((key, share, drawn));
        }
        Ok(all)
    }
}

impl FaultShare {
    /// The cycle of the failure, and the cycle in which the parts work again. `key`: the key of this share in `fault_model`.
    fn times(&self, key: &str, clock: &Clock) -> Result<(Cycles, Option<Cycles>), Refusal> {
        let cycles = |time: Time, name: &str| clock.cycles(time, &format!("fault_model.{key}.{name}"));
        let until = self.until.map(|until| cycles(until, "until")).transpose()?;
        // at least cycle 1, which is the first cycle in which a link can carry a flit
        Ok((cycles(self.at, "at")?.max(1), until))
    }

    fn draw(&self, of: Parts, known: &[Fault], spec: &Spec, path: &str) -> Result<Drawn, Refusal> {
        if !self.share.is_part() {
            let what = format!("a share of {} can't fail", self.share);
            return Err(Refusal::new(format!("{path}.share"), what, "write more than 0% and at most 100%"));
        }
        let mut parts = self.candidates(of, spec, path)?;
        parts.retain(|&part| !is_named(known, part));
        let candidates = parts.len();
        let count = self.share.of(candidates).round() as usize;
        if count == 0 {
            let what = format!(
                "{} of {candidates} is {:.2}, which rounds to 0: no part fails",
                self.share,
                self.share.of(candidates)
            );
            let help = format!("write {} or more", Share::of_one(candidates));
            return Err(Refusal::new(format!("{path}.share"), what, help));
        }
        let mut random = stream(self.seed.unwrap_or(spec.seed), 0, DRAW);
        for place in 0..count {
            let other = place + below(&mut random, (candidates - place) as u32) as usize;
            parts.swap(place, other);
        }
        let of_all = count_links(&parts, spec);
        parts.truncate(count);
        parts.sort_unstable_by_key(|part| part.routers());
        Ok(Drawn { links: [count_links(&parts, spec), of_all], failing: parts, candidates })
    }

    /// All links or routers from which a share draws the failing ones. Parallel links count as one candidate.
    fn candidates(&self, of: Parts, spec: &Spec, path: &str) -> Result<Vec<Part>, Refusal> {
        let class = self.class.as_ref().map(|name| {
            let classes = spec.graph.class_names();
            let found = classes.iter().position(|class| class == name && class != "terminal");
            found.map(|class| class as u8).ok_or_else(|| {
                let what = format!("the topology has no links of class `{name}` between routers");
                let valid: Vec<&str> = classes.iter().skip(1).map(String::as_str).collect();
                Refusal::new(format!("{path}.class"), what, suggestion(name, "its link classes", &valid))
            })
        });
        match (of, class.transpose()?) {
            (Parts::Routers, None) => Ok((0..spec.graph.routers()).map(Part::Router).collect()),
            (Parts::Routers, Some(_)) => {
                let what = "a router fails together with all its links, of any class";
                Err(Refusal::new(format!("{path}.class"), what, "leave class out, or write it in `fault_model.links`"))
            }
            (Parts::Links, class) => {
                let links = spec.graph.links().filter(|link| class.is_none_or(|class| link.is_of(class)));
                let mut ends: Vec<[u32; 2]> = links.map(|link| link.ends.map(|(router, _)| router)).collect();
                ends.sort_unstable();
                ends.dedup();
                Ok(ends
                    .into_iter()
                    .map(|ends| class.map_or(Part::Link(ends), |c| Part::LinkOfClass(ends, c)))
                    .collect())
            }
        }
    }
}

/// Number of links among these parts, with parallel links counted separately; 0 for routers. The function looks only at the class of the
/// first part: if it has a class, all parts are links of this class.
fn count_links(parts: &[Part], spec: &Spec) -> usize {
    let class = parts.first().and_then(|&part| match part {
        Part::LinkOfClass(_, class) => Some(class),
        Part::Link(_) | Part::Member(_) | Part::Router(_) => None,
    });
    let ends: BTreeSet<Vec<u32>> = parts.iter().map(|part| part.routers()).collect();
    let links = spec.graph.links().filter(|link| class.is_none_or(|class| link.is_of(class)));
    links.filter(|link| ends.contains(link.ends.map(|(router, _)| router).as_slice())).count()
}
