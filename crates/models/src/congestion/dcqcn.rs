//! DCQCN: routers set ECN marks on packets, with a probability that rises with the queue length. A receiver notifies the source of a marked
//! packet, and the source cuts its rate. After the cut, a timer and a byte counter raise the rate in steps.
//!
//! # Source
//! Y. Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015, with the parameters of Y. Zhu et al.,
//! "ECN or Delay: Lessons Learnt from Analysis of DCQCN and TIMELY", CoNEXT 2016, at 40 Gb/s.
//! # Parameters
//! `mark_from`, `mark_to` \[bytes\], `mark_share`: the probability of a mark is 0 up to `mark_from`. The probability of a mark rises to
//! `mark_share` at `mark_to`, and is 1 above `mark_to`. `notify_every` \[time\]: shortest time between two notifications of a receiver to
//! the source of a flow. `gain`: g, the gain of the estimate alpha. `alpha_timer` \[time\]: time without a notification after which alpha
//! is multiplied by 1 - g. `rise_timer` \[time\], `rise_bytes` \[bytes\]: the rate of a flow recovers by one step whenever `rise_timer` has
//! passed, and whenever `rise_bytes` were sent. `fast_recovery`: F, the number of steps of fast recovery. Steps by time and steps by bytes
//! have separate counters. Until one of these two counters reaches F, the target rate of a flow does not change. `increase` \[bandwidth\]:
//! the amount by which the target rate rises with each step from F on. `hyper_increase` \[bandwidth\]: replaces `increase` when both
//! counters have reached F. The amount is multiplied by the number of steps by which the slower counter exceeds F - 1. Without
//! `hyper_increase`, the target rate continues to rise by `increase`. `least_rate` \[bandwidth\]: lowest rate of a flow.
//! # Guarantees
//! A rate cut uses the value that alpha had before the notification. A flow loses its rate limit when its rate is within a thousandth of
//! the line rate. For a flow without a rate limit, the next notification starts with alpha = 1. The gap after a packet depends on the rate
//! of its flow when the packet began.
//! # Not modelled
//! Priority of notifications over other packets: notifications wait in the same queues. Pause frames. A repetition of notifications that a
//! failed router has discarded.
//! # Validation
//! `conformance/src/congestion.rs` checks the bounds of rates, the conservation of packets, and runs with faults.
//! `engine/tests/congestion.rs` checks that the rates of 2, 4 and 10 sources are at the fixed point of the fluid model (of the second
//! paper). If every mark causes a notification, the queue that 4 sources cause is as long as in the fluid model. The same file tests fair
//! shares of 2, 8 and 32 sources. With one notification in 50 us, the queues of 2, 4 and 10 sources are 26.3, 55.1 and 67.2 KB long. The
//! fluid model predicts 20.2, 41.8 and 122.6 KB. In Weft, marks within 50 us after a cut have no effect, which the fluid model ignores. The
//! rates of 10 sources oscillate. 32 sources together use 94.4 % of the bottleneck's bandwidth.

use super::{check_share, flits, flits_per_cycle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use weft_api::congestion::{CongestionModel, Control, FlowMemory, LineSite};
use weft_units::{Bandwidth, Bits, Refusal, Time};

const PATH: &str = "congestion_control.dcqcn";

/// Routers set ECN marks, and receivers notify the sources of marked packets. A notified source cuts its rate, and then raises it again in
/// steps (DCQCN).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Dcqcn {
    /// Queue length at an output up to which no packet is marked.
    pub mark_from: Bits,
    /// Queue length above which every packet is marked.
    pub mark_to: Bits,
    /// Probability of a mark at a queue length of `mark_to`.
    pub mark_share: f64,
    /// Shortest time between two notifications from a receiver to the source of a flow.
    pub notify_every: Time,
    /// Gain g of the estimate alpha, the share of marked packets.
    pub gain: f64,
    /// Time without a notification after which the estimate alpha shrinks.
    pub alpha_timer: Time,
    /// Time between two recovery steps that the timer causes in a flow.
    pub rise_timer: Time,
    /// Amount of data that a flow sends between two recovery steps that the byte counter causes.
    pub rise_bytes: Bits,
    /// Number F of recovery steps: until the timer or the byte counter has caused F steps, the target rate does not change.
    pub fast_recovery: u32,
    /// Increase of the target rate per step, when the timer or the byte counter has caused F recovery steps.
    pub increase: Bandwidth,
    /// Increase of the target rate per step, when the timer and the byte counter have both caused F recovery steps. Default: the target
    /// rate continues to rise by `increase`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hyper_increase: Option<Bandwidth>,
    /// Lowest rate of a flow.
    pub least_rate: Bandwidth,
}

