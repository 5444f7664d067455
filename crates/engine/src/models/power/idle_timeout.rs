//! On/off per direction: a channel that was idle for `idle` goes down, and a packet that wants it wakes it.
//!
//! # Source
//! Zahn et al., HiPINEB 2019 (on/off policy); idle time `t_down = t_transition / rho`.
//! # Parameters
//! idle [time]: how long the channel must have been idle; transition [time]: duration of going down and of waking.
//! # Guarantees
//! Never drops a flit; no flit starts on a channel unless it is `on`; the first packet of a burst waits at most 2 transitions.
//! # Not modelled
//! Retraining errors; partial lane shutdown. Credits travel on a side channel that is never switched off nor billed.
//! # Validation
//! `engine/tests/conservation.rs`: the account of every channel closes, only a channel that is on carries flits, an
//! idle network is in each state for exactly the cycles given; `engine/tests/choosing.rs`: sleeping members of a trunk
//! wake when needed. No rows of a peer: neither has link states.

use crate::models::power::{LinkState, Manager};
use crate::state::OutPort;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_units::{Refusal, Time};

pub const STATES: &[LinkState] = &[LinkState::On, LinkState::Draining, LinkState::Off, LinkState::Waking];

/// On/off per direction: a channel that was idle for `idle` goes down, and a packet that wants it wakes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IdleTimeout {
    /// Idle time after which the channel goes down: nothing queued, nothing on its way to the link.
    pub idle: Time,
    /// Duration of going down and of waking; the channel draws full power and carries nothing.
    pub transition: Time,
}

#[derive(Debug, Clone)]
pub(crate) struct Runtime {
    idle: u64,
    transition: u64,
}

impl IdleTimeout {
    pub(crate) fn build(&self, cycle_fs: u128) -> Result<Runtime, Refusal> {
        let path = "power.policy.idle_timeout";
        let idle = self.idle.cycles(cycle_fs, &format!("{path}.idle"))?;
        let transition = self.transition.cycles(cycle_fs, &format!("{path}.transition"))?;
        for (name, cycles) in [("idle", idle), ("transition", transition)] {
            if cycles == 0 {
                return Err(Refusal::new(format!("{path}.{name}"), "0 cycles", "write at least 1cycle"));
            }
        }
        Ok(Runtime { idle, transition })
    }
}

impl Runtime {
    /// From the last flit to off, and on again.
    pub(crate) fn settling_period(&self) -> u64 {
        self.transition.saturating_mul(2).saturating_add(self.idle)
    }

    pub(crate) fn first_look(&self) -> u64 {
        self.idle
    }

    pub(crate) fn wanted<const V: usize>(&self, m: &mut Manager, o: usize, now: u64, out: &mut OutPort<V>) {
        // on its way down it must finish first; `look` wakes it then
        if out.state == LinkState::Off as u8 {
            m.change(o, out, LinkState::Waking, now);
            m.set_timer(o, now, now + self.transition);
        }
    }

    #[inline(always)]
    pub(crate) fn look<const V: usize>(&self, m: &mut Manager, o: usize, now: u64, out: &mut OutPort<V>) {
        if out.state == LinkState::On as u8 {
            self.look_at_idle(m, o, now, out);
        } else if out.state == LinkState::Draining as u8 {
            m.change(o, out, LinkState::Off, now);
            if out.wanting != 0 {
                self.wanted(m, o, now, out);
            }
        } else if out.state == LinkState::Waking as u8 {
            m.change(o, out, LinkState::On, now);
            out.free = m.all_vcs[o];
            out.next_free = now as u32;
            m.set_timer(o, now, now + self.idle);
        }
    }

    /// Goes down if the last flit left `idle` cycles ago; else looks again when that can first be true.
    #[inline(always)]
    fn look_at_idle<const V: usize>(&self, m: &mut Manager, o: usize, now: u64, out: &mut OutPort<V>) {
        let since_free = (now as u32).wrapping_sub(out.next_free) as i32;
        let held = out.free != m.all_vcs[o] || out.wanting != 0;
        if held || since_free < 0 {
            // it is busy at least until now (held) or until the staged flits have left
            let busy_until = now + u64::from(held).max((-since_free).max(0) as u64);
            m.set_timer(o, now, busy_until + self.idle);
        } else if (since_free as u64) < self.idle {
            m.set_timer(o, now, now - since_free as u64 + self.idle);
        } else {
            out.free = 0;
            m.change(o, out, LinkState::Draining, now);
            m.set_timer(o, now, now + self.transition);
        }
    }
}
