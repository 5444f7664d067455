//! Tests of the workload `programs` in scenarios: refusals, remedies that work, and results.

use weft_engine::spec::{Execution, Stop};
use weft_scenario::{Finished, Point};

/// A scenario in which a program does a ring all-reduce of 8 ranks on 8 terminals of one router. `keys` are lines for the workload, and
/// `traffic` has lines for the section `traffic`.
fn scenario(keys: &str, traffic: &str) -> String {
    format!(
        "topology: {{single_router: {{terminals: 8}}}}\nrouting: dimension_order\nflit: 1B\ntraffic:\n  packet: 16flits\n{traffic}  \
         workload:\n    programs:\n      program: {{collective: {{operation: all_reduce, ranks: 8, bytes: 800B}}}}\n      \
         collectives: {{algorithms: {{all_reduce: {{ring: {{}}}}}}}}\n{keys}"
    )
}

#[track_caller]
fn point(text: &str) -> Point {
    let mut points = weft_scenario::expand("programs.yaml", text, &[]).unwrap_or_else(|refused| panic!("{refused}"));
    assert_eq!(points.len(), 1);
    points.remove(0)
}

#[track_caller]
fn refused(text: &str) -> String {
    let refused = weft_scenario::expand("programs.yaml", text, &[]).and_then(|points| points[0].check_network());
    refused.expect_err("a refusal").text
}

fn run(point: &Point) -> Finished {
    point.run(Execution::new(1, 1), &()).unwrap_or_else(|refused| panic!("{refused}"))
}

#[test]
fn a_program_needs_no_pattern_and_no_load_and_is_measured_whole() {
    let point = point(&scenario("", ""));
    let spec = point.spec().expect("a spec");
    assert_eq!((spec.phases.stop, spec.phases.warmup), (Stop::Complete, 0));
    let finished = run(&point);
    // the program has 14 steps of 100 flits each, and the last flit of a step arrives 3 cycles after it has left
    let expected = 14 * (100 + 3);
    assert_eq!(finished.summary["completion_cycles"], expected);
    let job = &finished.summary["jobs"][0];
    assert_eq!((&job["run_time_cycles"], &job["messages"]), (&(expected as f64).into(), &(14.0 * 8.0).into()));
    assert_eq!(finished.summary["load"], serde_json::Value::Null);
    assert!(finished.recorded.iter().map(|(name, _)| *name).eq(["ranks", "collectives"]));
    // the scenario saved with the results is the same point
    let again = self::point(&point.resolved_yaml());
    assert_eq!(again.hash, point.hash);
}

#[test]
fn terminals_without_a_rank_are_no_unfair_sources() {
    // 4 ranks of a ring send the same bytes from 4 of 8 terminals
    let text = scenario("", "").replace("ranks: 8", "ranks: 4");
    let summary = run(&point(&text)).summary;
    assert_eq!(summary["source_fairness_jain"], 1.0);
    assert_eq!(summary["source_load_min"], summary["source_load_max"]);
    // until the program ends, messages may wait at all 8 terminals: (4 x)^2 / (8 * 4 x^2) = 0.5 for 4 equal loads x
    let cut = run(&point(&(text + "measure: {stop: {complete: {max_window: 64cycles}}}\n"))).summary;
    assert_eq!(cut["ending"], "not_complete");
    assert_eq!((&cut["source_fairness_jain"], &cut["source_load_min"]), (&0.5.into(), &0.0.into()));
}

#[test]
fn keys_that_would_have_no_effect_are_refused() {
    for (key, line) in [
        ("pattern", "  pattern: uniform\n"),
        ("load", "  load: 0.3\n"),
        ("batch", "  batch: {per_terminal: 3}\n"),
        ("phases", "  phases: [{from: 10us, load: 0.1}]\n"),
        ("loads", "  loads: [{terminals: [0, 1], load: 0.1}]\n"),
        ("injection", "  injection: {on_off: {mean_on: 100cycles, peak: 0.9}}\n"),
    ] {
        let text = refused(&scenario("", line));
        let what = format!("error: traffic.{key}: `programs` defines the packets of terminals and their times");
        assert!(text.contains(&what), "{text}");
        assert!(text.contains(&format!("help: leave `{key}` out")), "{text}");
    }
}

