//! The agents of the threshold policies `trunk` and `width`. A unit is a trunk or a single link. At each end of a unit, an agent measures
//! the utilisation of the outgoing direction. The two ends exchange messages on the side channel of the unit's first working link.

use super::end::{Deed, End, Ladder, Phase, Reply, Say, Wish};
use super::forecast::Forecast;
use super::rule::{Per, Rule};
use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;
use weft_api::agents::{Agents, BlockSite, Breakage, Channels};
use weft_api::base::kept::Kept;
use weft_api::control::{Arrival, Frame, Wire};
use weft_api::policy::ControlPlan;
use weft_topology::Peer;

/// The meaning of the levels of a unit, which the policy defines.
pub(crate) trait Levels: Debug + Send + Sync {
    /// The highest level of a unit that has `links` links.
    fn top(&self, links: usize) -> u16;
    /// Number of links of a unit that carry packets at level `level`.
    fn carrying(&self, level: u16, links: usize) -> usize;
    /// Carries out action `deed` on the channels `unit` of a unit. `moved`: the lower level and the higher level of the change.
    fn act(&self, deed: Deed, moved: Range<u16>, unit: &[usize], channels: &mut dyn Channels);
    /// True if the links between the two levels of `moved` have drained.
    fn is_drained(&self, moved: Range<u16>, unit: &[usize], channels: &dyn Channels) -> bool;
}

/// Limits on messages. The agents send no control packets, only messages on side channels: at most one per cycle in each direction of a
/// unit.
pub(crate) const CONTROL: ControlPlan = ControlPlan { kinds: &[], queue: 0, per_router: 1 };

/// The state of one end of a unit, with its measurements.
#[derive(Debug, Kept)]
struct Unit {
    /// The channels on which this end of the unit sends. The timers of the unit are set on the first of these channels.
    #[kept(fixed)]
    channels: Vec<usize>,
    #[kept(fixed)]
    ladder: Ladder,
    end: End,
    forecast: Forecast,
    /// The cycle in which the present window ends.
    window_ends: u64,
    /// For each channel: the low 32 bits of its count of flits at the beginning of the window.
    #[kept(each)]
    counted: Vec<u32>,
    /// For each channel: number of present faults due to which it does not work, including faults of the routers at its ends.
    #[kept(each)]
    faults: Vec<u8>,
}

impl Unit {
    /// The working channels among the first `carrying` ones, each with its entry of `counted`.
    fn whole(&self, carrying: usize) -> impl Iterator<Item = (&usize, &u32)> {
        let links = self.channels.iter().zip(&self.counted).zip(&self.faults).take(carrying);
        links.filter(|&(_, &faults)| faults == 0).map(|(link, _)| link)
    }
}

/// The definition of a unit, the utilisation that is compared with the thresholds, and whether the policy predicts bursts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct By {
    pub per: Per,
    /// True if each link is a unit; false if each trunk is a unit.
    pub alone: bool,
    /// True if the policy predicts bursts at regular intervals.
    pub foresees: bool,
}

/// The ends of all units in a block.
#[derive(Debug, Kept)]
pub(crate) struct Units {
    #[kept(fixed)]
    rule: Rule,
    #[kept(fixed)]
    by: By,
    #[kept(fixed)]
    levels: Arc<dyn Levels>,
    /// For each channel: index in `units` of its unit; `None` without a unit.
    #[kept(fixed)]
    of: Vec<Option<u32>>,
    #[kept(each)]
    units: Vec<Unit>,
}

impl Units {
    pub fn new(rule: Rule, by: By, levels: Arc<dyn Levels>, site: &BlockSite) -> Self {
        let (mut of, mut units) = (vec![None; site.channels.len()], Vec::new());
        for (o, channel) in site.channels.iter().enumerate().filter(|(_, channel)| channel.managed) {
            let Peer::Router { router: far, .. } = channel.peer else { continue };
            let router = &site.routers[channel.router as usize];
            let (base, trunk) = (router.base as usize, channel.trunk);
            if !by.alone && o != base + usize::from(trunk.first) {
                continue;
            }
            let members = || trunk.members().map(|port| base + usize::from(port)).collect();
            let channels: Vec<usize> = if by.alone { vec![o] } else { members() };
            let ladder = rule.ladder(levels.top(channels.len()));
            let end = End::new(router.id < far, ladder.top);
            channels.iter().for_each(|&o| of[o] = Some(units.len() as u32));
            units.push(Unit {
                counted: vec![0; channels.len()],
                faults: vec![0; channels.len()],
                channels,
                ladder,
                end,
                forecast: Forecast::default(),
                window_ends: 0,
            });
        }
        Self { rule, by, levels, of, units }
    }

