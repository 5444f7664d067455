//! Hot spot: some sources send a share of their packets to a few targets. All other packets have uniform destinations.
//!
//! # Source
//! G. F. Pfister, V. A. Norton, "'Hot Spot' Contention and Combining in Multistage Interconnection Networks", IEEE TC C-34(10), 1985.
//! BookSim `hotspot` is this pattern with share 1 and all terminals as sources.
//!
//! # Parameters
//! `targets`, `sources`: \[terminal ids\], or a count or a share of terminals that Weft draws with the seed. `share` \[packets to targets /
//! packets\]. `source_load`, `other_load` \[load of a terminal / load of the job\]. `draw`: selects one of several independent draws from
//! the same seed \[number\].
//!
//! # Guarantees
//! A source sends to each target with probability share / targets; a source that is a target also sends to itself. The other packets of a
//! source go to all terminals except the source, including targets, with equal probability. Terminals that are not sources send uniform
//! traffic. Drawn sets of terminals depend only on (seed, draw, number of terminals, listed terminals), and all sets are equally likely. A
//! drawn source is never a target, and a drawn target is never a listed source. If a later phase uses the same `draw`, it gets the same
//! sets. Therefore a hot spot that ends and begins again stays at the same terminals.
//!
//! # Not modelled
//! Targets that receive different shares of the packets.
//!
//! # Validation
//! `traffic/tests/conformance.rs` checks that destinations are valid and drawn with the stated probabilities, for targets, other terminals,
//! and targets that send to themselves. The tests in this file check that all sets of terminals are equally likely. The pattern was not
//! compared with another simulator.

mod chosen;

use super::uniform::{Others, Uniform};
use super::{Destinations, Group, PatternModel};
use crate::{Population, below};
use chosen::{Address, members_of};
pub use chosen::{Amount, Chosen, Drawn};
use rand_pcg::Pcg32;
use rand_pcg::rand_core::Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_units::Refusal;

/// Purposes of the random streams that draw sources and targets. The address of a random stream includes its purpose.
const SOURCES: u64 = 0x736f_7572;
const TARGETS: u64 = 0x7461_7267;

/// Some sources send a share of their packets to a few targets; the other packets have uniform destinations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HotSpot {
    /// Terminals that attract packets, with equal weights: a list, or `{random: {count: 1}}` for terminals that the seed draws.
    pub targets: Chosen,
    /// Terminals that send to the targets (default: all): a list, `{random: {count: 16}}` or `{random: {share: 0.25}}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sources: Option<Chosen>,
    /// Share of the packets of these sources that go to a random target, 0 to 1 (default 1).
    #[serde(default = "all")]
    pub share: f64,
    /// Load of each source as a share of the load of the job, 0 to 1 (default 1).
    #[serde(default = "all", skip_serializing_if = "is_all")]
    pub source_load: f64,
    /// Load of each terminal that is not a source, as a share of the load of the job, 0 to 1 (default 1).
    #[serde(default = "all", skip_serializing_if = "is_all")]
    pub other_load: f64,
    /// Index of the random draw of targets and sources. Draws with different indices are independent (default 0).
    #[serde(default, skip_serializing_if = "is_first")]
    pub draw: u32,
}

fn all() -> f64 {
    1.0
}

fn is_all(part: &f64) -> bool {
    *part == 1.0
}

fn is_first(draw: &u32) -> bool {
    *draw == 0
}

impl HotSpot {
    /// A configuration in which all terminals send all their packets to `targets`.
    pub fn at(targets: &[u32]) -> Self {
        let targets = Chosen::List(targets.to_vec());
        Self { targets, sources: None, share: 1.0, source_load: 1.0, other_load: 1.0, draw: 0 }
    }

    /// The ids of the targets and of the sources.
    fn groups(&self, population: &Population, path: &str) -> Result<(Vec<u32>, Vec<u32>), Refusal> {
        let address = |purpose| Address { draw: self.draw, purpose };
        let in_path = |key: &str| format!("{path}.{key}");
        let named = match &self.sources {
            Some(list @ Chosen::List(_)) => {
                Some(list.terminals(population, &[], address(SOURCES), &in_path("sources"))?)
            }
            Some(Chosen::Drawn(_)) | None => None,
        };
        let taken = named.as_deref().unwrap_or_default();
        let targets = self.targets.terminals(population, taken, address(TARGETS), &in_path("targets"))?;
        let sources = match (named, &self.sources) {
            (Some(named), _) => named,
            (None, Some(drawn)) => drawn.terminals(population, &targets, address(SOURCES), &in_path("sources"))?,
            (None, None) => (0..population.terminals).collect(),
        };
        Ok((targets, sources))
    }
}

impl PatternModel for HotSpot {
    type To = Spots;

