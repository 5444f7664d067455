//! Runs the examples, from a scenario file to a folder of results. Sums of energies are exact, networks carry the loads, and folders
//! have the hash as their name.

use weft_engine::Progress;
use weft_engine::spec::Execution;
use weft_scenario::expand;
use weft_units::fj_text;

struct Quiet;

impl Progress for Quiet {
    fn tick(&self, _cycle: u64, _of: u64) -> bool {
        true
    }
}

const EXAMPLES: [&str; 3] = [
    include_str!("../../../examples/quickstart.yaml"),
    include_str!("../../../examples/dragonfly.yaml"),
    include_str!("../../../examples/torus.yaml"),
];

#[test]
fn the_first_point_of_every_example_runs_and_its_account_closes() {
    for text in EXAMPLES {
        let point = expand("example.yaml", text, &[]).unwrap_or_else(|error| panic!("{error}")).remove(0);
        let implied = point.imply().unwrap_or_else(|error| panic!("{error}"));
        let how = Execution::new(1, 0);
        let finished = point.run(how, &Quiet).unwrap_or_else(|error| panic!("{error}"));
        let summary = &finished.summary;
        assert_eq!(summary["ending"], "drained", "{text}");
        assert_eq!(summary["missing_packets"], 0);
        assert_eq!(summary["hash"], point.hash);
        let latency = summary["packet_latency_mean_cycles"].as_f64().expect("packets were measured");
        // sources draw their destinations at random, so the mean latency can be slightly below the zero-load latency, which is a mean
        // over all pairs
        assert!(latency >= implied["zero_load_latency_cycles"].as_f64().expect("a small network") - 1.0);
        let energy: u128 = finished.channels.rows.iter().map(|row| row.energy.total_yj()).sum();
        assert_eq!(summary["energy_total_fj"], fj_text(energy));
        if summary["policy"] == "always_on" {
            check_references(summary);
        }
        for row in &finished.channels.rows {
            assert_eq!(row.count.cycles.iter().sum::<u64>(), finished.channels.window, "every cycle is in one state");
        }
    }
}

/// If links never sleep, the energy equals the always-on reference.
fn check_references(summary: &serde_json::Value) {
    assert_eq!(summary["energy_always_on_fj"], summary["energy_total_fj"]);
    assert_eq!(summary["energy_network_always_on_j"], summary["energy_network_j"]);
    assert_eq!(summary["power_always_on_mean_w"], summary["power_mean_w"]);
    let fj = |key: &str| summary[key].as_str().expect("exact").parse::<u128>().expect("a number");
    assert!(fj("energy_dynamic_fj") < fj("energy_ideal_fj") && fj("energy_ideal_fj") < fj("energy_total_fj"));
}

#[test]
fn links_that_sleep_lie_between_the_references() {
    // a link that is off costs nothing; in transition it costs the same as in the state `on`
    let text = "topology: {hyperx: {widths: [4, 4], terminals_per_router: 2}}\nrouting: minimal\n\
                traffic: {pattern: uniform, load: 0.02}\nmeasure: {warmup: 500cycles, window: 4000cycles}\n\
                power: {policy: {idle_timeout: {idle: 20cycles, transition: 10cycles}}}\n";
    let point = expand("sleepy.yaml", text, &[]).unwrap_or_else(|error| panic!("{error}")).remove(0);
    let finished = point.run(Execution::new(1, 0), &Quiet).unwrap_or_else(|error| panic!("{error}"));
    let joules = |key: &str| finished.summary[key].as_f64().expect("a number");
    assert!(joules("links_off_share") > 0.2);
    for of in ["", "network_", "managed_"] {
        let used = joules(&if of.is_empty() { "energy_total_j".to_owned() } else { format!("energy_{}j", of) });
        let (ideal, always_on) = (joules(&format!("energy_{of}ideal_j")), joules(&format!("energy_{of}always_on_j")));
        assert!(ideal < used && used < always_on, "{of}: {ideal} {used} {always_on}");
    }
}

#[test]
fn what_the_engine_refuses_is_shown_in_the_file() {
    let text = "topology: {torus: {widths: [4, 4], terminals_per_router: 1}}\nlinks: {default: {vcs: 1}}\n\
                routing: dimension_order\ntraffic: {pattern: uniform, load: 0.1}\n";
    let point = expand("ring.yaml", text, &[]).unwrap_or_else(|error| panic!("{error}")).remove(0);
    let error = point.imply().expect_err("a ring needs two VC classes");
    insta::assert_snapshot!(error.text, @r#"
    error: links.dim0.vcs: dimension_order needs 2 VC classes on dim0 links, but there is 1 VC
     --> ring.yaml:2:24
      |
    2 | links: {default: {vcs: 1}}
      |                        ^
      |
      = note: `dim0` links have the `vcs` of `links.default`
      = help: set vcs of dim0 links to at least 2
    "#);
}

#[test]
fn one_vc_carries_its_buffer_in_a_round_trip() {
    // two terminals send to each other over one VC with a buffer of 32 flits. The round trip of a credit is 1 cycle in the router, 100
    // cycles on the link, 100 cycles back and 1 more
    let yaml = "{topology: {mesh: {widths: [2], terminals_per_router: 1}}, routing: dimension_order,
        links: {default: {latency: 100cycles, vcs: 1, buffer: 32flits}, terminal: {latency: 1cycle}},
        traffic: {pattern: bit_complement, load: 1}, measure: {warmup: 2020cycles, window: 20200cycles}}";
    let point = expand("vc.yaml", yaml, &[]).unwrap_or_else(|error| panic!("{error}")).remove(0);
    let limit = point.imply().expect("sound")["vc_limit"]["dim0"].as_f64().expect("a number");
    assert!((limit - 32.0 / 202.0).abs() < 1e-9, "{limit}");
    let finished = point.run(Execution::new(1, 0), &Quiet).expect("a run");
    let accepted = finished.summary["accepted_load"].as_f64().expect("a number");
    assert!((accepted / limit - 1.0).abs() < 0.01, "accepted {accepted}, limit {limit}");
}
