//! Hot spot: some sources send a share of their packets to a few targets; all the rest is uniform.
//!
//! # Source
//! G. F. Pfister, V. A. Norton, "'Hot Spot' Contention and Combining in Multistage Interconnection Networks", IEEE TC
//! C-34(10), 1985; BookSim `hotspot` is share 1 from all sources.
//!
//! # Parameters
//! `targets`, `sources` \[terminal ids\], `share` \[packets to targets / packets\].
//!
//! # Guarantees
//! A listed source sends to each target with probability share / targets, itself included if it is a target, and
//! otherwise uniformly to the other terminals (which may be targets too). Other sources are uniform.
//!
//! # Not modelled
//! Targets of different weight; hot spots that move.
//!
//! # Validation
//! `traffic/tests/conformance.rs`: valid destinations, drawn as often as the distribution says, for targets, others and
//! targets that send to themselves. No rows of a peer.

use super::uniform::{Others, Uniform};
use super::{Destinations, PatternModel};
use crate::{Population, below};
use rand_pcg::Pcg32;
use rand_pcg::rand_core::Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_units::Refusal;

/// A share of the packets of some sources to a few targets; the rest uniform.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HotSpot {
    /// Terminals that attract packets, all alike.
    pub targets: Vec<u32>,
    /// Terminals that send to the targets (default: all).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sources: Option<Vec<u32>>,
    /// Share of the packets of these sources that go to a random target, 0 to 1 (default 1).
    #[serde(default = "all")]
    pub share: f64,
}

fn all() -> f64 {
    1.0
}

impl PatternModel for HotSpot {
    type To = Spots;

    fn build(&self, population: &Population, path: &str) -> Result<Spots, Refusal> {
        members(&self.targets, population.terminals, &format!("{path}.targets"))?;
        let is_hot = match &self.sources {
            Some(sources) => members(sources, population.terminals, &format!("{path}.sources"))?,
            None => vec![true; population.terminals as usize],
        };
        if !(0.0..=1.0).contains(&self.share) {
            let what = format!("a share of {} of the packets", self.share);
            return Err(Refusal::new(format!("{path}.share"), what, "write a number from 0 to 1"));
        }
        let others = Uniform { include_self: false }.build(population, path)?;
        let threshold = (self.share * 2f64.powi(32)) as u64;
        Ok(Spots { targets: self.targets.clone(), is_hot, share: self.share, threshold, others })
    }

    fn examples() -> Vec<Self> {
        let some = Some(vec![0, 5, 40]);
        let new = |(sources, share)| Self { targets: vec![5, 9, 60], sources, share };
        [(None, 0.25), (None, 1.0), (some, 0.25)].map(new).into()
    }
}

/// Which terminals are in a list; refuses an empty list, ids out of range and repeated ids.
fn members(list: &[u32], terminals: u32, path: &str) -> Result<Vec<bool>, Refusal> {
    if list.is_empty() {
        return Err(Refusal::new(path, "the list is empty", "write at least one terminal id"));
    }
    let mut is_member = vec![false; terminals as usize];
    for &terminal in list {
        match is_member.get_mut(terminal as usize) {
            Some(member) if !*member => *member = true,
            Some(_) => {
                let what = format!("terminal {terminal} is listed twice");
                return Err(Refusal::new(path, what, "list each terminal once: all of them weigh the same"));
            }
            None => {
                let what = format!(
                    "no terminal {terminal}: a pattern numbers the terminals of its job from 0, and this job has {terminals}"
                );
                let help = format!("write 0 to {}: places in the job's own list of terminals", terminals - 1);
                return Err(Refusal::new(path, what, help));
            }
        }
    }
    Ok(is_member)
}

/// The targets and who sends to them.
#[derive(Debug, Clone)]
pub struct Spots {
    targets: Vec<u32>,
    is_hot: Vec<bool>,
    share: f64,
    /// `share` of the 2^32 values of a draw.
    threshold: u64,
    others: Others,
}

impl Destinations for Spots {
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

    fn share_below(&self, source: u32, end: u32) -> f64 {
        let share = if self.is_hot[source as usize] { self.share } else { 0.0 };
        let below = self.targets.iter().filter(|&&target| target < end).count();
        share * below as f64 / self.targets.len() as f64 + (1.0 - share) * self.others.share_below(source, end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build(targets: &[u32], sources: Option<&[u32]>, share: f64) -> Result<Spots, Refusal> {
        let population = Population::of(5);
        HotSpot { targets: targets.to_vec(), sources: sources.map(<[_]>::to_vec), share }.build(&population, "p")
    }

    #[test]
    fn a_listed_source_shares_its_packets() {
        let spots = build(&[0, 3], Some(&[1]), 0.5).unwrap();
        // Source 1: 1/2 * 1/2 to each target, and 1/2 * 1/4 to each of the four others.
        assert_eq!(spots.distribution(1), [(0, 0.375), (2, 0.125), (3, 0.375), (4, 0.125)]);
        assert_eq!(spots.distribution(3), [(0, 0.25), (1, 0.25), (2, 0.25), (4, 0.25)]);
    }

    #[test]
    fn a_target_may_send_to_itself() {
        assert_eq!(build(&[3], None, 1.0).unwrap().distribution(3), [(3, 1.0)]);
    }

    #[test]
    fn refuses_lists_and_shares_that_mean_nothing() {
        let path = |built: Result<Spots, Refusal>| built.unwrap_err().path;
        assert_eq!(path(build(&[], None, 1.0)), "p.targets");
        assert_eq!(path(build(&[5], None, 1.0)), "p.targets");
        assert_eq!(path(build(&[2, 2], None, 1.0)), "p.targets");
        assert_eq!(path(build(&[2], Some(&[]), 1.0)), "p.sources");
        assert_eq!(path(build(&[2], None, 1.5)), "p.share");
        assert_eq!(path(build(&[2], None, f64::NAN)), "p.share");
    }
}
