//! The flaws that a finished point can have, worst first. Each flaw has a code, a text and a general remedy.

use weft_units::Code;

/// Groups of flaws: tables and rankings treat all flaws of a group in the same way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// The latency has no limit, because packets wait for each other forever.
    Stalled,
    Interrupted,
    /// The latency has no limit, because the offered load is above the capacity.
    Overloaded,
    /// The run was cut off before its jobs were complete, so it has no completion time.
    NotComplete,
    Dropping,
    Empty,
    Unjudged,
    Few,
    Unsettled,
    Period,
}

/// A kind of flaw: a reason why Weft does not rank a point.
#[derive(Debug)]
pub struct Kind {
    pub code: &'static Code,
    pub group: Group,
    /// The flaw as a predicate, as in "2 points are saturated".
    pub words: &'static str,
    /// The general remedy, used if the numbers of the point give no specific one. In this text, `{root}` is the folder of the results, and
    /// `{again}` is the command that runs them again.
    pub help: &'static str,
    /// Whether the general remedy proposes another load.
    pub is_of_load: bool,
}

/// A sign that tables print next to a number of a point with a flaw.
#[derive(Debug)]
pub struct Mark {
    pub sign: &'static str,
    pub meaning: &'static str,
}

/// The least number of packets for a reliable mean or percentile.
pub const FEWEST_PACKETS: f64 = 30.0;

