//! Refusals of times show the time as the user wrote it, and its number of cycles.

use crate::refusal::GOOD;
use weft_scenario::expand;

/// The error for the scenario `GOOD`, whose cycle is 1.6 ns, after an edit and with additional
/// lines.
fn refused(edit: (&str, &str), more: &str) -> String {
    let text = GOOD.replace(edit.0, edit.1) + more;
    match expand("bad.yaml", &text, &[]) {
        Err(diagnostic) => diagnostic.text,
        Ok(points) => points[0].check_network().expect_err("the scenario is bad").text,
    }
}

fn timetable(row: &str) -> String {
    format!("power: {{policy: {{timetable: {{off: [{row}], period: 160ns, transition: 8ns}}}}}}\n")
}

#[track_caller]
fn check(error: &str, parts: &[&str]) {
    for part in parts {
        assert!(error.contains(part), "{part} is not in:\n{error}");
    }
}

#[test]
fn a_model_shows_times_with_their_cycles() {
    let error = refused(("", ""), &timetable("{from: 96ns, until: 48ns}"));
    let what = "48ns (30 cycles of 1.6ns) is not later than from, 96ns (60 cycles of 1.6ns)";
    check(&error, &["power.policy.timetable.off.0.until", what, "write 208ns (130 cycles of 1.6ns) for the next"]);
    // if the user writes times in cycles, messages contain only cycles
    let error = refused(("", ""), &timetable("{from: 60cycles, until: 30cycles}"));
    check(&error, &["30 cycles is not later than from, 60 cycles", "write 130 cycles for the next period"]);
    let window = refused(("", ""), "measure: {window: 8ns}\n");
    check(&window, &["measure.window", "a window of 8ns (5 cycles of 1.6ns) is too short", "write 16ns or more"]);
}

#[test]
fn what_the_engine_refuses_in_cycles_is_reported_as_it_was_written() {
    let error = refused(("latency: 10cycles", "latency: 2ms"), "");
    check(&error, &["links.", ".latency: 1250000 cycles", "note: 2ms is 1250000 cycles of 1.6ns"]);
    let warmup = "measure: {warmup: auto, warmup_limit: 8us}\n";
    let what = "a warm-up of at most 5000 cycles can't end by itself";
    check(&refused(("", ""), warmup), &[what, "note: 8us is 5000 cycles of 1.6ns"]);
    // if no time was written in seconds, the message contains no conversion
    let error = refused(("latency: 10cycles", "latency: 1250000cycles"), "");
    assert!(error.contains(".latency: 1250000 cycles") && !error.contains("1.6ns is"), "{error}");
    assert!(!error.contains("cycles of"), "{error}");
}

#[test]
fn a_policy_takes_one_link_class_without_a_list() {
    let text = GOOD.to_owned() + &timetable("{classes: dim0, from: 48ns, until: 96ns}");
    let list = GOOD.to_owned() + &timetable("{classes: [dim0], from: 48ns, until: 96ns}");
    let hash = |text: &str| expand("a.yaml", text, &[]).expect("sound")[0].hash.clone();
    assert_eq!(hash(&text), hash(&list));
    let error = refused(("", ""), &timetable("{classes: dim7, from: 48ns, until: 96ns}"));
    check(&error, &["power.policy.timetable.off.0.classes", "no link class `dim7`", "write one of: dim0, dim1"]);
}

#[test]
fn a_limit_or_a_mean_that_is_no_whole_number_of_cycles_is_rounded_up() {
    let point = |more: &str| {
        let text = GOOD.to_owned() + more;
        expand("a.yaml", &text, &[]).unwrap_or_else(|error| panic!("{}", error.text)).remove(0)
    };
    // 20.0001 ms are 12,500,062.5 cycles of 1.6 ns, which a limit rounds up
    let phases = |measure: &str| point(measure).spec().expect("sound").phases;
    assert_eq!(phases("measure: {drain_limit: 20.0001ms}\n").drain_limit, 12_500_063);
    assert_eq!(phases("measure: {stall_limit: 20.0001ms}\n").stall_limit, 12_500_063);
    assert_eq!(phases("measure: {warmup: auto, warmup_limit: 20.0001ms}\n").warmup, 12_500_063);
    let grown = "measure: {stop: {confidence: {half_width: 0.02, max_window: 20.0001ms}}}\n";
    assert_eq!(phases(grown).stop, weft_engine::spec::Stop::Confidence { share: 0.02, window: 12_500_063 });
    point("fault_model: {patience: 1.7ns, random: {of: links, mtbf: 100.0001us, mttr: 1.0001us}}\n");
    // for a window the same time is refused, because the window must be a whole number of cycles
    check(&refused(("", ""), "measure: {window: 20.0001ms}\n"), &["measure.window: 20.0001ms is 12500062.5 cycles"]);
}
