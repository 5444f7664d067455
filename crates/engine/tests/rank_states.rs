//! Tests the recorded states of ranks over time, and the recorded messages. The records must be exact to the cycle, and the rows must be
//! the same for any division into blocks. The network is that of `programs.rs`, in which a message of n flits arrives n + 3 cycles after
//! its first flit may leave.

use crate::common::*;
use crate::programs::{on_a_torus, ping_pong, spec_of, with_goal};
use std::collections::BTreeMap;
use weft_engine::recording::{Column, Table};
use weft_engine::spec::Execution;
use weft_engine::{Outcome, Spec};

/// A row: rank, state, beginning and end. For a transfer also the peer, the rank at which the transfer began, and the cycle in which it
/// began.
type Row = (u64, String, u64, u64, Option<[u64; 3]>);

fn states(out: &Outcome) -> Vec<Row> {
    let table = table(out, "rank_states");
    let [ranks, from, to] = ["rank", "from_cycle", "to_cycle"].map(|name| counts_in(table, name));
    let causes = ["peer", "origin", "since_cycle"].map(|name| numbers_in(table, name));
    let cause = |k: usize| causes[0][k].map(|peer| [peer, causes[1][k].unwrap(), causes[2][k].unwrap()]);
    let Some(Column::Texts(names)) = table.column("state") else { panic!("states are texts") };
    (0..ranks.len()).map(|k| (ranks[k], names[k].to_string(), from[k], to[k], cause(k))).collect()
}