    fn build(&self, population: &Population, path: &str) -> Result<Spots, Refusal> {
        let (targets, sources) = self.groups(population, path)?;
        let parts = [
            ("share", self.share, "of the packets"),
            ("source_load", self.source_load, "of the load"),
            ("other_load", self.other_load, "of the load"),
        ];
        for (key, part, of) in parts {
            if !(0.0..=1.0).contains(&part) {
                let what = format!("a share of {part} {of} is not possible");
                return Err(Refusal::new(format!("{path}.{key}"), what, "write a number from 0 to 1"));
            }
        }
        let is_hot = members_of(&sources, population.terminals);
        let others = Uniform { include_self: false }.build(population, path)?;
        let threshold = (self.share * 2f64.powi(32)) as u64;
        let loads = [self.other_load, self.source_load];
        Ok(Spots { targets, is_hot, share: self.share, loads, threshold, others })
    }

    fn examples() -> Vec<Self> {
        let listed = Some(Chosen::List(vec![0, 5, 40]));
        let random = |random| Chosen::Drawn(Drawn { random });
        let new = |sources, share| Self { sources, share, ..Self::at(&[5, 9, 60]) };
        let drawn = Self { targets: random(Amount::Count(2)), ..new(Some(random(Amount::Share(0.25))), 1.0) };
        let throttled = Self { source_load: 0.125, other_load: 0.5, draw: 3, ..drawn.clone() };
        vec![new(None, 0.25), new(None, 1.0), new(listed, 0.25), drawn, throttled]
    }
}

/// The targets of a hot spot, and which terminals send to them.
#[derive(Debug, Clone)]
pub struct Spots {
    targets: Vec<u32>,
    is_hot: Vec<bool>,
    share: f64,
    /// Load as a share of the job's load: of a terminal that is not a source, and of a source.
    loads: [f64; 2],
    /// `share` * 2^32: a packet goes to a target if a random number of 32 bits is below this threshold.
    threshold: u64,
    others: Others,
}

impl Destinations for Spots {
    fn relative_load(&self, source: u32) -> f64 {
        self.loads[usize::from(self.is_hot[source as usize])]
    }

    fn draw(&self, source: u32, rng: &mut Pcg32) -> Option<u32> {
        if self.is_hot[source as usize] && u64::from(rng.next_u32()) < self.threshold {
            Some(self.targets[below(rng, self.targets.len() as u32) as usize])
        } else {
            self.others.draw(source, rng)
        }
    }

    fn distribution(&self, source: u32) -> Vec<(u32, f64)> {
        let share = if self.is_hot[source as usize] { self.share } else { 0.0 };
        let mut probability = vec![0.0; self.is_hot.len()];
        for (terminal, uniform) in self.others.distribution(source) {
            probability[terminal as usize] += (1.0 - share) * uniform;
        }
        for &target in &self.targets {
            probability[target as usize] += share / self.targets.len() as f64;
        }
        (0..).zip(probability).filter(|&(_, probability)| probability > 0.0).collect()
    }

    fn groups(&self) -> Vec<Group> {
        let of = |hot: bool| (0..).zip(&self.is_hot).filter(|&(_, &is_hot)| is_hot == hot).map(|(t, _)| t).collect();
        vec![
            Group { name: "targets", terminals: self.targets.clone() },
            Group { name: "sources", terminals: of(true) },
            Group { name: "others", terminals: of(false) },
        ]
    }

