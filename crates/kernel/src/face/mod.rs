//! The face of a block, which is the interface that the engine uses. The interface is the same for all widths (numbers of ports and VCs)
//! for which a block is compiled.
//!
//! Outside of this crate, no code depends on the widths ([`widths`]). The engine describes a block ([`build`]), advances the block window
//! by window, and reads its records ([`views`]). The cycle loop never calls a function of the face.

pub mod build;
mod of_widths;
mod rest;
pub mod views;
pub mod widths;

use crate::block::{Interfaces, Mail, Observers, PolicySide};
use crate::net::Net;
use crate::parts::set_aside::SetAsides;
use crate::shortcuts::Shortcuts;
use crate::shortcuts::steady::Flow;
pub use of_widths::{Damaged, OfWidths};
use std::any::Any;
use std::fmt::Debug;
use views::{Input, Output, Place, Records};
use weft_api::agents::BlockSite;
use weft_api::base::kept::Kept;
use weft_api::policy::Policy;
use weft_api::recording::Recorder;
use weft_api::state::{Account, LinkState};
use weft_api::subnetworks::Views;

/// A block compiled for one pair of widths: number of words in a mask of ports, and number of VCs of a port.
pub trait AnyBlock: Any + Debug + Send + Kept {
    // ---- parts and records
    fn interfaces(&self) -> &Interfaces;
    fn set_asides(&self) -> &SetAsides;
    fn policy(&self) -> &PolicySide;
    fn policy_mut(&mut self) -> &mut PolicySide;
    fn views(&self) -> &Views;
    fn views_mut(&mut self) -> &mut Views;
    fn observers(&self) -> &Observers;
    fn observers_mut(&mut self) -> &mut Observers;
    fn shortcuts(&self) -> &Shortcuts;
    fn shortcuts_mut(&mut self) -> &mut Shortcuts;
    /// The records whose types do not depend on the widths.
    fn records(&self) -> Records<'_>;
    fn routers(&self) -> usize;
    fn router(&self, r: usize) -> Place;
    fn inputs(&self) -> usize;
    fn input(&self, i: usize) -> Input<'_>;
    /// Number of output units: one for each port, and one for each injection channel after them.
    fn outputs(&self) -> usize;
    fn output(&self, o: usize) -> Output<'_>;

    // ---- time
    /// Advances to cycle `until`.
    fn advance(&mut self, net: &Net, until: u64);
    /// Mail for each other block, collected during the last window.
    fn outbox(&self) -> &[Mail];
    fn outbox_mut(&mut self) -> &mut [Mail];
    /// Receives the mail that another block has sent to this block.
    fn take(&mut self, net: &Net, mail: &mut Mail);
    /// Brings the records of the block up to date with the work that shortcuts have skipped.
    fn settle(&mut self, net: &Net);
    /// Updates 32-bit stamps and counters of cycles and flits before they can wrap unnoticed. The engine must call this function at least
    /// every 2^30 cycles.
    fn keep_counters(&mut self, now: u64);
    /// Stops all sources, so that no terminal creates a packet from now on.
    fn stop_sources(&mut self);
    /// True if the sources have created all packets that are due before cycle `until`.
    fn sources_finished(&self, until: u64) -> bool;
    /// True if every index in a record refers to an existing record.
    fn numbers_are_right(&self, net: &Net) -> bool;
    /// Panics unless the block is in its initial state, without packets and with all credits returned.
    fn assert_empty(&self, net: &Net);

    // ---- the power policy
    /// Creates the agents of the policy for this block, and starts them.
    fn add_agents(&mut self, net: &Net, policy: &dyn Policy, site: &BlockSite);
    /// Sets the state of channel `o` in cycle 0 to a state other than on.
    fn begin_in(&mut self, o: usize, state: LinkState);
    fn change_state(&mut self, net: &Net, o: usize, to: LinkState, now: u64);
    /// Opens channel `o`. Heads that wait for the channel try again.
    fn open_channel(&mut self, o: usize);
    fn close_channel(&mut self, net: &Net, o: usize);
    /// Flits per cycle that channel `o` can carry at its present rate.
    fn bandwidth(&self, net: &Net, o: usize) -> f64;
    /// True if the agents will do nothing until a packet moves.
    fn is_policy_at_rest(&self) -> bool;
    /// True if the agents have changed anything other than timers since the last call.
    fn agents_wrote(&mut self) -> bool;
    /// The next cycle in which the agents act if no packet or credit arrives; `None`: they act in this cycle.
    fn agents_wait_until(&self) -> Option<u64>;

    // ---- counts and recordings
    /// Starts the window with cycle `now`.
    fn begin_window(&mut self, now: u64);
    /// Ends the window of the recordings. The last cycle of the window is the one before `now`.
    fn end_window(&mut self, now: u64);
    /// The accounts of all channels, for a window whose last cycle is the one before `now`.
    fn accounts(&self, now: u64) -> Vec<Account>;
    /// Number of cycles in which channels have been off since their accounts began, summed over all channels.
    fn off_cycles(&self, now: u64) -> u64;
    /// Takes the samples of the recordings that are due in this cycle.
    fn sample(&mut self, now: u64);
    /// Ends the recordings, and returns the parts that this block has recorded.
    fn end_recordings(&mut self, now: u64) -> Vec<Box<dyn Recorder>>;
    /// Records where watched packets are when the run ends.
    fn end_watch(&mut self, net: &Net);

    // ---- idle time (`shortcuts/idle.rs`): see the methods of `Block`
    fn is_quiet(&self) -> bool;
    fn has_packets(&self) -> bool;
    fn nothing_is_under_way(&self) -> bool;
    fn next_created(&self) -> u64;
    fn idle_until(&mut self, net: &Net) -> u64;
    /// Reads the notes from other blocks, which can make sources due. Needed if nodes have terminals in several blocks.
    fn take_notes(&mut self, net: &Net);
    fn jump(&mut self, net: &Net, now: u64);

    // ---- steady flows (`shortcuts/steady.rs`)
    /// The number of flits in flight, and the smallest number of flits that any terminal still has to send of its packet; `None` if
    /// anything other than body flits and credits is in flight.
    fn flows(&self) -> Option<(usize, u16)>;
    /// Stores the state of the block before this cycle, for later calls of [`Self::flow_since`].
    fn remember(&mut self);
    fn forget(&mut self);
    /// If the present state equals the stored state, the flits that have moved since then; otherwise `None`.
    fn flow_since(&self) -> Option<Flow>;
    fn periods_left(&self, flow: &Flow) -> u64;
    fn longest_wait(&self, flow: &Flow) -> u64;
    fn flow_on(&mut self, net: &Net, flow: &Flow, periods: u64, cycles: u64);
}

impl dyn AnyBlock {
    /// All output units, in the form that the engine reads.
    pub fn outs(&self) -> impl Iterator<Item = Output<'_>> {
        (0..self.outputs()).map(|o| self.output(o))
    }

    pub fn ins(&self) -> impl Iterator<Item = Input<'_>> {
        (0..self.inputs()).map(|i| self.input(i))
    }

    pub fn places(&self) -> impl Iterator<Item = Place> + '_ {
        (0..self.routers()).map(|r| self.router(r))
    }
}