fn record_all(spec: &mut Spec, spans: u32, messages: u32) {
    record(spec, &format!(r#"{{"rank_states": {{"max_spans": {spans}}}}}"#));
    record(spec, &format!(r#"{{"message_times": {{"max_messages": {messages}}}}}"#));
}

fn row(rank: u64, state: &str, span: (u64, u64), cause: Option<[u64; 3]>) -> Row {
    (rank, state.to_owned(), span.0, span.1, cause)
}

#[test]
fn the_states_of_a_ping_pong_are_exact() {
    let mut spec = with_goal(&ping_pong(100), r#""overhead": "10ns", "eager": "1KB""#, 2, 16);
    record_all(&mut spec, 100, 100);
    let out = run(&spec);
    // overhead of the sender 10, message 103, overhead of the receiver 10; then the same for the message back. The receiver sends
    // immediately, so its two overheads form one span.
    let expected = [
        row(0, "overhead", (0, 10), None),
        row(0, "wait", (10, 133), Some([1, 1, 133])),
        row(0, "transfer", (133, 236), Some([1, 1, 133])),
        row(0, "overhead", (236, 246), None),
        row(1, "wait", (0, 10), Some([0, 0, 10])),
        row(1, "transfer", (10, 113), Some([0, 0, 10])),
        row(1, "overhead", (113, 133), None),
    ];
    assert_eq!(states(&out), expected);
    let messages = table(&out, "message_times");
    let column = |name| counts_in(messages, name);
    assert_eq!((column("from_rank"), column("to_rank"), column("bytes")), (vec![0, 1], vec![1, 0], vec![100, 100]));
    assert_eq!((column("begun_cycle"), column("arrived_cycle")), (vec![10, 133], vec![113, 236]));
}

/// In this test rank 1 computes for 500 ns before it receives. The request of rank 0 arrives long before the end of the computation.
#[test]
fn a_rendezvous_waits_for_the_receive() {
    let text = "num_ranks 2\nrank 0 {\nsend 100b to 1 tag 1\n}\nrank 1 {\nc: calc 500\nr: recv 100b from 0 tag 1\nr requires c\n}\n";
    let mut spec = with_goal(text, r#""overhead": "10ns", "eager": "1B""#, 2, 64);
    record_all(&mut spec, 100, 100);
    // the answer takes 1 + 3 cycles and the data 100 + 3 cycles. The last flit leaves 2 cycles before it arrives, and the send ends when
    // this flit leaves
    let out = run(&spec);
    let rows = states(&out);
    let of = |rank| rows.iter().filter(|row| row.0 == rank).cloned().collect::<Vec<_>>();
    // the processor handles the request after the computation has ended
    let expected = [
        row(1, "compute", (0, 500), None),
        row(1, "overhead", (500, 510), None),
        row(1, "transfer", (510, 510 + 4 + 103), Some([0, 1, 510])),
    ];
    assert_eq!(of(1), expected);
    let sender = of(0);
    assert_eq!(sender[0], row(0, "overhead", (0, 10), None));
    assert_eq!(sender[1], row(0, "wait", (10, 510), Some([1, 1, 510])));
    assert_eq!((&*sender[2].1, sender[2].2, sender[2].4), ("transfer", 510, Some([1, 1, 510])));
    assert!(sender[2].3 < 617, "{sender:?}");
    // of its 617 cycles, rank 1 computed for 500
    let Some(Column::MaybeCounts(exposed)) = table(&out, "ranks").column("exposed_cycles") else { panic!("exposed") };
    assert_eq!(exposed, &[Some(sender[2].3), Some(117)]);
}

/// For each rank and state, the total time that the rank spent in the state.
fn sums(rows: &[Row]) -> BTreeMap<(u64, &str), u64> {
    let mut sums = BTreeMap::new();
    rows.iter().for_each(|row| *sums.entry((row.0, &*row.1)).or_default() += row.3 - row.2);
    sums
}

#[test]
fn spans_abut_and_add_up_to_the_table_of_ranks() {
    let mut spec = on_a_torus();
    record_all(&mut spec, 1_000_000, 1_000_000);
    let out = run(&spec);
    let (rows, ranks) = (states(&out), table(&out, "ranks"));
    let finish: Vec<u64> = numbers_in(ranks, "finish_cycles").into_iter().flatten().collect();
    for rank in 0..48 {
        let own: Vec<&Row> = rows.iter().filter(|row| row.0 == rank).collect();
        assert_eq!((own[0].2, own.last().expect("a span").3), (0, finish[rank as usize]));
        assert!(own.windows(2).all(|pair| pair[0].3 == pair[1].2), "rank {rank}");
    }
    let sums = sums(&rows);
    let cycles_in =
        |state: &str| (0..48).map(|rank| sums.get(&(rank, state)).copied().unwrap_or(0)).collect::<Vec<_>>();
    assert_eq!(cycles_in("transfer"), counts_in(ranks, "transfer_cycles"));
    assert_eq!(cycles_in("wait"), counts_in(ranks, "wait_cycles"));
    for (state, column) in [("compute", "compute_cycles"), ("overhead", "overhead_cycles")] {
        let Some(Column::Floats(cells)) = ranks.column(column) else { panic!("{column}") };
        assert_eq!(cycles_in(state).iter().map(|&cycles| cycles as f64).collect::<Vec<_>>(), *cells, "{state}");
    }
    let sent: u64 = counts_in(ranks, "sent_messages").iter().sum();
    assert_eq!(counts_in(table(&out, "message_times"), "bytes").len() as u64, sent);
}

#[test]
fn rows_do_not_depend_on_blocks_and_bounds_cut_in_time() {
    let mut spec = on_a_torus();
    record_all(&mut spec, 1_000_000, 1_000_000);
    let whole = run(&spec);
    record_all(&mut spec, 500, 300);
    let cut = run(&spec);
    for (threads, blocks) in [(1, 3), (2, 8)] {
        assert!(cut.recorded == run_as(&spec, Execution::new(threads, blocks)).recorded, "{threads} threads, {blocks}");
    }
    check_blocks(&spec, "a record of ranks");
    for (name, most, ends) in [("rank_states", 500, "to_cycle"), ("message_times", 300, "arrived_cycle")] {
        let (whole, cut): (&Table, &Table) = (table(&whole, name), table(&cut, name));
        assert_eq!((whole.complete, cut.complete), (Some(true), Some(false)));
        let (all, kept) = (counts_in(whole, ends), counts_in(cut, ends));
        let last = kept.iter().max().expect("a row");
        assert!(kept.len() <= most && all.iter().filter(|end| *end <= last).count() == kept.len(), "{name}");
    }
}

/// Two programs of a set run on the same terminals, one after the other. Each program has its own rank numbers, from its start on.
#[test]
fn programs_of_a_set_have_their_own_ranks() {
    let program = |ranks: u32| {
        format!(r#"{{"collective": {{"operation": "all_to_all", "ranks": {ranks}, "bytes": "300B", "gap": "50ns"}}}}"#)
    };
    let workload = format!(
        r#"{{"scheduler": {{"period": "200ns", "slowdown_bound": "1us", "traces": [{{"name": "wide", "programs": {{"program": {}}}}},
            {{"name": "narrow", "count": 2, "programs": {{"program": {}}}}}]}}}}"#,
        program(24),
        program(13)
    );
    let mut spec = spec_of(TORUS, DOR, &workload, 16);
    record_all(&mut spec, 1_000_000, 1_000_000);
    let out = run(&spec);
    let (rows, schedule) = (table(&out, "rank_states"), table(&out, "schedule"));
    let Some(Column::Texts(traces)) = schedule.column("trace") else { panic!("names") };
    let Some(Column::Texts(jobs)) = rows.column("job") else { panic!("names") };
    let [starts, ranks, submissions] = ["start_cycles", "ranks", "number"].map(|name| counts_in(schedule, name));
    let ends: Vec<u64> = numbers_in(schedule, "end_cycles").into_iter().flatten().collect();
    assert_eq!((traces.len(), ends.len()), (3, 3));
    let states = states(&out);
    for (k, trace) in traces.iter().enumerate() {
        let name = format!("all: {trace} {}", submissions[k]);
        let own: Vec<&Row> = states.iter().zip(jobs).filter(|(_, job)| ***job == *name).map(|(row, _)| row).collect();
        let numbers: std::collections::BTreeSet<u64> = own.iter().map(|row| row.0).collect();
        assert!(numbers.into_iter().eq(0..ranks[k]), "{name}");
        // the first computation begins when the program starts, and the last span ends when the program ends
        assert_eq!(own.iter().map(|row| row.2).min(), Some(starts[k]), "{name}");
        assert_eq!(own.iter().map(|row| row.3).max(), Some(ends[k]), "{name}");
    }
    // there are 24 terminals, and each program needs too many of them for two programs to run at the same time
    assert_eq!(table(&out, "message_times").columns[0].1.rows() as u64, 24 * 23 + 2 * 13 * 12);
    for (threads, blocks) in [(1, 3), (2, 8)] {
        assert!(out.recorded == run_as(&spec, Execution::new(threads, blocks)).recorded, "{threads} threads, {blocks}");
    }
    check_blocks(&spec, "a record of a set");
}
