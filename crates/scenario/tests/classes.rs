//! Tests of message classes and of the queues of network interfaces in a scenario. Each mistake causes one error at its place, and the
//! remedy in the error works.

use weft_scenario::{Diagnostic, Point, expand};

const CRITICAL: &str = "\
topology: {mesh: {widths: [3, 3], terminals_per_router: 1}}
links: {default: {vcs: 4, buffer: 16flits}}
router: {speedup: 1}
routing: dimension_order
classes:
  control: {priority: 1}
  bulk: {}
interface: {queues: per_class, rule: priority}
traffic:
  pattern: uniform
  jobs:
    - {name: control, class: control, terminals: rest, load: 0.02}
    - {name: bulk, class: bulk, terminals: rest, load: 0.3, packet: 4flits}
measure: {warmup: 200cycles, window: 1000cycles}
";

const ANSWERED: &str = "\
topology: {mesh: {widths: [3, 3], terminals_per_router: 1}}
links: {default: {vcs: 4, buffer: 16flits}}
routing: dimension_order
classes: {requests: {}, replies: {}}
interface: {queues: per_class}
traffic:
  pattern: uniform
  class: requests
  load: 0.1
  reply: {packet: 4flits, reply_class: replies, finite_buffers: true}
measure: {warmup: 200cycles, window: 1000cycles}
";

fn checked(text: &str, sets: &[(&str, &str)]) -> Result<Point, Box<Diagnostic>> {
    let sets: Vec<_> = sets.iter().map(|(path, value)| (path.to_string(), value.to_string())).collect();
    let point = expand("classes.yaml", text, &sets)?.remove(0);
    point.check_network()?;
    Ok(point)
}

/// A test case: settings that are refused, the key and the words of the refusal, and settings that follow the remedy.
type Refused<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a str, &'a str, &'a [(&'a str, &'a str)]);

const REFUSED: &[Refused<'_>] = &[
    (
        CRITICAL,
        &[("classes.bulk.vcs", "0")],
        "classes.bulk.vcs",
        "a message class with 0 VCs can't send packets",
        &[("classes.bulk.vcs", "1")],
    ),
    (
        CRITICAL,
        &[("classes.control.vcs", "4")],
        "classes.bulk.vcs",
        "class `bulk` has 0 of the 4 VCs of terminal links, but dimension_order needs 1",
        &[("links.default.vcs", "5")],
    ),
    (
        CRITICAL,
        &[("classes.control.vcs", "1"), ("classes.bulk.vcs", "1")],
        "classes",
        "2 of the 4 VCs of terminal links belong to no class",
        &[("links.default.vcs", "2")],
    ),
    (
        CRITICAL,
        &[("classes.idle", "{}")],
        "classes.idle",
        "no job sends packets of class `idle`",
        &[("traffic.jobs.0.class", "idle"), ("traffic.jobs.1.class", "control"), ("classes.bulk", "null")],
    ),
    (
        CRITICAL,
        &[("traffic.jobs.0.class", "controls")],
        "traffic.jobs.0.class",
        "there is no class `controls`",
        &[("traffic.jobs.0.class", "control")],
    ),
    (
        CRITICAL,
        &[("traffic.jobs.0.class", "null")],
        "traffic.jobs.0.class",
        "no message class is named, although there are 2",
        &[("traffic.jobs.0.class", "control")],
    ),
    (
        CRITICAL,
        &[("classes.control.priority", "0")],
        "interface.rule",
        "no class has a higher priority than another",
        &[("interface.rule", "round_robin")],
    ),
    (
        CRITICAL,
        &[("interface.queues", "one"), ("classes.bulk.rate", "0.25flits/cycle")],
        "classes.bulk.rate",
        "this class does not have its own queue",
        &[("interface.queues", "per_class")],
    ),
    (
        CRITICAL,
        &[("interface.depth", "8")],
        "interface.depth",
        "this key applies only to queues per destination",
        &[("interface.queues", "per_destination")],
    ),
    (
        ANSWERED,
        &[("classes.requests.vcs", "shared"), ("classes.replies.vcs", "shared")],
        "traffic.reply.finite_buffers",
        "classes `requests` and `replies` share VCs",
        &[("classes.requests.vcs", "null")],
    ),
    (
        ANSWERED,
        &[("interface.queues", "one")],
        "traffic.reply.finite_buffers",
        "the replies may then never leave",
        &[("interface.queues", "per_class")],
    ),
    (
        ANSWERED,
        &[("traffic.reply.reply_class", "answers")],
        "traffic.reply.reply_class",
        "there is no class `answers`",
        &[("traffic.reply.reply_class", "replies")],
    ),
];

