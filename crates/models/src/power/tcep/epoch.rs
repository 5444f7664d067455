//! The actions of an agent at the end of an epoch of its router, in their order. At the end of a deactivation epoch, an activation epoch
//! also ends.

use super::agent::{RouterAgent, Team};
use super::link::Want;
use weft_api::agents::Channels;
use weft_api::state::LinkState;

impl Team {
    /// Called when an activation epoch of router `r` ends.
    pub(super) fn end_epoch(&mut self, channels: &mut dyn Channels, r: usize) {
        self.routers[r].moved = false;
        let long = self.epochs(channels, r).is_multiple_of(self.rules.ratio);
        if channels.is_dead(r) {
            return self.begin_epoch(channels, r, long); // a failed router does nothing, but its epochs stay in step
        }
        let activates = self.judge_activations(channels, r) || self.ask_to_activate(channels, r);
        self.let_go(channels, r);
        self.succeed(channels, r);
        if long {
            self.rotate(channels, r);
            let judged = self.judge_deactivations(channels, r, activates);
            if !activates && !judged && self.rules.config.deactivate {
                self.ask_to_deactivate(channels, r);
            }
        }
        self.begin_epoch(channels, r, long);
    }

    /// True if the ends of epochs have no effect at router `r` as long as no packet moves. Then no request of the router is open, and its
    /// links carried nothing in this deactivation epoch. No link can be switched off, and none must be switched on. Always false in runs
    /// with faults or a moving hub.
    pub(super) fn has_nothing_to_do(&self, channels: &dyn Channels, r: usize) -> bool {
        let config = &self.rules.config;
        let asks = |agent: &RouterAgent| agent.activating.is_some() || agent.deactivating.is_some();
        let agent = &self.routers[r];
        if self.faults || config.rotate_hub > 0 || agent.moved || agent.crowded.is_some() || asks(agent) {
            return false;
        }
        let mut outputs = self.rules.managed.iter().flat_map(|&d| self.outputs(r, d));
        outputs.all(|o| self.is_still(channels, o))
            && self.most_needed(channels, r).is_none()
            && (!config.deactivate || self.candidates(channels, r).is_empty())
    }

    /// True if the link of output `o` is on or off, and no request about it is open. Its traffic counters must also be unchanged in the
    /// present activation epoch and deactivation epoch.
    fn is_still(&self, channels: &dyn Channels, o: usize) -> bool {
        let (link, counts) = (&self.links[o], self.counts(channels, o));
        let is_counted = [link.short, link.long] == [counts; 2] && [link.virtually, link.around] == [0; 2];
        let is_asked = link.end.asked.is_some() || link.activate.is_some() || link.deactivate.is_some();
        let is_settled = matches!(link.end.state, LinkState::On | LinkState::Off);
        is_settled && is_counted && !is_asked && !link.was_crowded
    }

    /// Begins the next epoch: stores the counters of all links, and marks the links that were above the high-water mark. `long`: true if a
    /// deactivation epoch begins as well.
    fn begin_epoch(&mut self, channels: &dyn Channels, r: usize, long: bool) {
        let rules = self.rules.clone();
        for &d in &rules.managed {
            for o in self.outputs(r, d) {
                let (counts, mark) = (self.counts(channels, o), self.mark(channels, o));
                let link = &mut self.links[o];
                link.was_crowded = f64::from(counts.since(link.short).sent) > mark;
                (link.short, link.virtually, link.around) = (counts, 0, 0);
                if long {
                    link.long = counts;
                }
            }
        }
        self.routers[r].crowded = None;
    }

    /// Handles the case in which both ends of a link have sent the same request, so they agree. The request of one end becomes void, and
    /// the request of the other end gets an answer. Returns the output of the link if this end must send the answer.
    pub(super) fn cross(&mut self, r: usize, want: Want) -> Option<usize> {
        let asked = match want {
            Want::Activate => self.routers[r].activating.map(|(o, _)| o),
            Want::Deactivate => self.routers[r].deactivating,
        };
        let crosses = |&o: &usize| match want {
            Want::Activate => self.links[o].activate.is_some_and(|ask| ask.yours.is_none()),
            Want::Deactivate => self.links[o].deactivate.is_some(),
        };
        let o = asked.filter(crosses)?;
        let (_, own, c) = self.ends(o);
        let (link, agent) = (&mut self.links[o], &mut self.routers[r]);
        let void = link.end.crossed(want, own < c);
        match want {
            Want::Activate if void => link.activate = None,
            Want::Deactivate if void => link.deactivate = None,
            Want::Activate => agent.activating = None,
            Want::Deactivate => agent.deactivating = None,
        }
        (!void).then_some(o)
    }
}