/// With a grain, the default length of the window is another number of cycles. It must not be refused like a length that the user wrote.
#[test]
fn a_window_that_would_have_no_effect_is_refused() {
    let of_program = scenario("", "");
    let batch = "topology: {single_router: {terminals: 4}}\nrouting: dimension_order\n\
                 traffic: {pattern: uniform, batch: {per_terminal: 5}}\n";
    for (text, measure) in [(&*of_program, "{window: 30us}"), (batch, "{window: 30us, stop: complete}")] {
        let error = refused(&format!("{text}measure: {measure}\n"));
        for part in
            ["error: measure.window: the window ends when all jobs have ended: `window` would", "leave `window` out"]
        {
            assert!(error.contains(part), "{error}");
        }
        let limit = "measure: {stop: {complete: {max_window: 1ms}}}\n";
        assert!(error.contains("write `measure.stop: {complete: {max_window: 1ms}}`"), "{error}");
        point(&format!("{text}{limit}")).check_network().expect("a limit");
    }
    point(&format!("{of_program}grain: 16B\n"));
    // a job without an end has a drain, whose default limit is 10 windows
    let others = scenario("", "").replace(
        "  workload:",
        "  jobs: [{name: ring, terminals: {range: [0, 3]}}, {name: others, terminals: rest, workload: open_loop, \
         pattern: uniform, load: 0.1}]\n  workload:",
    );
    point(&(others.replace("ranks: 8", "ranks: 4") + "measure: {window: 30us}\n"));
}

/// A sweep of a program and an open load needs the window for the load only.
#[test]
fn a_sweep_of_programs_and_loads_gives_the_window_to_the_loads() {
    let traffic = "[{workload: {programs: {program: {collective: {operation: all_reduce, ranks: 4, bytes: 800B}}}}}, \
                   {pattern: uniform, load: 0.1}]";
    let top = "topology: {single_router: {terminals: 4}}\nrouting: dimension_order\n";
    let expanded = |text: &str| weft_scenario::expand("both.yaml", text, &[]);
    let error = expanded(&format!("{top}measure: {{window: 30us}}\nsweep: {{traffic: {traffic}}}\n")).expect_err("bad");
    assert!(error.text.contains("zip it with `measure: [{}, {window: 30us}]`"), "{}", error.text);
    let points = expanded(&format!("{top}zip: {{traffic: {traffic}, measure: [{{}}, {{window: 30us}}]}}\n"))
        .expect("the remedy");
    let stops: Vec<_> = points.iter().map(|point| point.spec().expect("a spec").phases).collect();
    assert_eq!(stops[0].stop, Stop::Complete);
    assert_eq!((stops[1].stop, stops[1].window), (Stop::Window, 30_000));
}

/// The paths of the warnings of a scenario, each with its text.
fn warned(text: &str) -> Vec<(String, String)> {
    let warnings = point(text).warnings.into_iter();
    warnings.map(|each| (each.path, format!("{}: {}; {}", each.code.name, each.what, each.help))).collect()
}

