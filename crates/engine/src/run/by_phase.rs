//! Offered load, accepted load and energy in each phase of a load that changes during the run.

use crate::network::load_readings::{Carried, Reading, Span};
use crate::network::simulation::Simulation;
use crate::network::spec::{Job, Spec};
use crate::run::judge::loads;
use crate::run::outcome::{ChannelCount, Measured, PhaseOutcome};
use crate::run::short_spans::has_transitions;
use weft_api::state::{Account, ChannelEnd};

impl Simulation {
    /// The counts from the start of the run until now.
    pub(crate) fn reading(&self) -> Reading {
        let mut classes: Vec<Account> = Vec::new();
        for block in &self.blocks {
            let accounts = block.accounts(self.now);
            for (out, account) in block.outs().zip(&accounts).filter(|(out, _)| out.kind != ChannelEnd::Unused) {
                let place = 2 * usize::from(out.class) + usize::from(out.kind == ChannelEnd::Injection);
                classes.resize(classes.len().max(place + 1), Account::default());
                classes[place].add(account);
            }
        }
        Reading {
            cycle: self.now,
            accepted: self.accepted(),
            carried: self.carried(),
            classes,
            asleep: self.bundles.at(self.now),
            waiting: self.backlog(self.now).0,
        }
    }

    /// Takes the reading that is due in the present cycle.
    pub(crate) fn read(&mut self) {
        let reading = self.reading();
        self.readings.take(reading);
    }

    /// The results of all load phases in the window, which ended with the reading `last`; empty if the load does not change. `drained`:
    /// whether all packets of the window were delivered. `waiting`: number of packets in source queues when the window began.
    pub(crate) fn phases(&self, spec: &Spec, last: &Reading, drained: bool, waiting: u64) -> Vec<PhaseOutcome> {
        let (tally, end) = (self.tally(), last.cycle);
        let spans = self.readings.spans.iter().filter(|span| span.from < end);
        spans
            .map(|span| {
                let packets = tally.parts.by_phase.of(span.start);
                let before = self.readings.at(span.from).map_or(waiting, |reading| reading.waiting);
                let phase = self.phase(spec, &Span { to: span.to.min(end), ..*span }, last, packets, drained);
                PhaseOutcome { waiting_packets: before, ..phase }
            })
            .collect()
    }

    fn phase(
        &self,
        spec: &Spec,
        span: &Span,
        last: &Reading,
        packets: Option<Measured>,
        drained: bool,
    ) -> PhaseOutcome {
        // this reading was taken earlier than `cycle` by the landing time of flits, so it includes the flits that arrive before `cycle`
        let landed = |cycle: u64| {
            let early = self.readings.at(cycle.saturating_sub(self.readings.landing));
            if cycle >= last.cycle { Some(last) } else { early }
        };
        let accepted = |cycle: u64| landed(cycle).map_or(0, |reading| reading.accepted);
        let carried = |cycle: u64| landed(cycle).map_or_else(Carried::default, |reading| reading.carried);
        let known = |cycle: u64| if cycle >= last.cycle { Some(last) } else { self.readings.at(cycle) };
        let accounts = |cycle: u64| known(cycle).map_or(&[][..], |reading| &reading.classes);
        let asleep = |cycle: u64| known(cycle).map_or(&[][..], |reading| &reading.asleep);
        let (before, after) = (accounts(span.from), accounts(span.to));
        let slept = asleep(span.to).iter().enumerate();
        let of_phase = |(place, account): (usize, &Account)| {
            let mut account = account.clone();
            before.get(place).into_iter().for_each(|before| account.remove(before));
            account
        };
        let of_phase: Vec<Account> = after.iter().enumerate().map(of_phase).collect();
        let packets = packets.expect("a span of every phase");
        let phases: Vec<(&Job, &[f64])> = spec.traffic.jobs.iter().map(|job| (job, loads(job, span.start))).collect();
        let (flits, terminals) = phases.iter().fold((0.0, 0), |(flits, terminals), (_, loads)| {
            (flits + loads.iter().sum::<f64>(), terminals + loads.len())
        });
        let (period, modes) = (self.net.times.policy_repeats, spec.modes.count());
        // there may be no reading at the end of the last phase, because the end is not always known in advance
        let known = |cycle: u64| if landed(cycle).is_some() { cycle } else { span.from };
        let is_whole = |from: &u64| period.is_none_or(|period| (span.to - from).is_multiple_of(period));
        let saturated = match (span.judged_from(period).map(known).filter(is_whole), period) {
            (Some(from), _) => {
                let verdict = self.judge(spec, span.start, span.to - from, (carried(from), carried(span.to)));
                verdict.map(|verdict| verdict.of_span(spec, from, span.to - from, || has_transitions(of_phase.iter())))
            }
            (None, Some(period)) => self.unjudged(spec, span.start, span.to - span.from, period),
            (None, None) => None,
        };
        PhaseOutcome {
            start: span.start,
            from: span.from,
            to: span.to,
            load: flits / f64::from(terminals.max(1) as u32),
            offered_flits: drained.then_some(packets.sums.flits),
            accepted_flits: accepted(span.to) - accepted(span.from),
            saturated,
            packets,
            waiting_packets: 0,
            classes: of_phase.into_iter().enumerate().map(|(place, sums)| of_class(place, sums, modes)).collect(),
            asleep: slept.map(|(b, cycles)| cycles - asleep(span.from).get(b).unwrap_or(&0)).collect(),
        }
    }
}

/// The sums over the channels of a link class that leave routers, or over those that leave terminals. Of the ends of the channels, the
/// result states only whether they are routers.
fn of_class(place: usize, account: Account, modes: usize) -> ChannelCount {
    ChannelCount {
        from: place.is_multiple_of(2).then_some(0),
        from_port: 0,
        to: None,
        to_port: 0,
        class: (place / 2) as u8,
        cycles: account.cycles.for_all(modes),
        flits: account.flits.for_all(modes),
        transitions: account.transitions,
    }
}
