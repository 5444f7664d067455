//! Runs that check two predictions of `check` and `explain routing`: the latency of a single packet, and the load that fills a channel.

use serde_json::Value;
use weft_engine::spec::Execution;
use weft_scenario::{Point, expand};

fn point(text: &str) -> Point {
    expand("a.yaml", text, &[]).unwrap_or_else(|error| panic!("{error}\n{text}")).remove(0)
}

fn run(point: &Point) -> Value {
    point.run(Execution::new(1, 1), &()).unwrap_or_else(|error| panic!("{error}")).summary
}

fn number(value: &Value, key: &str) -> f64 {
    value[key].as_f64().unwrap_or_else(|| panic!("{key}: {}", value[key]))
}

fn explained(point: &Point, from: u32, to: u32) -> f64 {
    let paths = point.explain_routing(from, to).unwrap_or_else(|error| panic!("{error}"));
    number(&paths["paths"][0], "zero_load_latency")
}

#[test]
fn a_worm_that_waits_for_each_credit_takes_its_round_trips() {
    // The head takes 2 routers of 1 cycle, 3 links of 20 cycles and 1 cycle of ejection, 63 cycles in all. A packet has 63 further flits,
    // and each waits for the credit of the previous flit. This takes 1 cycle in the router, 20 on the link, and 20 + 1 back
    let worm = point(
        "topology: {mesh: {widths: [2], terminals_per_router: 1}}\n\
         links: {default: {latency: 20cycles, vcs: 1, buffer: 1flit}}\nrouter: {flow_control: wormhole}\n\
         routing: dimension_order\ntraffic: {pattern: neighbor, packet: 64flits, load: 0.0005}\n\
         measure: {warmup: 0cycles, window: 3000000cycles}\n",
    );
    let latency = 63.0 + 63.0 * 42.0;
    let implied = worm.imply().expect("a network");
    assert_eq!((number(&implied, "zero_load_latency_cycles"), explained(&worm, 0, 1)), (latency, latency));
    // sometimes a packet waits at its source for the previous packet, so the mean is slightly higher
    assert!(number(&run(&worm), "packet_latency_mean_cycles") >= latency);
}

#[test]
fn a_worm_of_four_buffers_waits_three_times() {
    // A path has 32 / 12 = 8 / 3 hops on average. The head takes (8/3 + 1) cycles in routers, 2 * 8/3 + 2 * 2 on links, and 1 for ejection.
    // A buffer sends 4 flits per round trip of 1 + 2 + 2 + 1 = 6 cycles. The 15 flits after the head take 15 cycles, and wait 3 times for 2
    // more cycles
    let worms = point(
        "topology: {mesh: {widths: [4, 4], terminals_per_router: 1}}\n\
         links: {default: {latency: 2cycles, vcs: 2, buffer: 4flits}}\nrouter: {flow_control: wormhole}\n\
         routing: dimension_order\ntraffic: {pattern: uniform, packet: 16flits, load: 0.2}\n\
         measure: {warmup: 2000cycles, window: 8000cycles}\n",
    );
    let head = 8.0 / 3.0 + 1.0 + 16.0 / 3.0 + 4.0 + 1.0;
    let implied = number(&worms.imply().expect("a network"), "zero_load_latency_cycles");
    assert!((implied - (head + 15.0 + 6.0)).abs() < 1e-9, "{implied}");
}

/// Pseudo-random numbers from a counter (SplitMix64).
struct Draws(u64);

impl Draws {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % end
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }
}

/// The networks from which `lone` draws: topology, routing, two link classes, and number of terminals.
const NETWORKS: &[(&str, &str, [&str; 2], u64)] = &[
    ("{mesh: {widths: [4, 3], terminals_per_router: 1}}", "dimension_order", ["dim0", "dim1"], 12),
    ("{torus: {widths: [5, 3], terminals_per_router: 1}}", "dimension_order", ["dim0", "dim1"], 15),
    ("{hyperx: {widths: [3, 3], terminals_per_router: 2}}", "dimension_order", ["dim0", "dim1"], 18),
    ("{fat_tree: {k: 4}}", "{up_down: {ascent: d_mod_k}}", ["level1", "level2"], 16),
    (
        "{dragonfly: {routers_per_group: 4, terminals_per_router: 2, global_links_per_router: 2}}",
        "dragonfly_minimal",
        ["local", "global"],
        72,
    ),
];

