//! Programs of messages: times to the cycle, beside the LogGOPS executor, with blocks, threads and checkpoints; ranks that wait for ever.
//!
//! The network is a router with its terminals. The router takes 1 cycle, each of the two terminal links 1, and ejection 1. So a message
//! of n flits arrives n + 3 cycles after its first flit may leave. A flit is a byte and a cycle 1 ns, so that bytes, flits and
//! nanoseconds have the same numbers.

use crate::integration::common::*;
use weft_engine::outcome::{Ending, Progress};
use weft_engine::recording::Column;
use weft_engine::spec::{Execution, Stop};
use weft_engine::workload::WorkloadConfig;
use weft_engine::{Outcome, Spec};
use weft_programs::generators::ProgramFile;
use weft_programs::loggops::{self, Parameters};
use weft_units::InputFile;

/// A program on a network with packets of so many flits.
fn spec_of(network: &str, routing: &str, workload: &str, packet: u32) -> Spec {
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

/// The same with the text of a GOAL file.
pub fn with_goal(text: &str, parameters: &str, ranks: u32, packet: u32) -> Spec {
    let mut spec = on_one_router(ranks, &format!(r#"{{"programs": {{{parameters}}}}}"#), packet);
    let WorkloadConfig::Programs(programs) = &mut spec.traffic.jobs[0].workload else { panic!("a program") };
    programs.file = Some(InputFile::new("program.goal", text.as_bytes()));
    spec
}

/// The run time of the only job [cycles].
#[track_caller]
fn finish(spec: &Spec) -> u64 {
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

/// Two ranks send a message of `bytes` to and fro.
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
                // the part of the sender, the flits, the part of the receiver; and all that again
                let eager = with_goal(&ping_pong(bytes), &parameters(bytes), 2, packet);
                assert_eq!(finish(&eager), 2 * (2 * overhead + flits + 3), "{overhead} {packet} {bytes}");
                if bytes > 0 {
                    // a request of one flit, with the parts of both ends; an answer of one flit; the flits
                    let rendezvous = with_goal(&ping_pong(bytes), &parameters(bytes - 1), 2, packet);
                    let expected = 2 * (2 * overhead + (1 + 3) + (1 + 3) + flits + 3);
                    assert_eq!(finish(&rendezvous), expected, "rendezvous, {overhead} {packet} {bytes}");
                }
            }
        }
    }
}

#[test]
fn a_ring_takes_all_its_steps() {
    // 2 (P - 1) steps, in each of which everybody sends m / P and waits for as much
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
        // all time that no processor is busy a message is on its way
        let idle = expected - 4 * (u64::from(ranks) - 1) * overhead;
        assert_eq!(counts(&out, "ranks", "transfer_cycles"), vec![idle; ranks as usize]);
        assert_eq!(counts(&out, "ranks", "wait_cycles"), vec![0; ranks as usize]);
    }
}

/// L is 4: a message of n flits comes n + 3 cycles after it left, and the executor counts L + (n - 1) G for its bytes. The executor lets an
/// interface begin with a send, and the engine when the processor has done its part. So with an overhead they agree only where a rank
/// waits for an answer after each send.
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
    // 1000 computations of 1 ns in cycles of 0.4 ns: 2,500 cycles, and 3,000 if each was rounded up
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

#[test]
fn ranks_of_a_terminal_send_each_other_nothing_over_the_network() {
    let local = r#""overhead": "10ns", "ranks_per_terminal": 2, "local_latency": "30ns", "local_bandwidth": "4Gb/s""#;
    let out = run(&with_goal(&ping_pong(100), local, 2, 16));
    // 100 bytes at half a byte per cycle
    assert_eq!(out.jobs[0].progress, Progress::Ended(2 * (10 + 30 + 200 + 10)));
    assert_eq!(out.sums.packets, 0);
}

#[test]
fn a_program_starts_when_it_is_to() {
    let parameters = r#""start": "500ns", "overhead": "0ns""#;
    assert_eq!(finish(&with_goal(&ping_pong(10), parameters, 2, 16)), 500 + 2 * 13);
}

/// An all-to-all, by rendezvous, between ranks of which two are at each terminal; then a ring.
pub fn on_a_torus() -> Spec {
    let workload = r#"{"programs": {"program": {"collective": {"operation": "all_to_all", "ranks": 48, "bytes": "700B", "gap": "33ns"}},
        "overhead": "20ns", "eager": "300B", "accepted": 3, "ranks_per_terminal": 2, "local_latency": "40ns"}}"#;
    spec_of(TORUS, DOR, workload, 16)
}

#[test]
fn blocks_threads_and_checkpoints_change_no_bit() {
    let spec = on_a_torus();
    let one = run(&spec);
    assert_eq!((&one.ending, one.missing_packets), (&Ending::Drained, 0));
    for (threads, blocks) in [(1, 3), (2, 3), (1, 8), (2, 8)] {
        let what = format!("{threads} threads, {blocks} blocks");
        let other = run_as(&spec, Execution::new(threads, blocks));
        assert_same(&one, &other, &what);
        assert!(one.jobs == other.jobs && one.recorded == other.recorded, "{what}");
    }
    check_blocks(&spec, "an all-to-all");
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
    let text = "num_ranks 2\nrank 0 {\nc: calc 9000000000\ns: send 8b to 1 tag 1\ns requires c\n}\nrank 1 {\nrecv 8b from 0 tag 1\n}\n";
    let mut spec = with_goal(text, r#""overhead": "0ns""#, 2, 16);
    spec.phases.window = 20_000_000_000;
    assert_eq!(finish(&spec), 9_000_000_000 + 8 + 3);
}
