//! Congestion control of InfiniBand. A table contains delays between the packets of a flow. A notification raises the flow's index into the
//! table, and a timer lowers the index.
//!
//! # Source
//! InfiniBand Architecture Specification, volume 1, annex A10; the tables are those of OpenSM (`ib_types.h`). The defaults of `increase`
//! (1), `limit` (127) and `timer` (150 units of 1.024 us) are those of E. G. Gran et al., "First Experiences with Congestion Control in
//! InfiniBand Hardware", IPDPS 2010.
//! # Parameters
//! `threshold` \[bytes\]: queue length at an output above which packets are marked. `marking_rate`: mean number of packets between two
//! marks. `increase`: number of entries by which a notification raises the index. `limit`: last entry of the table. `timer` \[time\]: time
//! after which the index goes down by one. `shift`: entry i delays the next packet by i / 2^shift times the duration of a packet.
//! # Guarantees
//! A flow with index i sends at 1 / (1 + i / 2^shift) of the line rate. Every marked packet causes a notification. If N equal flows share a
//! bottleneck, each must have index (N - 1) 2^shift. Therefore the last entry of the table limits N.
//! # Not modelled
//! Marks that depend on the input, and victim masks. Separate control for each service level: in this model a flow is a pair of terminals.
//! A lowest index above 0 (CCTI_Min). A repetition of notifications that a failed router has discarded.
//! # Validation
//! `conformance/src/congestion.rs` checks the bounds of rates, the conservation of packets, and runs with faults.
//! `engine/tests/congestion.rs` checks that 32 sources at one bottleneck have fair shares. These sources together use 98.7 % of the
//! bottleneck's bandwidth, 8 sources use 83.8 %, and 2 sources use 26.0 %. Fewer sources use less of the bandwidth, because marks come in
//! bursts, and each mark raises the index of a flow.

use super::{check_share, flits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use weft_api::congestion::{CongestionModel, Control, FlowMemory, LineSite};
use weft_units::{Bits, Refusal, Time};

const PATH: &str = "congestion_control.infiniband";

/// Routers set ECN marks. Each source has an index into a table of delays between packets, and notifications raise this index (InfiniBand).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Infiniband {
    /// Queue length at an output above which packets are marked.
    pub threshold: Bits,
    /// Mean number of packets between two marks.
    pub marking_rate: u32,
    /// Number of entries by which a notification raises the index of a flow.
    pub increase: u32,
    /// Last entry of the table of delays.
    pub limit: u32,
    /// Time after which the index of a flow goes down by one.
    pub timer: Time,
    /// Entry i of the table delays the next packet by i / 2^shift times the duration of a packet.
    pub shift: u32,
}

impl Default for Infiniband {
    fn default() -> Self {
        Self {
            threshold: "16KB".parse().expect("a size"),
            marking_rate: 0,
            increase: 1,
            limit: 127,
            timer: "153.6us".parse().expect("a time"),
            shift: 1,
        }
    }
}

impl CongestionModel for Infiniband {
    fn build(&self, site: &LineSite) -> Result<Option<Arc<dyn Control>>, Refusal> {
        let path = |key: &str| format!("{PATH}.{key}");
        if self.increase == 0 || self.limit == 0 {
            let key = if self.increase == 0 { "increase" } else { "limit" };
            return Err(Refusal::new(path(key), "with 0, no source is ever slowed down", "write 1 or more"));
        }
        if self.shift > 3 {
            let what = format!("{} is too large: an entry has 2 bits for this number", self.shift);
            return Err(Refusal::new(path("shift"), what, "write 0 to 3"));
        }
        site.check_reached(self.threshold, &path("threshold"))?;
        let chance = 1.0 / (1.0 + f64::from(self.marking_rate));
        check_share(chance, &path("marking_rate"))?;
        Ok(Some(Arc::new(Delays {
            threshold: flits(site, self.threshold),
            chance,
            increase: self.increase,
            limit: self.limit,
            timer: self.timer.cycles_above_zero(site.cycle_fs, &path("timer"))?,
            step: 1.0 / f64::from(1u32 << self.shift),
            line: site.line.per_cycle(),
        })))
    }

    fn examples() -> Vec<Self> {
        let early = Self {
            threshold: "32B".parse().expect("a size"),
            timer: "500ns".parse().expect("a time"),
            ..Self::default()
        };
        vec![Self::default(), Self { marking_rate: 3, shift: 3, ..Self::default() }, early]
    }
}

/// The parameters of the congestion control, in cycles and flits.
#[derive(Debug)]
struct Delays {
    threshold: f64,
    chance: f64,
    increase: u32,
    limit: u32,
    timer: u64,
    /// Additional delay for each step of the index \[durations of a packet\].
    step: f64,
    line: f64,
}

impl Delays {
    fn advance(&self, flow: &mut FlowMemory, now: u64) {
        while flow.decays_at <= now && flow.index > 0 {
            flow.index -= 1;
            flow.decays_at += self.timer;
        }
        if flow.index == 0 {
            flow.decays_at = flow.decays_at.max(now + 1);
        }
    }

    fn share(&self, flow: &FlowMemory) -> f64 {
        1.0 / (1.0 + f64::from(flow.index) * self.step)
    }
}

impl Control for Delays {
    fn marks(&self, queued: u32) -> f64 {
        if f64::from(queued) > self.threshold { self.chance } else { 0.0 }
    }

    fn interval(&self) -> u64 {
        0
    }

    fn begin(&self, now: u64) -> FlowMemory {
        FlowMemory { decays_at: now + self.timer, ..FlowMemory::default() }
    }

    fn notified(&self, flow: &mut FlowMemory, now: u64) {
        self.advance(flow, now);
        if flow.index == 0 {
            flow.decays_at = now + self.timer;
        }
        flow.index = (flow.index + self.increase).min(self.limit);
    }

    fn sends(&self, flow: &mut FlowMemory, now: u64, flits: u16) -> Option<f64> {
        self.advance(flow, now);
        if flow.index == 0 { None } else { Some(f64::from(flits) / (self.line * self.share(flow))) }
    }

    fn rate(&self, flow: &FlowMemory, now: u64) -> f64 {
        let mut there = *flow;
        self.advance(&mut there, now);
        self.line * self.share(&there)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_api::state::rate::Rate;

    #[test]
    fn a_flow_goes_up_by_notifications_and_down_by_the_timer() {
        // A cycle has 200 ns, so the timer of 153.6 us takes 768 cycles. Index i adds a delay of i / 2 times the duration of the packet
        let site = LineSite { cycle_fs: 200_000_000, flit_bits: 8000, line: Rate::ONE, most_queued: 1000 };
        let control = Infiniband::default().build(&site).unwrap().unwrap();
        let mut flow = control.begin(100);
        (0..4).for_each(|_| control.notified(&mut flow, 100));
        // with index 4, the rate is 1 / (1 + 4 / 2)
        assert!((control.rate(&flow, 100) - 1.0 / 3.0).abs() < 1e-12);
        assert!((control.rate(&flow, 100 + 768) - 1.0 / 2.5).abs() < 1e-12);
        assert_eq!(control.sends(&mut flow, 100 + 3 * 768, 2), Some(3.0), "entry 1: 2 flits and half of their time");
        assert_eq!(control.sends(&mut flow, 100 + 4 * 768, 2), None);
        (0..1000).for_each(|_| control.notified(&mut flow, 5000));
        assert!((control.rate(&flow, 5000) - 1.0 / 64.5).abs() < 1e-12, "entry 127 is the last");
    }
}