    fn share_below(&self, source: u32, end: u32) -> f64 {
        let share = if self.is_hot[source as usize] { self.share } else { 0.0 };
        let below = self.targets.iter().filter(|&&target| target < end).count();
        share * below as f64 / self.targets.len() as f64 + (1.0 - share) * self.others.share_below(source, end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn read(text: &str) -> HotSpot {
        serde_json::from_str(text).unwrap()
    }

    fn build(text: &str) -> Result<Spots, Refusal> {
        read(text).build(&Population::of(5), "p")
    }

    #[test]
    fn a_listed_source_shares_its_packets() {
        let spots = build(r#"{"targets": [0, 3], "sources": [1], "share": 0.5}"#).unwrap();
        // Source 1 sends 1/2 * 1/2 to each target, and in addition 1/2 * 1/4 to each of the four other terminals.
        assert_eq!(spots.distribution(1), [(0, 0.375), (2, 0.125), (3, 0.375), (4, 0.125)]);
        assert_eq!(spots.distribution(3), [(0, 0.25), (1, 0.25), (2, 0.25), (4, 0.25)]);
    }

    #[test]
    fn a_target_may_send_to_itself() {
        assert_eq!(build(r#"{"targets": [3]}"#).unwrap().distribution(3), [(3, 1.0)]);
    }

    #[test]
    fn groups_have_loads_of_their_own() {
        let spots = build(r#"{"targets": [0], "sources": [1, 2], "source_load": 0.25, "other_load": 0.5}"#).unwrap();
        assert_eq!([0, 1, 2, 3, 4].map(|t| spots.relative_load(t)), [0.5, 0.25, 0.25, 0.5, 0.5]);
        let groups: Vec<_> = spots.groups().into_iter().map(|group| (group.name, group.terminals)).collect();
        assert_eq!(groups, [("targets", vec![0]), ("sources", vec![1, 2]), ("others", vec![0, 3, 4])]);
    }

    /// The seed draws a target and two sources from 4 terminals. The 12 possible sets are 4 targets times 3 pairs of the other three
    /// terminals.
    #[test]
    fn all_sets_are_equally_likely_and_sources_are_no_targets() {
        let hot = read(r#"{"targets": {"random": {"count": 1}}, "sources": {"random": {"share": 0.5}}}"#);
        let mut counts = BTreeMap::new();
        for seed in 0..4800 {
            let sets = hot.groups(&Population { seed, ..Population::of(4) }, "p").unwrap();
            assert!(!sets.1.contains(&sets.0[0]) && sets.1.len() == 2, "{sets:?}");
            *counts.entry(sets).or_insert(0u32) += 1;
        }
        // The count of each set is binomial: its mean is 4800 / 12 = 400, its standard deviation < sqrt(400). The limit is 5 standard
        // deviations.
        assert_eq!(counts.len(), 12);
        assert!(counts.values().all(|&count| f64::from(count.abs_diff(400)) < 5.0 * 20.0), "{counts:?}");
    }

    #[test]
    fn draws_are_independent_and_repeatable_and_leave_listed_sources_out() {
        let of = |draw| HotSpot { draw, ..read(r#"{"targets": [7], "sources": {"random": {"count": 16}}}"#) };
        let sources = |draw| of(draw).groups(&Population::of(64), "p").unwrap().1;
        assert_eq!(sources(3), sources(3));
        assert_ne!(sources(3), sources(4));
        let target = read(r#"{"targets": {"random": {"count": 1}}, "sources": [0, 1, 3, 4]}"#);
        assert_eq!(target.groups(&Population::of(5), "p").unwrap().0, [2]);
    }

    #[test]
    fn refuses_lists_and_shares_that_mean_nothing() {
        let path = |text: &str| build(text).unwrap_err().path;
        assert_eq!(path(r#"{"targets": []}"#), "p.targets");
        assert_eq!(path(r#"{"targets": [5]}"#), "p.targets");
        assert_eq!(path(r#"{"targets": [2, 2]}"#), "p.targets");
        let of_none = read(r#"{"targets": [0]}"#).build(&Population::of(0), "p").unwrap_err();
        assert_eq!((of_none.path.as_str(), of_none.help.as_str()), ("p.targets", "give the job terminals"));
        assert_eq!(path(r#"{"targets": [2], "sources": []}"#), "p.sources");
        assert_eq!(path(r#"{"targets": [2], "share": 1.5}"#), "p.share");
        assert_eq!(path(r#"{"targets": [2], "source_load": 1.5}"#), "p.source_load");
        assert_eq!(path(r#"{"targets": [2], "other_load": -1}"#), "p.other_load");
        let nan = HotSpot { share: f64::NAN, ..HotSpot::at(&[2]) }.build(&Population::of(5), "p");
        assert_eq!(nan.unwrap_err().path, "p.share");
    }

    #[test]
    fn refuses_draws_without_terminals_with_the_arithmetic() {
        let refused = |text: &str| build(text).unwrap_err();
        let none = refused(r#"{"targets": [2], "sources": {"random": {"share": 0.01}}}"#);
        assert_eq!(none.path, "p.sources.random.share");
        assert!(none.what.contains("0.01 of 5 terminals is 0.05: no terminal is drawn"), "{none}");
        assert_eq!(refused(r#"{"targets": {"random": {"count": 0}}}"#).path, "p.targets.random.count");
        assert_eq!(refused(r#"{"targets": {"random": {"share": 1.5}}}"#).path, "p.targets.random.share");
        // 5 terminals, of which 2 are targets
        let many = refused(r#"{"targets": [2, 3], "sources": {"random": {"count": 4}}}"#);
        assert_eq!(many.path, "p.sources");
        assert!(many.what.contains("4 terminals must be drawn, but only 3 are available"), "{many}");
        assert!(many.help.contains("1 to 3"), "{many}");
        // the remedies in the messages are accepted
        assert!(build(r#"{"targets": [2], "sources": {"random": {"share": 0.2}}}"#).is_ok());
        assert!(build(r#"{"targets": [2, 3], "sources": {"random": {"count": 3}}}"#).is_ok());
    }
}