#[test]
fn messages_inside_a_node_that_take_no_time_are_reported() {
    let of = |keys: &str| warned(&scenario(&format!("      ranks_per_terminal: 3\n{keys}"), ""));
    let free = of("");
    assert_eq!((free.len(), &*free[0].0), (1, "traffic.workload.programs.local_latency"), "{free:?}");
    let parts = [
        "local_messages_take_no_time: 3 ranks share a node, and messages between them take no time; write",
        "`local_latency`, such as 500ns, and `local_bandwidth`, such as 900Gb/s",
        "write `local_latency: 0ns`",
    ];
    parts.iter().for_each(|part| assert!(free[0].1.contains(part), "{free:?}"));
    for remedy in
        ["local_latency: 500ns", "local_bandwidth: 900Gb/s", "local_latency: 0ns", "interface: accelerator400g"]
    {
        assert_eq!(of(&format!("      {remedy}\n")), [], "{remedy}");
    }
    assert_eq!(of("      interface: tcep\n").len(), 1, "a preset without a latency inside nodes");
    assert!(of("      overhead: 1us\n")[0].1.contains("take no time besides `overhead`"));
    // all 8 ranks are on one node that has room for 9
    let all = warned(&scenario("      ranks_per_terminal: 9\n", ""));
    assert!(all[0].1.contains(": 8 ranks share a node"), "{all:?}");
    let compute = scenario("      ranks_per_terminal: 3\n", "")
        .replace("{collective: {operation: all_reduce, ranks: 8, bytes: 800B}}", "{compute: {ranks: 8, time: 10us}}");
    assert_eq!(warned(&compute), [], "there are no messages");
}

#[test]
fn keys_of_messages_inside_a_node_are_reported_if_no_node_has_two_ranks() {
    for (keys, path, has) in [
        ("local_latency: 1us", "local_latency", "local_latency has no effect: every node has one rank"),
        ("local_bandwidth: 1Gb/s", "local_bandwidth", "local_bandwidth has no effect"),
        (
            "local_latency: 1us\n      local_bandwidth: 1Gb/s",
            "local_latency",
            "local_latency and local_bandwidth have no",
        ),
    ] {
        let found = warned(&scenario(&format!("      {keys}\n"), ""));
        assert_eq!((found.len(), &*found[0].0), (1, &*format!("traffic.workload.programs.{path}")), "{found:?}");
        assert!(found[0].1.contains(has) && found[0].1.contains("write `ranks_per_terminal`, such as 2"), "{found:?}");
        assert_eq!(warned(&scenario(&format!("      {keys}\n      ranks_per_terminal: 2\n"), "")), []);
    }
    assert_eq!(warned(&scenario("      interface: accelerator400g\n", "")), [], "a preset is for any number of ranks");
}

/// A message of a rank to itself does not use the network. It takes the same latency as other messages inside a node.
#[test]
fn the_latency_inside_a_node_is_of_messages_to_the_same_rank_too() {
    let with = |latency: &str, to: u32| {
        let text = format!(
            "topology: {{single_router: {{terminals: 2}}}}\nrouting: dimension_order\nflit: 1B\ntraffic:\n  packet: 16flits\n  \
             workload: {{programs: {{file: own.goal, local_latency: {latency}}}}}\n"
        );
        let receive = ["recv 64b from 0\n}\nrank 1 {", "}\nrank 1 {\nrecv 64b from 0"][to as usize];
        let goal = format!("num_ranks 2\nrank 0 {{\nsend 64b to {to}\n{receive}\n}}\n");
        let attached = vec![("own.goal".to_owned(), goal.into_bytes())];
        weft_scenario::expand_with("own.yaml", &text, &[], attached).unwrap_or_else(|text| panic!("{text}")).remove(0)
    };
    let time = |latency: &str| run(&with(latency, 0)).summary["jobs"][0]["run_time_cycles"].as_f64().expect("a time");
    assert_eq!(time("3us") - time("1us"), 2000.0);
    assert_eq!(with("1us", 0).warnings.len(), 0);
    let other = with("1us", 1).warnings;
    assert_eq!((other.len(), other[0].code.name), (1, "no_local_messages"));
}

