//! A shortcut for idle time: the cycle loop skips cycles in which nothing happens.
//!
//! # When it applies
//!
//! A block is *quiet* if no head, source or stream has work to do in this cycle, and no queue is set aside. A quiet block skips the cycles
//! before its next event. A block is *idle* if nothing is in flight: no packet, credit, control packet, or note about queues set aside. All
//! credits have then returned. Only a source, a timer of an agent or a fault can end this state. A timer does not end the state if the
//! agent declares that the end of the timer changes nothing (`Agents::rests`). A source or timer that is due later than its calendar wheel
//! reaches has an earlier entry in the wheel, but this entry does not limit the skip. Therefore an idle network skips any number of cycles
//! at once (`engine/src/network/idle.rs`).
//!
//! # State after the shortcut
//!
//! The result is the state that the plain loop would have after the skipped cycles, so no records need an update. If routers post numbers
//! on the board, the last cycles before an event are not skipped. In these cycles routers post, so that the board equals that of the plain
//! loop.

use super::Shortcut;
use super::facts::Facts;
use crate::block::{Block, Reach, Routers};
use crate::net::Net;
use weft_api::state::{NO_JOB, NONE};
use weft_api::workload::NOT_DUE;

/// Marker type for the shortcut that the header of this file describes.
pub struct IdleTime;

impl Shortcut for IdleTime {
    const SKIPS: &'static str = "cycles in which nothing happens";

    fn applies(_facts: &Facts) -> bool {
        true
    }
}

impl<const W: usize, const V: usize> Block<W, V> {
    /// True if no head, source or stream has work to do in this cycle. An event can be due all the same.
    #[inline(always)]
    pub(crate) fn is_quiet(&self) -> bool {
        let Reach { routers: Routers { fabric, beside }, interfaces } = &self.reach;
        fabric.requests.active.is_empty()
            && interfaces.busy.is_empty()
            && beside.shortcuts.streams.are_quiet()
            && fabric.set_asides.are_quiet()
    }

    /// The first cycle from now on in which an event is due; `until` if no event is due before that cycle. The block must be quiet.
    #[inline]
    pub(crate) fn next_event(&self, net: &Net, until: u64) -> u64 {
        let Reach { routers: Routers { fabric, beside }, interfaces } = &self.reach;
        let now = fabric.now;
        let mut next = fabric.wires.flits.next(now, until);
        next = fabric.wires.credits.next(now, next);
        next = interfaces.alarms.next(now, next);
        if next == now {
            return now; // the most frequent case
        }
        next = next.min(interfaces.next_act.max(now));
        next = fabric.buffers.turning.next(now, next);
        next = interfaces.deliveries.next(now, next);
        next = fabric.wires.paces.events.next(now, next);
        next = beside.policy.control.arriving.next(now, next);
        next = beside.policy.power.next(now, next);
        next = fabric.set_asides.notes.next(now, next);
        next = fabric.ideal.returned.next(now, next);
        next = next.min(beside.policy.faults.next(now));
        if let Some(history) = &fabric.wires.history {
            next = history.next(now, next);
        }
        if let Some(board) = &net.common.board {
            next = next.min(board.next(now));
        }
        if beside.observers.watch.is_idle() { next } else { now }
    }

    /// True if packets of the block are in flight, or have been created and wait at their terminal.
    pub(crate) fn has_packets(&self) -> bool {
        self.reach.routers.fabric.buffers.packets.in_use() > 0
    }

    /// True if nothing is in flight, and agents wait only for timers.
    pub(crate) fn nothing_is_under_way(&self) -> bool {
        let Reach { routers: Routers { fabric, beside }, interfaces } = &self.reach;
        self.is_quiet()
            && !self.has_packets()
            && fabric.wires.flits.is_empty()
            && fabric.wires.credits.is_empty()
            && fabric.buffers.turning.is_empty()
            && fabric.set_asides.notes.is_empty()
            && fabric.ideal.returned.is_empty()
            && interfaces.deliveries.is_empty()
            && fabric.wires.paces.stand_still()
            && fabric.wires.history.as_ref().is_none_or(|history| history.is_empty())
            && beside.policy.agents_wait_until().is_some()
            && beside.observers.watch.is_idle()
    }

    /// The first cycle in which a source without a packet may create one, or in which sources act; `u64::MAX` if there is no such cycle.
    /// Does not include packets that later deliveries will cause.
    pub(crate) fn next_created(&self) -> u64 {
        let Reach { routers: Routers { fabric, .. }, interfaces } = &self.reach;
        // a terminal with queues that checks its sources in this cycle has no alarm yet: `rest` sets the alarm
        if interfaces.queues.each > 0 && !interfaces.busy.is_empty() {
            return fabric.now;
        }
        let free = interfaces.terminals.iter().filter(|terminal| terminal.job != NO_JOB && terminal.packet == NONE);
        free.map(|terminal| terminal.due).min().unwrap_or(NOT_DUE).min(interfaces.next_act)
    }

    /// The first cycle from now on in which an idle block has work. The engine skips all earlier cycles at once.
    pub(crate) fn idle_until(&mut self, net: &Net) -> u64 {
        let mut until =
            self.next_created().min(self.reach.routers.beside.policy.faults.next(self.reach.routers.fabric.now));
        if self.reach.routers.beside.policy.power.timers.next() < until {
            until = until.min(self.next_effect_of_timers(net));
        }
        let Some(board) = &net.common.board else { return until };
        // stops early enough that routers can still post in the cycles before `until`
        let links_are_free = self
            .reach
            .routers
            .fabric
            .wires
            .outs
            .iter()
            .all(|out| (out.next_free.wrapping_sub(self.reach.routers.fabric.now as u32) as i32) <= 0);
        if links_are_free { until.saturating_sub(board.kept_for()) } else { self.reach.routers.fabric.now }
    }

    /// The next cycle in which the end of a timer can change something, according to the agents.
    fn next_effect_of_timers(&mut self, net: &Net) -> u64 {
        let mut periods = self.reach.routers.beside.policy.power.timers.periods();
        self.reach.with_agents(net, |agents, channels| {
            let all = periods.iter_mut().enumerate();
            all.for_each(|(who, period)| *period = agents.rests(who, channels).unwrap_or(0));
        });
        self.reach.routers.beside.policy.power.timers.note_periods(periods);
        self.reach.routers.beside.policy.power.timers.next_effect()
    }

    /// Moves the clock of an idle block to cycle `now`. The block must have no work before that cycle.
    pub(crate) fn jump(&mut self, net: &Net, now: u64) {
        self.reach.routers.beside.policy.power.timers.jump(now);
        self.sleep_on(net, now);
    }

    /// Moves the clock to cycle `now`. Sets new alarms for sources that are not due yet. No source may be due before `now`.
    pub(crate) fn sleep_on(&mut self, net: &Net, now: u64) {
        let Reach { routers: Routers { fabric, .. }, interfaces } = &mut self.reach;
        let mut asleep = interfaces.alarms.take_all();
        fabric.now = now;
        if net.alarms_lapse {
            // some alarms were replaced after deliveries, so a terminal can occur several times
            asleep.sort_unstable();
            asleep.dedup();
            asleep.retain(|&t| interfaces.is_idle(t as usize));
        }
        asleep.retain(|&t| interfaces.terminals[t as usize].due < NOT_DUE);
        for t in asleep {
            interfaces.terminals[t as usize].alarm = 0;
            interfaces.sleep(net, t as usize, (now, now));
        }
    }
}
