//! The flows that congestion control limits, and counts of marks and notifications.

use std::collections::BTreeMap;
use weft_api::base::kept::{Kept, Value};
use weft_api::congestion::{Control, FlowMemory, MarkCount};

/// The state of a flow whose rate is limited.
#[derive(Debug, Clone, Copy, Default, Value)]
pub struct Flow {
    pub memory: FlowMemory,
    /// The fraction of a cycle by which the last packet of the flow started too early, because packets start in whole cycles. The gap
    /// before the next packet is longer by this fraction.
    pub owed: f64,
}

/// The limited flows of the terminals in a block; empty without congestion control.
#[derive(Debug, Default, Kept)]
pub struct Limits {
    /// The limited flows, indexed by terminal (of this block) and destination.
    pub limited: BTreeMap<(u32, u32), Flow>,
    /// Indexed by terminal (of this block) and source of a flow to the terminal: the first cycle in which the terminal may send this source
    /// another notification.
    pub quiet_until: BTreeMap<(u32, u32), u64>,
    pub counts: MarkCount,
}

impl Limits {
    /// Limits the flow from terminal `t` to terminal `to`. Called when a notification arrives in cycle `now` that a packet of this flow was
    /// marked.
    pub fn notified(&mut self, control: &dyn Control, (t, to): (u32, u32), now: u64) {
        let begin = || Flow { memory: control.begin(now), owed: 0.0 };
        let flow = self.limited.entry((t, to)).or_insert_with(begin);
        control.notified(&mut flow.memory, now);
    }

    /// Called when terminal `t` begins to send a packet to `to` in cycle `now`. Returns the first cycle in which the terminal may begin the
    /// next packet of this flow; `None` if the flow is not limited.
    pub fn sends(&mut self, control: &dyn Control, (t, to): (u32, u32), now: u64, flits: u16) -> Option<u64> {
        let flow = self.limited.get_mut(&(t, to))?;
        let Some(gap) = control.sends(&mut flow.memory, now, flits) else {
            self.limited.remove(&(t, to));
            return None;
        };
        let gap = gap + flow.owed;
        flow.owed = gap.fract();
        Some(now + gap as u64)
    }

    /// Called when a marked packet of a flow reaches terminal `t` in cycle `now`. Returns true if the terminal must send a notification to
    /// the source.
    pub fn notifies(&mut self, control: &dyn Control, (t, from): (u32, u32), now: u64) -> bool {
        let until = self.quiet_until.entry((t, from)).or_insert(0);
        let due = *until <= now;
        if due {
            *until = now + control.interval();
        }
        due
    }
}