weft_units::codes! {
    STALLED_CODE = "stalled", Flaw,
        means: "Packets wait for each other forever, so the latencies of the point have no limit. Or no packet is in flight, and ranks of \
                a program wait for messages that no rank will send.",
        computed: "A head can move if one of the VCs that it may use is free and has room, now or later. The engine marks all queues that \
                   can move, at once or after other queues. Packets in the remaining queues can never move.",
        helps: "`weft explain stall FOLDER` shows the packets and the resources that they wait for. Write more VCs or choose another \
                routing.";
    INTERRUPTED_CODE = "interrupted", Flaw,
        means: "The run was stopped before its end.",
        computed: "The engine reports that the run ended in this way.",
        helps: "Run the point to its end with `--force`.";
    SATURATED_CODE = "saturated", Flaw,
        means: "The network does not carry the load. Queues grow for as long as the run lasts, so latencies have no limit.",
        computed: "In the second half of the window, the network accepts less than 97 % of the offered load, and chance (3 standard \
                   deviations) does not explain the difference. Or some packets of the window are not delivered within \
                   `measure.drain_limit`.",
        helps: "Choose a lower load, or another network or routing. `weft saturation` finds the highest load that the network carries. If \
                parts fail or return in the window, packets may wait there: write a longer window first.";
    SATURATED_IN_A_PHASE_CODE = "saturated_in_a_phase", Flaw,
        means: "The network does not carry the load in one of the phases. The mean latency over the window therefore has no limit either.",
        computed: "Weft judges a phase in the same way as a point: by its second half (see `saturated`).",
        helps: "Lower the load of that phase, or choose another network or routing.";
    NOT_COMPLETE_CODE = "not_complete", Flaw,
        means: "The run reached its longest window before its batches or programs were complete. It has no completion time and no run \
                time. All other numbers cover only the part of the run before the cut.",
        computed: "A batch or a program is not complete after `measure.stop.complete.max_window`, and its packets can still move. The \
                   numbers are the ranks, programs or packets of these jobs, in total and completed before the cut.",
        helps: "Write a longer `measure.stop.complete.max_window`. The remedy gives its length. The longest window is only a limit and \
                costs no time: the window ends with the last batch or program.";
    PACKETS_DROPPED_CODE = "packets_dropped", Flaw,
        means: "Packets were lost because a link or router had failed. Latencies are those of the packets that arrived.",
        computed: "The number of dropped packets is above 0. Comparisons treat a loss of up to 3 % as equal delivered work.",
        helps: "Measure the point without `faults` and `fault_model.random`, or compare the shares of delivered packets as well as the \
                latencies.";
    NO_PACKET_CODE = "no_packet", Flaw,
        means: "No packet was measured in the window, so there is no latency.",
        computed: "The number of measured packets is 0, and the workload is not a program.",
        helps: "Write a longer `measure.window` or a higher load. The remedy gives both values, for twice 30 packets: 30 is the minimum.";
    NOT_JUDGED_CODE = "not_judged", Flaw,
        means: "The run is too short to tell whether the network carries the load.",
        computed: "Bursts, incomplete periods of a power policy, or the time that packets need without queues can explain the missing \
                   load as well as saturation can. The warnings `bursts_undecided`, `part_of_policy_period` and `window_too_short` give \
                   the numbers.",
        helps: "Write a longer `measure.window`. The remedy gives its length.";
    TOO_FEW_PACKETS_CODE = "too_few_packets", Flaw,
        means: "The window measured too few packets for a mean or a percentile.",
        computed: "0 < packets < 30. With fewer packets, the standard error of a mean is above 18 % (1 / sqrt(30)) of the standard \
                   deviation.",
        helps: "Write a longer `measure.window`, or larger batches if they end the run. The remedy gives a length or a factor for 60 \
                packets, twice the minimum, so that chance does not leave too few again.";
    AT_PATH_BOUND_CODE = "at_path_bound", Flaw,
        means: "The load is at or above the limit that the paths of the routing can carry. Queues grow for as long as the run lasts.",
        computed: "share >= 1 - sqrt(v / (r x cycles)). Here share is `path_bound_share`, the mean load of the fullest channel. v is the \
                   variance of its flits per cycle, r is its capacity, and cycles is the length of warm-up and window. In a shorter run, \
                   one standard deviation of the offered flits is as large as the distance to the capacity.",
        helps: "Write a load that is 5 % below the bound. If the load is already below the bound, write a longer run. The bound is an \
                upper bound: `weft saturation` finds the highest load that the network carries. Buffers shorter than the round trip of a \
                credit lower the bound; the remedy names these buffers.";
    POWER_UNSETTLED_CODE = "power_unsettled", Flaw,
        means: "The power states of the links had not settled when the window began.",
        computed: "The automatic warm-up reached its limit before the states repeated, or a fixed warm-up is shorter than the policy \
                   needs (warning `warmup_of_policy`). Programs and batches with `stop: complete` have no warm-up: the code appears if \
                   they end too soon for the policy (warning `measured_from_start`).",
        helps: "Write `measure.warmup: auto`, or the longer limit that the remedy gives. For programs and batches, which are measured from \
                cycle 0, write a longer program or larger batches. The remedy gives the factor.";
    FILLING_CODE = "filling", Flaw,
        means: "The window began before the first packets had arrived, so the network was still filling. In the first part of the window it \
                accepted no flits. The accepted load is too low, and the energy per bit is too high.",
        computed: "latency - warm-up > 5 % of the window. Here latency is the mean packet latency without waits in queues.",
        helps: "Write a `measure.warmup` of 4 times the latency. The remedy gives its length.";
    REPLIES_UNSETTLED_CODE = "replies_unsettled", Flaw,
        means: "The window began before the first replies left.",
        computed: "A fixed warm-up is not longer than the turnaround of replies (warning `warmup_without_replies`).",
        helps: "Write a `measure.warmup` longer than the turnaround of replies.";
    LATENCIES_UNSETTLED_CODE = "latencies_unsettled", Flaw,
        means: "The latencies still changed when the automatic warm-up reached its limit.",
        computed: "The means of successive spans of 500 cycles changed by more than their scatter (warning `latencies_at_limit`).",
        helps: "Write a longer `measure.warmup_limit`. If that is not enough, the load may be near the capacity.";
    QUEUES_UNSETTLED_CODE = "queues_unsettled", Flaw,
        means: "The run is too short for its long queues: the queues and the latency still depend on the initial state.",
        computed: "`queue_memory_cycles` = 4 c w^2 / v: after this time the initial state of a queue has no effect. Here w is the mean \
                   wait in one queue in cycles, v is the variance of the flits per cycle, and c is the flits per cycle of the fastest \
                   channel. The code appears if warm-up + window < `queue_memory_cycles`, or if the latency grows within the window. It \
                   also appears if the window delivers packets that the warm-up has left: excess = accepted / offered - 1 > 3 / \
                   sqrt(packets), and excess x window / 2 > 5 % of the mean latency.",
        helps: "Write a warm-up of 4 times `queue_memory_cycles`, and a window that is a multiple of 4 times the present window. Near the \
                capacity no run is long enough: the remedy is then a load that is 5 % lower. If parts fail or return in the window, write \
                only a longer window, so that the window still contains these faults. A later window needs later faults: move `at` and \
                `until` by the same time, and `fault_model.random.from` too.";
    FELL_BEHIND_CODE = "fell_behind", Flaw,
        means: "The network accepted less than the offered load at the beginning of a phase, and carried the load later. The latencies of \
                the phase include the wait in the queue that built up.",
        computed: "Backlog = (offered - accepted) x cycles - flits in flight. It exceeds 3 % of the offered flits plus chance (3 / \
                   sqrt(packets)), although the second half of the phase is not saturated.",
        helps: "Make the phase so long that the backlog is 2 % of its flits. The remedy gives its length.";
    BEGAN_WITH_BACKLOG_CODE = "began_with_backlog", Flaw,
        means: "When the window or a phase began, packets from earlier cycles were still waiting. The latencies are therefore not those of \
                the present load alone.",
        computed: "Flits that wait at the beginning > (3 % + 3 / sqrt(packets)) x offered flits. In a window, the number of these flits is \
                   waiting packets / packets x offered flits. In a later phase, these flits are the backlog of the earlier phases (see \
                   `fell_behind`). They must also have an effect: accepted flits - offered flits exceed the same limit, or the queues of \
                   the phase have not settled.",
        helps: "Write a warm-up that is longer by twice the time in which these packets are delivered. The remedy gives its length.";
    AFTER_SATURATED_PHASE_CODE = "after_saturated_phase", Flaw,
        means: "The previous phase is saturated, and this phase delivers the packets that remain from it.",
        computed: "The verdict on the previous phase (see `saturated_in_a_phase`).",
        helps: "Lower the load of the previous phase until that phase is not saturated.";
    PART_OF_PERIOD_CODE = "part_of_period", Flaw,
        means: "The length of the window, or of a phase, is not a whole number of periods of the power policy. The numbers depend on the \
                part of the period that was measured.",
        computed: "The length modulo the period is above 1 % of the length (warning `part_of_policy_period`).",
        helps: "Write a `measure.window` that is a multiple of the period. If programs or batches end the window, let them last for 100 \
                periods or longer.";
}

