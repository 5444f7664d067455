//! Hints that `weft check` prints about settings that limit the load of the network, or have no effect in it.

use crate::warning::{Warning, long};
use weft_engine::spec::Job;
use weft_engine::{Implied, Spec};

weft_units::codes! {
    BOUNDS_WITH_BROKEN_LINKS = "bounds_with_broken_links", Hint,
        means: "Links are broken from the start. Mean hops, latency without contention and the bound of `weft check` \
                are those of the network without faults.",
        computed: "The number of broken links. Either the routing has no tables without these links, or the broken \
                   links cut terminals off.",
        helps: "Read these numbers as those before the faults. A run measures the remaining network.";
    CREDITS_UNDER_WAY = "credits_under_way", Hint,
        means: "The routing counts flits and credits in flight as a queue. Packets therefore leave minimal paths that \
                have no queue.",
        computed: "Flits per cycle of the fullest link x round trip of a credit, compared with the threshold of the routing.",
        helps: "Write `sensor: history_window`, which does not count the flits of the last round trip.";
    LONG_WARMUP = "long_warmup", Hint,
        means: "An automatic warm-up may take many times as long as the window.",
        computed: "`measure.warmup_limit` is more than 50 times `measure.window`.",
        helps: "Write shorter times for the policy, a longer window, or a fixed warm-up.";
    REQUESTS_SHARE_VCS = "requests_share_vcs", Hint,
        means: "Requests and replies share all VCs. They cannot deadlock in Weft, because the queues of replies have \
                no limit. A machine with finite queues can deadlock.",
        computed: "A job sends replies on the VC classes of its requests, without `finite_buffers: true`.",
        helps: "Write `outstanding`, or give replies a message class and write `finite_buffers: true`.";
    SHORT_BUFFER = "short_buffer", Hint,
        means: "A buffer is shorter than the round trip of a credit. A single VC cannot keep the link busy.",
        computed: "A VC carries at most buffer / round trip [flits/cycle]. The needed buffer holds the flits of a round trip.",
        helps: "Write the needed number of flits, or rely on several VCs of one VC class.";
    BLIND_ROUTING = "blind_routing", Hint,
        means: "An adaptive routing may detect a full link too late. The buffers before that link are too short to \
                show its queue.",
        computed: "Buffer space of the VCs of one VC class on the shorter link, compared with the round trip of a \
                   credit on the longest link.",
        helps: "Write buffers that hold the flits of a round trip on the longest link.";
}

/// The round trip time of a credit on each link class [cycles]. The opposite channels of a class can belong to several classes. In this
/// case it is the longest of the round trip times.
pub(crate) fn round_trips(spec: &Spec) -> Vec<u64> {
    let longest = |(class, back): (usize, Vec<u8>)| {
        back.into_iter().map(|back| spec.credit_round_trip(class, back.into())).max().unwrap_or(0)
    };
    spec.ways_back().into_iter().enumerate().map(longest).collect()
}

/// All hints about a scenario. Some hints concern buffers of links between routers that are too small to keep the links busy, or that hide
/// a full link from an adaptive routing. Further hints concern a warm-up that could take very long, and parameters of the routing.
pub(crate) fn of(spec: &Spec, implied: &Implied) -> Vec<Warning> {
    let round_trips = round_trips(spec);
    let used = spec.graph.links_by_class();
    let between = (1..spec.links.len()).filter(|&class| used.get(class).is_some_and(|(_, count)| *count > 0));
    let mut slowest: Option<usize> = None;
    let mut hints = Vec::new();
    for class in between.clone() {
        if slowest.is_none_or(|slow| round_trips[slow] < round_trips[class]) {
            slowest = Some(class);
        }
        hints.extend(starved(spec, implied, class, round_trips[class]));
    }
    if let Some(slow) = slowest.filter(|_| implied.reads_queues) {
        hints.extend(between.filter_map(|class| blind(spec, implied, (class, slow), round_trips[slow])));
    }
    hints.extend(slowest.and_then(|slow| phantom(spec, implied, slow, round_trips[slow])));
    hints.extend(long_warmup(spec));
    hints.extend(shared_vcs(spec, implied));
    hints.extend(broken_links(spec, implied));
    hints.extend(implied.hints.iter().cloned().map(Warning::from));
    hints
}

