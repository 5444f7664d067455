//! The agents of `fewest_links`: they count in each block the flits on detours. The planner reads the counts.

use crate::api::agents::Agents;
use crate::base::kept::Kept;

/// Flits of one channel since the run began (modulo 2^32).
#[derive(Debug, Clone, Copy, Default, Kept)]
pub(super) struct Detours {
    /// Whose direct way it is, but which take a detour.
    pub avoided: u32,
    /// Which take it for a hop of a detour.
    pub taken: u32,
}

/// Counters of one block, a pair for each channel.
#[derive(Debug, Kept)]
pub(super) struct Ledger {
    #[kept(each)]
    channels: Vec<Detours>,
}

impl Ledger {
    pub fn new(channels: usize) -> Self {
        Self { channels: vec![Detours::default(); channels] }
    }

    pub fn of(&self, channel: usize) -> Detours {
        self.channels[channel]
    }
}

impl Agents for Ledger {
    fn goes_around(&mut self, _now: u64, over: usize, flits: u16, direct: Option<usize>) {
        let add = |count: &mut u32| *count = count.wrapping_add(flits.into());
        add(&mut self.channels[over].taken);
        if let Some(direct) = direct {
            add(&mut self.channels[direct].avoided);
        }
    }

    fn not_around(&mut self, channel: usize) {
        let taken = &mut self.channels[channel].taken;
        *taken = taken.wrapping_sub(1);
    }
}