/// Draws a scenario in which two terminals send one packet to each other. Returns the scenario and the numbers of the two terminals. The
/// paths of the two packets have no channel in common.
fn lone(draws: &mut Draws) -> (String, u32, u32) {
    let (topology, routing, classes, terminals) = draws.pick(NETWORKS);
    let from = draws.below(terminals);
    let to = (from + 1 + draws.below(terminals - 1)) % terminals;
    let worm = draws.below(4) > 0;
    let packet = 1 + draws.below(40);
    let paced = draws.below(2) > 0;
    let speedup = 1 + draws.below(3);
    let link = |draws: &mut Draws, most: &[&str]| {
        let least = if worm { 1 } else { packet };
        let bandwidth = if paced { format!(", bandwidth: {}flits/cycle", draws.pick(most)) } else { String::new() };
        format!(
            "{{latency: {}cycles, credit_latency: {}cycles, vcs: 4, buffer: {}flits{bandwidth}}}",
            1 + draws.below(20),
            draws.below(20),
            least + draws.below(12)
        )
    };
    let slow = ["1", "0.5", "2/3", "1/4"];
    let any: &[&str] = if speedup > 1 { &["1", "0.5", "2/3", "3/2", "2"] } else { &slow };
    let [terminal, a, b] = [link(draws, &slow), link(draws, any), link(draws, any)];
    let delay = 1 + draws.below(4);
    let output =
        if draws.below(3) == 0 { format!(", output_buffer: {}flits", 1 + draws.below(5)) } else { String::new() };
    let router = format!(
        "{{delay: {delay}cycles, routing_delay: {}cycles, credit_delay: {}cycles, ejection_delay: {}cycles, speedup: {speedup}, \
         vc_realloc: {}, input_speedup: {}, flow_control: {}{output}}}",
        draws.below(delay + 1),
        draws.below(4),
        draws.below(3),
        draws.below(2),
        draws.pick(&["unlimited", "vcs"]),
        if worm { "wormhole" } else { "virtual_cut_through" },
    );
    let [first, second] = classes;
    let text = format!(
        "topology: {topology}\nrouting: {routing}\nrouter: {router}\n\
         links: {{default: {a}, terminal: {terminal}, {first}: {a}, {second}: {b}}}\n\
         traffic: {{jobs: [{{name: a, terminals: {{list: [{from}, {to}]}}, pattern: uniform}}], \
         packet: {packet}flits, load: 0.05, batch: {{per_terminal: 1}}}}\n\
         measure: {{stop: {{complete: {{max_window: 1000000cycles}}}}}}\n"
    );
    (text, from as u32, to as u32)
}

#[test]
fn a_lone_packet_takes_what_is_said_of_it_on_any_network() {
    let mut draws = Draws(34);
    let (mut waited, mut refused) = (0, 0);
    for _ in 0..300 {
        let (text, from, to) = lone(&mut draws);
        let point = match expand("a.yaml", &text, &[]) {
            Ok(mut points) => points.remove(0),
            // some of the drawn settings are refused, for example slow links after a switch with one allocation step per cycle
            Err(_) => {
                refused += 1;
                continue;
            }
        };
        let summary = run(&point);
        assert_eq!(summary["packets"], 2, "{text}");
        let measured = number(&summary, "packet_latency_mean_cycles");
        let implied = number(&point.imply().unwrap_or_else(|error| panic!("{error}")), "zero_load_latency_cycles");
        let both = (explained(&point, from, to) + explained(&point, to, from)) / 2.0;
        assert_eq!((implied, both), (measured, measured), "{text}");
        let spec = point.spec().expect("sound");
        let path = point.explain_routing(from, to).expect("a path");
        let hops = path["distance"].as_u64().expect("a distance");
        let longest = spec.links.iter().map(|link| link.latency).max().expect("links");
        waited += u32::from(measured > ((hops + 2) * longest + (hops + 1) * spec.router.delay + 2 + 40) as f64);
    }
    assert!(refused < 100, "{refused} of 300 are refused");
    assert!(waited > 30, "{waited} packets took longer than any in large buffers over links of rate 1");
}

#[test]
fn replies_count_in_the_bound_of_requests() {
    let mesh = |traffic: &str| {
        let point = point(&format!(
            "topology: {{mesh: {{widths: [8, 8], terminals_per_router: 1}}}}\nrouting: dimension_order\n\
             links: {{default: {{latency: 1cycle, vcs: 4, buffer: 8flits}}}}\ntraffic: {traffic}\n\
             measure: {{warmup: 3000cycles, window: 6000cycles}}\n"
        ));
        let implied = point.imply().unwrap_or_else(|error| panic!("{error}"));
        (point, implied)
    };
    // uniform traffic excludes the source, so each of 32 terminals sends 32 / 63 of its flits over the 8 links in the middle
    let (_, alone) = mesh("{pattern: uniform, load: 0.2}");
    let bound = number(&alone, "channel_load_bound");
    assert!((bound - 63.0 / 128.0).abs() < 1e-9, "{bound}");
    // each request of 1 flit causes a reply of 4 flits in the opposite direction, and both directions cross the middle equally often
    let replies = "{pattern: uniform, workload: {request_reply: {packet: 4flits}}, packet: 1flit, load: LOAD}";
    let at = |load: &str| mesh(&replies.replace("LOAD", load));
    let (_, implied) = at("0.2");
    assert!((number(&implied, "channel_load_bound") - bound / 5.0).abs() < 1e-9, "{}", implied["channel_load_bound"]);
    let latency = number(&implied, "zero_load_latency_cycles") - number(&alone, "zero_load_latency_cycles");
    // replies have 3 flits more than requests, and there is a reply for each request, so the mean is 1.5 cycles higher
    assert!((latency - 1.5).abs() < 1e-9, "{latency}");
    assert_eq!(
        (run(&at("0.08").0)["saturated"].clone(), run(&at("0.105").0)["saturated"].clone()),
        (false.into(), true.into())
    );
    let hint = implied["hints"].as_array().expect("hints").iter().find(|hint| hint["code"] == "requests_share_vcs");
    assert!(hint.is_some_and(|hint| hint["what"].as_str().is_some_and(|what| what.contains("can't deadlock in Weft"))));
}