/// If nodes have several cores, the scheduler gives each rank a core, so several ranks can be on a node. A list of arrivals can change
/// the number of ranks of a trace.
#[test]
fn the_scheduler_reports_messages_inside_nodes_for_each_trace() {
    let scheduled = |keys: &str, cores: &str| {
        let program = "program: {collective: {operation: all_reduce, ranks: 4, bytes: 2KB}}";
        let traces = format!(
            "[{{name: idle, programs: {{program: {{compute: {{ranks: 2, time: 1us}}}}}}}}, {{name: ring, programs: {{{keys}{program}}}}}]"
        );
        warned(&format!(
            "topology: {{single_router: {{terminals: 8}}}}\nrouting: dimension_order\ntraffic: {{workload: {{scheduler: \
             {{period: 1us, {cores}traces: {traces}}}}}}}\n"
        ))
    };
    let path = "traffic.workload.scheduler.traces.1.programs.local_latency";
    for (keys, cores, ranks) in [("ranks_per_terminal: 2, ", "", 2), ("", "cores_per_node: 3, ", 3)] {
        let found = scheduled(keys, cores);
        assert_eq!((found.len(), &*found[0].0), (1, path), "{found:?}");
        assert!(found[0].1.contains(&format!("{ranks} ranks share a node")), "{found:?}");
        assert_eq!(scheduled(&format!("{keys}local_latency: 1us, "), cores), []);
    }
    assert_eq!(scheduled("", ""), []);
    assert_eq!(scheduled("local_latency: 1us, ", "").len(), 1, "one rank at each node");
    // the second run of the trace has more ranks than the first: 3 fit on a node
    let list = "arrivals: {list: [{trace: idle, at: 0ns}, {trace: ring, at: 1us, ranks: 2}, {trace: ring, at: 2us, ranks: 4}]}, ";
    let found = scheduled("", &format!("cores_per_node: 3, {list}"));
    assert_eq!((found.len(), &*found[0].0), (1, path), "{found:?}");
    assert!(found[0].1.contains("3 ranks share a node"), "{found:?}");
}

/// In the first scenario the four ranks are under one leaf of a tree, and no message leaves this leaf. With random terminals the ranks
/// are under several leaves.
#[test]
fn a_policy_whose_links_carry_nothing_is_reported_after_the_run() {
    let tree = |jobs: &str| {
        let text = format!(
            "topology: {{fat_tree: {{radix: 8, levels: 2}}}}\nrouting: up_down\ntraffic:\n  packet: 16flits\n{jobs}  workload: \
             {{programs: {{program: {{collective: {{operation: all_to_all, ranks: 4, bytes: 4KB}}}}}}}}\n\
             power: {{policy: elastic_tree}}\n"
        );
        let summary = run(&point(&text)).summary;
        let warnings = summary["warnings"].as_array().expect("a list").clone();
        warnings.into_iter().find(|each| each["code"] == "no_managed_link_used")
    };
    let found = tree("").expect("a warning");
    assert_eq!(found["path"], "power.policy");
    // 8 leaves with 4 upward links, each of two channels
    assert_eq!(found["numbers"]["managed_channels"], 64.0);
    let what = found["what"].as_str().expect("text");
    assert!(what.contains("none crossed one of the 64 channels that elastic_tree manages"), "{what}");
    let help = found["help"].as_str().expect("text");
    assert!(help.contains("in `traffic.jobs.N.terminals`, such as `{random: {count: 32}}`"), "{help}");
    assert_eq!(tree("  jobs: [{name: a, terminals: {random: {count: 32}}}]\n"), None);
}