impl Default for Dcqcn {
    fn default() -> Self {
        let time = |text: &str| text.parse().expect("a time");
        let size = |text: &str| text.parse().expect("a size");
        let rate = |text: &str| text.parse().expect("a bandwidth");
        Self {
            mark_from: size("5KB"),
            mark_to: size("200KB"),
            mark_share: 0.01,
            notify_every: time("50us"),
            gain: 1.0 / 256.0,
            alpha_timer: time("55us"),
            rise_timer: time("55us"),
            rise_bytes: size("10MB"),
            fast_recovery: 5,
            increase: rate("40Mb/s"),
            hyper_increase: None,
            least_rate: rate("10Mb/s"),
        }
    }
}

impl CongestionModel for Dcqcn {
    fn build(&self, site: &LineSite) -> Result<Option<Arc<dyn Control>>, Refusal> {
        let path = |key: &str| format!("{PATH}.{key}");
        check_share(self.mark_share, &path("mark_share"))?;
        check_share(self.gain, &path("gain"))?;
        if self.mark_to.0 < self.mark_from.0 {
            let what = format!("{} is less than mark_from, {}", self.mark_to, self.mark_from);
            return Err(Refusal::new(path("mark_to"), what, format!("write {} or more", self.mark_from)));
        }
        site.check_reached(self.mark_from, &path("mark_from"))?;
        let (least, line) = (flits_per_cycle(site, self.least_rate, &path("least_rate"))?, site.line.per_cycle());
        if least > line {
            let what = format!("{} is above {line} flits per cycle, the rate of a terminal's link", self.least_rate);
            return Err(Refusal::new(path("least_rate"), what, "write a rate below that of the link"));
        }
        let increase = flits_per_cycle(site, self.increase, &path("increase"))?;
        let hyper = self.hyper_increase.map(|rate| flits_per_cycle(site, rate, &path("hyper_increase")));
        Ok(Some(Arc::new(Rates {
            ramp: (flits(site, self.mark_from), flits(site, self.mark_to), self.mark_share),
            interval: self.notify_every.cycles_above_zero(site.cycle_fs, &path("notify_every"))?,
            gain: self.gain,
            alpha_timer: self.alpha_timer.cycles_above_zero(site.cycle_fs, &path("alpha_timer"))?,
            rise_timer: self.rise_timer.cycles_above_zero(site.cycle_fs, &path("rise_timer"))?,
            rise_flits: (flits(site, self.rise_bytes).round() as u64).max(1),
            fast_recovery: self.fast_recovery,
            increase,
            hyper: hyper.transpose()?,
            least,
            line,
        })))
    }

    fn examples() -> Vec<Self> {
        let rate = |text: &str| Some(text.parse().expect("a bandwidth"));
        let time = |text: &str| text.parse().expect("a time");
        let size = |text: &str| text.parse().expect("a size");
        let early = Self {
            mark_from: size("16B"),
            mark_to: size("128B"),
            mark_share: 0.5,
            notify_every: time("200ns"),
            alpha_timer: time("1us"),
            rise_timer: time("1us"),
            rise_bytes: size("4KB"),
            ..Self::default()
        };
        vec![
            Self::default(),
            Self { hyper_increase: rate("200Mb/s"), mark_share: 1.0, ..Self::default() },
            Self { hyper_increase: rate("2Gb/s"), ..early },
        ]
    }
}

/// The parameters of the congestion control, in cycles and flits.
#[derive(Debug)]
struct Rates {
    /// (from, to, probability): between the queue lengths `from` and `to` [flits], the probability of a mark rises from 0 to `probability`.
    ramp: (f64, f64, f64),
    interval: u64,
    gain: f64,
    alpha_timer: u64,
    rise_timer: u64,
    rise_flits: u64,
    fast_recovery: u32,
    increase: f64,
    hyper: Option<f64>,
    least: f64,
    line: f64,
}

impl Rates {
    /// Handles all timers of a flow that ended in cycle `now` or before.
    fn advance(&self, flow: &mut FlowMemory, now: u64) {
        while flow.decays_at <= now {
            flow.share *= 1.0 - self.gain;
            flow.decays_at += self.alpha_timer;
        }
        while flow.rises_at <= now {
            flow.rises_at += self.rise_timer;
            flow.by_time += 1;
            self.rise(flow);
        }
    }

    /// Raises the rate of a flow by one recovery step.
    fn rise(&self, flow: &mut FlowMemory) {
        let (fewer, more) = (flow.by_time.min(flow.by_size), flow.by_time.max(flow.by_size));
        if more >= self.fast_recovery {
            flow.target += match self.hyper {
                Some(hyper) if fewer >= self.fast_recovery => hyper * f64::from(fewer - self.fast_recovery + 1),
                Some(_) | None => self.increase,
            };
        }
        flow.target = flow.target.min(self.line);
        flow.rate = (flow.rate + flow.target) / 2.0;
    }