#[test]
fn replies_to_one_server_fill_the_channel_of_the_server() {
    // seven terminals send requests at the same load to terminal 0 and get replies of 3 flits. The channel of terminal 0 carries 7 * 3
    // flits per request flit
    let point = point(
        "topology: {single_router: {terminals: 8}}\nrouting: shortest_path\nlinks: {default: {latency: 1cycle, vcs: 4, buffer: 8flits}}\n\
         traffic: {pattern: {hot_spot: {targets: [0]}}, loads: [{terminals: [0, 0], load: 0}], load: 0.01, packet: 1flit,\n  \
         reply: {packet: 3flits}}\n",
    );
    let implied = point.imply().unwrap_or_else(|error| panic!("{error}"));
    assert!((number(&implied, "channel_load_bound") - 1.0 / 21.0).abs() < 1e-9, "{}", implied["channel_load_bound"]);
}

#[test]
fn a_bound_names_the_paths_to_which_it_belongs() {
    let of = |routing: &str| {
        let point = point(&format!(
            "topology: {{mesh: {{widths: [8, 8], terminals_per_router: 1}}}}\nrouting: {routing}\n\
             traffic: {{pattern: transpose, load: 0.1}}\n"
        ));
        let implied = point.imply().unwrap_or_else(|error| panic!("{error}"));
        (implied["channel_load_bound_of"].as_str().expect("a word").to_owned(), number(&implied, "channel_load_bound"))
    };
    // the 7 packets from the last row all turn in its last column, so one channel carries 7 packets
    let (fixed, bound) = of("dimension_order");
    assert_eq!((fixed.as_str(), (bound - 1.0 / 7.0).abs() < 1e-9), ("fixed_paths", true), "{bound}");
    // in each dimension 32 of 64 terminals send across the middle: 16 in each direction over 8 links
    let (best, bound) = of("minimal_adaptive");
    assert_eq!((best.as_str(), (bound - 0.5).abs() < 1e-9), ("best_choice", true), "{bound}");
}

/// N / 4 of N terminals send at load 0.4 to one target, and the other terminals send uniform traffic. The target receives 0.4 N / 4 + 0.4 *
/// 3/4 N / (N - 1) > 1 and accepts 1. Each of the N / 4 sources receives 0.4 * 3/4 N / (N - 1) of the uniform packets. Each of the other
/// 3/4 N - 1 terminals sends nothing to itself, and receives 0.4 * (3/4 N - 1) / (N - 1). For N = 1056 the mean is 0.3008; the simpler
/// formula (0.75 N 0.4 + 1) / N = 0.3009 neglects the uniform packets to the target.
#[test]
fn the_destinations_bound_the_load_that_a_hot_spot_accepts() {
    let text = "topology: {dragonfly: {routers_per_group: 8, terminals_per_router: 4, global_links_per_router: 4}}\n\
         routing: dragonfly_minimal\n\
         traffic: {pattern: {hot_spot: {targets: {random: {count: 1}}, sources: {random: {share: 0.25}}}}, load: 0.4, packet: 1flit}\n";
    let hot = point(text);
    let n = 1056.0;
    let of_each = 0.4 / (n - 1.0);
    let exact = (1.0 + n / 4.0 * of_each * 0.75 * n + (0.75 * n - 1.0) * of_each * (0.75 * n - 1.0)) / n;
    let implied = hot.imply().expect("a network");
    let bound = number(&implied, "accepted_load_bound");
    assert!((bound - exact).abs() < 1e-9, "{bound} and {exact}");
    assert!((bound - (0.75 * n * 0.4 + 1.0) / n).abs() < 0.4 / n, "the packets to the target alone: {bound}");
    // if all destinations can accept the load, it has no such bound. With 264 sources of 0.003, the target receives 0.79 from them, and the
    // other terminals send 0.3
    let low = point(&text.replace("load: 0.4", "load: 0.003"));
    assert!(low.imply().expect("a network")["accepted_load_bound"].is_null());
}