#[test]
fn what_does_not_fit_is_refused_with_a_remedy_that_works() {
    let many = scenario("", "").replace("ranks: 8", "ranks: 20");
    let text = refused(&many);
    assert!(
        text.contains("20 ranks, 1 per node, need 20 nodes with one terminal each, but job `all` has 8 terminals"),
        "{text}"
    );
    assert!(text.contains("write `ranks_per_terminal: 3`"), "{text}");
    let free = "; messages between ranks of a node take no time unless you write `local_latency` or `local_bandwidth`";
    assert!(text.contains(free), "{text}");
    let slow = refused(&(many.clone() + "      local_latency: 1us\n"));
    assert!(slow.contains("write `ranks_per_terminal: 3`") && !slow.contains("take no time"), "{slow}");
    point(&(many + "      ranks_per_terminal: 3\n")).check_network().expect("it fits");

    let rails = scenario("      rails: 2\n", "");
    let text = refused(&rails);
    assert!(
        text.contains("8 ranks, 1 per node, need 8 nodes with 2 terminals each, but job `all` has 8 terminals"),
        "{text}"
    );
    assert!(text.contains("write `ranks_per_terminal: 2`, or give the job 16 terminals"), "{text}");
    point(&scenario("      rails: 2\n      ranks_per_terminal: 2\n", "")).check_network().expect("it fits");
    point(&rails.replace("{terminals: 8}", "{terminals: 16}")).check_network().expect("it fits");

    for (keys, key) in [
        ("      compute_scale: -1\n", "traffic.workload.programs.compute_scale"),
        ("      jitter: {uniform: {share: 1.5}}\n", "traffic.workload.programs.jitter.uniform.share"),
        ("      rails: 0\n", "traffic.workload.programs.rails"),
    ] {
        assert!(refused(&scenario(keys, "")).contains(&format!("error: {key}: ")), "{}", refused(&scenario(keys, "")));
    }

    let stop = scenario("", "") + "measure: {stop: {confidence: {half_width: 0.02}}}\n";
    assert!(refused(&stop).contains("leave `stop` out, or write `stop: {complete: {}}`"), "{}", refused(&stop));
    point(&stop.replace("confidence: {half_width: 0.02}", "complete: {}")).check_network().expect("it ends");

    let mixed = scenario("", "")
        .replace("packet: 16flits", "packet: {mix: [{size: 1flit, weight: 1}, {size: 9flits, weight: 1}]}");
    assert!(refused(&mixed).contains("write one length, such as 16flits"), "{}", refused(&mixed));

    let none = scenario("      accepted: 0\n", "");
    assert!(refused(&none).contains("write 1 or more"), "{}", refused(&none));

    let faults = scenario("", "") + "faults: [{router: 0, at: 1us}]\n";
    assert!(refused(&faults).contains("messages"), "{}", refused(&faults));

    let empty =
        "topology: {single_router: {terminals: 2}}\nrouting: dimension_order\ntraffic: {workload: {programs: {}}}\n";
    assert!(refused(empty).contains("write either `file: program.goal`, or `program:`"), "{}", refused(empty));
}

/// In a network with planes, a node has a terminal in each plane, and a job lists nodes instead of terminals.
#[test]
fn nodes_of_planes_are_named_by_their_number() {
    let planes = |nodes: &str| {
        format!(
            "topology: {{planes: {{count: 2, of: {{torus: {{widths: [4, 3], terminals_per_router: 1}}}}}}}}\nrouting: dimension_order\n\
             flit: 1B\ntraffic:\n  packet: 16flits\n  jobs:\n    - name: ring\n      terminals: {nodes}\n      workload:\n        \
             programs:\n          program: {{collective: {{operation: all_reduce, ranks: 4, bytes: 800B}}}}\n    - name: others\n      \
             terminals: rest\n      pattern: uniform\n      load: 0.1\n"
        )
    };
    let point = point(&planes("{list: [9, 1, 4, 0]}"));
    let spec = point.spec().expect("a spec");
    assert_eq!(spec.traffic.jobs[0].terminals, [18, 19, 2, 3, 8, 9, 0, 1]);
    assert_eq!(spec.traffic.jobs[1].terminals.len(), 16);
    assert!(run(&point).summary["jobs"][0]["run_time_cycles"].as_f64().is_some_and(|cycles| cycles > 0.0));
    let text = refused(&planes("{list: [9, 1, 12, 0]}"));
    assert!(text.contains("there is no node 12: the network has 12 nodes"), "{text}");
    assert!(text.contains("write 0 to 11"), "{text}");
}