/// Hints that predictions count all links of the network, although some links are broken from the start and never carry a flit.
fn broken_links(spec: &Spec, implied: &Implied) -> Option<Warning> {
    let all = spec.graph.links().count();
    implied.broken_links.map(|broken| {
        let reason = match broken.cut_off {
            true => "some terminals are cut off".to_owned(),
            false => format!("{} has no tables without the broken links", spec.routing.name()),
        };
        let what = format!(
            "{} of {all} links between routers are broken from the start. Mean hops, latency without contention and \
             the bound are those of the network without faults, because {reason}",
            broken.links
        );
        let numbers = [("broken_links", broken.links as f64), ("links", all as f64)];
        let help = "read these numbers as those of the network before the faults; a run measures the remaining network";
        Warning::new(&BOUNDS_WITH_BROKEN_LINKS, "routing", numbers, what, help)
    })
}

/// Hints that a routing counts flits and credits in flight as a queue. This matters if more flits and credits are in flight than the
/// threshold of the routing: packets then leave minimal paths that have no queue.
fn phantom(spec: &Spec, implied: &Implied, class: usize, round_trip: u64) -> Option<Warning> {
    let (threshold, bound) = (implied.bias_of_used_credits?, implied.channel_load_bound?);
    let load = spec.traffic.loads(spec.graph.terminals()).into_iter().fold(0.0, f64::max);
    let carried = (load / bound).min(1.0) * spec.links[class].rate.per_cycle();
    let under_way = carried * round_trip as f64;
    (under_way > f64::from(threshold)).then(|| {
        let (routing, name) = (spec.routing.name(), &spec.graph.class_names()[class]);
        let what = format!(
            "{routing} counts all used credits as a queue. At load {load} [flits/terminal/cycle] the fullest link \
             carries {carried:.2} flits per cycle. During the round trip of a credit on `{name}` links, {round_trip} \
             cycles, {under_way:.2} flits and credits are in flight, more than the threshold of {threshold} flits. \
             Packets therefore leave minimal paths that have no queue"
        );
        let numbers = [
            ("load_flits_per_cycle", load),
            ("carried_flits_per_cycle", carried),
            ("round_trip_cycles", round_trip as f64),
            ("under_way_flits", under_way),
            ("threshold_flits", f64::from(threshold)),
        ];
        let help = "write `sensor: history_window`, which does not count the flits of the last round trip, unless you \
                    study the sensor";
        Warning::new(&CREDITS_UNDER_WAY, format!("routing.{routing}.sensor"), numbers, what, help)
    })
}

/// Weft gives the hint about a long warm-up if its limit is this many times as long as the window.
const PATIENCE: u64 = 50;

/// Hints that an automatic warm-up could take much longer than the window.
fn long_warmup(spec: &Spec) -> Option<Warning> {
    let (limit, window) = (spec.phases.warmup, spec.phases.window);
    (spec.phases.auto_warmup && limit > window.saturating_mul(PATIENCE)).then(|| {
        let what = format!(
            "the warm-up ends when the network has settled, at the latest after {}: a run may take {} times as long as \
             its window alone",
            long(limit, spec),
            limit / window.max(1)
        );
        let help = "write shorter times for the policy, a longer window, or a fixed warm-up for which you have the \
                    time, such as `measure.warmup: 100000cycles`: the results then state whether the warm-up was too \
                    short";
        let numbers = [("limit_cycles", limit as f64), ("window_cycles", window as f64)];
        Warning::new(&LONG_WARMUP, "measure.warmup_limit", numbers, what, help)
    })
}

