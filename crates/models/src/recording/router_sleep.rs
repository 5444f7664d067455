//! Sleep of routers: counts the cycles in which all channels on which a router sends were off at the same time. In these cycles, the parts
//! of the router that its channels share (a switch, a clock, a board) could have slept.
//!
//! # Source
//! None. The table gives an upper bound on the energy that sleeping routers could save in addition to their links.
//! # Parameters
//! None.
//! # Guarantees
//! Every cycle of the measured window is counted exactly. Only managed channels count.
//! # Not modelled
//! The state of the channels that lead to the router, which belong to other routers. Time and energy that a router would need to go to
//! sleep and to wake. The power of a sleeping router, which is set in `power.router_price.asleep`. For that price a router sleeps only if
//! the channels that lead to it are also off.
//! # Validation
//! `engine/tests/link_states.rs` checks that the counts equal those that follow, cycle by cycle, from the recording `link_states`, for any
//! number of blocks. In an idle network, all routers must sleep in every cycle of the window under `idle_timeout`, and in none under
//! `always_on`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_api::base::kept::Kept;
use weft_api::recording::{
    Column, Heading, Kind, NetworkSite, Recorded, Recorder, RecorderSite, Recording, Sender, Table, TableInfo,
};
use weft_api::state::LinkState;
use weft_units::Refusal;

/// For each router: number of cycles in the window in which all its managed channels were off at the same time, saved as
/// router_sleep.parquet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RouterSleep {}

impl Recording for RouterSleep {
    const TABLE: TableInfo = TableInfo {
        meaning: "time in which all managed channels of a router were off at once",
        rows: "A row per router, over the measured window. The managed channels of a router are those on which it sends. Under a policy \
               that never switches a channel off, no router sleeps: all cycles and shares are 0.",
        bounded: false,
        in_summary: false,
        columns: || {
            let asleep = "cycles in which all these channels were off at once; 0 if there are no such channels";
            vec![
                Heading::new("router", Kind::Router, "", "number of the router, or its id in a graph file"),
                Heading::new("managed_channels", Kind::Count, "channels", "outgoing channels that the policy manages"),
                Heading::new("asleep_cycles", Kind::Count, "cycles", asleep),
                Heading::new("asleep_share", Kind::Float, "", "share of these cycles in the window"),
            ]
        },
    };
    type Part = Routers;

    fn part(&self, _: &NetworkSite, block: &RecorderSite, _: &str) -> Result<Routers, Refusal> {
        let router = |&id: &u32| Router { id, channels: 0, lit: 0, since: 0, asleep: 0 };
        let mut routers: Vec<_> = block.routers.iter().map(router).collect();
        let of = |channel: &Sender| channel.router.filter(|_| channel.managed);
        for (channel, router) in block.channels.iter().filter_map(|channel| Some((channel, of(channel)?))) {
            let router = &mut routers[router as usize];
            router.channels += 1;
            router.lit += u32::from(channel.state != LinkState::Off);
        }
        Ok(Routers { of: block.channels.iter().map(of).collect(), routers, over: false })
    }

    fn table(&self, parts: Vec<Routers>, run: &Recorded) -> Table {
        let mut routers: Vec<_> = parts.into_iter().flat_map(|part| part.routers).collect();
        routers.sort_unstable_by_key(|router| router.id);
        let counts = |of: fn(&Router) -> u64| Column::Counts(routers.iter().map(of).collect());
        let share = |router: &Router| router.asleep as f64 / run.window.max(1) as f64;
        Table::whole([
            ("router", Column::Routers(routers.iter().map(|router| Some(router.id)).collect())),
            ("managed_channels", counts(|router| router.channels.into())),
            ("asleep_cycles", counts(|router| router.asleep)),
            ("asleep_share", Column::Floats(routers.iter().map(share).collect())),
        ])
    }

    fn examples() -> Vec<Self> {
        vec![Self {}]
    }
}

#[derive(Debug, Kept)]
struct Router {
    /// The router, numbered in the whole network.
    #[kept(fixed)]
    id: u32,
    /// Number of managed channels on which the router sends.
    #[kept(fixed)]
    channels: u32,
    /// Number of the managed channels that are not off at present.
    lit: u32,
    /// First cycle of the present sleep, or first cycle of the window if the window began later. Valid only while all managed channels are
    /// off.
    since: u64,
    /// Number of cycles of sleep in the window so far, without the time after `since`.
    asleep: u64,
}

impl Router {
    /// If all managed channels are off, adds the cycles from `since` up to `now` to `asleep`.
    fn settle(&mut self, now: u64) {
        if self.lit == 0 {
            self.asleep += now - self.since;
            self.since = now;
        }
    }
}

/// The routers of a block.
#[derive(Debug, Kept)]
pub struct Routers {
    /// For each channel of the block: its router; `None` if the channel is not managed.
    #[kept(fixed)]
    of: Vec<Option<u32>>,
    #[kept(each)]
    routers: Vec<Router>,
    /// True if the measured window has ended.
    over: bool,
}

impl Recorder for Routers {
    fn changed(&mut self, channel: usize, from: LinkState, to: LinkState, now: u64) {
        let Some(router) = self.of[channel].filter(|_| !self.over) else { return };
        let router = &mut self.routers[router as usize];
        match (from == LinkState::Off, to == LinkState::Off) {
            (true, false) => {
                router.settle(now);
                router.lit += 1;
            }
            (false, true) => {
                router.lit -= 1;
                router.since = now;
            }
            (true, true) | (false, false) => {}
        }
    }

    fn window_begins(&mut self, now: u64) {
        self.routers.iter_mut().for_each(|router| (router.since, router.asleep) = (now, 0));
    }

    fn window_ends(&mut self, now: u64) {
        self.over = true;
        self.routers.iter_mut().filter(|router| router.channels > 0).for_each(|router| router.settle(now));
    }
}
