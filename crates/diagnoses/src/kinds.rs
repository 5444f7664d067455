//! The flaws of a finished point, worst first: the code, the text and the general remedy of each.

use weft_units::Code;

/// Groups of flaws that are handled alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// The latency has no limit, because packets wait for each other forever.
    Stalled,
    Interrupted,
    /// The latency has no limit, because the load is above the capacity.
    Overloaded,
    /// The run was cut off before it measured its result, a completion time.
    NotComplete,
    Dropping,
    Empty,
    Unjudged,
    Few,
    Unsettled,
    Period,
}

/// A flaw: a reason not to rank a point.
#[derive(Debug)]
pub struct Kind {
    pub code: &'static Code,
    pub group: Group,
    /// Text of the flaw as a predicate, as in "2 points are saturated".
    pub words: &'static str,
    /// General remedy, used if the numbers of the point give no better one. `{root}` is the folder of the results; `{again}` is the
    /// command that runs them.
    pub help: &'static str,
    /// True if the general remedy proposes another load.
    pub is_of_load: bool,
}

/// A sign next to a number of a point that has a flaw.
#[derive(Debug)]
pub struct Mark {
    pub sign: &'static str,
    pub meaning: &'static str,
}

/// Fewer packets than this give no reliable mean or percentile.
pub const FEWEST_PACKETS: f64 = 30.0;