const fn kind(code: &'static Code, group: Group, words: &'static str, help: &'static str) -> Kind {
    Kind { code, group, words, help, is_of_load: false }
}
const fn too_much(code: &'static Code, group: Group, words: &'static str) -> Kind {
    Kind {
        is_of_load: true,
        ..kind(code, group, words, "choose a load that the network carries, or another network or routing")
    }
}

pub static STALLED: Kind = kind(
    &STALLED_CODE,
    Group::Stalled,
    "stalled",
    "`weft explain stall {root}` shows which packets wait for which resources; write more VCs or use another routing",
);
pub static INTERRUPTED: Kind =
    kind(&INTERRUPTED_CODE, Group::Interrupted, "interrupted", "run the point to its end: {again} --force");
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
    "measure without `faults` and `fault_model.random`, or compare shares of delivered packets as well as latencies",
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
    "not judged (the run is too short to tell whether the network is saturated)",
    "write a longer `measure.window`",
);
pub static TOO_FEW_PACKETS: Kind = kind(
    &TOO_FEW_PACKETS_CODE,
    Group::Few,
    "with fewer than 30 packets",
    "write a longer `measure.window`, or larger batches",
);
pub static AT_PATH_BOUND: Kind =
    too_much(&AT_PATH_BOUND_CODE, Group::Unsettled, "not settled (the load is at or above the limit of the paths)");
