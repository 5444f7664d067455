//! The state of a run besides its network: the present phase and the results so far. A run that continues from a checkpoint starts in the
//! middle of a phase. Therefore this code stores all state that a phase keeps from one advance to the next.

use crate::network::assemble::Division;
use crate::network::load_readings::{Carried, Reading};
use crate::network::simulation::Simulation;
use crate::network::spec::Spec;
use crate::run::marks::Marks;
use crate::run::measure::Progress;
use crate::run::outcome::{ControlCount, Decisions, Outcome, Saturation};
use crate::run::warmup::Settling;
use weft_api::base::kept::{Kept, Reader, Unreadable, Value, Writer};
use weft_api::state::Account;
use weft_topology::Graph;
use weft_units::Refusal;

/// The state of a run from its first cycle on, without its network.
#[derive(Kept)]
pub(crate) struct Course<'a> {
    #[kept(fixed)]
    pub progress: &'a dyn Progress,
    /// Cycles between two checks of the run: progress, interruption and stall.
    #[kept(fixed)]
    pub look: u64,
    /// Number of cycles without a flit-hop after which the network is checked for a stall.
    #[kept(fixed)]
    limit: u64,
    /// The spec, while the trial at the start of the run measures how evenly the threads share the work (`network/evener.rs`); `None` after
    /// the trial.
    #[kept(scratch)]
    pub trial: Option<&'a Spec>,
    /// A new division of the routers into blocks, if the run must start again with it; `None` if the run needs no restart.
    #[kept(scratch)]
    pub division: Option<Division>,
    /// Whether the caller of the engine stopped the run; before it stops, the run writes a checkpoint.
    #[kept(scratch)]
    pub stops: bool,
    /// Expected number of cycles until the end of the window.
    pub expected: u64,
    /// Number of flit-hops at the last check for a stall.
    last_moves: u64,
    /// The cycle of the last check at which the number of flit-hops had grown.
    last_change: u64,
    pub decisions: Decisions,
    /// State of a warm-up whose length depends on the measured latencies.
    pub settling: Option<Settling>,
    /// State that exists after the window has begun.
    pub begun: Option<Begun>,
    /// State that exists after the window has ended, while its packets are delivered.
    pub closed: Option<Closed>,
}

/// State that exists after the window has begun.
#[derive(Debug, Clone, Value)]
pub(crate) struct Begun {
    pub start: u64,
    /// Number of packets in source queues at the beginning of the window.
    pub waiting: u64,
    /// The end of the window, if it is known.
    pub end: u64,
    /// Whether the first half of the window is over, so that the counts in `middle` are complete.
    pub is_half_over: bool,
    pub is_decided: bool,
    pub middle: Middle,
}

/// Number of flits carried until the middle of the window. The verdict on saturation uses only the second half of the window, because the
/// window begins with packets in flight that are no sign of saturation.
#[derive(Debug, Clone, Value)]
pub(crate) struct Middle {
    pub cycle: u64,
    pub accepted: u64,
    pub carried: Carried,
    /// Counts for the verdict, if the middle of the window is not known in advance, or only whole periods of the policy are judged.
    pub marks: Option<Marks>,
}

/// The counts of the window after its end.
#[derive(Debug, Clone, Value)]
pub(crate) struct Closed {
    /// The first cycle of the window, and the first cycle after it.
    pub window: (u64, u64),
    pub accounts: Vec<Vec<Account>>,
    /// Number of cycles for which each bundle was asleep.
    pub asleep: Vec<u64>,
    pub control: Option<ControlCount>,
    /// The last reading, if the load changes.
    pub last: Option<Reading>,
    pub judged: Saturation,
}

impl<'a> Course<'a> {
    pub fn new(spec: &Spec, progress: &'a dyn Progress) -> Self {
        let phases = &spec.phases;
        Self {
            progress,
            look: look(&spec.graph),
            limit: phases.stall_limit,
            trial: None,
            division: None,
            stops: false,
            expected: phases.warmup + phases.window,
            last_moves: 0,
            last_change: 0,
            decisions: Decisions::default(),
            settling: None,
            begun: None,
            closed: None,
        }
    }

    /// Whether no flit has moved for `limit` cycles, after which the network must be checked for a stall.
    pub fn nothing_moved(&mut self, now: u64, moves: u64) -> bool {
        if moves != self.last_moves {
            self.last_moves = moves;
            self.last_change = now;
        }
        now - self.last_change >= self.limit
    }

    fn marks(&mut self) -> Option<&mut Marks> {
        self.begun.as_mut()?.middle.marks.as_mut()
    }

    /// The cycle in which the next of the [`Marks`] is taken; `None` if the run takes no marks.
    pub fn next_mark(&mut self) -> Option<u64> {
        self.marks().map(|marks| marks.due())
    }

    pub fn take_mark(&mut self, carried: Carried) {
        if let Some(marks) = self.marks() {
            marks.take(carried);
        }
    }
}

impl Simulation {
    /// Writes a checkpoint of a run in its present state.
    pub(crate) fn checkpoint(&self, course: &Course) -> Vec<u8> {
        let mut bytes = Writer::new();
        self.division.keep(&mut bytes);
        course.keep(&mut bytes);
        self.keep(&mut bytes);
        bytes
    }

    /// Continues the run that is stored in the checkpoint, and returns its results. `self` is a newly assembled network of the same spec,
    /// with the division that [`division_of`] returns.
    pub(crate) fn resume(
        mut self,
        spec: &Spec,
        progress: &dyn Progress,
        checkpoint: Bytes<'_>,
    ) -> Result<Outcome, Refusal> {
        let (mut reader, mut course) = (Reader::new((*checkpoint).as_ref()), Course::new(spec, progress));
        let read = Division::read(&spec.graph, &mut reader)
            .and_then(|_| course.restore(&mut reader))
            .and_then(|()| self.restore(&mut reader))
            .and_then(|()| reader.end());
        read.map_err(unreadable)?;
        drop(checkpoint); // the checkpoint may be as large as the network, so it is freed before the long run
        Ok(self.go_on(spec, course))
    }
}

/// The bytes of a checkpoint; any type may own their memory.
pub(crate) type Bytes<'a> = Box<dyn AsRef<[u8]> + 'a>;

/// Number of cycles between two checks of a run. The number is smaller for larger networks, so that these cycles take at most about a
/// second.
fn look(graph: &Graph) -> u64 {
    const MOST: u64 = 1024;
    const LEAST: u64 = 4;
    const PORT_CYCLES: u64 = 1 << 26;
    (PORT_CYCLES / u64::from(graph.port_base(graph.routers())).max(1)).clamp(LEAST, MOST)
}

/// The blocks into which the network of a checkpoint was divided.
pub(crate) fn division_of(checkpoint: &[u8], graph: &Graph) -> Result<Division, Refusal> {
    Division::read(graph, &mut Reader::new(checkpoint)).map_err(unreadable)
}

fn unreadable(_: Unreadable) -> Refusal {
    let what = "this is not a checkpoint of this run: another scenario or version of Weft wrote it, or it was changed";
    Refusal::new("checkpoint", what, "run the point from the beginning, without the checkpoint")
}