    /// True if the flow needs no rate limit, because its rate is within a thousandth of the line rate.
    fn is_free(&self, flow: &FlowMemory) -> bool {
        flow.rate >= self.line * 0.999
    }
}

impl Control for Rates {
    fn marks(&self, queued: u32) -> f64 {
        let (from, to, height) = self.ramp;
        let queued = f64::from(queued);
        if queued <= from {
            0.0
        } else if queued > to {
            1.0
        } else {
            height * (queued - from) / (to - from)
        }
    }

    fn interval(&self) -> u64 {
        self.interval
    }

    fn begin(&self, now: u64) -> FlowMemory {
        let (decays_at, rises_at) = (now + self.alpha_timer, now + self.rise_timer);
        FlowMemory { rate: self.line, target: self.line, share: 1.0, decays_at, rises_at, ..FlowMemory::default() }
    }

    fn notified(&self, flow: &mut FlowMemory, now: u64) {
        self.advance(flow, now);
        let cut = (flow.rate * (1.0 - flow.share / 2.0)).max(self.least);
        *flow = FlowMemory {
            target: flow.rate,
            rate: cut,
            share: (1.0 - self.gain) * flow.share + self.gain,
            decays_at: now + self.alpha_timer,
            rises_at: now + self.rise_timer,
            ..FlowMemory::default()
        };
    }

    fn sends(&self, flow: &mut FlowMemory, now: u64, flits: u16) -> Option<f64> {
        self.advance(flow, now);
        flow.sent += u64::from(flits);
        while flow.sent >= self.rise_flits {
            flow.sent -= self.rise_flits;
            flow.by_size += 1;
            self.rise(flow);
        }
        if self.is_free(flow) { None } else { Some(f64::from(flits) / flow.rate) }
    }

    fn rate(&self, flow: &FlowMemory, now: u64) -> f64 {
        let mut there = *flow;
        self.advance(&mut there, now);
        there.rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_api::state::rate::Rate;

    /// At a line rate of 40 Gb/s and 1,000 bytes per flit, a flit takes 200 ns, which is one cycle.
    fn site() -> LineSite {
        LineSite { cycle_fs: 200_000_000, flit_bits: 8000, line: Rate::ONE, most_queued: 1000 }
    }

    fn control() -> Arc<dyn Control> {
        Dcqcn::default().build(&site()).unwrap().unwrap()
    }

    #[test]
    fn marks_rise_from_5_to_200_kilobytes() {
        // 5 KB are 5 flits and 200 KB are 200 flits; at a queue length halfway between them, the probability is half of 1 %
        let chances = [5, 6, 102, 200, 201].map(|queued| control().marks(queued));
        assert_eq!(chances[0], 0.0);
        assert!((chances[1] - 0.01 / 195.0).abs() < 1e-12 && (chances[2] - 0.01 * 97.0 / 195.0).abs() < 1e-12);
        assert_eq!((chances[3], chances[4]), (0.01, 1.0));
    }

    #[test]
    fn the_gap_to_the_target_halves_in_fast_recovery_and_alpha_halves_in_177_intervals() {
        let control = control();
        let mut flow = control.begin(0);
        control.notified(&mut flow, 0);
        // alpha is 1: the first notification halves the rate
        assert_eq!((flow.target, flow.rate), (1.0, 0.5));
        // the timer of 55 us takes 275 cycles; each time it ends, it halves the distance of 0.5 between the rate and the target
        for k in 1..5u64 {
            assert!((control.rate(&flow, k * 275) - (1.0 - 0.5f64.powi(1 + k as i32))).abs() < 1e-12);
        }
        // (1 - 1/256)^177 is 0.5002, so alpha falls below a half with the 178th interval of 55 us: 177 intervals are 9.74 ms
        let rates = Dcqcn::default();
        let mut flow =
            FlowMemory { share: 1.0, decays_at: 275, rises_at: u64::MAX, rate: 1.0, ..FlowMemory::default() };
        assert!(control.sends(&mut flow, 177 * 275, 1).is_none());
        assert!((flow.share - (1.0 - rates.gain).powi(177)).abs() < 1e-12 && (flow.share - 0.5).abs() < 0.001);
    }

    #[test]
    fn the_target_grows_from_the_fifth_event_on() {
        let control = control();
        let mut flow = control.begin(0);
        flow.share = 1.0;
        control.notified(&mut flow, 0);
        control.notified(&mut flow, 0);
        let target = flow.target;
        // 40 Mb/s are a thousandth of 40 Gb/s
        control.sends(&mut flow, 4 * 275, 1);
        assert!((flow.target - target).abs() < 1e-12);
        control.sends(&mut flow, 6 * 275, 1);
        assert!((flow.target - target - 0.002).abs() < 1e-12, "events 5 and 6");
    }
}
