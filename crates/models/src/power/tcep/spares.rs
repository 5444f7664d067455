//! Finds the links that a router may switch off, and sorts them: the link whose loss costs least comes first.
//!
//! # Source
//! `outer`: Kim et al., "TCEP", ISCA 2018, Section IV-A, Algorithm 1. The rule `even` is ours.
//!
//! The reason for `even` is that Algorithm 1 concentrates traffic. In the end, some inner routers have links to all others, and the outer
//! routers have links to inner routers only. Packets between outer routers fill the links to the inner routers. But a link between two
//! inner routers carries little except the traffic between these two, and still draws power. The following estimate compares the shares of
//! links that are on in a subnetwork of R routers. Let l be the demand: the number of flits per cycle that a router sends to each other
//! router. With Algorithm 1, let the links to inner routers have the utilisation U. Then R l / U of the R routers are inner, and the share
//! 1 - (1 - l / U)^2 of the links is on. If instead all links that are on carry the same load, let f be their share of all links. Each then
//! carries the load l (2 - f) / f. For a load T on each link, a share f = 2 l / (T + l) is therefore enough. This share is smaller than
//! that of Algorithm 1 unless l is small. With small l, f must be larger, because routers without a link must still have a path over
//! another router. Therefore `even` follows Algorithm 1 at demands below `from`. At higher demands, any link may go off if the router's
//! other links could carry its traffic with a mean utilisation below T (`target`). The link with the least traffic goes off first.

use super::Spares;
use super::agent::Team;
use std::cmp::Reverse;
use weft_api::agents::Channels;
use weft_api::state::LinkState;

/// An active link of a router, with its traffic.
#[derive(Debug, Clone, Copy)]
struct Link {
    output: usize,
    /// Number of flits on the link in the deactivation epoch, in the direction that counts (parameter `utilisation`).
    flits: u32,
    /// Number of these flits that were on minimal paths.
    minimal: u32,
}

impl Team {
    /// Number of flits on the link of output `o` in the deactivation epoch, and how many of them were on minimal paths.
    pub(super) fn long_load(&self, channels: &dyn Channels, o: usize) -> (u32, u32) {
        self.counts(channels, o).since(self.links[o].long).load(self.rules.config.utilisation)
    }

    /// The outputs of router `r` whose links may go off, sorted by three keys. The first key is the cost of switching the link off
    /// (`spared`; least first). The second key is all traffic of the link (least first). The third key is the rank of the member at the
    /// other end (highest first; the hub has the lowest rank).
    pub(super) fn candidates(&self, channels: &dyn Channels, r: usize) -> Vec<usize> {
        let mut all = Vec::new();
        for &d in self.rules.managed.iter().filter(|&&d| self.has_whole_hub(channels, r, d)) {
            let on = |o: &usize| self.links[*o].end.state == LinkState::On;
            let outputs = self.by_rank(channels, r, d).map(|c| self.output(r, d, c)).filter(on);
            let link = |output| {
                let (flits, minimal) = self.long_load(channels, output);
                Link { output, flits, minimal }
            };
            let links: Vec<Link> = outputs.map(link).collect();
            let spared = self.spared(channels, r, d, &links);
            for (rank, (link, moved)) in links.iter().zip(spared).enumerate() {
                let fixed = self.is_root(channels, link.output) || self.links[link.output].end.asked.is_some();
                if let Some(moved) = moved.filter(|_| !fixed) {
                    all.push((moved, link.flits, Reverse(rank), link.output));
                }
            }
        }
        all.sort_unstable();
        all.into_iter().map(|(.., o)| o).collect()
    }

    /// For each active link of router `r` in subnetwork `d`, in the order of ranks: the cost [flits] of switching it off. `None` if the
    /// link must stay on. The cost is the traffic on minimal paths, which other links would have to carry. At high demand under `even`, it
    /// is this number plus all flits of the link.
    fn spared(&self, channels: &dyn Channels, r: usize, d: usize, links: &[Link]) -> Vec<Option<u32>> {
        let config = &self.rules.config;
        // number of flits that a link of this subnetwork can carry in a deactivation epoch
        let length = self.long_epoch() * self.bandwidth(channels, r, d);
        let utilisation: Vec<f64> = links.iter().map(|link| f64::from(link.flits) / length).collect();
        let boundary = config.algorithm.boundary(&utilisation, config.high_water);
        let busy = utilisation[..boundary].iter().any(|&u| u > config.high_water / 2.0);
        let kept = |link: &Link| config.guard && busy && self.routers[r].latest[d] == Some(link.output);
        if let Spares::Even { from, target } = config.spares
            && self.demand(channels, r, d, links) >= from
        {
            let all: f64 = utilisation.iter().sum();
            let room = target * (links.len() as f64 - 1.0) - all;
            let fits = |link: &&Link| f64::from(link.minimal) / length <= room && !kept(link);
            return links.iter().map(|link| Some(link).filter(fits).map(|link| link.flits + link.minimal)).collect();
        }
        let outer = |rank: usize, link: &Link| rank >= boundary && !kept(link);
        let least = links.iter().enumerate().map(|(rank, link)| outer(rank, link).then_some(link.minimal));
        least.collect()
    }

    /// Number of cycles of a deactivation epoch.
    fn long_epoch(&self) -> f64 {
        (self.rules.epoch * self.rules.ratio) as f64
    }

    /// Flits per cycle that each link of router `r` in subnetwork `d` can carry.
    fn bandwidth(&self, channels: &dyn Channels, r: usize, d: usize) -> f64 {
        self.outputs(r, d).next().map_or(1.0, |o| channels.bandwidth(o))
    }

    /// Mean traffic that router `r` sends to one other member of subnetwork `d`, as a share of a link's bandwidth. Direct traffic is
    /// measured over the deactivation epoch, and traffic on detours over the last activation epoch.
    fn demand(&self, channels: &dyn Channels, r: usize, d: usize, links: &[Link]) -> f64 {
        let direct = links.iter().map(|link| {
            let gained = self.counts(channels, link.output).since(self.links[link.output].long);
            f64::from(gained.sent.saturating_sub(gained.sent_around))
        });
        let around = self.outputs(r, d).map(|o| f64::from(self.links[o].around));
        let sent = direct.sum::<f64>() / self.long_epoch() + around.sum::<f64>() / self.rules.epoch as f64;
        let sent = sent / self.bandwidth(channels, r, d);
        sent / (f64::from(self.rules.nets.widths[d]) - 1.0).max(1.0)
    }
}
