//! Ranks the links that a router may switch off, the best first.
//!
//! # Source
//! `outer`: Kim et al., "TCEP", ISCA 2018, Section IV-A, Algorithm 1. `even` is ours.
//!
//! Algorithm 1 concentrates traffic. In the end, k inner routers have links to all others, and the outer routers have links to inner
//! routers only. Packets between outer routers fill the links to the inner routers. But links between inner routers carry little except the
//! traffic between their two ends, and still draw power. Compare the shares of the links that are on in a subnetwork of R routers. Let l be
//! the demand: the number of flits per cycle that a router sends to each other router. With Algorithm 1, links to inner routers have a
//! utilisation U. Then k = R l / U of the R routers are inner, and 1 - (1 - l / U)^2 of the links are on. If instead all links that are on
//! carry the same load, each carries l (2 - f) / f, where f is their share of all links. Therefore a share 2 l / (T + l) of the links is
//! enough for a load T on each link. This second share is the smaller one unless l is small: pairs of routers without a link must also have
//! paths left. Therefore `even` follows Algorithm 1 below a given demand (`from`). From that demand on, any link may go off if, with its
//! traffic, the router's other links stay below the load T (`target`) on average. The link with the least traffic goes off first.

use super::Spares;
use super::agent::Team;
use std::cmp::Reverse;
use weft_api::agents::Channels;
use weft_api::state::LinkState;

/// An active link of a router, with its traffic.
#[derive(Debug, Clone, Copy)]
struct Link {
    output: usize,
    /// Number of flits on the link in the deactivation epoch, in the direction that counts.
    flits: u32,
    /// Number of these flits that were on minimal paths.
    minimal: u32,
}

impl Team {
    /// Numbers of flits on the link of output `o` in the deactivation epoch: of all packets, and of packets on minimal paths.
    pub(super) fn long_load(&self, channels: &dyn Channels, o: usize) -> (u32, u32) {
        self.counts(channels, o).since(self.links[o].long).load(self.rules.config.utilisation)
    }

    /// The links of router `r` that may go off, the best first. Links are sorted by three keys. The first key is the traffic that other
    /// links would have to carry (least first). The second key is the traffic of the link (least first). The third key is the rank of the
    /// member at the other end (highest first; the hub has the lowest).
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

    /// For each active link of a subnetwork, in the order of ranks: the flits that other links would have to carry if it went off. `None`
    /// if the link must stay on.
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

    /// Flits per cycle that a link of subnetwork `d` of router `r` can carry.
    fn bandwidth(&self, channels: &dyn Channels, r: usize, d: usize) -> f64 {
        self.outputs(r, d).next().map_or(1.0, |o| channels.bandwidth(o))
    }

    /// Mean traffic that router `r` sends to each other member of the subnetwork, as a share of a link's bandwidth. Direct traffic is
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