weft_units::codes! {
    STALLED_CODE = "stalled", Flaw,
        means: "Packets wait for each other for ever. No latency of the point has a limit.",
        computed: "A head can move if a VC that it may use is free and has room, or will be. The engine marks all queues that can move, \
                   directly or behind others. Packets in the queues that are left can never move.",
        helps: "`weft explain stall FOLDER` shows the packets and the resources they wait for. Write more VCs or another routing.";
    INTERRUPTED_CODE = "interrupted", Flaw,
        means: "The run was stopped before its end.",
        computed: "The ending that the engine reports.",
        helps: "Run it to its end, with `--force`.";
    SATURATED_CODE = "saturated", Flaw,
        means: "The network does not carry the load. Queues grow for as long as the run lasts, so latencies have no limit.",
        computed: "In the second half of the window the network accepts less than 97 % of the offered load, beyond chance (3 standard \
                   deviations). Or packets of the window are not delivered within `measure.drain_limit`.",
        helps: "Take a lower load, or another network or routing. `weft saturation` finds the load that is carried.";
    SATURATED_IN_A_PHASE_CODE = "saturated_in_a_phase", Flaw,
        means: "The network does not carry the load in one phase of it. The mean over the window has no limit, either.",
        computed: "A phase is judged as a point is, by its second half (see `saturated`).",
        helps: "Lower the load of that phase, or take another network or routing.";
    NOT_COMPLETE_CODE = "not_complete", Flaw,
        means: "The longest window has ended the run before its batches or programs were complete. There is no time of completion and no run time, \
                and all other numbers are of the part of the run before the cut.",
        computed: "A batch or a program is not complete after `measure.stop.complete.max_window`, and its packets can still move. The numbers \
                   are the ranks, programs or packets of these jobs, and those that ended before the cut.",
        helps: "Write a longer `measure.stop.complete.max_window`. The remedy has the number. It limits the run and costs nothing: the window ends \
                with the last batch and program.";
    PACKETS_DROPPED_CODE = "packets_dropped", Flaw,
        means: "Packets were lost because a link or router had failed. Latencies are those of the packets that arrived.",
        computed: "Dropped packets > 0. In comparisons a loss of up to 3 % counts as the same delivered work.",
        helps: "Measure the point without `faults` and `fault_model.random`, or compare delivered shares as well as latencies.";
    NO_PACKET_CODE = "no_packet", Flaw,
        means: "The window measured no packet. There is no latency.",
        computed: "Measured packets = 0, unless the workload is a program.",
        helps: "Write a longer `measure.window` or a higher load. The remedy has both numbers, for twice 30 packets.";
    NOT_JUDGED_CODE = "not_judged", Flaw,
        means: "The run is too short to tell whether the network carries the load.",
        computed: "Bursts or parts of a policy's period explain as much of the missing load as saturation would. The warnings \
                   `bursts_undecided` and `part_of_policy_period` have the numbers.",
        helps: "Write a longer `measure.window`. The remedy has the number.";
    TOO_FEW_PACKETS_CODE = "too_few_packets", Flaw,
        means: "The window measured too few packets for a mean or a percentile.",
        computed: "0 < packets < 30. The standard error of a mean of fewer packets is above 18 % of the scatter (1 / sqrt(30)).",
        helps: "Write a longer `measure.window`. The remedy gives twice 30 packets, so that chance does not leave too few again.";
    AT_PATH_BOUND_CODE = "at_path_bound", Flaw,
        means: "The load is what the paths of the routing can just carry, or more. Queues grow for as long as the run lasts.",
        computed: "share >= 1 - sqrt(v / (r x cycles)). `path_bound_share` is the mean load of the fullest channel, and v the variance of \
                   its flits per cycle. Its capacity is r, and cycles the length of warm-up and window. In a shorter run one \
                   standard deviation of the offered flits is as large as the distance to the capacity.",
        helps: "Write a load that is 5 % below the bound, or a longer run for a load that is below it already. \
                The bound is an upper one; `weft saturation` finds the load that is carried. Buffers shorter than the round trip of a credit lower the bound; the remedy names them.";
    POWER_UNSETTLED_CODE = "power_unsettled", Flaw,
        means: "The power states of the links had not settled when the window began.",
        computed: "The automatic warm-up reached its limit before the states repeated, or a fixed warm-up is shorter than the policy \
                   needs (warning `warmup_of_policy`).",
        helps: "Write `measure.warmup: auto`, or the longer limit that the remedy has.";
    REPLIES_UNSETTLED_CODE = "replies_unsettled", Flaw,
        means: "The window began before the first replies left.",
        computed: "A fixed warm-up is not longer than the turnaround of replies (warning `warmup_without_replies`).",
        helps: "Write a `measure.warmup` longer than the turnaround of replies.";
    LATENCIES_UNSETTLED_CODE = "latencies_unsettled", Flaw,
        means: "The latencies still changed when the automatic warm-up reached its limit.",
        computed: "Means over 500 cycles each changed more than they scatter (warning `latencies_at_limit`).",
        helps: "Write a longer `measure.warmup_limit`. If that is not enough, the load may be near the capacity.";
    QUEUES_UNSETTLED_CODE = "queues_unsettled", Flaw,
        means: "The queues are too long for the run: they, and the latency, depend on how it began.",
        computed: "`queue_memory_cycles` = 4 c w^2 / v: after this time the first state of a queue has no effect. w is the mean wait \
                   in one queue in cycles, v the variance of the flits per cycle, and c the flits per cycle of the fastest channel. \
                   The code appears if warm-up + window < `queue_memory_cycles`, or if the latency grows within the \
                   window. It also appears if the window delivers packets that the warm-up has left: accepted / offered - 1 > \
                   3 / sqrt(packets), and that x window / 2 > 5 % of the mean latency.",
        helps: "Write a warm-up of 4 times that memory, and a window that is a multiple of 4 times the present one. Near the capacity \
                no time is long enough: then the remedy is a load 5 % lower.";
    FELL_BEHIND_CODE = "fell_behind", Flaw,
        means: "A phase of the load accepted less than it was offered at first, and carried its load later. Its latencies are those of \
                the queue that built up.",
        computed: "Backlog = (offered - accepted) x cycles - flits on their way. It exceeds 3 % of the offered flits, and chance \
                   (3 / sqrt(packets)), though the second half is not saturated.",
        helps: "Let the phase last until the backlog is 2 % of its flits. The remedy has the number.";
    BEGAN_WITH_BACKLOG_CODE = "began_with_backlog", Flaw,
        means: "The window, or a phase, began with packets that an earlier time has left. Latencies are not those of the load alone.",
        computed: "Flits that wait at the begin > (3 % + 3 / sqrt(packets)) x offered flits. In a window these flits are waiting \
                   packets / packets x offered flits. In a later phase they are the backlog that the phases before it have left (see \
                   `fell_behind`). They must also show: accepted flits - offered flits exceed the same limit, or the queues of the \
                   phase have not settled.",
        helps: "Write a warm-up that ends when twice the time to deliver them has passed. The remedy has the number.";
    AFTER_SATURATED_PHASE_CODE = "after_saturated_phase", Flaw,
        means: "The phase before this one is saturated. This one delivers what that has left.",
        computed: "The verdict on the phase before (see `saturated_in_a_phase`).",
        helps: "Lower the load of the phase before until it is not saturated.";
    PART_OF_PERIOD_CODE = "part_of_period", Flaw,
        means: "The window, or a phase, is no whole number of periods of the power policy. The numbers depend on the part it saw.",
        computed: "The span modulo the period is above 1 % of the span (warning `part_of_policy_period`).",
        helps: "Write a `measure.window` that is a multiple of the period.";
}