    /// Calls `does` for the unit of channel `o`, if it has one.
    fn with(&mut self, o: usize, channels: &mut dyn Channels, does: impl FnOnce(&mut Work)) {
        let Some(unit) = self.of.get(o).copied().flatten() else { return };
        let unit = &mut self.units[unit as usize];
        does(&mut Work { rule: &self.rule, by: self.by, levels: &*self.levels, unit, channels });
    }
}

impl Agents for Units {
    fn start(&mut self, channels: &mut dyn Channels) {
        for k in 0..self.units.len() {
            self.with(self.units[k].channels[0], channels, |work| work.begin_window());
        }
    }

    fn timers(&mut self, ended: &[u32], channels: &mut dyn Channels) {
        ended.iter().for_each(|&o| self.with(o as usize, channels, |work| work.timer()));
    }

    fn receive(&mut self, arrival: Arrival, channels: &mut dyn Channels) {
        self.with(arrival.port as usize, channels, |work| work.hear(Say::of(arrival.frame.body)));
    }

    fn fault(&mut self, fault: Breakage, channels: &mut dyn Channels) {
        self.with(fault.channel as usize, channels, |work| {
            let Unit { channels, faults, .. } = &mut *work.unit;
            let Some(member) = channels.iter().position(|&o| o == fault.channel as usize) else { return };
            faults[member] = if fault.breaks { faults[member] + 1 } else { faults[member] - 1 };
        });
    }

    /// At the lowest level, the end of a window without flits has no effect, if no link has failed and no burst is expected.
    fn rests(&self, who: usize, channels: &dyn Channels) -> Option<u64> {
        let unit = &self.units[(*self.of.get(who)?)? as usize];
        let is_whole = unit.faults.iter().all(|&faults| faults == 0);
        let is_silent = unit.channels.iter().zip(&unit.counted).all(|(&o, &counted)| channels.flits(o) == counted);
        (unit.end.is_settled() && is_whole && !unit.forecast.expects() && is_silent).then_some(self.rule.window)
    }
}

/// An end of a unit with access to the channels of its block, for one call.
struct Work<'a> {
    rule: &'a Rule,
    by: By,
    levels: &'a dyn Levels,
    unit: &'a mut Unit,
    channels: &'a mut dyn Channels,
}