/// Hints about requests and replies on the same VCs. The hints give the reason why requests and replies never wait for each other in this
/// run, and the cases in which they could.
fn shared_vcs(spec: &Spec, implied: &Implied) -> Option<Warning> {
    // excludes jobs with `finite_buffers`: another check covers them, or the user has allowed a run that can stall
    let unproved = |job: &Job| job.workload.model().reply_flits().is_some() && !job.workload.model().keeps_requests();
    let shares = |job: &Job| unproved(job) && spec.vcs_are_shared(job);
    (implied.has_replies && spec.traffic.jobs.iter().any(shares)).then(|| {
        let what = "requests and replies share all VCs. They can't deadlock in Weft, because a terminal accepts every \
                    flit that arrives, and its replies wait in a queue without a limit. A machine with limited reply \
                    queues can deadlock: a terminal with a full queue accepts no more requests, and replies wait \
                    behind these requests. The results do not show this deadlock";
        let is_limited = spec.traffic.jobs.iter().all(|job| job.workload.model().follows_network());
        let help = match is_limited {
            true => {
                "compare the reply queue of the machine with `outstanding` times the number of other terminals, \
                     which is the largest number of replies that can wait at a terminal"
            }
            false => {
                "write `outstanding`: at most that number of replies then waits at a terminal for each other terminal"
            }
        };
        let help = format!(
            "{help}; or give replies a message class (`classes`, `reply_class`) and write `finite_buffers: true`"
        );
        Warning::new(&REQUESTS_SHARE_VCS, "traffic.workload", [], what, help)
    })
}

/// Hints that a VC sends nothing while it waits for credits, because its buffer does not cover the round trip of a credit.
fn starved(spec: &Spec, implied: &Implied, class: usize, round_trip: u64) -> Option<Warning> {
    let (link, name) = (&spec.links[class], &spec.graph.class_names()[class]);
    let (buffer, needed) = (u64::from(link.buffer), link.rate.most_flits_in(round_trip));
    (buffer < needed).then(|| {
        let vcs = u64::from(implied.vcs_of_class[class]);
        let share = |vcs: u64| ((vcs * buffer) as f64 / round_trip as f64).min(link.rate.per_cycle());
        let what = format!(
            "a buffer of {buffer} flits is too small: the link carries {needed} flits in the round trip of a credit, \
             {round_trip} cycles. One VC carries at most {:.2} flits per cycle, and the VCs of one VC class ({vcs}) \
             carry at most {:.2}",
            share(1),
            share(vcs)
        );
        let numbers = [
            ("buffer_flits", buffer as f64),
            ("needed_flits", needed as f64),
            ("round_trip_cycles", round_trip as f64),
            ("vc_limit_flits_per_cycle", share(1)),
            ("vc_class_limit_flits_per_cycle", share(vcs)),
        ];
        let help = format!("write {needed}flits or more");
        Warning::new(&SHORT_BUFFER, format!("links.{name}.buffer"), numbers, what, help)
    })
}

/// Hints about slow detection of congestion: an adaptive routing detects that a later link is full only when the buffers before it are
/// full.
fn blind(spec: &Spec, implied: &Implied, (class, slow): (usize, usize), round_trip: u64) -> Option<Warning> {
    let (link, names) = (&spec.links[class], spec.graph.class_names());
    let room = u64::from(implied.vcs_of_class[class]) * u64::from(link.buffer);
    (class != slow && room < round_trip).then(|| {
        let what = format!(
            "{} chooses by queues, and detects a full `{}` link only from the buffers of the `{}` links before it. The \
             VCs of one VC class hold {room} flits in these buffers, less than the round trip of a credit on `{}` \
             links, {round_trip} cycles. Packets may therefore take detours too late, and the network may carry less",
            spec.routing.name(),
            names[slow],
            names[class],
            names[slow]
        );
        let numbers = [("room_flits", room as f64), ("round_trip_cycles", round_trip as f64)];
        let help = format!("try {round_trip}flits or more");
        Warning::new(&BLIND_ROUTING, format!("links.{}.buffer", names[class]), numbers, what, help)
    })
}
