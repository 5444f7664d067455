//! Tests programs of messages: times to the exact cycle, and comparison with the LogGOPS executor. Also runs with blocks, threads and
//! checkpoints, and ranks that wait forever.
//!
//! Unless stated otherwise, the network is one router with its terminals. The router takes 1 cycle, each of the two terminal links 1 cycle,
//! and ejection 1 cycle. Therefore the last flit of a message of n flits arrives n + 3 cycles after the first flit may leave. A flit is one
//! byte and a cycle is 1 ns. Bytes, flits and nanoseconds therefore have the same numbers.

use crate::common::*;
use weft_engine::classes::{ClassVcs, MessageClass, Queueing};
use weft_engine::outcome::{Ending, Progress};
use weft_engine::recording::Column;
use weft_engine::spec::{Execution, Stop};
use weft_engine::workload::WorkloadConfig;
use weft_engine::{Outcome, Spec};
use weft_programs::generators::ProgramFile;
use weft_programs::loggops::{self, Parameters};
use weft_units::InputFile;

/// A spec of a program on a network, with packets of `packet` flits.
pub(crate) fn spec_of(network: &str, routing: &str, workload: &str, packet: u32) -> Spec {
    let mut spec = spec(network, routing);
    (spec.cycle_fs, spec.flit_bits) = (1_000_000, 8);
    queues(&mut spec, 6, 64);
    phases(&mut spec, 0, 10_000_000);
    spec.phases.stop = Stop::Complete;
    let job = &mut spec.traffic.jobs[0];
    job.workload = serde_json::from_str(workload).expect("a workload");
    job.phases[0].load.fill(0.0);
    spec.set_packet(packet);
    spec
}

