//! What an agent does at the end of an epoch, in order. Every deactivation epoch ends together with an activation
//! epoch.

use super::agent::Team;
use super::link::Want;
use weft_api::agents::Channels;

impl Team {
    /// An activation epoch of router `r` ends.
    pub(super) fn end_epoch(&mut self, channels: &mut dyn Channels, r: usize) {
        self.routers[r].moved = false;
        self.routers[r].epochs += 1;
        let long = self.routers[r].epochs.is_multiple_of(self.rules.ratio);
        if channels.is_dead(r) {
            return self.begin_epoch(channels, r, long); // it does nothing, but its epochs stay in step with the others
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

    /// The next epoch begins: notes where the counters stand, and which links were above the high-water mark. `long`: a
    /// deactivation epoch begins, too.
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

    /// If both ends of a link have asked each other for the same, they agree: the request of one end is void, and that
    /// of the other is answered. Returns the output if this end is the one that answers.
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
