//! The shortcuts that a block uses, and the data that they store.

use crate::parts::bypass::{BypassFlit, BypassTrial};
use crate::parts::profile::{Arrival, Kind, Profile};
use crate::parts::streams::Streams;
use weft_api::agents::Probes;
use weft_api::base::kept::Kept;

/// The shortcuts of a block. Only files of this folder read its data about skipped work. Other files call its methods.
#[derive(Debug, Kept)]
pub struct Shortcuts {
    /// `Net::shortcuts` without the shortcuts that would skip events of which this block's agents are notified.
    #[kept(fixed)]
    pub(super) profile: Profile,
    /// Sequences of uncontended body flits of a packet; used only if packets are long.
    pub(super) streams: Streams,
    /// Scratch: the flits of this cycle that may bypass the allocator.
    #[kept(scratch)]
    pub(super) bypass_flits: Vec<BypassFlit>,
    /// Scratch: true if agents act in this cycle before routers allocate. Heads that choose in every step and may bypass the allocator then
    /// choose after the agents have acted.
    #[kept(scratch)]
    pub(super) chooses_late: bool,
    pub(super) bypass_trial: BypassTrial,
}

impl Shortcuts {
    /// The shortcuts of a block before it has agents. `inputs` and `outputs`: numbers of its input units and output units.
    pub(crate) fn new(profile: Profile, inputs: usize, outputs: usize) -> Self {
        Self {
            profile,
            streams: if profile.has(Kind::Streams) { Streams::new(inputs, outputs) } else { Streams::default() },
            bypass_flits: Vec::with_capacity(if profile.has(Kind::Uncontended) { inputs } else { 0 }),
            chooses_late: false,
            bypass_trial: BypassTrial::default(),
        }
    }

    /// Turns off the shortcuts that would skip events of which the agents are notified.
    pub(crate) fn go_beside(&mut self, probes: Probes) {
        self.profile = self.profile.beside(probes);
        if !self.profile.has(Kind::Streams) {
            self.streams = Streams::default();
        }
    }

    pub fn profile(&self) -> Profile {
        self.profile
    }

    #[inline(always)]
    pub(crate) fn has(&self, kind: Kind) -> bool {
        self.profile.has(kind)
    }

    pub fn streams(&self) -> &Streams {
        &self.streams
    }

    #[inline(always)]
    pub(crate) fn has_streams(&self) -> bool {
        self.streams.are_on()
    }

    #[inline(always)]
    pub(crate) fn arrival(&self, choose: bool) -> Arrival {
        self.profile.arrival(self.bypass_trial.heads_try, choose)
    }

    /// True if arriving heads may try to bypass the allocator at present. A repeated trial (`BypassTrial`) finds out whether this saves
    /// time.
    #[inline(always)]
    pub(crate) fn heads_try_to_bypass(&self) -> bool {
        self.bypass_trial.heads_try
    }

    /// Number of flits that have crossed without contention in the current part of the trial.
    pub fn crossed_uncontended(&self) -> u64 {
        self.bypass_trial.crossed
    }

    /// Lets heads try to bypass the allocator in all cycles, without a trial (for tests).
    pub fn try_to_bypass_without_end(&mut self) {
        self.bypass_trial = BypassTrial::without_end();
    }

    /// Records a flit that has arrived in this cycle and may bypass the allocator.
    #[inline(always)]
    pub(crate) fn may_bypass(&mut self, flit: BypassFlit) {
        self.bypass_flits.push(flit);
    }

    /// The flits of this cycle that may bypass the allocator.
    #[inline(always)]
    pub(crate) fn bypass_flits(&self) -> &[BypassFlit] {
        &self.bypass_flits
    }

    /// Decides, from the results of the trial, whether heads try to bypass the allocator from this cycle on.
    #[inline(always)]
    pub(crate) fn decide_on_bypass(&mut self, now: u64) {
        if self.profile.has(Kind::Uncontended) {
            self.bypass_trial.decide(now);
        }
    }

    /// Records whether agents act in this cycle before the routers allocate.
    #[inline(always)]
    pub(crate) fn choose_late_if(&mut self, agents_act: bool) {
        self.chooses_late = agents_act;
    }

    #[inline(always)]
    pub(crate) fn chooses_late(&self) -> bool {
        self.chooses_late
    }
}