fn on_one_router(ranks: u32, workload: &str, packet: u32) -> Spec {
    spec_of(&format!(r#"{{"single_router": {{"terminals": {ranks}}}}}"#), DOR, workload, packet)
}

/// A spec of the program that `text` contains in the GOAL format.
pub fn with_goal(text: &str, parameters: &str, ranks: u32, packet: u32) -> Spec {
    let mut spec = on_one_router(ranks, &format!(r#"{{"programs": {{{parameters}}}}}"#), packet);
    let WorkloadConfig::Programs(programs) = &mut spec.traffic.jobs[0].workload else { panic!("a program") };
    programs.file = Some(InputFile::new("program.goal", text.as_bytes()));
    spec
}

/// The run time of the run's only job [cycles].
#[track_caller]
pub(crate) fn finish(spec: &Spec) -> u64 {
    let out = run(spec);
    assert_eq!((&out.ending, out.missing_packets), (&Ending::Drained, 0));
    match out.jobs[0].progress {
        Progress::Ended(cycle) => cycle,
        other => panic!("{other:?}"),
    }
}

fn counts<'a>(out: &'a Outcome, table: &str, column: &str) -> &'a [u64] {
    let (_, table) = out.recorded.iter().find(|(name, _)| *name == table).expect("the table");
    match table.column(column).expect("the column") {
        Column::Counts(cells) => cells,
        other => panic!("{other:?}"),
    }
}

/// Two ranks send a message of `bytes` bytes back and forth.
pub fn ping_pong(bytes: u64) -> String {
    format!(
        "num_ranks 2\nrank 0 {{\na: send {bytes}b to 1 tag 1\nb: recv {bytes}b from 1 tag 2\nb requires a\n}}\nrank 1 {{\n\
         a: recv {bytes}b from 0 tag 1\nb: send {bytes}b to 0 tag 2\nb requires a\n}}\n"
    )
}

#[test]
fn a_ping_pong_takes_its_time_to_the_cycle() {
    for overhead in [0, 25] {
        for packet in [1, 16, 64] {
            for bytes in [0, 1, 15, 16, 17, 64, 1000, 4096] {
                let parameters = |eager: u64| format!(r#""overhead": "{overhead}ns", "eager": "{eager}B""#);
                let flits = bytes.max(1);
                // the overhead of the sender, the flits, and the overhead of the receiver; then the same for the message back
                let eager = with_goal(&ping_pong(bytes), &parameters(bytes), 2, packet);
                assert_eq!(finish(&eager), 2 * (2 * overhead + flits + 3), "{overhead} {packet} {bytes}");
                if bytes > 0 {
                    // rendezvous: a request of one flit with the overheads of both ends, an answer of one flit, and then the flits
                    let rendezvous = with_goal(&ping_pong(bytes), &parameters(bytes - 1), 2, packet);
                    let expected = 2 * (2 * overhead + (1 + 3) + (1 + 3) + flits + 3);
                    assert_eq!(finish(&rendezvous), expected, "rendezvous, {overhead} {packet} {bytes}");
                }
            }
        }
    }
}

/// The number of flits that the first of two interfaces sends, for a message of `flits` flits in packets of `packet` flits. The first
/// interface sends every second packet. If the number of packets is odd, the first interface also sends the last packet, which can be
/// short.
fn half(flits: u64, packet: u64) -> u64 {
    let pairs = flits.div_ceil(packet) / 2;
    if flits.div_ceil(packet).is_multiple_of(2) { pairs * packet } else { flits - pairs * packet }
}

#[test]
fn a_ping_pong_over_two_interfaces_takes_its_time_to_the_cycle() {
    for (choice, stripes) in [("striping", true), ("hash", false), ("destination", false), ("local_rank", false)] {
        for overhead in [0, 25] {
            for packet in [1, 16] {
                for bytes in [0, 1, 16, 17, 32, 33, 48, 49, 1000, 4096] {
                    let parameters = |eager: u64| {
                        format!(
                            r#""overhead": "{overhead}ns", "eager": "{eager}B", "rails": 2, "rail_choice": "{choice}""#
                        )
                    };
                    let flits: u64 = if stripes { half(bytes.max(1), packet) } else { bytes.max(1) };
                    let run = |eager| {
                        let spec = with_goal(&ping_pong(bytes), &parameters(eager), 4, packet as u32);
                        finish(&spec)
                    };
                    let what = format!("{choice} {overhead} {packet} {bytes}");
                    assert_eq!(run(bytes), 2 * (2 * overhead + flits + 3), "{what}");
                    if bytes > 0 {
                        // a request and an answer of one flit each, with the overheads of both ends before the answer
                        let expected = 2 * (2 * overhead + (1 + 3) + (1 + 3) + flits + 3);
                        assert_eq!(run(bytes - 1), expected, "rendezvous, {what}");
                    }
                }
            }
        }
    }
}

/// Interface k sends for local rank k, so two ranks of a node send at the same time without waiting for each other.
#[test]
fn ranks_of_a_node_have_an_interface_each() {
    let both = "num_ranks 4\nrank 0 {\nsend 100b to 2 tag 1\n}\nrank 1 {\nsend 100b to 3 tag 1\n}\nrank 2 {\nrecv 100b from 0 tag 1\n}\n\
                rank 3 {\nrecv 100b from 1 tag 1\n}\n";
    let run = |rails: u32| {
        let keys = format!(r#""ranks_per_terminal": 2, "rails": {rails}, "rail_choice": "local_rank""#);
        finish(&with_goal(both, &keys, 2 * rails, 16))
    };
    // with one interface, the 100 flits of one rank wait until the 100 flits of the other rank have been sent
    assert_eq!((run(1), run(2)), (200 + 3, 100 + 3));
}

/// A send beyond the limit `accepted` waits until all interfaces have sent the previous message.
#[test]
fn a_message_counts_as_accepted_until_its_last_stripe_has_left() {
    let text = "num_ranks 2\nrank 0 {\nsend 48b to 1 tag 1\nsend 16b to 1 tag 2\n}\nrank 1 {\nrecv 48b from 0 tag 1\nrecv 16b from 0 tag 2\n}\n";
    let run = |limit: &str| finish(&with_goal(text, &format!(r#""rails": 2{limit}"#), 4, 16));
    // the two stripes have 32 and 16 flits. The second message uses the other interface: without the limit after the first 16 flits, with
    // the limit after the 32 flits have left
    assert_eq!((run(""), run(r#", "accepted": 1"#)), (32 + 3, 32 + 16 + 3));
}

/// A rank pays the host latency from the processor to the interface and back. For two messages, this is four times. In each direction, a
/// rendezvous has three packets: the request, the answer (which leaves one cycle later), and the data.
#[test]
fn the_host_latency_is_paid_at_both_ends() {
    for (latency, text) in [(7, "7ns"), (8, "7100ps")] {
        let parameters = format!(r#""host_latency": "{text}""#);
        let eager = with_goal(&ping_pong(100), &parameters, 2, 16);
        assert_eq!(finish(&eager), 2 * (100 + 3 + 2 * latency));
        let rendezvous = with_goal(&ping_pong(100), &format!(r#"{parameters}, "eager": "1B""#), 2, 16);
        let without = finish(&with_goal(&ping_pong(100), r#""eager": "1B""#, 2, 16));
        assert_eq!(finish(&rendezvous), without + 2 * 3 * 2 * latency);
    }
}

#[test]
fn computations_scale() {
    let text = "num_ranks 1\nrank 0 {\na: calc 100\nb: calc 60\nb requires a\n}\n";
    for (scale, expected) in [(0.5, 80), (1.0, 160), (2.0, 320)] {
        assert_eq!(finish(&with_goal(text, &format!(r#""compute_scale": {scale}"#), 2, 1)), expected);
    }
}

/// Rank 0 sends 100 packets of 10 flits, starting in cycle 0. In cycle 203 rank 2 requests a rendezvous. The request arrives in cycle 207,
/// while the interface of rank 0 sends a packet (cycles 200 to 209). The answer follows that packet, before the other packets of rank 0.
/// The data of rank 2 leave after the answer has arrived.
#[test]
fn an_answer_goes_before_the_packets_that_are_left_of_a_message() {
    let goal = "num_ranks 3\nrank 0 {\nsend 1000b to 1 tag 1\nrecv 1001b from 2 tag 2\n}\nrank 1 {\nrecv 1000b from 0 tag 1\n}\nrank 2 {\n\
                a: calc 203\nb: send 1001b to 0 tag 2\nb requires a\n}\n";
    let answered = 210 + 1 + 3;
    assert_eq!(finish(&with_goal(goal, r#""eager": "1000B""#, 3, 10)), answered + 1001 + 3);
}

#[test]
fn a_ring_takes_all_its_steps() {
    // 2 (P - 1) steps; in each step every rank sends m / P bytes and waits for the same number
    for (ranks, bytes, overhead) in [(2, 64, 0), (4, 4096, 10), (7, 7 * 300, 3), (16, 16 * 100, 0)] {
        let workload = format!(
            r#"{{"programs": {{"program": {{"collective": {{"operation": "all_reduce", "ranks": {ranks}, "bytes": "{bytes}B"}}}},
                "collectives": {{"algorithms": {{"all_reduce": {{"ring": {{}}}}}}}}, "overhead": "{overhead}ns", "eager": "1MB"}}}}"#
        );
        let spec = on_one_router(ranks, &workload, 16);
        let step = 2 * overhead + bytes / u64::from(ranks) + 3;
        let expected = 2 * (u64::from(ranks) - 1) * step;
        assert_eq!(finish(&spec), expected, "{ranks} ranks");
        let out = run(&spec);
        assert_eq!(counts(&out, "collectives", "most_cycles"), [expected]);
        assert_eq!(counts(&out, "ranks", "sent_messages"), vec![2 * (u64::from(ranks) - 1); ranks as usize]);
        // at any time, either a processor is busy or a message is in transfer
        let idle = expected - 4 * (u64::from(ranks) - 1) * overhead;
        assert_eq!(counts(&out, "ranks", "transfer_cycles"), vec![idle; ranks as usize]);
        assert_eq!(counts(&out, "ranks", "wait_cycles"), vec![0; ranks as usize]);
    }
}

/// The parameter L is 4. A message of n flits arrives n + 3 cycles after it left, and the executor counts L + (n - 1) G for its bytes. In
/// the executor the interface is busy from the start of a send. In the engine it is busy after the processor has finished its overhead.
/// With an overhead, engine and executor therefore give the same times only if a rank waits for an answer after each send.
#[test]
fn an_ideal_network_is_that_of_the_executor() {
    let at = |overhead| Parameters {
        unit_fs: 1_000_000,
        latency: 4,
        overhead,
        gap: 1,
        gap_per_byte: 1,
        overhead_per_byte: 0,
        eager: 1 << 20,
    };
    for (operation, algorithm) in [
        ("all_reduce", "recursive_doubling"),
        ("all_reduce", "ring"),
        ("broadcast", "binomial"),
        ("all_to_all", "pairwise"),
    ] {
        let answers_each = operation == "all_reduce";
        for (ranks, bytes, overhead) in [(8, 800, 0), (8, 64, 0), (16, 1600, 0), (4, 400, 7)] {
            if overhead > 0 && !answers_each {
                continue;
            }
            let program = format!(
                r#""program": {{"collective": {{"operation": "{operation}", "ranks": {ranks}, "bytes": "{bytes}B", "repeat": 2, "gap": "100ns"}}}},
                   "collectives": {{"algorithms": {{"{operation}": {{"{algorithm}": {{}}}}}}}}"#
            );
            let file: ProgramFile = serde_json::from_str(&format!("{{{program}}}")).expect("a program");
            let (made, rules) = file.make().expect("a program");
            let answer =
                loggops::run(&made.program, &std::sync::Arc::new(rules), at(overhead as i64)).expect("an answer");
            let workload =
                format!(r#"{{"programs": {{{program}, "overhead": "{overhead}ns", "eager": "1MB", "accepted": 1}}}}"#);
            let ours = finish(&on_one_router(ranks, &workload, 64));
            assert_eq!(
                ours as i64,
                answer.last().0,
                "{operation} by {algorithm}: {ranks} ranks, {bytes} bytes, {overhead} ns"
            );
        }
    }
}

#[test]
fn computations_are_rounded_once_and_not_one_by_one() {
    // 1000 computations of 1 ns in cycles of 0.4 ns take 2,500 cycles; if each of them was rounded up, they would take 3,000
    let mut text = "num_ranks 1\nrank 0 {\nc0: calc 1\n".to_owned();
    (1..1000).for_each(|k| text += &format!("c{k}: calc 1\nc{k} requires c{}\n", k - 1));
    let mut spec = with_goal(&(text + "}\n"), "", 2, 1);
    spec.cycle_fs = 400_000;
    assert_eq!(finish(&spec), 2500);
}

#[test]
fn ranks_that_wait_for_ever_are_named() {
    let text = "num_ranks 2\nrank 0 {\na: recv 8b from 1 tag 5\nb: send 8b to 1 tag 6\nb requires a\n}\nrank 1 {\n\
                a: recv 8b from 0 tag 6\nb: send 8b to 0 tag 5\nb requires a\n}\n";
    let out = run(&with_goal(text, "", 2, 4));
    let Ending::Stalled(stall) = &out.ending else { panic!("{:?}", out.ending) };
    assert_eq!((out.jobs[0].progress, stall.wait_for.len()), (Progress::Open, 0));
    assert!(out.cycles < 1000, "{}", out.cycles);
    let words = stall.halted.join("");
    for part in
        ["2 rank(s) can't go on", "rank 0 has finished 0 of 2 operations", "waits for a message from 1 with tag 5"]
    {
        assert!(words.contains(part), "{words}");
    }
}

/// In this test the receiver has ended before the message arrives. The message goes over the network, or between two ranks of a node.
#[test]
fn a_message_that_nobody_receives_is_named() {
    let text = "num_ranks 2\nrank 0 {\na: send 400b to 1 tag 7\n}\nrank 1 {\na: calc 5\n}\n";
    for keys in
        ["", r#""host_latency": "20ns""#, r#""overhead": "10ns", "ranks_per_terminal": 2, "local_latency": "30ns""#]
    {
        let out = run(&with_goal(text, keys, 2, 16));
        let Ending::Stalled(stall) = &out.ending else { panic!("{keys}: {:?}", out.ending) };
        assert_eq!(out.jobs[0].progress, Progress::Open, "{keys}");
        let words = stall.halted.join("");
        assert!(words.contains("tag 7"), "{keys}: {words}");
    }
}

#[test]
fn ranks_of_a_terminal_send_each_other_nothing_over_the_network() {
    let local = r#""overhead": "10ns", "ranks_per_terminal": 2, "local_latency": "30ns", "local_bandwidth": "4Gb/s""#;
    let out = run(&with_goal(&ping_pong(100), local, 2, 16));
    // at half a byte per cycle, a message of 100 bytes takes 200 cycles
    assert_eq!(out.jobs[0].progress, Progress::Ended(2 * (10 + 30 + 200 + 10)));
    assert_eq!(out.sums.packets, 0);
}

/// The latency delays the interface, but the processor continues at once. Therefore two messages of a processor still follow each other
/// without a gap.
#[test]
fn the_latency_of_injection_delays_messages_and_no_processor() {
    let keys = |times: &str| format!(r#""overhead": "25ns", "eager": "1MB", {times}"#);
    let at = |times: &str, bytes| finish(&with_goal(&ping_pong(bytes), &keys(times), 2, 16));
    let latency = r#""injection_latency": "100ns""#;
    // each direction takes the overhead of the sender, the injection latency, the flits, the zero-load latency, and the overhead of the
    // receiver
    assert_eq!(at(latency, 64), 2 * (25 + 100 + 64 + 3 + 25));
    assert_eq!(at(r#""interface": "tcep""#, 64), 2 * (25 + 1000 + 64 + 3 + 25), "the preset says 1 us");
    assert_eq!(
        at(r#""interface": "tcep", "injection_latency": "7ns""#, 64),
        2 * (25 + 7 + 64 + 3 + 25),
        "what is written wins"
    );
    let two = "num_ranks 2\nrank 0 {\na: send 40b to 1 tag 1\nb: send 40b to 1 tag 1\nb requires a\n}\nrank 1 {\n\
               a: recv 40b from 0 tag 1\nb: recv 40b from 0 tag 1\nb requires a\n}\n";
    // 40 flits take longer than the overhead of 25 cycles, so the second message follows the first without a gap
    assert_eq!(finish(&with_goal(two, &keys(latency), 2, 16)), 25 + 100 + 40 + 40 + 3 + 25);
}

/// In this test one program waits forever, while another job never ends.
#[test]
fn a_program_that_deadlocks_beside_endless_traffic_ends_the_run() {
    let text = "num_ranks 2\nrank 0 {\na: recv 8b from 1 tag 5\nb: send 8b to 1 tag 6\nb requires a\n}\nrank 1 {\n\
                a: recv 8b from 0 tag 6\nb: send 8b to 0 tag 5\nb requires a\n}\n";
    let mut spec = with_goal(text, "", 6, 4);
    let mut endless = spec.traffic.jobs[0].clone();
    (endless.name, endless.workload) = ("endless".into(), WorkloadConfig::default());
    let population = weft_traffic::Population::of(4);
    let uniform = weft_traffic::PatternConfig::default().build(&population, "pattern").expect("a pattern");
    (endless.terminals, endless.phases[0].pattern, endless.phases[0].load) =
        (vec![2, 3, 4, 5], uniform.into(), vec![0.5; 4]);
    spec.traffic.jobs[0].terminals = vec![0, 1];
    spec.traffic.jobs[0].phases[0].load = vec![0.0; 2];
    spec.traffic.jobs.push(endless);
    let out = run(&spec);
    let Ending::Stalled(stall) = &out.ending else { panic!("{:?}", out.ending) };
    assert!(stall.halted.join("").contains("rank 0 has finished 0 of 2 operations"), "{:?}", stall.halted);
    assert!(out.cycles < spec.phases.window / 10, "{}", out.cycles);
}

#[test]
fn a_program_starts_when_it_is_to() {
    let parameters = r#""start": "500ns", "overhead": "0ns""#;
    assert_eq!(finish(&with_goal(&ping_pong(10), parameters, 2, 16)), 500 + 2 * 13);
}

/// A program of two parts with two ranks at each terminal: an all-to-all by rendezvous, and then a ring.
pub fn on_a_torus() -> Spec {
    let workload = r#"{"programs": {"program": {"collective": {"operation": "all_to_all", "ranks": 48, "bytes": "210B", "gap": "33ns"}},
        "overhead": "20ns", "eager": "150B", "accepted": 3, "ranks_per_terminal": 2, "local_latency": "40ns"}}"#;
    spec_of(TORUS, DOR, workload, 16)
}

#[test]
fn blocks_threads_and_checkpoints_change_no_bit() {
    let spec = on_a_torus();
    let one = run(&spec);
    assert_eq!((&one.ending, one.missing_packets), (&Ending::Drained, 0));
    for (threads, blocks) in [(2, 3), (1, 8)] {
        let what = format!("{threads} threads, {blocks} blocks");
        let other = run_as(&spec, Execution::new(threads, blocks));
        assert_same(&one, &other, &what);
        assert!(one.jobs == other.jobs && one.recorded == other.recorded, "{what}");
    }
    check_blocks(&spec, "an all-to-all");
}

/// An all-to-all over two interfaces per node. The interfaces of a node are at two different routers: terminals 0 and 2, 1 and 3, 4 and 6,
/// and so on.
fn on_two_rails(choice: &str, eager: &str) -> Spec {
    let workload = format!(
        r#"{{"programs": {{"program": {{"collective": {{"operation": "all_to_all", "ranks": 24, "bytes": "400B", "gap": "33ns"}}}},
        "overhead": "20ns", "eager": "{eager}", "accepted": 3, "ranks_per_terminal": 2, "local_latency": "40ns", "rails": 2,
        "rail_choice": "{choice}", "jitter": {{"exponential": {{"mean": 0.3}}}}}}}}"#
    );
    let mut spec = spec_of(TORUS, DOR, &workload, 16);
    spec.traffic.jobs[0].terminals = (0..6).flat_map(|pair| [0, 2, 1, 3].map(|t| 4 * pair + t)).collect();
    spec
}

#[test]
fn interfaces_on_several_routers_change_no_bit_with_blocks_threads_and_checkpoints() {
    for (turn, (choice, eager)) in [("striping", "300B"), ("striping", "1MB"), ("hash", "300B")].into_iter().enumerate()
    {
        let spec = on_two_rails(choice, eager);
        let one = run(&spec);
        assert_eq!((&one.ending, one.missing_packets), (&Ending::Drained, 0));
        for &(threads, blocks) in in_turn(turn, &[(1, 8), (2, 3)]) {
            let what = format!("{choice}, {threads} threads, {blocks} blocks");
            let other = run_as(&spec, Execution::new(threads, blocks));
            assert_same(&one, &other, &what);
            assert!(one.jobs == other.jobs && one.recorded == other.recorded, "{what}");
        }
    }
    check_blocks(&on_two_rails("striping", "300B"), "an all-to-all over two interfaces");
}

/// An all-to-all of nodes whose two interfaces are on two sides of the network. Every boundary between blocks therefore separates the
/// interfaces of some nodes.
fn on_divided_nodes(choice: &str, eager: &str, host_latency: &str) -> Spec {
    let mut spec = on_two_rails(choice, eager);
    let WorkloadConfig::Programs(programs) = &mut spec.traffic.jobs[0].workload else { panic!("a program") };
    programs.host_latency = host_latency.parse().expect("a time");
    spec.traffic.jobs[0].terminals = (0..12).flat_map(|node| [node, 23 - node]).collect();
    spec
}

#[test]
fn nodes_in_several_blocks_change_no_bit_with_blocks_threads_and_checkpoints() {
    let cases = [
        ("striping", "300B", "3ns"),
        ("striping", "1MB", "1ns"),
        ("hash", "1B", "50ns"),
        ("local_rank", "300B", "2ns"),
    ];
    for (turn, (choice, eager, host)) in cases.into_iter().enumerate() {
        let spec = on_divided_nodes(choice, eager, host);
        let one = run_as(&spec, Execution::new(1, 1));
        assert_eq!((&one.ending, one.missing_packets), (&Ending::Drained, 0));
        for &(threads, blocks) in in_turn(turn, &[(1, 3), (2, 8), (1, 8)]) {
            let what = format!("{choice}, {eager}, {host}, {threads} threads, {blocks} blocks");
            let other = run_as(&spec, Execution::new(threads, blocks));
            assert_same(&one, &other, &what);
            assert!(one.jobs == other.jobs && one.recorded == other.recorded, "{what}");
        }
    }
    check_blocks(&on_divided_nodes("striping", "300B", "3ns"), "an all-to-all of divided nodes");
}

/// A run that ends before its program also has the same results in blocks.
#[test]
fn a_run_that_is_cut_off_leaves_divided_nodes_the_same() {
    let mut spec = on_divided_nodes("striping", "300B", "9ns");
    let whole = finish(&spec);
    spec.phases.stop = Stop::Window;
    for (case, share) in [3, 5].into_iter().enumerate() {
        phases(&mut spec, 0, whole * share / 7);
        spec.phases.drain_limit = 0;
        let one = run_as(&spec, Execution::new(1, 1));
        for &(threads, blocks) in in_turn(case, &[(2, 3), (1, 8)]) {
            let other = run_as(&spec, Execution::new(threads, blocks));
            assert_same(&one, &other, &format!("{share} sevenths, {blocks} blocks"));
            assert!(one.jobs == other.jobs && one.recorded == other.recorded, "{share} sevenths, {blocks} blocks");
        }
    }
}

/// A queue with space for one packet is filled after the previous packet has left. An interface without queues takes packets in the same
/// way.
#[test]
fn interfaces_with_queues_take_the_same_packets() {
    let mut spec = on_two_rails("striping", "300B");
    let usual = run(&spec);
    spec.interface.queueing = Queueing::One;
    spec.classes = vec![MessageClass { name: "all".into(), priority: 0, vcs: ClassVcs::Equal, rate: None }];
    let queued = run(&spec);
    assert_eq!((&usual.ending, &usual.sums), (&queued.ending, &queued.sums));
    assert_eq!((usual.jobs[0].progress, &usual.recorded), (queued.jobs[0].progress, &queued.recorded));
    check_blocks(&spec, "queues over two interfaces");
}

#[test]
fn links_that_sleep_while_ranks_compute_change_the_run_time_and_lose_nothing() {
    let mut spec = on_a_torus();
    let awake = finish(&spec);
    policy(&mut spec, r#"{"idle_timeout": {"idle": "50cycles", "transition": "20cycles"}}"#);
    spec.managed.fill(true);
    let out = run(&spec);
    assert_eq!((&out.ending, out.missing_packets), (&Ending::Drained, 0));
    let Progress::Ended(asleep) = out.jobs[0].progress else { panic!("{:?}", out.jobs[0].progress) };
    assert!(asleep > awake, "{asleep} {awake}");
    check_blocks(&spec, "an all-to-all under idle_timeout");
}

#[test]
fn long_computations_are_skipped() {
    // 4 s and 9 s are more than 2^31 cycles. In 32 bits, 4 s is still above 2^31, and 9 s wraps to a value below.
    for cycles in [1_000_000_000, 4_000_000_000, 9_000_000_000] {
        let text = format!(
            "num_ranks 2\nrank 0 {{\nc: calc {cycles}\ns: send 8b to 1 tag 1\ns requires c\n}}\nrank 1 {{\nrecv 8b from 0 tag 1\n}}\n"
        );
        let mut spec = with_goal(&text, r#""overhead": "0ns""#, 2, 16);
        spec.phases.window = 20_000_000_000;
        assert_eq!(finish(&spec), cycles + 8 + 3);
    }
}