const fn kind(code: &'static Code, group: Group, words: &'static str, help: &'static str) -> Kind {
    Kind { code, group, words, help, is_of_load: false }
}
const fn too_much(code: &'static Code, group: Group, words: &'static str) -> Kind {
    Kind {
        is_of_load: true,
        ..kind(code, group, words, "take a load that the network carries, or another network or routing")
    }
}

pub static STALLED: Kind = kind(
    &STALLED_CODE,
    Group::Stalled,
    "stalled",
    "`weft explain stall {root}` shows what waits for what; write more VCs or another routing",
);
pub static INTERRUPTED: Kind =
    kind(&INTERRUPTED_CODE, Group::Interrupted, "interrupted", "run it to its end: {again} --force");
pub static SATURATED: Kind = too_much(&SATURATED_CODE, Group::Overloaded, "saturated");
pub static SATURATED_IN_A_PHASE: Kind =
    too_much(&SATURATED_IN_A_PHASE_CODE, Group::Overloaded, "saturated in a phase of the load");
pub static NOT_COMPLETE: Kind = kind(
    &NOT_COMPLETE_CODE,
    Group::NotComplete,
    "not complete (cut off at the end of the longest window)",
    "write a longer `measure.stop.complete.max_window`",
);
pub static PACKETS_DROPPED: Kind = kind(
    &PACKETS_DROPPED_CODE,
    Group::Dropping,
    "dropping packets (a link or router has failed)",
    "measure it without `faults` and `fault_model.random`, or compare delivered shares and not only latencies",
);
pub static NO_PACKET: Kind = kind(
    &NO_PACKET_CODE,
    Group::Empty,
    "without a measured packet",
    "write a longer `measure.window`, in which packets are delivered",
);
pub static NOT_JUDGED: Kind = kind(
    &NOT_JUDGED_CODE,
    Group::Unjudged,
    "not judged (too short to tell whether it is saturated)",
    "write a longer `measure.window`",
);
pub static TOO_FEW_PACKETS: Kind =
    kind(&TOO_FEW_PACKETS_CODE, Group::Few, "with fewer than 30 packets", "write a longer `measure.window`");
pub static AT_PATH_BOUND: Kind =
    too_much(&AT_PATH_BOUND_CODE, Group::Unsettled, "not settled (offered what its paths can just carry, or more)");
pub static POWER_UNSETTLED: Kind =
    kind(&POWER_UNSETTLED_CODE, Group::Unsettled, "not settled (power states)", "write `measure.warmup: auto`");