#[test]
fn a_program_that_can_not_be_made_is_refused_at_its_key() {
    let wrong = scenario("", "").replace("all_reduce, ranks", "all_redoce, ranks");
    let text = refused(&wrong);
    assert!(
        text.contains("traffic.workload.programs.program.collective.operation: there is no collective all_redoce"),
        "{text}"
    );
}

/// A grain of 16 bytes makes a cycle 16 times as long. But times of processors are not rounded to multiples of this cycle, and limits in
/// bytes stay the same.
#[test]
fn a_grain_leaves_the_times_of_processors() {
    let fine = scenario("      overhead: 333ns\n      eager: 1MB\n", "");
    let coarse = fine.clone() + "grain: 16B\n";
    let points = [point(&fine), point(&coarse)];
    let [fine, coarse] = points.map(|point| (run(&point), point.spec().expect("a spec").cycle_fs));
    let time = |(finished, cycle_fs): &(Finished, u128)| {
        finished.summary["jobs"][0]["run_time_cycles"].as_f64().expect("a time") * *cycle_fs as f64 / 1e6
    };
    // the program has 14 steps. A step has twice the overhead, 100 bytes (7 grains of 16 ns each), and 3 ns for the path, which become
    // whole coarse cycles
    assert_eq!(time(&fine), 14.0 * (2.0 * 333.0 + 100.0 + 3.0));
    let step = 2.0 * 333.0 + 7.0 * 16.0;
    assert!(time(&coarse) >= 14.0 * step && time(&coarse) <= 14.0 * (step + 4.0 * 16.0), "{} ns", time(&coarse));
    let sent = |(finished, _): &(Finished, u128)| finished.summary["jobs"][0]["message_bytes"].clone();
    assert_eq!(sent(&fine), sent(&coarse));
}

/// The coarse scenario is made from the resolved scenario, in which a file has no folder in its name. The file must still be found.
#[test]
fn a_grain_takes_a_program_from_another_folder() {
    let text = "topology: {single_router: {terminals: 2}}\nrouting: dimension_order\nflit: 1B\ngrain: 16B\ntraffic:\n  \
                packet: 16flits\n  workload: {programs: {file: /elsewhere/pair.goal}}\n";
    let goal = "num_ranks 2\nrank 0 {\nsend 64b to 1\n}\nrank 1 {\nrecv 64b from 0\n}\n";
    let attached = vec![("/elsewhere/pair.goal".to_owned(), goal.as_bytes().to_vec())];
    let points =
        weft_scenario::expand_with("programs.yaml", text, &[], attached).unwrap_or_else(|text| panic!("{text}"));
    let finished = run(&points[0]);
    assert_eq!(finished.summary["jobs"][0]["message_bytes"], 64.0);
}

/// In a scheduling pass, the scheduler uses only events that happened at least a period earlier. This rule holds for events in all parts
/// of the network.
#[test]
fn a_period_of_the_scheduler_is_longer_than_the_latency_of_every_link() {
    let scheduled = |period: &str| {
        format!(
            "topology: {{hyperx: {{widths: [4], terminals_per_router: 2}}}}\nrouting: minimal\n\
             links: {{default: {{latency: 50cycles, vcs: 2, buffer: 64flits}}, terminal: {{latency: 1cycle}}}}\n\
             traffic: {{workload: {{scheduler: {{period: {period}, traces: [{{name: ring, programs: {{program: \
             {{collective: {{operation: all_reduce, ranks: 3, bytes: 2KB}}}}}}}}]}}}}}}\n"
        )
    };
    let text = refused(&scheduled("50cycles"));
    assert!(text.contains("traffic.workload.scheduler.period: 50 cycles, but this time must be longer than"), "{text}");
    assert!(text.contains("write 51cycles or more"), "{text}");
    run(&point(&scheduled("51cycles")));
}
