//! Tests of the keys that a summary has about faults, in runs with known recovery times.

use serde_json::Value;
use weft_engine::spec::Execution;
use weft_scenario::expand;

/// Runs this scenario with the keys `more` at the end, and returns the summary.
fn run(more: &str) -> Value {
    let text = format!("{RING}{more}\n");
    let point = expand("ring.yaml", &text, &[]).unwrap_or_else(|error| panic!("{error}")).remove(0);
    let how = Execution::new(1, 1);
    let one = point.run(how, &()).unwrap_or_else(|error| panic!("{error}")).summary;
    let many = point.run(Execution::new(2, 3), &()).unwrap_or_else(|error| panic!("{error}")).summary;
    assert_eq!(one, many, "3 blocks");
    one
}

/// The window lasts from cycle 1000 to cycle 41000, so its bins have 40000 / 128 = 312 cycles.
const RING: &str = "\
topology: {torus: {widths: [6], terminals_per_router: 4}}
routing: shortest_path
links: {default: {vcs: 8}}
traffic: {pattern: {uniform: {include_self: true}}, load: 0.1}
measure: {warmup: 1000cycles, window: 40000cycles}
";

fn number(summary: &Value, key: &str) -> f64 {
    summary[key].as_f64().unwrap_or_else(|| panic!("{key}: {}", summary[key]))
}

#[test]
fn longer_paths_are_no_recovery_and_the_return_takes_until_its_tables_are_there() {
    // Heads at the broken link wait 3,000 cycles until the new tables. After the change of the tables, all packets use the longer path
    // around the ring. Latencies stay higher until the link has returned and the tables have changed back.
    let s =
        run("faults: [{link: [1, 2], at: 12000cycles, until: 24000cycles}]\nfault_model: {rebuild_delay: 3000cycles}");
    let [before, during, after] =
        ["before", "during", "after"].map(|part| number(&s, &format!("latency_{part}_faults_cycles")));
    assert!(during > before + 50.0, "{before} {during} {after}");
    assert!(after > before && after < during, "{before} {during} {after}");
    for part in ["before", "after"] {
        assert_eq!(s[format!("delivered_{part}_faults_share")], 1.0);
    }
    let bin = number(&s, "recovery_bin_cycles");
    assert_eq!(bin, 312.0);
    assert_eq!(s["recovery_cycles"], Value::Null);
    let why = s["recovery_unknown"].as_str().expect("a reason");
    assert!(
        why.starts_with("not while parts are broken") && why.contains("all parts are repaired in cycle 24000"),
        "{why}"
    );
    // the tables for the whole network are there 3,000 cycles after the return of the link. Packets that are still on longer paths arrive
    // during one more bin
    let back = number(&s, "return_recovery_cycles");
    assert!((3000.0..3000.0 + 2.0 * bin).contains(&back), "{back}");
    assert_eq!(
        (s["return_recovery_interval_cycles"][0].as_f64() <= Some(back), &s["return_recovery_unknown"]),
        (true, &Value::Null)
    );
    let episode = &s["fault_episodes"][0];
    assert_eq!(
        (&episode["failed"], &episode["from_cycle"], &episode["to_cycle"]),
        (&"link 1-2".into(), &12_000.into(), &24_000.into())
    );
    assert_eq!((episode["return_recovery_cycles"].as_f64(), s["fault_episodes_count"].as_u64()), (Some(back), Some(1)));
    // the parts together contain all cycles of the window, and all packets that were delivered in it
    let parts = s["fault_parts"].as_array().expect("parts");
    let sum = |key: &str| parts.iter().map(|part| part[key].as_u64().expect(key)).sum::<u64>();
    // when the tables change, a few packets after their first hop find no VC class for their remaining hops and are dropped
    assert_eq!((sum("cycles"), sum("dropped_packets") < sum("packets") / 100), (40_000, true));
    let cycles: Vec<_> = parts.iter().map(|part| part["cycles"].as_u64().expect("cycles")).collect();
    assert_eq!(cycles, [11_000, 12_000, 17_000]);
    let flits: f64 = parts
        .iter()
        .zip(cycles)
        .map(|(part, cycles)| part["accepted_load"].as_f64().expect("a load") * cycles as f64)
        .sum();
    assert!((flits / 40_000.0 - number(&s, "accepted_load")).abs() < 1e-9);
}

