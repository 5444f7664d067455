//! Every bad input causes one error with its place, the arithmetic and the remedy. Snapshots contain the expected messages.

use crate::refusal::*;
use weft_engine::routing::RoutingConfig;
use weft_scenario::expand;
use weft_topology::TopologyConfig;
use weft_traffic::PatternConfig;

/// Replaces the list of all names of a family in an error message by `(all names)`, so that a new model does not change the snapshots.
fn listed(error: String, names: &[&str]) -> String {
    error.replace(&names.join(", "), "(all names)")
}

#[test]
fn the_scenario_without_edits_is_good() {
    assert_eq!(expand("bad.yaml", GOOD, &[]).expect("good").len(), 1);
}

#[test]
fn unknown_key_at_the_top() {
    insta::assert_snapshot!(refused(&[("routing: ugal_p", "routng: ugal_p")], &[]), @r#"
    error: routng: unknown key `routng`
     --> bad.yaml:8:1
      |
    8 | routng: ugal_p
      | ^^^^^^
      |
      = help: did you mean `routing`? the keys of a scenario: name, link_speed, cycle, flit, grain, topology, links, router, routing, traffic, classes, queueing, congestion_control, interface, power, bill, faults, fault_model, measure, seed, allow_dependency_cycle
    "#);
}

#[test]
fn too_little_room_for_link_states() {
    insta::assert_snapshot!(refused(&[], &[("measure.link_states.max_spans", "95")]), @r"
    error: measure.link_states.max_spans: the policy manages 96 channels, each with at least one span: 95 are too few
     --> --set:1:31
      |
    1 | measure.link_states.max_spans=95
      |                               ^^
      |
      = help: write 96 or more
    ");
    for path in ["measure.link_states.max_spans", "measure.control_packets.max_packets"] {
        assert!(refused(&[], &[(path, "0")]).contains("0 is outside the range 1 to 100000000"), "{path}");
    }
}

#[test]
fn unknown_key_in_a_section() {
    insta::assert_snapshot!(refused(&[("vcs: 4", "vc: 4")], &[]), @r#"
    error: links.default.vc: unknown key `vc`
     --> bad.yaml:7:32
      |
    7 |   default: {latency: 10cycles, vc: 4, buffer: 32flits}
      |                                ^^
      |
      = help: did you mean `vcs`? the keys of `links.default`: latency, credit_latency, vcs, buffer, port_buffer, split, bandwidth
    "#);
}

#[test]
fn unknown_parameter_of_a_model() {
    insta::assert_snapshot!(refused(&[("routing: ugal_p", "routing: {ugal_p: {treshold: 3flits}}")], &[]), @r#"
    error: routing.ugal_p.treshold: unknown key `treshold`
     --> bad.yaml:8:20
      |
    8 | routing: {ugal_p: {treshold: 3flits}}
      |                    ^^^^^^^^
      |
      = help: did you mean `threshold`? the keys of `routing.ugal_p`: threshold, sensor
    "#);
}

#[test]
fn unknown_model() {
    insta::assert_snapshot!(listed(refused(&[("routing: ugal_p", "routing: ugal_q")], &[]), RoutingConfig::NAMES), @r#"
    error: routing: unknown model `ugal_q`
     --> bad.yaml:8:10
      |
    8 | routing: ugal_q
      |          ^^^^^^
      |
      = help: did you mean `ugal_p`? write one of: (all names)
    "#);
}

/// The user writes a key in the place of a model. The error proposes the section around the model, which has a key of this name.
#[test]
fn a_key_of_the_section_around_a_model() {
    let programs = "workload: {programs: {program: {file: ring.goal}}}";
    insta::assert_snapshot!(refused(&[("pattern: uniform\n  load: 0.3", programs)], &[]), @r#"
    error: traffic.workload.programs.program: unknown model `file`
      --> bad.yaml:10:35
       |
    10 |   workload: {programs: {program: {file: ring.goal}}}
       |                                   ^^^^
       |
       = help: `file` is a key of `traffic.workload.programs`: did you mean `traffic.workload.programs.file`?
    "#);
}

#[test]
fn unknown_model_with_parameters() {
    insta::assert_snapshot!(listed(refused(&[("hyperx: {", "hyprex: {")], &[]), TopologyConfig::NAMES), @r#"
    error: topology: unknown model `hyprex`
     --> bad.yaml:5:3
      |
    5 |   hyprex: {widths: [4, 4], terminals_per_router: 2}
      |   ^^^^^^
      |
      = help: did you mean `hyperx`? write one of: (all names)
    "#);
}

#[test]
fn two_models() {
    insta::assert_snapshot!(listed(refused(&[("pattern: uniform", "pattern: {uniform: {}, tornado: {}}")], &[]), PatternConfig::NAMES), @r#"
    error: traffic.pattern: 2 models are given, but exactly one is needed
      --> bad.yaml:10:26
       |
    10 |   pattern: {uniform: {}, tornado: {}}
       |                          ^^^^^^^
       |
       = help: write one of: (all names)
    "#);
}

#[test]
fn unknown_word() {
    insta::assert_snapshot!(refused(&[("routing: ugal_p", "router: {flow_control: vct}\nrouting: ugal_p")], &[]), @r#"
    error: router.flow_control: unknown word `vct`
     --> bad.yaml:8:24
      |
    8 | router: {flow_control: vct}
      |                        ^^^
      |
      = help: write one of: virtual_cut_through, wormhole
    "#);
}

#[test]
fn missing_parameter() {
    insta::assert_snapshot!(refused(&[("routing: ugal_p", "routing: ugal_p\npower: {policy: {idle_timeout: {idle: 10cycles}}}")], &[]), @r#"
    error: power.policy.idle_timeout.transition: the key `transition` is missing
     --> bad.yaml:9:18
      |
    9 | power: {policy: {idle_timeout: {idle: 10cycles}}}
      |                  ^^^^^^^^^^^^
      |
      = help: write `transition: ...`: Duration of a change of the mode, in both directions.
    "#);
}

#[test]
fn missing_section() {
    insta::assert_snapshot!(refused(&[("routing: ugal_p\n", "")], &[]), @r#"
    error: routing: the key `routing` is missing
     --> bad.yaml:1:1
      |
    1 | name: bad
      | ^
      |
      = help: write `routing: ...`: The routing: the rule that chooses the path of each packet.
    "#);
}

#[test]
fn wrong_unit() {
    insta::assert_snapshot!(refused(&[("latency: 10cycles", "latency: 10GHz")], &[]), @r#"
    error: links.default.latency: "GHz" in "10GHz" is not a unit of a time
     --> bad.yaml:7:22
      |
    7 |   default: {latency: 10GHz, vcs: 4, buffer: 32flits}
      |                      ^^^^^
      |
      = help: units: d, h, min, s, ms, us, ns, ps, fs, cycles, cycle; for example "10us"
    "#);
}

#[test]
fn bare_number() {
    insta::assert_snapshot!(refused(&[("latency: 10cycles", "latency: 10")], &[]), @r#"
    error: links.default.latency: 10 is a bare number, but a time needs a unit
     --> bad.yaml:7:22
      |
    7 |   default: {latency: 10, vcs: 4, buffer: 32flits}
      |                      ^^
      |
      = help: units: d, h, min, s, ms, us, ns, ps, fs, cycles, cycle; for example "10us"
    "#);
}

#[test]
fn text_for_a_count() {
    insta::assert_snapshot!(refused(&[("vcs: 4", "vcs: four")], &[]), @r#"
    error: links.default.vcs: expected a whole number from 0 to 4294967295, found the text "four"
     --> bad.yaml:7:37
      |
    7 |   default: {latency: 10cycles, vcs: four, buffer: 32flits}
      |                                     ^^^^
      |
      = help: Virtual channels, 1 to 16; default 6.
    "#);
}

#[test]
fn no_whole_number_of_cycles() {
    insta::assert_snapshot!(refused(&[("latency: 10cycles", "latency: 10.3ns")], &[]), @r#"
    error: links.terminal.latency: 10.3ns is 6.4375 cycles of 1.6ns, not a whole number
     --> bad.yaml:7:22
      |
    7 |   default: {latency: 10.3ns, vcs: 4, buffer: 32flits}
      |                      ^^^^^^
      |
      = note: `terminal` links have the `latency` of `links.default`
      = help: write 9.6ns (6cycles) or 11.2ns (7cycles)
    "#);
}

#[test]
fn cycle_in_cycles() {
    insta::assert_snapshot!(refused(&[("cycle: 1.6ns", "cycle: 4cycles")], &[]), @r#"
    error: cycle: the length of a cycle can't be given in cycles
     --> bad.yaml:2:8
      |
    2 | cycle: 4cycles
      |        ^^^^^^^
      |
      = help: write a time, such as 1ns
    "#);
}

#[test]
fn load_above_one() {
    insta::assert_snapshot!(refused(&[("load: 0.3", "load: 30")], &[]), @r#"
    error: traffic.load: a load of 30 is 30 flits per cycle and terminal, but a terminal injects at most 1
      --> bad.yaml:11:9
       |
    11 |   load: 30
       |         ^^
       |
       = help: write a fraction of the injection bandwidth, up to 1; 30 % is 0.3
    "#);
}

#[test]
fn load_below_zero() {
    insta::assert_snapshot!(refused(&[("load: 0.3", "load: -0.1")], &[]), @r#"
    error: traffic.load: a load of -0.1 is below 0
      --> bad.yaml:11:9
       |
    11 |   load: -0.1
       |         ^^^^
       |
       = help: write a fraction from 0 to 1
    "#);
}

#[test]
fn load_that_is_not_a_number() {
    insta::assert_snapshot!(refused(&[("load: 0.3", "load: .nan")], &[]), @r#"
    error: ".nan" is not a number that a scenario can use
      --> bad.yaml:11:9
       |
    11 |   load: .nan
       |         ^^^^
       |
       = help: write a finite number
    "#);
}

#[test]
fn load_of_terminals_that_do_not_exist() {
    insta::assert_snapshot!(refused(&[("load: 0.3", "load: 0.3\n  loads: [{terminals: [0, 32], load: 0.1}]")], &[]), @r#"
    error: traffic.loads.0.terminals: 0 to 32 is not a range of the 32 terminals
      --> bad.yaml:12:23
       |
    12 |   loads: [{terminals: [0, 32], load: 0.1}]
       |                       ^^^^^^
       |
       = help: write [first, last] within 0 to 31
    "#);
}

#[test]
fn width_of_zero() {
    insta::assert_snapshot!(refused(&[("widths: [4, 4]", "widths: [4, 0]")], &[]), @r#"
    error: topology.hyperx.widths: dimension 1 has width 0, not 1 to 255
     --> bad.yaml:5:20
      |
    5 |   hyperx: {widths: [4, 0], terminals_per_router: 2}
      |                    ^^^^^
      |
      = help: change the width, or remove the dimension
    "#);
}

#[test]
fn no_widths() {
    insta::assert_snapshot!(refused(&[("widths: [4, 4]", "widths: []")], &[]), @r#"
    error: topology.hyperx.widths: the number of dimensions is 0, not 1 to 8
     --> bad.yaml:5:20
      |
    5 |   hyperx: {widths: [], terminals_per_router: 2}
      |                    ^
      |
      = help: write one width per dimension, such as [8, 8]
    "#);
}

#[test]
fn radix_too_large() {
    insta::assert_snapshot!(refused(&[("widths: [4, 4]", "widths: [255, 255, 65]")], &[]), @r#"
    error: topology.hyperx: 2 terminals + 254 + 254 + 64 links gives 574 ports per router; a router has at most 512
     --> bad.yaml:5:3
      |
    5 |   hyperx: {widths: [255, 255, 65], terminals_per_router: 2}
      |   ^^^^^^
      |
      = help: use fewer terminals per router, or fewer links per router
    "#);
}

#[test]
fn dragonfly_with_too_many_groups() {
    insta::assert_snapshot!(refused(&[("hyperx: {widths: [4, 4], terminals_per_router: 2}", "dragonfly: {groups: 10, routers_per_group: 4, terminals_per_router: 2, global_links_per_router: 2}")], &[]), @r#"
    error: topology.dragonfly.groups: 10 groups need 9 global links per group; 4 routers x 2 links give 8
     --> bad.yaml:5:23
      |
    5 |   dragonfly: {groups: 10, routers_per_group: 4, terminals_per_router: 2, global_links_per_router: 2}
      |                       ^^
      |
      = help: use 2 to 9 groups, or change routers_per_group or global_links_per_router
    "#);
}

#[test]
fn bit_reverse_on_72_terminals() {
    insta::assert_snapshot!(refused(&[("hyperx: {widths: [4, 4], terminals_per_router: 2}", "dragonfly: {routers_per_group: 4, terminals_per_router: 2, global_links_per_router: 2}"), ("pattern: uniform", "pattern: bit_reverse")], &[]), @r#"
    error: traffic.pattern.bit_reverse: 72 terminals are not a power of two: 2^6 = 64, 2^7 = 128
      --> bad.yaml:10:12
       |
    10 |   pattern: bit_reverse
       |            ^^^^^^^^^^^
       |
       = help: permute the ids below a power of two: within: {terminals: 128, pattern: bit_reverse}
    "#);
}

#[test]
fn buffer_smaller_than_the_packet() {
    insta::assert_snapshot!(refused(&[("load: 0.3", "load: 0.3\n  packet: 64flits")], &[]), @r#"
    error: links.terminal.buffer: a buffer of 32flits on `terminal` links can't hold a packet of 64 flits: 32 < 64, and virtual cut-through forwards a packet only if the buffer has room for the whole packet
     --> bad.yaml:7:48
      |
    7 |   default: {latency: 10cycles, vcs: 4, buffer: 32flits}
      |                                                ^^^^^^^
      |
      = note: `terminal` links have the `buffer` of `links.default`
      = help: write `buffer: 64flits` or more, `traffic.packet: 32flits` or less, or `router.flow_control: wormhole`
    "#);
}

#[test]
fn packet_too_long() {
    insta::assert_snapshot!(refused(&[("load: 0.3", "load: 0.3\n  packet: 65536flits")], &[]), @r#"
    error: traffic.packet: a packet of 65536flits is not possible; a packet has 1 to 65535 flits
      --> bad.yaml:12:11
       |
    12 |   packet: 65536flits
       |           ^^^^^^^^^^
       |
       = help: write 1flit or more, and send longer messages as several packets
    "#);
}

#[test]
fn no_virtual_channel() {
    insta::assert_snapshot!(refused(&[("vcs: 4", "vcs: 0")], &[]), @r#"
    error: links.terminal.vcs: 0 virtual channels are given, but a link has 1 to 16
     --> bad.yaml:7:37
      |
    7 |   default: {latency: 10cycles, vcs: 0, buffer: 32flits}
      |                                     ^
      |
      = note: `terminal` links have the `vcs` of `links.default`
      = help: write 1 to 16
    "#);
}

#[test]
fn too_many_virtual_channels() {
    insta::assert_snapshot!(refused(&[("vcs: 4", "vcs: 17")], &[]), @r#"
    error: links.terminal.vcs: 17 virtual channels are given, but a link has 1 to 16
     --> bad.yaml:7:37
      |
    7 |   default: {latency: 10cycles, vcs: 17, buffer: 32flits}
      |                                     ^^
      |
      = note: `terminal` links have the `vcs` of `links.default`
      = help: write 1 to 16
    "#);
}

#[test]
fn unknown_link_class() {
    insta::assert_snapshot!(refused(&[("routing: ugal_p", "  terminl: {latency: 1cycle}\nrouting: ugal_p")], &[]), @r#"
    error: links.terminl: the topology `hyperx` has no link class `terminl`
     --> bad.yaml:8:3
      |
    8 |   terminl: {latency: 1cycle}
      |   ^^^^^^^
      |
      = help: did you mean `terminal`? its link classes: default, terminal, dim0, dim1
    "#);
}

#[test]
fn unknown_managed_class() {
    insta::assert_snapshot!(refused(&[("routing: ugal_p", "routing: ugal_p\npower: {manages: [global]}")], &[]), @r#"
    error: power.manages: the topology `hyperx` has no link class `global`
     --> bad.yaml:9:18
      |
    9 | power: {manages: [global]}
      |                  ^^^^^^^
      |
      = help: its link classes: all, terminal, dim0, dim1
    "#);
}

#[test]
fn a_state_without_a_price() {
    insta::assert_snapshot!(refused(&[("routing: ugal_p", "routing: ugal_p\npower:\n  policy: {idle_timeout: {idle: 10cycles, transition: 5cycles}}\n  prices:\n    on: {static: 0.342W, per_bit: 0pJ/bit}\n    off: {static: 0W, per_bit: 0pJ/bit}")], &[]), @r#"
    error: power.prices: the policy `idle_timeout` can put a link into the states `draining`, `waking`, which have no price
      --> bad.yaml:11:3
       |
    11 |   prices:
       |   ^^^^^^
       |
       = help: add `draining: {static: ..., per_bit: ...}` and `waking: {static: ..., per_bit: ...}`, or leave `prices` out for the default table
    "#);
}

#[test]
fn one_batch() {
    insta::assert_snapshot!(refused(&[("routing: ugal_p", "routing: ugal_p\nmeasure: {batches: 1}")], &[]), @r#"
    error: measure.batches: a window can't be divided into 1 batches for a confidence interval
     --> bad.yaml:9:20
      |
    9 | measure: {batches: 1}
      |                    ^
      |
      = help: write 2 to 1000
    "#);
}

#[test]
fn no_time_at_all() {
    insta::assert_snapshot!(refused(&[("10cycles, vcs: 4, buffer: 32flits}", "0cycles}\nrouter: {delay: 0cycles}")], &[]), @r#"
    error: links.terminal.latency: router.delay + latency is 0 + 0 cycles, so a flit would cross the network in 0 cycles
     --> bad.yaml:7:22
      |
    7 |   default: {latency: 0cycles}
      |                      ^^^^^^^
      |
      = note: `terminal` links have the `latency` of `links.default`
      = help: write 1cycle or more for one of the two
    "#);
}

#[test]
fn duplicate_key() {
    insta::assert_snapshot!(refused(&[("routing: ugal_p", "routing: ugal_p\nflit: 64b")], &[]), @r#"
    error: the key `flit` is written twice
     --> bad.yaml:9:1
      |
    9 | flit: 64b
      | ^^^^
      |
      = help: keep one of the two; the first is on line 3
    "#);
}

#[test]
fn tab() {
    insta::assert_snapshot!(refused(&[("  pattern: uniform", "\tpattern: uniform")], &[]), @r#"
    error: this is not YAML: tabs disallowed within this context (block indentation)
      --> bad.yaml:10:2
       |
    10 |     pattern: uniform
       |     ^
       |
       = help: YAML is indented with spaces; replace the tab
    "#);
}

#[test]
fn unclosed_bracket() {
    insta::assert_snapshot!(refused(&[("[4, 4]", "[4, 4")], &[]), @r#"
    error: this is not YAML: mismatched bracket '[' closed by '}'
     --> bad.yaml:5:20
      |
    5 |   hyperx: {widths: [4, 4, terminals_per_router: 2}
      |                    ^
      |
      = help: check the indentation, the colons, and that every bracket and quote is closed
    "#);
}

#[test]
fn list_for_a_mapping() {
    insta::assert_snapshot!(refused(&[("routing: ugal_p", "router: [1, 2]\nrouting: ugal_p")], &[]), @r#"
    error: router: expected a mapping, found a list
     --> bad.yaml:8:9
      |
    8 | router: [1, 2]
      |         ^^^^^
      |
      = help: write `key: value`; its keys: preset, delay, delay_per_doubling, routing_delay, vc_realloc, speedup, credit_delay, ejection_delay, ejection_vcs, output_buffer, input_speedup, flow_control, allocator, priority, hold_switch
    "#);
}

#[test]
fn a_second_document() {
    insta::assert_snapshot!(refused(&[("routing: ugal_p", "---\nrouting: ugal_p")], &[]), @r#"
    error: a second YAML document starts here
     --> bad.yaml:9:1
      |
    9 | routing: ugal_p
      | ^
      |
      = help: keep one scenario per file; write several runs as a `sweep:`
    "#);
}

#[test]
fn empty_file() {
    insta::assert_snapshot!(refused_file(""), @r#"
    error: bad.yaml is empty: it contains no scenario
      = help: start from examples/quickstart.yaml; `weft schema` lists the keys
    "#);
}

#[test]
fn a_file_of_comments() {
    insta::assert_snapshot!(refused_file("# nothing\n"), @r#"
    error: bad.yaml is empty: it contains no scenario
      = help: start from examples/quickstart.yaml; `weft schema` lists the keys
    "#);
}

#[test]
fn a_list() {
    insta::assert_snapshot!(refused_file("- 1\n- 2\n"), @r#"
    error: a scenario is a mapping, not a list
     --> bad.yaml:1:1
      |
    1 | - 1
      | ^^^
      |
      = help: write `key: value` lines
    "#);
}

#[test]
fn sweep_over_an_unknown_path() {
    insta::assert_snapshot!(refused(&[("routing: ugal_p", "routing: ugal_p\nsweep: {traffic.lod: [0.1, 0.2]}")], &[]), @r#"
    error: traffic.lod: `traffic` has no `lod`
     --> bad.yaml:9:9
      |
    9 | sweep: {traffic.lod: [0.1, 0.2]}
      |         ^^^^^^^^^^^
      |
      = help: did you mean `load`? the keys of `traffic`: pattern, load, loads, packet, injection, phases, batch, workload, reply, class, jobs
    "#);
}

#[test]
fn values_of_a_sweep_that_are_the_same_once_they_are_read() {
    let refused = |sweep: &str| {
        let text = format!(
            "topology: {{hyperx: {{widths: [4], terminals_per_router: 1}}}}\nrouting: minimal\ntraffic: {{pattern: uniform, load: 0.1}}\nsweep: {{{sweep}}}\n"
        );
        weft_scenario::expand("twins.yaml", &text, &[]).map(|points| points.len()).map_err(|error| error.text)
    };
    for (sweep, both) in [
        ("traffic.load: [0.1, 0.2, 0.10]", "`0.1` and `0.10` are the same value"),
        ("seed: [1, 2], links.dim0.bandwidth: [1flits/cycle, 1flit/cycle]", "`1flits/cycle` and `1flit/cycle` are"),
        ("measure.window: [10us, 10000ns]", "`10us` and `10000ns` are the same value"),
        (
            "routing: [dimension_order, minimal, {dimension_order: {}}]",
            "`dimension_order` and value 3 are the same value",
        ),
    ] {
        let message = refused(sweep).expect_err("the same twice");
        assert!(
            message.contains(both) && message.contains("twins.yaml:4:") && message.contains("remove one of the two"),
            "{message}"
        );
    }
    assert_eq!(refused("seed: [1, 2], traffic.load: [0.1, 0.2]"), Ok(4));
    assert_eq!(refused("seed: [1, 2], routing: [minimal, dimension_order]"), Ok(4));
}

#[test]
fn sweep_without_a_list() {
    insta::assert_snapshot!(refused(&[("routing: ugal_p", "routing: ugal_p\nsweep: {traffic.load: 0.1}")], &[]), @r#"
    error: traffic.load: a sweep needs a list of values, not the value 0.1
     --> bad.yaml:9:9
      |
    9 | sweep: {traffic.load: 0.1}
      |         ^^^^^^^^^^^^
      |
      = help: write `traffic.load: [0.1]`
    "#);
}

#[test]
fn a_range_in_a_sweep_is_refused_with_its_values() {
    let base = [("routing: ugal_p", "routing: ugal_p\nsweep: {traffic.load: {range: [0.1, 0.3, 0.1]}}")];
    let refusal = refused(&base, &[]);
    let help = "write `traffic.load: [0.1, 0.2, 0.3]`";
    assert!(refusal.contains(help), "{refusal}");
    for (written, listed) in [
        ("{from: 0.05, to: 0.2, step: 0.05}", "[0.05, 0.1, 0.15, 0.2]"),
        ("{start: 1, step: 2, stop: 6}", "[1, 3, 5]"),
        // these mappings are not ranges, so the remedy only proposes a list with the mapping as its only value
        ("{widths: [8, 8, 8]}", "[{widths: [8, 8, 8]}]"),
        ("{a: 4, b: 8, c: 2}", "[{a: 4, b: 8, c: 2}]"),
        // the first range has no step, and the second has too many values for a remedy
        ("{from: 0.1, to: 0.2}", "[{from: 0.1, to: 0.2}]"),
        ("{range: [0, 1, 0.001]}", "[{range: [0, 1, 0.001]}]"),
    ] {
        let sweep = format!("routing: ugal_p\nsweep: {{traffic.load: {written}}}");
        let refusal = refused(&[("routing: ugal_p", &sweep)], &[]);
        assert!(refusal.contains(&format!("write `traffic.load: {listed}`")), "{written}: {refusal}");
    }
    let text = GOOD.replace("routing: ugal_p", "routing: ugal_p\nsweep: {traffic.load: [0.1, 0.2, 0.3]}");
    assert_eq!(expand("bad.yaml", &text, &[]).map(|points| points.len()).ok(), Some(3), "the remedy works");
}

#[test]
fn bad_value_in_a_sweep() {
    insta::assert_snapshot!(refused(&[("routing: ugal_p", "routing: ugal_p\nsweep:\n  traffic.load: [0.5, 1.5]")], &[]), @r#"
    error: traffic.load: a load of 1.5 is 1.5 flits per cycle and terminal, but a terminal injects at most 1
      --> bad.yaml:10:23
       |
    10 |   traffic.load: [0.5, 1.5]
       |                       ^^^
       |
       = note: the value comes from the sweep over `traffic.load`
       = help: write a fraction of the injection bandwidth, up to 1
    "#);
}

#[test]
fn values_that_are_refused_together_name_their_point() {
    let sweep = "routing: ugal_p\nsweep:\n  traffic.load: [0.1, 0.2]\n  power.policy: [always_on, tcep]";
    let text = GOOD.replace("routing: ugal_p", sweep);
    let points = expand("bad.yaml", &text, &[]).unwrap_or_else(|error| panic!("{error}"));
    assert!(points[0].check_network().is_ok());
    let error = points[1].check_network().expect_err("ugal_p does not know of links that are off").text;
    for part in ["the value comes from the sweep over `power.policy`", "in the point where `traffic.load` is 0.1\n"] {
        assert!(error.contains(part), "{part} is not in:\n{error}");
    }
}

#[test]
fn sweep_over_a_part_of_another() {
    insta::assert_snapshot!(refused(&[("routing: ugal_p", "routing: ugal_p\nsweep: {routing: [ugal_p], routing.ugal_p.threshold: [1flit]}")], &[]), @r#"
    error: routing.ugal_p.threshold: `routing` and `routing.ugal_p.threshold` are both swept, but one is part of the other
     --> bad.yaml:9:28
      |
    9 | sweep: {routing: [ugal_p], routing.ugal_p.threshold: [1flit]}
      |                            ^^^^^^^^^^^^^^^^^^^^^^^^
      |
      = help: sweep over one of the two
    "#);
}

#[test]
fn zip_of_unequal_lengths() {
    insta::assert_snapshot!(refused(&[("routing: ugal_p", "routing: ugal_p\nzip: {traffic.load: [0.1, 0.2], seed: [1, 2, 3]}")], &[]), @r#"
    error: zip.seed: `seed` has 3 values and `traffic.load` has 2
     --> bad.yaml:9:33
      |
    9 | zip: {traffic.load: [0.1, 0.2], seed: [1, 2, 3]}
      |                                 ^^^^
      |
      = help: lists under `zip` advance together: give them the same length, or use `sweep` to run all combinations
    "#);
}

#[test]
fn too_many_points() {
    insta::assert_snapshot!(refused(&[("routing: ugal_p", "routing: ugal_p\nsweep: {seed: [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1], links.default.vcs: [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1], router.speedup: [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]}")], &[]), @r#"
    error: sweep: the sweep has 60 x 60 x 60 points, but the limit is 100000
     --> bad.yaml:9:9
      |
    9 | sweep: {seed: [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,...
      |         ^^^^
      |
      = help: sweep over fewer values
    "#);
}

#[test]
fn set_of_an_unknown_path() {
    insta::assert_snapshot!(refused(&[], &[("trafic.load", "0.2")]), @r#"
    error: trafic.load: a scenario has no `trafic`
     --> --set:1:1
      |
    1 | trafic.load=0.2
      | ^^^^^^^^^^^
      |
      = help: did you mean `traffic`? the keys of a scenario: name, link_speed, cycle, flit, grain, topology, links, router, routing, traffic, classes, queueing, congestion_control, interface, power, bill, faults, fault_model, measure, seed, allow_dependency_cycle
    "#);
}

#[test]
fn set_of_another_model() {
    insta::assert_snapshot!(refused(&[], &[("routing.valiant.x", "2")]), @r#"
    error: routing.valiant.x: `routing` is `ugal_p` in this scenario, so it has no `valiant`
     --> --set:1:1
      |
    1 | routing.valiant.x=2
      | ^^^^^^^^^^^^^^^^^
      |
      = help: choose `routing: valiant` first, or set the whole value of `routing`
    "#);
}

#[test]
fn set_of_a_parameter_of_another_model() {
    insta::assert_snapshot!(refused(&[], &[("routing.ugal.threshold", "2flits")]), @r#"
    error: routing.ugal.threshold: `routing` is `ugal_p` in this scenario, so it has no `ugal`
     --> --set:1:1
      |
    1 | routing.ugal.threshold=2flits
      | ^^^^^^^^^^^^^^^^^^^^^^
      |
      = help: choose `routing: ugal` first, or set the whole value of `routing`
    "#);
}

#[test]
fn set_of_a_bad_value() {
    insta::assert_snapshot!(refused(&[], &[("traffic.load", "1.5")]), @r#"
    error: traffic.load: a load of 1.5 is 1.5 flits per cycle and terminal, but a terminal injects at most 1
     --> --set:1:14
      |
    1 | traffic.load=1.5
      |              ^^^
      |
      = help: write a fraction of the injection bandwidth, up to 1
    "#);
}

#[test]
fn set_of_what_is_no_yaml() {
    insta::assert_snapshot!(refused(&[], &[("topology", "{hyperx: ")]), @r#"
    error: this is not YAML: unclosed bracket '{'
     --> --set:1:10
      |
    1 | topology={hyperx: 
      |          ^
      |
      = help: check the indentation, the colons, and that every bracket and quote is closed
    "#);
}

// ---- workloads and measurement --------------------------------------------------------------------------------------

#[test]
fn no_load() {
    insta::assert_snapshot!(refused(&[("  load: 0.3\n", "")], &[]), @r#"
    error: traffic.load: the key `load` is missing
     --> bad.yaml:9:1
      |
    9 | traffic:
      | ^^^^^^^
      |
      = note: `traffic.load` is not written in the scenario: the message is about its default value
      = help: write `load: 0.1`
    "#);
}