#[test]
fn each_mistake_is_refused_at_its_place_and_its_remedy_works() {
    for (text, wrong, path, words, remedy) in REFUSED {
        let refusal = checked(text, wrong).expect_err(words).text;
        assert!(refusal.contains(&format!("error: {path}: ")) && refusal.contains(words), "{wrong:?}: {refusal}");
        let mended: Vec<_> = wrong.iter().chain(*remedy).copied().collect();
        if let Err(still) = checked(text, &mended) {
            panic!("{words}: with {remedy:?}: {}", still.text);
        }
    }
}

#[test]
fn what_check_implies_names_the_vcs_of_classes_and_whether_replies_can_be_waited_for() {
    let implied = checked(ANSWERED, &[("classes.replies.vcs", "1")]).unwrap().imply().unwrap();
    let classes = &implied["message_classes"];
    assert_eq!((&classes[0]["class"], &classes[0]["vcs"]["dim0"]), (&"replies".into(), &1.into()));
    assert_eq!((&classes[1]["class"], &classes[1]["vcs"]["dim0"]), (&"requests".into(), &3.into()));
    assert_eq!(implied["protocols"][0]["deadlock_free"], true);
    assert!(implied["hints"].as_array().unwrap().iter().all(|hint| hint["code"] != "requests_share_vcs"));
    let shared =
        [("classes.replies.vcs", "shared"), ("classes.requests.vcs", "shared"), ("allow_dependency_cycle", "true")];
    let implied = checked(ANSWERED, &shared).unwrap().imply().unwrap();
    assert_eq!(implied["protocols"][0]["deadlock_free"], false);
}

#[test]
fn a_priority_that_ends_at_the_switch_is_warned_of() {
    let codes = |sets: &[(&str, &str)]| {
        let point = checked(CRITICAL, sets).unwrap();
        point.warnings.iter().map(|warning| warning.code.name).collect::<Vec<_>>()
    };
    assert!(codes(&[("router.speedup", "2")]).contains(&"priority_behind_switch"));
    assert!(codes(&[("router.vc_realloc", "1")]).contains(&"priority_at_terminals_only"));
    assert!(!codes(&[("router.vc_realloc", "0")]).contains(&"priority_at_terminals_only"));
    for remedy in [("router.speedup", "1"), ("router.output_buffer", "2flits")] {
        assert!(!codes(&[("router.speedup", "2"), remedy]).contains(&"priority_behind_switch"));
    }
}

#[test]
fn results_have_a_row_for_each_class() {
    let point = checked(CRITICAL, &[]).unwrap();
    let how = weft_engine::spec::Execution::new(1, 1);
    let summary = point.run(how, &()).unwrap().summary;
    let classes = summary["message_classes"].as_array().unwrap();
    // results list classes sorted by name, independent of the order of the jobs
    assert_eq!((&classes[0]["message_class"], &classes[1]["message_class"]), (&"bulk".into(), &"control".into()));
    for (class, job) in [(0, 1), (1, 0)] {
        let job = &summary["jobs"][job];
        for key in ["packets", "packet_latency_mean_cycles", "packet_latency_p99_cycles", "accepted_load"] {
            assert_eq!(classes[class][key], job[key], "{key}: each class has one job on all terminals");
        }
    }
    // both jobs run on all 9 terminals, so the loads of the classes add up to the load of the run
    let sum = classes.iter().map(|class| class["accepted_load"].as_f64().unwrap()).sum::<f64>();
    assert!((sum - summary["accepted_load"].as_f64().unwrap()).abs() < 4.0 * 9.0 / 9000.0);
}
