//! Computes the utilisation of the busiest channel at the loads of a spec, if this utilisation depends only on the paths of packets.

use super::Walker;
use crate::network::fullest::{Buffers, Fullest};
use crate::network::spec::{Job, Spec};
use weft_api::policy::LinkKnowledge;
use weft_api::routing::Decides;
use weft_api::workload::Amount;
use weft_kernel::net::Net;
use weft_topology::Peer;

/// Maximum number of steps; a step takes about 30 ns. The engine executes these steps before every run, so they must be
/// few compared with the run.
const MAX_STEPS: u64 = 1 << 18;

/// The channel with the highest utilisation under the loads of the spec. `None` in these cases: packets choose paths by queues or by the
/// states of links, a link or router fails, the load changes or depends on the network, or the paths need more than [`MAX_STEPS`] steps.
///
/// The utilisation depends only on the share of packets on each path, not on their order. Therefore the function also works for a routing
/// that chooses an intermediate or hops at random for each packet.
pub(crate) fn fullest(spec: &Spec, net: &Net) -> Option<Fullest> {
    let needs = &net.needs;
    let paths_are_fixed = needs.decides == Decides::Ahead && needs.sensor.is_none();
    let about_links = spec.routing.knowledge_of_links().iter().any(|known| *known != LinkKnowledge::Nothing);
    let links_matter = about_links && spec.switches_links();
    let lasts = spec.traffic.jobs.iter().enumerate().all(|(j, job)| is_steady(spec, net, j, job));
    if !paths_are_fixed || links_matter || !spec.faults.is_empty() || !lasts {
        return None;
    }
    let mut walker = Walker::new(spec, net);
    walker.most = MAX_STEPS;
    walker.vc_classes = net.needs.classes.iter().copied().max().unwrap_or(1).max(1).into();
    walker.load_of_class = vec![0.0; walker.load.len() * walker.vc_classes];
    if walker.peak == 0.0 || walker.cuts.is_some() {
        return None;
    }
    walker.walk_all()?;
    Some(walker.fullest())
}

/// Whether the job offers its load as a random process with a constant rate during the whole run.
fn is_steady(spec: &Spec, net: &Net, j: usize, job: &Job) -> bool {
    let one = Amount { packets: 1, flits: job.packets.longest().into() };
    // a source that sends one flit in every cycle is not random: queues do not grow even if its load equals the capacity
    let is_random = job.packets.longest() > 1 || job.phases[0].load.iter().all(|&load| load < 1.0);
    let answers = net.jobs[j].workload.in_all(one) != one;
    let follows = spec.traffic.jobs[j].workload.model().follows_network();
    job.batch.is_none() && job.phases.len() == 1 && is_random && !answers && !follows
}

/// A channel whose rate is limited by its buffers, because the buffers are shorter than the round trip of a credit.
#[derive(Debug, Clone, Copy)]
struct ByBuffers {
    /// Mean offered load of the channel as a share of its rate, as in [`Fullest`].
    share: f64,
    /// The highest rate that the channel's buffers allow [flits/cycle].
    rate: f64,
    buffers: Buffers,
}

impl ByBuffers {
    /// The channel with the higher utilisation of two channels of a link class. The result has the longer of the two
    /// required buffer lengths.
    fn worse(self, other: Self) -> Self {
        let fuller = if other.share > self.share { other } else { self };
        let needed = self.buffers.needed.max(other.buffers.needed);
        Self { buffers: Buffers { needed, ..fuller.buffers }, ..fuller }
    }
}

impl Walker<'_> {
    /// The channel with the highest utilisation on all paths that were followed.
    fn fullest(&self) -> Fullest {
        let (graph, rates) = (&self.spec.graph, &self.net.common.rates);
        let rate = |class: u8| rates[usize::from(class)].per_cycle();
        let mut link = (self.peak / rate(0), rate(0));
        let mut by_class: Vec<Option<ByBuffers>> = vec![None; self.spec.links.len()];
        let ports = (0..graph.routers()).flat_map(|router| graph.ports(router));
        let loads = self.load.iter().zip(self.load_of_class.chunks(self.vc_classes));
        for ((load, of_class), port) in loads.zip(ports).filter(|(_, port)| port.peer != Peer::Unused) {
            let rate = rate(port.class);
            let share = self.peak * load / rate;
            link = if share > link.0 { (share, rate) } else { link };
            let classes = [port.class, graph.way_back(*port)].map(usize::from);
            let starved = of_class.iter().enumerate();
            let starved = starved.filter_map(|(of, load)| self.by_buffers(classes, of as u8, self.peak * load));
            by_class[classes[0]] = starved.chain(by_class[classes[0]].take()).reduce(ByBuffers::worse);
        }
        let mut short: Vec<ByBuffers> = by_class.into_iter().flatten().filter(|by| by.share > link.0).collect();
        short.sort_by(|a, b| b.share.total_cmp(&a.share));
        let (share, rate) = short.first().map_or(link, |by| (by.share, by.rate));
        Fullest { share, rate, buffers: short.into_iter().map(|by| by.buffers).collect() }
    }

    /// The utilisation of a channel if the buffers of one VC class limit its rate; `None` if these buffers are long enough. `class`: class
    /// of the channel's link. `back`: class of the opposite channel. `load`: load of this VC class [flits/cycle].
    fn by_buffers(&self, [class, back]: [usize; 2], vc_class: u8, load: f64) -> Option<ByBuffers> {
        let (link, round_trip) = (&self.net.links[class], self.spec.credit_round_trip(class, back));
        let needed = self.spec.links[class].rate.most_flits_in(round_trip);
        let places = u64::from(link.room_of(vc_class));
        (load > 0.0 && places < needed).then(|| {
            let rate = places as f64 / round_trip as f64;
            let vcs = places / u64::from(link.buffer);
            ByBuffers { share: load / rate, rate, buffers: Buffers { class, needed: needed.div_ceil(vcs) } }
        })
    }
}