pub static POWER_UNSETTLED: Kind = kind(
    &POWER_UNSETTLED_CODE,
    Group::Unsettled,
    "not settled (power states)",
    "write `measure.warmup: auto`, or if a program or a batch ends the run, a longer program or a larger batch",
);
pub static FILLING: Kind = kind(
    &FILLING_CODE,
    Group::Unsettled,
    "not settled (the network was still filling)",
    "write a `measure.warmup` longer than the latency",
);
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
pub static FELL_BEHIND: Kind = kind(
    &FELL_BEHIND_CODE,
    Group::Unsettled,
    "not settled (accepted too little at first)",
    "let the phase last longer",
);
pub static BEGAN_WITH_BACKLOG: Kind = kind(
    &BEGAN_WITH_BACKLOG_CODE,
    Group::Unsettled,
    "not settled (began with a backlog)",
    "write a longer `measure.warmup`",
);
pub static AFTER_SATURATED_PHASE: Kind = Kind {
    code: &AFTER_SATURATED_PHASE_CODE,
    group: Group::Unsettled,
    words: "not settled (delivers the backlog of a saturated phase)",
    help: "lower the load of the previous phase until that phase is not saturated",
    is_of_load: true,
};
pub static PART_OF_PERIOD: Kind = kind(
    &PART_OF_PERIOD_CODE,
    Group::Period,
    "measured over a part of a period of the policy",
    "write a `measure.window` that is a multiple of the period, or programs or batches that last 100 periods",
);

/// All flaws, the worst first.
pub static KINDS: [&Kind; 19] = [
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
    &FILLING,
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

    /// The index of this flaw in [`KINDS`]: a lower index means a worse flaw.
    pub fn rank(&self) -> usize {
        KINDS.iter().position(|kind| kind.is(self)).unwrap_or(KINDS.len())
    }
}

/// The signs that tables print in place of a latency without limit, or of a completion time that the run did not reach.
pub static ENDED: [Mark; 3] = [
    Mark { sign: "sat", meaning: "saturated, the latency has no limit" },
    Mark { sign: "stall", meaning: "packets, or ranks of a program, wait for each other forever" },
    Mark { sign: "cut", meaning: "cut off at the longest window, before its batches or programs were complete" },
];
pub static DROPPING_MARK: Mark =
    Mark { sign: "#", meaning: "packets were dropped, so the number covers only the delivered packets" };
pub static UNSETTLED_MARK: Mark = Mark { sign: "~", meaning: "measured before the network had settled" };
pub static UNJUDGED_MARK: Mark =
    Mark { sign: "?", meaning: "the run is too short to tell whether the network is saturated" };
pub static FEW_MARK: Mark = Mark { sign: "*", meaning: "fewer than 30 packets" };
pub static PERIOD_MARK: Mark = Mark { sign: "^", meaning: "measured over a part of a period of the policy" };
/// The mark after the numbers of a job without flaws in a point that is saturated or cut off.
pub static NEXT_TO_MARK: Mark = Mark {
    sign: "+",
    meaning: "another job is saturated or cut off, so packets in flight at the end of the window are not in the number",
};
/// The marks that tables print after a number of a point that has a flaw but is not overloaded.
pub static MARKS: [&Mark; 5] = [&DROPPING_MARK, &UNSETTLED_MARK, &UNJUDGED_MARK, &FEW_MARK, &PERIOD_MARK];