impl Work<'_> {
    fn timer(&mut self) {
        match self.unit.end.phase {
            Phase::Rests => self.end_window(),
            Phase::Drains => {
                if self.channels.now() >= self.unit.window_ends {
                    self.end_window();
                }
                self.look_at_drain();
            }
            Phase::Lowers | Phase::Raises => self.apply(End::moved),
            // this timer is out of date: it was set before the leader cancelled the change
            Phase::Returns => {}
        }
    }

    fn hear(&mut self, say: Say) {
        self.apply(|end, ladder| end.heard(say, ladder));
    }

    /// Passes an event to the state machine of this end, and carries out its reaction.
    fn apply(&mut self, event: impl FnOnce(&mut End, Ladder) -> Reply) {
        let Unit { ladder, end, .. } = &mut *self.unit;
        let (level, before) = (end.level, end.phase);
        let Reply { deed, say } = event(end, *ladder);
        let (after, down, up) = (end.phase, ladder.below(level)..level, level..ladder.above(level));
        if let Some(deed) = deed {
            let (moved, time) = match deed {
                Deed::Close | Deed::Reopen | Deed::EndLower => (down, None),
                Deed::BeginLower => (down, Some(self.rule.sleep)),
                Deed::BeginRaise => (up, Some(self.rule.wake)),
                Deed::EndRaise => (up, None),
            };
            self.levels.act(deed, moved, &self.unit.channels, self.channels);
            if let Some(time) = time {
                self.set_timer(self.channels.now() + time);
            }
        }
        if let Some(say) = say {
            self.signal(say);
        }
        match after {
            Phase::Rests if before != after => self.begin_window(),
            Phase::Drains if before != after => {
                self.begin_window();
                self.look_at_drain();
            }
            Phase::Rests | Phase::Drains | Phase::Returns | Phase::Lowers | Phase::Raises => {}
        }
    }

    fn set_timer(&mut self, at: u64) {
        self.channels.set_timer(self.unit.channels[0], at);
    }

    fn begin_window(&mut self) {
        let Unit { channels, counted, window_ends, .. } = &mut *self.unit;
        channels.iter().zip(counted).for_each(|(&o, counted)| *counted = self.channels.flits(o));
        *window_ends = self.channels.now() + self.rule.window;
        let at = *window_ends;
        self.set_timer(at);
    }

    fn end_window(&mut self) {
        let (wish, before) = (self.wish(), self.unit.end.phase);
        self.apply(|end, ladder| end.measured(wish, ladder));
        if self.unit.end.phase == before {
            self.begin_window();
        }
    }

    /// The highest level whose links accept packets.
    fn open_level(&self) -> u16 {
        let Unit { end, ladder, .. } = &*self.unit;
        if end.phase == Phase::Drains { ladder.below(end.level) } else { end.level }
    }

    /// Called after a window. Returns the change that this direction requests. If no link works, no level could carry more, so the
    /// direction requests none.
    fn wish(&mut self) -> Wish {
        if self.unit.whole(usize::MAX).next().is_none() {
            return Wish::Stay;
        }
        let own = match self.rule.wish(self.utilisation()) {
            Wish::Less if !self.has_whole_below() => Wish::Stay,
            own => own,
        };
        if !self.by.foresees {
            return own;
        }
        let (now, rule, level) = (self.channels.now(), self.rule, self.open_level());
        let Unit { channels, counted, forecast, ladder, .. } = &mut *self.unit;
        let sent = |(&o, &counted): (&usize, &u32)| f64::from(self.channels.flits(o).wrapping_sub(counted));
        let flits: f64 = channels.iter().zip(&*counted).map(sent).sum();
        forecast.saw(now, flits / (rule.window as f64 * self.channels.bandwidth(channels[0])), rule);
        forecast.wish(own, now, level, (*ladder, rule))
    }

    /// True if, of the links that would carry packets at the next lower level, at least one works.
    fn has_whole_below(&self) -> bool {
        let Unit { channels, ladder, .. } = &*self.unit;
        self.unit.whole(self.levels.carrying(ladder.below(self.open_level()), channels.len())).next().is_some()
    }

    /// Utilisation in the window: the number of flits divided by the number that working open links could have carried. Depending on the
    /// parameter `per`, the utilisation is the mean over these links, or that of the busiest one. It is infinite if no open link works, so
    /// that other links wake.
    fn utilisation(&self) -> f64 {
        let open = || self.unit.whole(self.levels.carrying(self.open_level(), self.unit.channels.len()));
        let of = |(&o, &counted): (&usize, &u32)| {
            let could = self.rule.window as f64 * self.channels.bandwidth(o);
            (f64::from(self.channels.flits(o).wrapping_sub(counted)), could)
        };
        if open().next().is_none() {
            return f64::INFINITY;
        }
        match self.by.per {
            Per::Trunk => {
                let (flits, could) = open().map(of).fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
                flits / could
            }
            Per::Member => open().map(of).map(|(flits, could)| flits / could).fold(0.0, f64::max),
        }
    }

    /// If the closed links have drained, continues the change. Otherwise sets a timer to look again after the latency of a credit, or at
    /// the end of the window if that is earlier.
    fn look_at_drain(&mut self) {
        let Unit { end, ladder, channels, window_ends, .. } = &*self.unit;
        if end.phase != Phase::Drains {
            return;
        }
        let moved = ladder.below(end.level)..end.level;
        let mut at = *window_ends;
        if !end.is_done {
            if self.levels.is_drained(moved, channels, self.channels) {
                self.apply(|end, _| end.drained());
            } else {
                at = at.min(self.channels.now() + self.channels.credit_latency(channels[0]).max(1));
            }
        }
        if self.unit.end.phase == Phase::Drains {
            self.set_timer(at);
        }
    }

    /// Sends message `say` on the side channel of the unit's first working link.
    fn signal(&mut self, say: Say) {
        let o = self.unit.whole(usize::MAX).next().map_or(self.unit.channels[0], |(&o, _)| o);
        let at = self.channels.now() + self.channels.credit_latency(o);
        self.channels.signal(o, at, Wire::SideChannel, Frame { body: say.number(), ..Frame::default() });
    }
}