#[test]
fn what_nobody_notices_takes_no_time_and_what_is_dropped_lowers_the_share() {
    // the link returns one cycle after the fault; heads at the link wait for this cycle
    let s = run("faults: [{link: [1, 2], at: 12000cycles, until: 12001cycles}]\nfault_model: {rebuild_delay: 0cycles}");
    assert_eq!(number(&s, "return_recovery_cycles"), 0.0);
    let why = s["recovery_unknown"].as_str().expect("a reason");
    assert!(why.contains("0 whole bins of 312 cycles are between cycle 12000 and cycle 12001"), "{why}");
    // all packets from and to a dead router are lost, including those between its own terminals. These are 11 of 36 pairs of source and
    // destination routers
    let s = run("faults: [{router: 3, at: 12000cycles, until: 24000cycles}]\nfault_model: {rebuild_delay: 0cycles}");
    let share = number(&s, "delivered_during_faults_share");
    assert!((share - 25.0 / 36.0).abs() < 0.02, "{share}");
    // packets are lost until the router returns, so there is no recovery while it is broken
    assert_eq!(s["recovery_cycles"], Value::Null);
    assert!(s["recovery_unknown"].as_str().is_some_and(|why| why.starts_with("not while parts are broken")), "{s}");
    assert!((0.0..1000.0).contains(&number(&s, "return_recovery_cycles")), "{}", s["return_recovery_cycles"]);
}

#[test]
fn a_run_that_ends_with_its_programs_has_no_bins() {
    let program = "{program: {collective: {operation: all_reduce, ranks: 8, bytes: 16KB}}}";
    let text = format!(
        "topology: {{torus: {{widths: [4, 4], terminals_per_router: 2, trunk_width: 2}}}}\nrouting: dimension_order\n\
         links: {{default: {{vcs: 4}}}}\ntraffic: {{packet: 4flits, workload: {{programs: {program}}}}}\n\
         faults: [{{link: [0, 1], member: 0, at: 100cycles}}]\n"
    );
    let point = expand("ring.yaml", &text, &[]).unwrap_or_else(|error| panic!("{error}")).remove(0);
    let s = point.run(Execution::new(1, 1), &()).unwrap_or_else(|error| panic!("{error}")).summary;
    assert_eq!(s["recovery_unknown"], "the run ends with its jobs, so there is no steady load to return to");
}

/// A fat tree with k = 8. Router 64, one of its 16 core routers, fails permanently in cycle 12000.
const TREE: &str = "\
cycle: 1ns
flit: 50B
topology: {fat_tree: {k: 8}}
links:
  default: {latency: 20ns, vcs: 8, buffer: 256flits}
  terminal: {latency: 10ns}
router: {delay: 200ns}
traffic: {pattern: uniform, packet: 8flits, load: 0.3}
faults: [{router: 64, at: 12us}]
fault_model: {rebuild_delay: 2us}
";

/// Runs the tree with these keys, and returns the summary.
fn in_tree(keys: &str) -> Value {
    let point = expand("tree.yaml", &format!("{TREE}{keys}"), &[]).unwrap_or_else(|error| panic!("{error}")).remove(0);
    point.run(Execution::new(1, 1), &()).unwrap_or_else(|error| panic!("{error}")).summary
}

#[test]
fn seeds_agree_on_a_recovery_that_waits_for_new_tables() {
    let run = |seed: u32| {
        let s = in_tree(&format!("seed: {seed}\nrouting: ecmp\nmeasure: {{warmup: 4us, window: 16us}}\n"));
        let ends = [0, 1].map(|end| s["recovery_interval_cycles"][end].as_u64().unwrap_or_else(|| panic!("{s}")));
        (s["recovery_cycles"].as_u64().unwrap_or_else(|| panic!("{}", s["recovery_unknown"])), ends)
    };
    let times: Vec<(u64, [u64; 2])> = (1..=5).map(run).collect();
    for (cycles, [least, most]) in &times {
        // the tables arrive 2,000 cycles after the failure, and packets that waited for them need about 1,100 cycles more
        assert!((2000..8000).contains(cycles) && least <= cycles && cycles <= most, "{times:?}");
    }
    let (least, most) = times.iter().fold((0, u64::MAX), |(a, b), (_, [c, d])| (a.max(*c), b.min(*d)));
    assert!(least <= most, "all intervals have a time in common: {times:?}");
}

#[test]
fn packets_that_are_lost_for_ever_are_no_recovery() {
    // the destination of a packet determines one of 4 * 4 core routers, so the packets that cross core router 64 are lost
    let s = in_tree("routing: {up_down: {ascent: d_mod_k}}\nmeasure: {warmup: 4us, window: 36us}\n");
    let share = number(&s, "delivered_during_faults_share");
    // 112 of 127 destinations are in another pod. For one in 16 of these destinations the paths cross the dead core router
    assert!((share - (1.0 - 112.0 / 127.0 / 16.0)).abs() < 0.005, "{share}");
    assert_eq!((&s["recovery_cycles"], &s["recovery_interval_cycles"]), (&Value::Null, &Value::Null));
    assert!(s["recovery_unknown"].as_str().is_some_and(|why| why.starts_with("not while parts are broken")), "{s}");
}

