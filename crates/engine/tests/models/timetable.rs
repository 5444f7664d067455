//! Tests links that a timetable switches: their states in each cycle, the packets that wait for them, and invalid timetables.

use serde_json::{Value, json};
use weft_engine::power::{LinkState, Modes, PerMode, PolicyConfig, Schedule};
use weft_engine::spec::{Execution, LoadPhase, Spec};
use weft_engine::{Outcome, run};
use weft_units::Refusal;

/// A network of 4 columns x 3 rows of routers with 2 terminals each; a cycle is 1 ns.
fn network(timetable: Value, load: f64) -> Spec {
    let topology = json!({"hyperx": {"widths": [4, 3], "terminals_per_router": 2}});
    let routing = serde_json::from_value(json!({"ugal_p": {"sensor": "used_credits"}})).unwrap();
    let mut spec = Spec::new(&serde_json::from_value(topology).unwrap(), routing).unwrap();
    spec.policy = serde_json::from_value(json!({"timetable": timetable})).unwrap();
    spec.set_load(load);
    (spec.phases.warmup, spec.phases.window) = (0, 1000);
    spec
}

fn run_in(spec: &Spec, blocks: usize) -> Outcome {
    run(spec, Execution::new(1, blocks), &()).expect("a run")
}

/// The state of a channel in cycle `now` if packets do not delay it. The function computes the state by a search through every row of every
/// period.
fn state_at(rows: &[(u64, u64)], period: Option<u64>, transition: u64, now: u64) -> LinkState {
    for later in (0..100).map(|k| k * period.unwrap_or(0)) {
        for (from, until) in rows.iter().map(|&(from, until)| (from + later, until + later)) {
            if (from..until).contains(&now) {
                return match now {
                    now if now < from + transition => LinkState::Draining,
                    now if now < until - transition => LinkState::Off,
                    _ => LinkState::Waking,
                };
            }
        }
    }
    LinkState::On
}

fn expected(rows: &[(u64, u64)], period: Option<u64>, cycles: std::ops::Range<u64>) -> PerMode {
    let mut sums = PerMode::zeros(Modes::default().count());
    cycles.for_each(|now| sums[state_at(rows, period, 5, now)] += 1);
    sums
}

