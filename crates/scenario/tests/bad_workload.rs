//! Bad workloads and measurements: each causes one error, with its place, the arithmetic and the remedy.

use crate::refusal::*;

#[test]
fn jobs_that_overlap() {
    insta::assert_snapshot!(refused(&[("  load: 0.3\n", "  load: 0.3\n  jobs:\n    - {name: a, terminals: {range: [0, 7]}}\n    - {name: b, terminals: {list: [9, 3]}}\n")], &[]), @r#"
    error: traffic.jobs.1.terminals: terminal 3 is in job `a` and in job `b`
      --> bad.yaml:14:17
       |
    14 |     - {name: b, terminals: {list: [9, 3]}}
       |                 ^^^^^^^^^
       |
       = help: give each terminal to at most one job, and only once, or give the jobs different message classes (`class`); one job sends packets of several lengths with `packet: {mix: [{size: 1flit, weight: 3}, {size: 9flits, weight: 1}]}`
    "#);
}

#[test]
fn packets_of_several_lengths_are_refused_at_their_place() {
    for (packet, place, words) in [
        ("{mix: []}", "mix", "the list is empty"),
        (
            "{mix: [{size: 0flits, weight: 1}]}",
            "mix.0.size",
            "a packet of 0flits is not possible; a packet has 1 to 65535 flits",
        ),
        ("{mix: [{size: 1flit, weight: 1}, {size: 70000flits, weight: 1}]}", "mix.1.size", "a packet of 70000flits"),
        ("{mix: [{size: 1flit, weight: 0}]}", "mix.0.weight", "a weight of 0"),
        ("{mix: [{size: 1flit, weigth: 1}]}", "mix.0.weigth", "did you mean `weight`?"),
        ("{mix: [{size: 1flit}]}", "mix.0.weight", "the key `weight` is missing"),
        ("{mix: [{size: 40flits, weight: 1}]}", "", "sizes of 32flits or less in `traffic.packet`"),
        ("[1flit]", "", "a number of flits such as 4flits, or {mix: [{size: 1flit, weight: 1}, ...]}"),
        ("4", "", "4 is a bare number"),
    ] {
        let text = refused(&[], &[("traffic.packet", packet)]);
        let path = if place.is_empty() { String::new() } else { format!("error: traffic.packet.{place}: ") };
        assert!(text.contains(&path) && text.contains(words), "{packet}: {text}");
    }
    let shorter = "{mix: [{size: 32flits, weight: 1}, {size: 1flit, weight: 0.5}]}";
    let sets = [("traffic.packet".to_owned(), shorter.to_owned())];
    assert_eq!(weft_scenario::expand("good.yaml", GOOD, &sets).expect("good").len(), 1);
}

#[test]
fn a_job_that_asks_for_more_than_is_left() {
    insta::assert_snapshot!(refused(&[("  load: 0.3\n", "  load: 0.3\n  jobs:\n    - {name: a, terminals: {range: [0, 7]}}\n    - {name: b, terminals: {random: {count: 30}}}\n")], &[]), @r#"
    error: traffic.jobs.1.terminals.random.count: job `b` needs 30 terminals, but 24 of the 32 are left
      --> bad.yaml:14:45
       |
    14 |     - {name: b, terminals: {random: {count: 30}}}
       |                                             ^^
       |
       = help: write 1 to 24, or give the other jobs fewer terminals
    "#);
}

#[test]
fn a_job_outside_the_machine() {
    insta::assert_snapshot!(refused(&[("  load: 0.3\n", "  load: 0.3\n  jobs: [{name: a, terminals: {list: [3, 32]}}]\n")], &[]), @r#"
    error: traffic.jobs.0.terminals: job `a` names terminal 32, but the 32 terminals are 0 to 31
      --> bad.yaml:12:20
       |
    12 |   jobs: [{name: a, terminals: {list: [3, 32]}}]
       |                    ^^^^^^^^^
       |
       = help: write terminals from 0 to 31
    "#);
}

#[test]
fn a_job_without_a_load() {
    insta::assert_snapshot!(refused(&[("  load: 0.3\n", "  jobs: [{name: a, terminals: {rest: {}}}]\n")], &[]), @r#"
    error: traffic.jobs.0.load: job `a` has no `load`, and `traffic` has none either
      --> bad.yaml:11:10
       |
    11 |   jobs: [{name: a, terminals: {rest: {}}}]
       |          ^
       |
       = note: `traffic.jobs.0.load` is not written in the scenario: the message is about its default value
       = help: write `load: 0.1`
    "#);
}

#[test]
fn phases_out_of_order() {
    insta::assert_snapshot!(refused(&[("  load: 0.3\n", "  load: 0.3\n  phases:\n    - {from: 5000cycles, load: 0.1}\n    - {from: 4000cycles, load: 0.2}\n")], &[]), @r#"
    error: traffic.phases.1.from: this phase starts at cycle 4000, but the phase before it starts at cycle 5000
      --> bad.yaml:14:14
       |
    14 |     - {from: 4000cycles, load: 0.2}
       |              ^^^^^^^^^^
       |
       = help: write the phases in the order of their start times
    "#);
}

#[test]
fn a_load_of_a_phase_above_one() {
    insta::assert_snapshot!(refused(&[("  load: 0.3\n", "  load: 0.3\n  phases: [{from: 5000cycles, load: 2}]\n")], &[]), @r#"
    error: traffic.phases.0.load: a load of 2 is 2 flits per cycle and terminal, but a terminal injects at most 1
      --> bad.yaml:12:37
       |
    12 |   phases: [{from: 5000cycles, load: 2}]
       |                                     ^
       |
       = help: write a fraction of the injection bandwidth, up to 1; 2 % is 0.02
    "#);
}

#[test]
fn a_batch_of_nothing() {
    insta::assert_snapshot!(refused(&[("  load: 0.3\n", "  batch: {per_job: 0}\n")], &[]), @r#"
    error: traffic.batch.per_job: a batch of 0 packets is not possible; a batch has 1 to 2147483648 packets
      --> bad.yaml:11:20
       |
    11 |   batch: {per_job: 0}
       |                    ^
       |
       = help: write 1 or more, or leave the batch out
    "#);
}

#[test]
fn a_batch_per_group_where_there_are_none() {
    insta::assert_snapshot!(refused(&[("  load: 0.3\n", "  batch: {per_group: 10}\n")], &[]), @r#"
    error: traffic.batch.per_group: `all` has no groups of terminals
      --> bad.yaml:11:22
       |
    11 |   batch: {per_group: 10}
       |                      ^^
       |
       = help: write per_terminal or per_job
    "#);
}

#[test]
fn no_outstanding_request() {
    insta::assert_snapshot!(refused(&[("  load: 0.3\n", "  load: 0.3\n  reply: {outstanding: 0}\n")], &[]), @r#"
    error: traffic.reply.outstanding: with a limit of 0 requests, none is ever sent
      --> bad.yaml:12:24
       |
    12 |   reply: {outstanding: 0}
       |                        ^
       |
       = help: write 1 or more
    "#);
}

#[test]
fn a_workload_is_refused_where_and_as_it_is_written() {
    let zero = "error: traffic.workload.request_reply.outstanding: with a limit of 0 requests, none is ever sent";
    assert_eq!(refused_load("  load: 0.3\n  workload: {request_reply: {outstanding: 0}}\n"), zero);
    let jobs =
        "  load: 0.3\n  reply: {}\n  jobs:\n    - {name: a, terminals: {range: [0, 7]}, reply: {outstanding: 0}}\n";
    let zero = "error: traffic.jobs.0.reply.outstanding: with a limit of 0 requests, none is ever sent";
    assert_eq!(refused_load(jobs), zero);
    // jobs without a workload use the workload of `traffic`, so the error is at the key in `traffic`
    let jobs = "  load: 0.3\n  reply: {outstanding: 0}\n  jobs:\n    - {name: a, terminals: {range: [0, 7]}}\n";
    let zero = "error: traffic.reply.outstanding: with a limit of 0 requests, none is ever sent";
    assert_eq!(refused_load(jobs), zero);
    let both = "error: traffic.workload: `workload` and `reply` both define the packets that terminals send";
    assert_eq!(refused_load("  load: 0.3\n  workload: open_loop\n  reply: {}\n"), both);
    let named = refused(&[("  load: 0.3\n", "  load: 0.3\n  workload: request_repl\n")], &[]);
    assert!(named.contains("did you mean `request_reply`? write one of: open_loop, request_reply"), "{named}");
}

/// A user can write a workload as `workload` or with a short key such as `reply`; both give the same run. A job can have
/// another workload than `traffic`.
#[test]
fn a_workload_by_its_name_is_what_the_short_key_says() {
    let spec = |traffic: &str| {
        let text = crate::refusal::GOOD.replace("  load: 0.3\n", &format!("  load: 0.3\n{traffic}"));
        let point = weft_scenario::expand("good.yaml", &text, &[]).unwrap_or_else(|error| panic!("{error}")).remove(0);
        format!("{:?}", point.spec().expect("sound").traffic)
    };
    let long = "  workload: {request_reply: {packet: 2flits, outstanding: 3}}\n";
    assert_eq!(spec("  reply: {packet: 2flits, outstanding: 3}\n"), spec(long));
    assert_eq!(spec("  workload: open_loop\n"), spec(""));
    let jobs =
        "  jobs: [{name: a, terminals: {range: [0, 7]}, workload: open_loop}, {name: b, terminals: {rest: {}}}]\n";
    let mixed = spec(&format!("  reply: {{}}\n{jobs}"));
    assert!(mixed.contains("OpenLoop") && mixed.contains("RequestReply"), "{mixed}");
}

#[test]
fn a_reply_longer_than_the_buffers() {
    insta::assert_snapshot!(refused(&[("  load: 0.3\n", "  load: 0.3\n  reply: {packet: 64flits}\n")], &[]), @r#"
    error: links.terminal.buffer: a buffer of 32flits on `terminal` links can't hold a packet of 64 flits: 32 < 64, and virtual cut-through forwards a packet only if the buffer has room for the whole packet
     --> bad.yaml:7:48
      |
    7 |   default: {latency: 10cycles, vcs: 4, buffer: 32flits}
      |                                                ^^^^^^^
      |
      = note: `terminal` links have the `buffer` of `links.default`
      = help: write `buffer: 64flits` or more, packets and replies of 32flits or less, or `router.flow_control: wormhole`
    "#);
}

#[test]
fn complete_without_a_batch() {
    insta::assert_snapshot!(refused(&[("  load: 0.3\n", "  load: 0.3\nmeasure: {stop: complete}\n")], &[]), @r#"
    error: measure.stop.complete: no job has a batch, so no job is ever complete
      --> bad.yaml:12:17
       |
    12 | measure: {stop: complete}
       |                 ^^^^^^^^
       |
       = help: add traffic.batch, or leave `stop` out
    "#);
}

#[test]
fn complete_with_a_warm_up() {
    insta::assert_snapshot!(refused(&[("  load: 0.3\n", "  batch: {per_terminal: 5}\nmeasure: {stop: complete, warmup: 5cycles}\n")], &[]), @r#"
    error: measure.warmup: packets sent in the warm-up would not be measured, but the window ends with the last packet of a batch
      --> bad.yaml:12:35
       |
    12 | measure: {stop: complete, warmup: 5cycles}
       |                                   ^^^^^^^
       |
       = help: write 0cycles, or leave the warm-up out
    "#);
}

#[test]
fn a_confidence_of_nothing() {
    insta::assert_snapshot!(refused(&[("  load: 0.3\n", "  load: 0.3\nmeasure: {stop: {confidence: {half_width: 0}}}\n")], &[]), @r#"
    error: measure.stop.confidence.half_width: 0 of the mean is not a valid half width of an interval
      --> bad.yaml:12:43
       |
    12 | measure: {stop: {confidence: {half_width: 0}}}
       |                                           ^
       |
       = help: write a fraction above 0, such as 0.02
    "#);
}

#[test]
fn a_bare_warm_up() {
    insta::assert_snapshot!(refused(&[("  load: 0.3\n", "  load: 0.3\nmeasure: {warmup: soon}\n")], &[]), @r#"
    error: measure.warmup: "soon" is neither `auto` nor a time
      --> bad.yaml:12:19
       |
    12 | measure: {warmup: soon}
       |                   ^^^^
       |
       = help: write `auto`, or a time such as 10us or 10000cycles
    "#);
}

#[test]
fn a_sample_every_no_time() {
    insta::assert_snapshot!(refused(&[("  load: 0.3\n", "  load: 0.3\nmeasure: {series: {every: 0cycles}}\n")], &[]), @r#"
    error: measure.series.every: expected a time above 0, found 0 cycles
      --> bad.yaml:12:27
       |
    12 | measure: {series: {every: 0cycles}}
       |                           ^^^^^^^
       |
       = help: write at least 1 cycle
    "#);
}

/// The first line of the error for the scenario `GOOD` with this load instead of its own: the key, and the fault.
fn refused_load(load: &str) -> String {
    refused(&[("  load: 0.3\n", load)], &[]).lines().next().unwrap_or_default().to_owned()
}

#[test]
fn bursts_that_the_load_does_not_fit_at_any_point_and_in_any_job() {
    let sweep = "  injection: {on_off: {mean_on: 10cycles, peak: 0.9}}\nsweep:\n  traffic.load: [0.3, 0.95]\n";
    let what = "error: traffic.injection.on_off.peak: the average load of 0.95 flits per cycle is above the load in bursts, 0.9";
    assert_eq!(refused_load(sweep), what);
    let job = "  load: 0.3\n  jobs:\n    - {name: a, terminals: {range: [0, 7]}}\n    - {name: b, terminals: {rest: {}}, \
               injection: {on_off: {mean_on: 10cycles, peak: 0.2}}}\n";
    let what = "error: traffic.jobs.1.injection.on_off.peak: the average load of 0.3 flits per cycle is above the load in \
                bursts, 0.2";
    assert_eq!(refused_load(job), what);
}

#[test]
fn a_batch_that_is_never_sent() {
    assert_eq!(
        refused_load("  load: 0\n  batch: {per_terminal: 5}\n"),
        "error: traffic.load: a batch is never sent at a load of 0"
    );
}

#[test]
fn jobs_of_one_name() {
    let jobs = "  load: 0.3\n  jobs: [{name: a, terminals: {range: [0, 7]}}, {name: a, terminals: {rest: {}}}]\n";
    assert_eq!(refused_load(jobs), "error: traffic.jobs.1.name: `a` is also the name of traffic.jobs.0");
}

#[test]
fn a_warm_up_that_can_not_settle_before_its_limit() {
    // the 144 cycles after the decision: 1 of the router, 4, 1 of ejection, 10 of a link, 4 x 32 of its buffers
    let what = "error: measure.warmup_limit: a warm-up of at most 5000 cycles can't end by itself, because it needs 6144 \
                cycles: 12 observations of 500 cycles, and 144 cycles between the decision and the window";
    assert_eq!(refused_load("  load: 0.3\nmeasure: {warmup: auto, warmup_limit: 5000cycles}\n"), what);
    let policy = "power: {policy: {idle_timeout: {idle: 9000cycles, transition: 500cycles}}}\n";
    let what = "error: measure.warmup_limit: a warm-up of at most 50000 cycles can't end by itself, because it needs \
                60144 cycles: 6 observations of the power state of 10000 cycles, and 144 cycles between the decision \
                and the window";
    assert_eq!(
        refused_load(&format!("  load: 0.3\nmeasure: {{warmup: auto, warmup_limit: 50000cycles}}\n{policy}")),
        what
    );
}