#[test]
fn random_faults_are_judged_as_those_that_are_named() {
    let s = run(
        "fault_model: {random: {of: links, from: 12000cycles, mtbf: 60000cycles, mttr: 500cycles}, rebuild_delay: 100cycles}",
    );
    let episodes = s["fault_episodes"].as_array().expect("episodes");
    assert!(episodes.len() > 1, "{episodes:?}");
    assert!(episodes.iter().all(|episode| episode["from_cycle"].as_u64() > Some(12_000)));
    assert!(number(&s, "latency_during_faults_cycles") > number(&s, "latency_before_faults_cycles"));
    assert!(episodes.iter().any(|episode| episode["return_recovery_cycles"].is_u64()), "{episodes:?}");
    let known = s["recovery_cycles"].is_u64();
    assert_eq!(known, episodes.iter().all(|episode| episode["recovery_cycles"].is_u64()));
    assert_ne!(known, s["recovery_unknown"].is_string());
}

#[test]
fn what_was_not_measured_has_no_number_but_a_reason() {
    let unknown = |s: &Value, part: usize| s["fault_parts"][part]["unknown"].as_str().map(str::to_owned);
    // the link is already broken when the window begins, and it never returns
    let s = run("faults: [{link: [1, 2], at: 500cycles}]");
    for (key, part) in [("before", 0), ("after", 2)] {
        assert_eq!(s[format!("latency_{key}_faults_cycles")], Value::Null);
        assert_eq!(s[format!("delivered_{key}_faults_share")], Value::Null);
        assert!(unknown(&s, part).is_some_and(|why| why.contains("cycle")), "{s}");
    }
    assert_eq!((&s["recovery_cycles"], unknown(&s, 1)), (&Value::Null, None));
    assert!(s["recovery_unknown"].as_str().is_some_and(|why| why.contains("already broken when the window begins")));
    // the fault is too early to know the random variation of bins; the remedy works
    let s = run("faults: [{link: [1, 2], at: 2000cycles, until: 2100cycles}]");
    let why = s["recovery_unknown"].as_str().expect("a reason");
    let cycle = why.split("in cycle ").last().and_then(|rest| rest.split(' ').next()).expect("a remedy");
    let later: u64 = cycle.parse().unwrap_or_else(|_| panic!("{why}"));
    let s = run(&format!("faults: [{{link: [1, 2], at: {later}cycles, until: {}cycles}}]", later + 100));
    assert!(s["return_recovery_cycles"].is_u64(), "{s}");
    // the fault comes after the window, in the drain
    let s = run("faults: [{link: [1, 2], at: 41000cycles}]");
    assert_eq!(s["fault_episodes_count"], 0);
    assert!(s["recovery_unknown"].as_str().is_some_and(|why| why.contains("no part fails in the window")));
    // without faults the summary has no keys about faults
    assert!(run("").get("fault_parts").is_none());
}

#[test]
fn batches_end_with_what_is_lost_and_replies_of_lost_requests_are_not_missed() {
    let batch = "faults: [{router: 3, at: 2000cycles}]\nfault_model: {rebuild_delay: 100cycles}\n";
    let text = |traffic: &str, measure: &str| {
        format!(
            "topology: {{torus: {{widths: [6], terminals_per_router: 4}}}}\nrouting: shortest_path\n\
             links: {{default: {{vcs: 8}}}}\ntraffic: {traffic}\nmeasure: {measure}\n{batch}"
        )
    };
    let run = |text: &str| {
        let point = expand("batch.yaml", text, &[]).unwrap_or_else(|error| panic!("{error}")).remove(0);
        point.run(Execution::new(1, 1), &()).unwrap_or_else(|error| panic!("{error}")).summary
    };
    let complete = "{stop: {complete: {max_window: 100000cycles}}}";
    for (reply, each) in [("", 1), (", reply: {packet: 2flits}", 2)] {
        let jobs = format!(
            "{{jobs: [{{name: a, terminals: {{range: [0, 23]}}, pattern: uniform, load: 0.2, batch: {{per_terminal: 800}}{reply}}}]}}"
        );
        let s = run(&text(&jobs, complete));
        let job = &s["jobs"][0];
        let count = |key: &str| job[key].as_u64().unwrap_or_else(|| panic!("{key}: {job}"));
        assert_eq!((&s["ending"], count("batch_packets")), (&"drained".into(), 24 * 800 * each), "{s}");
        assert_eq!(count("batch_delivered_packets") + count("batch_dropped_packets"), count("batch_packets"));
        assert!(count("batch_dropped_packets") > 1000 * each && count("missing_packets") == 0, "{job}");
        assert!(count("completion_cycles") > 3000 && s["completion_cycles"] == job["completion_cycles"], "{job}");
        assert!(s["recovery_unknown"].as_str().is_some_and(|why| why.contains("jobs send batches")), "{s}");
    }
    // here the number of outstanding requests has no limit. A lost request causes no reply, and this reply does not count as missing
    let s = run(&text(
        "{pattern: uniform, load: 0.03, reply: {packet: 2flits}}",
        "{warmup: 500cycles, window: 8000cycles}",
    ));
    assert_eq!((&s["ending"], &s["missing_packets"]), (&"drained".into(), &0.into()));
    assert!(s["dropped_packets"].as_u64() > Some(500), "{}", s["dropped_packets"]);
}