/// A timetable: its rows (from, until), and the period.
type Table = (&'static [(u64, u64)], Option<u64>);

const TABLES: [Table; 6] = [
    (&[(20, 60)], Some(100)),
    // starts in the first cycle; of two rows, the later row is written first
    (&[(50, 90), (0, 11)], Some(130)),
    // a row that continues past the end of the period, but does not apply before the first period
    (&[(80, 120)], Some(100)),
    (&[(0, 99)], Some(100)),
    (&[(20, 60), (700, 711)], None),
    // begins in the window and ends after it, farther ahead than one turn of the timer wheel
    (&[(990, 2600)], Some(3000)),
];

fn table(rows: &[(u64, u64)], period: Option<u64>, classes: Option<&str>) -> Value {
    let row = |&(from, until): &(u64, u64)| json!({"classes": classes.map(|name| [name]), "from": format!("{from}ns"), "until": format!("{until}ns")});
    let rows: Vec<Value> = rows.iter().map(row).collect();
    json!({"off": rows, "period": period.map(|ns| format!("{ns}ns")), "transition": "5ns"})
}

#[test]
fn idle_channels_are_in_each_state_for_the_cycles_of_the_timetable() {
    for (rows, period) in TABLES {
        for (class, name) in [(1, Some("dim0")), (2, Some("dim1")), (0, None)] {
            for warmup in [0, 33, 2500] {
                let mut spec = network(table(rows, period, name), 0.0);
                spec.phases.warmup = warmup;
                let due = expected(rows, period, warmup..warmup + 1000);
                for c in &run_in(&spec, 2).channels {
                    let named = c.class > 0 && [0, c.class].contains(&class);
                    let due = if named { due.clone() } else { [1000, 0, 0, 0, 0, 0, 0].into() };
                    assert_eq!(c.cycles, due, "{rows:?} every {period:?} for {name:?} from {warmup}: {c:?}");
                }
            }
        }
    }
}

/// The timetable may give a single class without a list. The name `all` means all managed links.
#[test]
fn a_single_class_needs_no_list() {
    for (classes, rows) in [("dim0", ["dim0"].as_slice()), ("all", &["dim0", "dim1"])] {
        let table = |classes: Value| {
            let row = json!({"classes": classes, "from": "20ns", "until": "60ns"});
            run_in(&network(json!({"off": [row], "transition": "5ns"}), 0.1), 1)
        };
        assert!(numbers(&table(json!(classes))) == numbers(&table(json!(rows))), "{classes}");
    }
}

/// Rows of different classes may overlap.
#[test]
fn classes_have_their_own_rows() {
    let rows = json!([
        {"classes": ["dim0"], "from": "20ns", "until": "60ns"},
        {"classes": ["dim1"], "from": "40ns", "until": "70ns"},
    ]);
    let spec = network(json!({"off": rows, "period": "100ns", "transition": "5ns"}), 0.0);
    for c in &run_in(&spec, 1).channels {
        let rows: [&[(u64, u64)]; 3] = [&[], &[(20, 60)], &[(40, 70)]];
        let due = expected(rows[usize::from(c.class)], Some(100), 0..1000);
        assert_eq!(c.cycles, due, "{c:?}");
    }
}

/// Channels between routers, each with the number of rows of `TABLES[0]` that it followed. A row causes four transitions.
fn rows_kept(out: &Outcome) -> Vec<(u64, [u64; 7])> {
    let between = out.channels.iter().filter(|c| c.class > 0);
    let kept = between.map(|c| {
        assert_eq!((c.transitions % 4, c.flits.iter().skip(1).sum::<u64>()), (0, 0), "{c:?}");
        assert_eq!(c.cycles.iter().sum::<u64>(), out.window, "{c:?}");
        (c.transitions / 4, (*c.cycles).try_into().expect("the modes of every run, half and quarter"))
    });
    kept.collect()
}

/// A packet of one flit holds no VC. Packets that wait for a channel do not change the times of its rows. But flits granted before `from`
/// leave first. At full load there can be more such flits than a row has cycles, and then the channel stays on during the whole row.
#[test]
fn packets_of_one_flit_wait_until_a_row_ends() {
    for load in [0.02, 0.3, 1.0] {
        let out = run_in(&network(table(TABLES[0].0, TABLES[0].1, None), load), 1);
        for (kept, [on, shadow, draining, off, waking, ..]) in rows_kept(&out) {
            assert_eq!((on, shadow, waking), (1000 - 40 * kept, 0, 5 * kept));
            assert!(draining >= 5 * kept && draining + off == 35 * kept);
            assert!(kept == 10 || load == 1.0 && kept >= 5, "{kept} at {load}");
        }
    }
}

/// Packets of several flits hold VCs. Therefore channels go off later, because packets on their way across finish first. Below saturation
/// channels go off in every row, because no other packet begins to cross. The rows end at the times of the timetable.
#[test]
fn packets_of_5_flits_may_keep_a_channel_on() {
    for load in [0.02, 0.3, 1.0] {
        let mut spec = network(table(TABLES[0].0, TABLES[0].1, None), load);
        spec.set_packet(5);
        for (kept, [on, _, draining, off, waking, ..]) in rows_kept(&run_in(&spec, 1)) {
            assert!(kept == 10 || load == 1.0 && (5..=10).contains(&kept), "{kept} at {load}");
            assert!(on >= 1000 - 40 * kept && waking == 5 * kept, "{on} {kept}");
            assert!(draining >= 5 * kept && off >= kept, "{draining} {off} {kept}");
        }
    }
}

#[test]
fn all_packets_arrive_when_the_sources_stop() {
    for (flits, load) in [(1, 0.3), (1, 1.0), (5, 0.3), (5, 1.0), (20, 1.0)] {
        for (rows, period) in TABLES {
            let mut spec = network(table(rows, period, None), load);
            spec.set_packet(flits);
            let first = spec.traffic.jobs[0].phases[0].clone();
            let silence = LoadPhase { from: 500, load: vec![0.0; first.load.len()], ..first };
            spec.traffic.jobs[0].phases.push(silence);
            spec.phases.window = 30_000;
            let out = run_in(&spec, 1);
            assert_eq!((out.missing_packets, out.sums.flits), (0, out.offered_flits), "{flits} {load} {rows:?}");
            assert!(out.sums.packets > 100);
            assert!(numbers(&out) == numbers(&run_in(&spec, 3)), "{flits} {load} {rows:?}");
        }
    }
}

fn numbers(out: &Outcome) -> Vec<u64> {
    let channels = out.channels.iter().flat_map(|c| c.cycles.iter().chain(&c.flits).copied());
    channels.chain([out.sums.latency, out.sums.hops, out.flit_hops]).collect()
}

#[track_caller]
fn refused(timetable: Value, path: &str, what: &str, help: &str) {
    let mut spec = network(timetable, 0.1);
    spec.managed = vec![false, true, false];
    let error: Refusal = run(&spec, Execution::new(1, 1), &()).expect_err("it is refused");
    assert_eq!(error.path, format!("power.policy.timetable.{path}"), "{error:?}");
    assert!(error.what.contains(what) && error.help.contains(help), "{error:?}");
}

#[test]
fn what_is_no_timetable_is_refused() {
    let rows = |rows: &[(u64, u64)], period: Option<u64>| table(rows, period, None);
    refused(json!({"off": [], "transition": "5ns"}), "off", "no row", "always_on");
    let row = json!([{"from": "20ns", "until": "60ns"}]);
    refused(
        json!({"off": row, "transition": "0ns"}),
        "transition",
        "expected a time above 0, found 0fs (0 cycles of 1ns)",
        "1ns (1 cycle of 1ns)",
    );
    refused(json!({"off": row, "transition": "5ns", "period": "0ns"}), "period", "0fs (0 cycles", "1ns (1 cycle");
    // a message contains each time as the scenario writes it, and the number of cycles of this time
    refused(
        rows(&[(60, 60)], None),
        "off.0.until",
        "60ns (60 cycles of 1ns) is not later than from, 60ns (60",
        "a time after 60ns (60",
    );
    refused(
        rows(&[(80, 20)], Some(100)),
        "off.0.until",
        "20ns (20 cycles of 1ns) is not later than",
        "write 120ns (120 cycles",
    );
    let what = "30ns (30 cycles of 1ns) - 20ns (20 cycles of 1ns) = 10ns (10 cycles of 1ns) leaves no time";
    refused(rows(&[(20, 30)], None), "off.0.until", what, "at least 31ns (31 cycles of 1ns)");
    let what = "= 100ns (100 cycles of 1ns) fills the period of 100ns (100";
    refused(rows(&[(20, 120)], Some(100)), "off.0.until", what, "less than 120ns (120 cycles");
    let what = "120ns (120 cycles of 1ns) is not within the period of 100ns (100";
    refused(rows(&[(120, 150)], Some(100)), "off.0.from", what, "less than 100ns (100 cycles");
    let row = json!([{"from": "60cycles", "until": "20cycles"}]);
    refused(
        json!({"off": row, "transition": "5ns"}),
        "off.0.until",
        "20 cycles is not later than from, 60 cycles",
        "a time after 60 cycles",
    );
    // overlapping and adjacent rows, within one period and across its end
    for (other, period) in
        [((50, 90), None), ((60, 90), None), ((0, 20), None), ((80, 121), Some(100)), ((80, 120), Some(100))]
    {
        let what = "dim0 is also off in or next to this time, by row 0: 20ns to 60ns";
        let help = "combine the two rows";
        refused(rows(&[(20, 60), other], period), "off.1", what, help);
    }
    let named = |name: &str| table(&[(20, 60)], None, Some(name));
    refused(named("dim9"), "off.0.classes", "no link class `dim9`", "write one of: dim0");
    refused(named("dim1"), "off.0.classes", "does not manage dim1", "add dim1 to power.manages");
    refused(named("terminal"), "off.0.classes", "does not manage terminal", "add terminal to power.manages");
    let none = json!([{"classes": [], "from": "20ns", "until": "60ns"}]);
    refused(json!({"off": none, "transition": "5ns"}), "off.0.classes", "no link class is named", "dim0");
    // the longest times that a scenario may contain cause no panic
    let far = format!("{}cycles", 1_u64 << 48);
    let row = json!([{"from": "1cycle", "until": far}]);
    refused(json!({"off": row, "transition": far}), "off.0.until", "leaves no time", "shorter transition");
}

#[test]
fn a_timetable_settles_in_a_period_or_has_nothing_to_settle() {
    for period in [Some(100), None] {
        let mut spec = network(table(&[(20, 30 + 40), (0, 15)], period, None), 0.0);
        let policy: &PolicyConfig = &spec.policy;
        assert_eq!(policy.settling_period(&spec.graph, &spec.modes, spec.cycle_fs).unwrap(), period);
        assert_eq!(policy.longest_wait(spec.cycle_fs).unwrap(), 50);
        let planned = spec.schedule().unwrap();
        let once: Vec<(u64, u64)> = planned.once.iter().map(|row| (row.from, row.until)).collect();
        assert_eq!((planned.period, once), (period, if period.is_some() { vec![] } else { vec![(20, 70), (0, 15)] }));
        spec.managed.fill(false);
        assert_eq!(spec.schedule().unwrap(), Schedule::default(), "no link is ever off");
    }
}