pub static REPLIES_UNSETTLED: Kind = kind(
    &REPLIES_UNSETTLED_CODE,
    Group::Unsettled,
    "not settled (replies)",
    "write a `measure.warmup` longer than the turnaround of replies",
);
pub static LATENCIES_UNSETTLED: Kind = kind(
    &LATENCIES_UNSETTLED_CODE,
    Group::Unsettled,
    "not settled (latencies)",
    "write a longer `measure.warmup_limit`",
);
pub static QUEUES_UNSETTLED: Kind =
    kind(&QUEUES_UNSETTLED_CODE, Group::Unsettled, "not settled (queues)", "write a longer warm-up and window");
pub static FELL_BEHIND: Kind =
    kind(&FELL_BEHIND_CODE, Group::Unsettled, "not settled (fell behind at first)", "let the phase last longer");
pub static BEGAN_WITH_BACKLOG: Kind = kind(
    &BEGAN_WITH_BACKLOG_CODE,
    Group::Unsettled,
    "not settled (began with a backlog)",
    "write a longer `measure.warmup`",
);
pub static AFTER_SATURATED_PHASE: Kind = Kind {
    code: &AFTER_SATURATED_PHASE_CODE,
    group: Group::Unsettled,
    words: "not settled (the backlog of a saturated phase)",
    help: "lower the load of the phase before until it is not saturated",
    is_of_load: true,
};
pub static PART_OF_PERIOD: Kind = kind(
    &PART_OF_PERIOD_CODE,
    Group::Period,
    "measured over a part of a period of the policy",
    "write a `measure.window` that is a multiple of the period",
);

/// All flaws, the worst first.
pub static KINDS: [&Kind; 18] = [
    &STALLED,
    &INTERRUPTED,
    &SATURATED,
    &SATURATED_IN_A_PHASE,
    &NOT_COMPLETE,
    &PACKETS_DROPPED,
    &NO_PACKET,
    &NOT_JUDGED,
    &TOO_FEW_PACKETS,
    &AT_PATH_BOUND,
    &POWER_UNSETTLED,
    &REPLIES_UNSETTLED,
    &LATENCIES_UNSETTLED,
    &QUEUES_UNSETTLED,
    &FELL_BEHIND,
    &BEGAN_WITH_BACKLOG,
    &AFTER_SATURATED_PHASE,
    &PART_OF_PERIOD,
];

impl Kind {
    pub fn is(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }

    /// The index of the flaw in [`KINDS`]: a lower index is a worse flaw.
    pub fn rank(&self) -> usize {
        KINDS.iter().position(|kind| kind.is(self)).unwrap_or(KINDS.len())
    }
}

/// The signs printed in place of a latency that has no limit, or of a completion time that a run did not reach.
pub static ENDED: [Mark; 3] = [
    Mark { sign: "sat", meaning: "saturated, the latency has no limit" },
    Mark { sign: "stall", meaning: "packets wait for each other for ever" },
    Mark { sign: "cut", meaning: "cut off at the longest window, before its batches or programs were complete" },
];
pub static DROPPING_MARK: Mark = Mark { sign: "#", meaning: "packets were dropped, and the number is of the others" };
pub static UNSETTLED_MARK: Mark = Mark { sign: "~", meaning: "measured before it had settled" };
pub static UNJUDGED_MARK: Mark = Mark { sign: "?", meaning: "too short to tell whether it is saturated" };
pub static FEW_MARK: Mark = Mark { sign: "*", meaning: "fewer than 30 packets" };
pub static PERIOD_MARK: Mark = Mark { sign: "^", meaning: "measured over a part of a period of the policy" };
/// The sign printed after numbers of a job without flaws whose point is saturated or cut off.
pub static NEXT_TO_MARK: Mark = Mark {
    sign: "+",
    meaning: "another job is saturated or cut off, so packets that were on their way at the end of the window are not in it",
};
/// The signs printed after a number of a point that has a flaw but is not overloaded.
pub static MARKS: [&Mark; 5] = [&DROPPING_MARK, &UNSETTLED_MARK, &UNJUDGED_MARK, &FEW_MARK, &PERIOD_MARK];
