//! Tests of links and routers that fail: the keys of a scenario, and the refusals.

use weft_engine::spec::{Fault, Part};
use weft_scenario::expand;

const GOOD: &str = "\
cycle: 2ns
topology:
  hyperx: {widths: [3, 4], terminals_per_router: 1}
routing: pal
power: {policy: tcep}
traffic: {pattern: uniform, load: 0.1}
faults:
  - {link: [1, 4], at: 10us, until: 30us}
  - {link: [0, 2], at: 500cycles}
  - {router: 5, at: 1us, until: 2us}
";

fn refused(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "{from} is not in the scenario");
    expand("faults.yaml", &GOOD.replacen(from, to, 1), &[]).expect_err("the scenario is bad").text
}

#[test]
fn times_become_cycles() {
    let points = expand("faults.yaml", GOOD, &[]).expect("good");
    let spec = points[0].scenario.spec().expect("good");
    let fault = |what, at, until| Fault { what, at, until };
    let faults = [
        fault(Part::Link([1, 4]), 5000, Some(15_000)),
        fault(Part::Link([0, 2]), 500, None),
        fault(Part::Router(5), 500, Some(1000)),
    ];
    assert_eq!(spec.faults, faults);
}

#[test]
fn default_times_that_are_no_whole_cycles_are_refused_only_where_something_fails() {
    // flits of 32 bytes at 100 Gb/s take 2.56 ns, so 10 us are 3906.25 cycles
    let fails = GOOD.replacen("cycle: 2ns", "cycle: 2.56ns", 1);
    let sound = &fails[..fails.find("faults:").expect("faults")];
    assert!(expand("faults.yaml", sound, &[]).is_ok());
    let faults = format!("{sound}faults: [{{router: 5, at: 500cycles}}]\n");
    let refused = expand("faults.yaml", &faults, &[]).expect_err("10 us are no whole number of cycles").text;
    assert!(refused.contains("fault_model.rebuild_delay: 10us is 3906.25 cycles of 2.56ns"), "{refused}");
}

#[test]
fn a_link_may_be_named_by_its_class_too() {
    let of = |faults: &str| {
        let wired =
            "dragonfly: {routers_per_group: 4, terminals_per_router: 2, global_links_per_router: 2, escape_rings: 1}";
        let text = GOOD[..GOOD.find("faults:").expect("faults")]
            .replace("hyperx: {widths: [3, 4], terminals_per_router: 1}", wired)
            .replace("pal", "dragonfly_ofar")
            .replace("tcep", "always_on");
        let text = format!("{text}measure: {{warmup: 1us, window: 99us}}\n{faults}\n");
        let points = expand("faults.yaml", &text, &[]).unwrap_or_else(|error| panic!("{}", error.text));
        points[0].scenario.spec().expect("good").faults
    };
    let wire = |class| Part::LinkOfClass([0, 1], class);
    let both = of("faults: [{link: [0, 1], class: ring_local, at: 10us}, {link: [0, 1], class: local, at: 10us}]");
    assert_eq!(both.iter().map(|fault| fault.what).collect::<Vec<_>>(), [wire(3), wire(1)], "at one time");
    // a part in `faults` does not also fail at random, and neither does a part next to it
    let more = of(
        "faults: [{link: [1, 0], class: ring_local, at: 10us}]\nfault_model: {random: {of: links, mtbf: 50us, mttr: 5us}}",
    );
    assert!(more.len() > 20 && more.iter().filter(|fault| fault.what.overlaps(wire(1))).count() == 0, "{more:?}");
}

#[test]
fn a_routing_that_looks_at_links_needs_a_policy_that_replaces_those_that_fail() {
    let text = refused("{policy: tcep}", "{policy: {static: {on: root}}}");
    let what = "faults: pal needs to know the links that are on in its subnetworks, but static does not replace \
                links that fail";
    assert!(text.contains(what) && text.contains("set power.policy: always_on or tcep"), "{text}");
    // both remedies work. Under `always_on` and `tcep` the routing `pal` works with faults
    for policy in ["always_on", "tcep"] {
        let good = GOOD.replace("{policy: tcep}", &format!("{{policy: {policy}}}"));
        assert!(expand("faults.yaml", &good, &[]).is_ok(), "{policy}");
    }
    let text = refused("{policy: tcep}", "{policy: {tcep: {rotate_hub: 2}}}");
    assert!(text.contains("rotate_hub: 2, but with faults the policy moves hubs by itself"), "{text}");
    // the remedy to use another routing also works, under every policy
    for (routing, policy) in [
        ("dimension_order", "always_on"),
        ("minimal_adaptive", "{idle_timeout: {idle: 1us, transition: 100ns}}"),
        ("ecmp", "always_on"),
    ] {
        let text = GOOD
            .replace("routing: pal", &format!("routing: {routing}"))
            .replace("policy: tcep", &format!("policy: {policy}"));
        let points = expand("faults.yaml", &text, &[]).unwrap_or_else(|refusal| panic!("{}", refusal.text));
        assert_eq!(points[0].scenario.spec().expect("good").faults.len(), 3);
    }
}

/// The scenario with a routing that uses tables, and with random faults instead of listed faults.
fn random(keys: &str) -> String {
    let begin = GOOD.find("faults:").expect("faults");
    let text = GOOD[..begin].replace("routing: pal", "routing: shortest_path").replace("tcep", "always_on");
    format!("{text}measure: {{warmup: 1us, window: 99us}}\nfault_model: {{{keys}}}\n")
}

#[test]
fn random_faults_follow_from_the_seed() {
    let faults = |keys: &str| {
        let points = expand("faults.yaml", &random(keys), &[]).unwrap_or_else(|refusal| panic!("{}", refusal.text));
        points[0].scenario.spec().expect("good").faults
    };
    let some = faults("random: {of: links, mtbf: 500us, mttr: 20us}");
    assert_eq!(some, faults("random: {of: links, mtbf: 500us, mttr: 20us, seed: 1}"));
    assert_ne!(some, faults("random: {of: links, mtbf: 500us, mttr: 20us, seed: 2}"));
    // 3 x 4 routers have 4 * 3 + 3 * 6 = 30 links. Each link fails about once in 520 us, in a run of 100 us
    assert!((1..16).contains(&some.len()), "{some:?}");
    for fault in &some {
        assert!(fault.at >= 1 && fault.at < 50_000 && fault.until.is_some_and(|until| until > fault.at), "{fault:?}");
    }
    let late = faults("random: {of: links, from: 50us, mtbf: 50us, mttr: 5us}");
    assert!(late.iter().all(|fault| fault.at > 25_000) && late.len() > 5, "{late:?}");
    assert!(faults("random: {of: links, mtbf: 50us, mttr: 5us}").iter().any(|fault| fault.at < 12_500));
    let routers = faults("random: {of: routers, mtbf: 50us, mttr: 5us}");
    assert!(routers.iter().all(|fault| matches!(fault.what, Part::Router(0..12))) && routers.len() > 5);
}

#[test]
fn random_faults_that_make_no_sense_are_refused_with_their_arithmetic() {
    for (keys, what, help) in [
        (
            "random: {of: links, mtbf: 10us, mttr: 30us}",
            "fault_model.random.mtbf: mtbf is 5000 cycles, not more than mttr of 15000 cycles: each part would be broken \
             for 15000 / (5000 + 15000) = 75 % of the time",
            "write more than 15000cycles",
        ),
        ("random: {of: links, mtbf: 1ms, mttr: 0ns}", "fault_model.random.mttr: 0 cycles", "write 1cycle or more"),
        (
            "random: {of: links, from: 200us, mtbf: 500us, mttr: 20us}",
            "fault_model.random.from: random faults begin at 100000 cycles (200us), but the window ends at 50000 cycles",
            "write less than 50000cycles",
        ),
        (
            "random: {of: links, mtbf: 4ns, mttr: 2ns}",
            "about 500000 faults are expected: 30 parts",
            "write 300cycles or more",
        ),
    ] {
        let text = expand("faults.yaml", &random(keys), &[]).expect_err("bad").text;
        assert!(text.contains(what) && text.contains(help), "{text}");
    }
    // here a batch ends the window, which has a maximum length of 99 us
    let late = random("random: {of: links, from: 200us, mtbf: 500us, mttr: 20us}");
    let batch = late
        .replace("measure: {warmup: 1us, window: 99us}", "measure: {stop: {complete: {max_window: 99us}}}")
        .replace("load: 0.1", "batch: {per_terminal: 5}");
    let text = expand("faults.yaml", &batch, &[]).expect_err("bad").text;
    assert!(text.contains("write less than 49500cycles, or a longer measure.stop.complete.max_window"), "{text}");
    // the remedy works
    assert!(expand("faults.yaml", &random("random: {of: links, mtbf: 300cycles, mttr: 2ns}"), &[]).is_ok());
}

#[test]
fn random_faults_of_which_none_falls_into_the_run_name_a_time_with_which_one_does() {
    let warned = |mtbf: &str, mttr: &str| {
        let keys = format!("random: {{of: links, mtbf: {mtbf}, mttr: {mttr}}}");
        let warnings = expand("faults.yaml", &random(&keys), &[]).expect("good").remove(0).warnings;
        warnings.into_iter().find(|warning| warning.path == "fault_model.random.mtbf")
    };
    let named = |help: &str, key: &str| {
        let (_, rest) = help.split_once(&format!("`{key}: "))?;
        rest.split_once('`').map(|(time, _)| time.to_owned())
    };
    // the mean number of faults is 30 links * 100 us / 1 h. If a repair takes minutes, the remedy also shortens the repair time
    for (mttr, own) in [("2us", true), ("4min", false)] {
        let warning = warned("1h", mttr).expect("nothing fails");
        assert!(warning.what.contains("30 links with a mean time to a fault of 3600s have "), "{}", warning.what);
        assert!(warning.what.contains("e-7 faults on average") && !warning.help.contains("seed"), "{warning:?}");
        let mtbf = named(&warning.help, "mtbf").expect("a time");
        let repair = named(&warning.help, "mttr");
        assert_eq!(repair.is_none(), own, "{}", warning.help);
        assert!(warned(&mtbf, repair.as_deref().unwrap_or(mttr)).is_none(), "{}", warning.help);
    }
    // if a time is longer than any run, the message names the longest possible time
    let text = expand("faults.yaml", &random("random: {of: links, mtbf: 365d, mttr: 4h}"), &[]).expect_err("long").text;
    assert!(text.contains("fault_model.random.mtbf: 31536000s is 15768000000000000 cycles, more than 2^48"), "{text}");
    let longest = "281474976710656cycles";
    assert!(text.contains(&format!("write at most {longest}, which are 562949.953421312s")), "{text}");
    assert!(warned(longest, "4h").is_some());
}

#[test]
fn a_fault_at_time_0_is_there_from_the_start() {
    let at = |time: &str| {
        let text = random("random: {of: links, mtbf: 1h, mttr: 2us}")
            .replace("fault_model:", &format!("faults: [{{link: [0, 1], at: {time}}}]\nfault_model:"));
        expand("faults.yaml", &text, &[]).expect("good").remove(0).scenario.spec().expect("a network").faults
    };
    assert_eq!(at("0us"), at("1cycle"));
    assert_eq!(at("0us")[0].at, 1);
}

#[test]
fn what_is_off_while_it_is_broken_has_a_price() {
    let text = GOOD.replace("routing: pal", "routing: dimension_order");
    let prices = "{policy: always_on, prices: {on: {static: 1pJ/bit, per_bit: 1pJ/bit}}}";
    let refusal =
        expand("faults.yaml", &text.replace("{policy: tcep}", prices), &[]).expect_err("off has no price").text;
    assert!(refusal.contains("power.prices: a `dim0` link that has failed is in the state `off`"), "{refusal}");
    let off = "{policy: always_on, prices: {on: {static: 1pJ/bit, per_bit: 1pJ/bit}, off: {static: 0pJ/bit, per_bit: 0pJ/bit}}}";
    assert!(expand("faults.yaml", &text.replace("{policy: tcep}", off), &[]).is_ok());
}

#[test]
fn what_fails_is_a_managed_link() {
    for (link, what) in [
        ("[1, 5]", "faults.0.link: the policy manages no link between routers 1 and 5"),
        ("[1, 1]", "faults.0.link: the policy manages no link between routers 1 and 1"),
        ("[1, 12]", "faults.0.link: there is no router 12; the network has 12 routers"),
    ] {
        let text = refused("[1, 4]", link);
        assert!(text.contains(what) && text.contains("faults.yaml:8:"), "{text}");
    }
    let text = refused("link: [1, 4]", "switch: 1");
    assert!(text.contains("faults.0.switch: unknown key `switch`"), "{text}");
    let text = refused("link: [1, 4], ", "");
    assert!(text.contains("faults.0: the fault names neither a link nor a router"), "{text}");
    let text = refused("link: [1, 4], ", "link: [1, 4], router: 1, ");
    assert!(text.contains("faults.0: the fault names both a link and a router"), "{text}");
    let text = refused("power: {policy: tcep}", "power: {policy: tcep, manages: dim0}");
    assert!(text.contains("the policy manages no link between routers 1 and 4"), "{text}");
}

#[test]
fn times_of_a_link_follow_each_other() {
    let text = refused("router: 5, at: 1us", "router: 5, at: 3us");
    assert!(text.contains("faults.2.until: cycle 1000, but router 5 fails in cycle 1500"), "{text}");
    let text = refused("until: 2us}", "until: 2us}\n  - {router: 5, at: 2us}");
    assert!(text.contains("faults.3: faults.2 has already broken router 5 at that time"), "{text}");
    let text = refused("until: 30us", "until: 10us");
    assert!(
        text.contains("faults.0.until: cycle 5000, but the link between routers 1 and 4 fails in cycle 5000"),
        "{text}"
    );
    let text = refused("[0, 2], at: 500cycles", "[4, 1], at: 29us");
    let what = "faults.1: faults.0 has already broken the link between routers 4 and 1 at that time";
    assert!(text.contains(what), "{text}");
}

#[test]
fn a_router_fails_where_its_neighbours_see_it_and_nobody_waits_for_what_is_lost() {
    let text = refused("router: 5", "router: 12");
    assert!(text.contains("faults.2.router: there is no router 12; the network has 12 routers"), "{text}");
    // if the policy manages only links in dimension 1, faults of links in dimension 0 are refused
    let only = GOOD.replace("  - {link: [0, 2], at: 500cycles}\n", "");
    let text = expand("faults.yaml", &only.replace("{policy: tcep}", "{policy: tcep, manages: dim1}"), &[]);
    let text = text.expect_err("dim0 fails, too").text;
    let what = "the dim0 links of this router fail with the router, but the policy does not manage these links";
    assert!(text.contains(what), "{text}");
    let text = refused(
        "traffic: {pattern: uniform, load: 0.1}",
        "traffic: {jobs: [{name: a, terminals: {range: [0, 11]}, pattern: uniform, load: 0.1, reply: {packet: 1flit, \
         outstanding: 4}}]}",
    );
    assert!(text.contains("this fault loses packets, and job a would wait for their replies"), "{text}");
    assert!(text.contains("leave `outstanding` out, or let links fail instead of routers"), "{text}");
    // each remedy works, and a batch is complete even if packets are lost
    let job = |keys: &str| {
        format!("traffic: {{jobs: [{{name: a, terminals: {{range: [0, 11]}}, pattern: uniform, {keys}}}]}}")
    };
    let with = |keys: &str| GOOD.replace("traffic: {pattern: uniform, load: 0.1}", &job(keys));
    let waits = with("load: 0.1, reply: {packet: 1flit, outstanding: 4}");
    for good in [
        with("load: 0.1, reply: {packet: 1flit}"),
        waits.replace("  - {router: 5, at: 1us, until: 2us}\n", ""),
        with("batch: {per_terminal: 2000}"),
    ] {
        assert!(expand("faults.yaml", &good, &[]).is_ok(), "{good}");
    }
}

#[test]
fn a_link_does_not_fail_with_a_router_that_is_dead() {
    for (at, refused_too) in [("999ns", false), ("1us", true), ("2us", true), ("2002ns", false)] {
        let from = "until: 2us}\n";
        let text = GOOD.replacen(from, &format!("until: 2us}}\n  - {{link: [5, 4], at: {at}, until: 5us}}\n"), 1);
        let result = expand("faults.yaml", &text.replace("cycle: 2ns", "cycle: 1ns"), &[]);
        assert_eq!(result.is_err(), refused_too, "{at}");
        if let Err(refusal) = result {
            let what =
                "faults.3: faults.2 has already broken the link between routers 5 and 4 at that time, because router 5";
            assert!(refusal.text.contains(what), "{}", refusal.text);
        }
    }
}

#[test]
fn some_router_stays() {
    let all: String = (0..12).map(|router| format!("  - {{router: {router}, at: 1us}}\n")).collect();
    let begin = GOOD.find("  - {link").expect("faults");
    let text = expand("faults.yaml", &format!("{}{all}", &GOOD[..begin]), &[]).expect_err("nobody is left").text;
    assert!(text.contains("every router fails forever"), "{text}");
}

#[test]
fn every_pair_keeps_a_way_for_ever() {
    // the routers 0, 1 and 2 are in a row. Only router 0 could replace the link from 1 to 2, but its link to 2 also fails
    let text = refused("{link: [1, 4], at: 10us, until: 30us}", "{link: [1, 2], at: 10us}");
    assert!(text.contains("no other router permanently keeps links to both routers 1 and 2"), "{text}");
}

/// Draws the failing shares of links and routers in a tree of 4 pods. Each link class has 16 links. Routers 0 to 7 are on the lowest level,
/// 8 to 15 on the middle level, and 16 to 19 on the highest.
fn shares(faults: &str) -> Result<(Vec<Fault>, serde_json::Value), String> {
    let text = format!(
        "topology: {{fat_tree: {{k: 4}}}}\nrouting: {{up_down: {{ascent: adaptive}}}}\n\
         traffic: {{pattern: uniform, load: 0.1}}\n{faults}\n"
    );
    let points = expand("faults.yaml", &text, &[]).map_err(|error| error.text)?;
    let listed = points[0].imply().map_err(|error| error.text)?["fault_shares"].clone();
    Ok((points[0].scenario.spec().expect("good").faults, listed))
}

#[test]
fn a_share_of_the_links_fails_the_same_for_one_seed() {
    let of = |share: &str, seed: u64| {
        let (faults, listed) =
            shares(&format!("fault_model: {{links: {{share: {share}, class: level2, seed: {seed}}}}}")).expect("good");
        let ends: Vec<Vec<u32>> = faults.iter().map(|fault| fault.what.routers()).collect();
        assert!(faults.iter().all(|fault| matches!(fault.what, Part::LinkOfClass(_, 2)) && fault.at == 1));
        // `weft check` lists the links that fail
        let names: Vec<String> = ends.iter().map(|ends| format!("{}-{}", ends[0], ends[1])).collect();
        assert_eq!((&listed[0]["failing"], &listed[0]["candidates"]), (&names.into(), &16.into()));
        ends
    };
    // 25 % of 16 links are 4 links, and 19 % are 3.04 links, rounded to 3
    let four = of("25%", 7);
    assert_eq!((four.len(), of("19%", 7).len()), (4, 3));
    assert_eq!(four, of("25%", 7));
    assert_ne!(four, of("25%", 8));
    assert!(of("19%", 7).iter().all(|link| four.contains(link)), "a larger share fails what a smaller one does");
    assert!(four.iter().all(|ends| (8..16).contains(&ends[0]) && (16..20).contains(&ends[1])), "{four:?}");
    // a share without its own seed uses the seed of the scenario
    let (own, _) = shares("seed: 7\nfault_model: {links: {share: 25%, class: level2}}").expect("good");
    assert_eq!(own.iter().map(|fault| fault.what.routers()).collect::<Vec<_>>(), four);
}

/// Two parallel links join a leaf and each router above it. Parallel links of this tree fail together.
#[test]
fn a_listed_share_counts_the_links_beside_the_pairs_of_routers() {
    let links = |key: &str| {
        let text = format!(
            "topology: {{fat_tree: {{radix: 16, levels: 2, oversubscription: [3], terminals: 90}}}}\n\
             routing: {{up_down: {{ascent: adaptive}}}}\ntraffic: {{pattern: uniform, load: 0.1}}\n\
             fault_model: {key}\n"
        );
        let points = expand("faults.yaml", &text, &[]).expect("good");
        let listed = points[0].imply().expect("good")["fault_shares"][0].clone();
        (listed["failing"].as_array().expect("a list").len(), listed["candidates"].clone(), listed["links"].clone())
    };
    // 5 % and 13 % of 16 pairs of routers are 0.8 and 2.08 pairs, rounded to 1 and 2
    for class in ["", ", class: level1"] {
        assert_eq!(links(&format!("{{links: {{share: 5%{class}}}}}")), (1, 16.into(), [2, 32].as_slice().into()));
        assert_eq!(links(&format!("{{links: {{share: 13%{class}}}}}")), (2, 16.into(), [4, 32].as_slice().into()));
    }
    // 10 % of 10 routers is one router
    assert_eq!(links("{routers: {share: 10%}}"), (1, 10.into(), [0, 0].as_slice().into()));
}

#[test]
fn named_faults_and_failed_routers_are_not_drawn_again() {
    let (faults, listed) = shares(
        "fault_model: {routers: {share: 10%}, links: {share: 100%, class: level1}}\n\
         faults: [{link: [0, 8], at: 0cycles}]",
    )
    .expect("good");
    // the link named in `faults` touches 2 routers; 10 % of the other 18 routers are 1.8 routers
    assert_eq!((&listed[0]["of"], &listed[0]["candidates"]), (&"routers".into(), &18.into()));
    let failed: Vec<u32> = listed[0]["failing"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|name| name.as_str().unwrap().parse().unwrap())
        .collect();
    assert_eq!(failed.len(), 2);
    let links: Vec<&Fault> = faults.iter().filter(|fault| matches!(fault.what, Part::LinkOfClass(..))).collect();
    assert!(links.iter().all(|link| !link.what.routers().iter().any(|router| failed.contains(router))));
    assert!(links.iter().all(|link| link.what.routers() != [0, 8]));
}

#[test]
fn shares_that_can_not_be_drawn_are_refused_with_a_remedy_that_works() {
    let refused = |faults: &str| shares(&format!("fault_model: {{links: {{{faults}}}}}")).expect_err("bad");
    let none = refused("share: 1%, class: level2");
    assert!(
        none.contains("1% of 16 is 0.16, which rounds to 0: no part fails") && none.contains("write 3.13% or more"),
        "{none}"
    );
    assert_eq!(shares("fault_model: {links: {share: 3.13%, class: level2}}").expect("the remedy").0.len(), 1);
    assert!(refused("share: 0%").contains("write more than 0% and at most 100%"));
    assert!(refused("share: 0.01").contains("is a bare number, but a share needs a unit"));
    assert!(refused("share: 50%, class: level3").contains("level1, level2"));
    for (until, remedy) in [("until: 0cycles", ""), ("at: 9us, until: 9us", "at: 9us, until: 10us")] {
        let late = refused(&format!("share: 50%, {until}"));
        assert!(late.starts_with("error: fault_model.links.until: the faults end in cycle"), "{late}");
        assert!(late.contains("write a later time, or leave `until` out"), "{late}");
        shares(&format!("fault_model: {{links: {{share: 50%, {remedy}}}}}")).expect("the remedy");
    }
    let routers = shares("fault_model: {routers: {share: 50%, class: level1}}").expect_err("bad");
    assert!(routers.contains("a router fails together with all its links"), "{routers}");
}

/// A ring of 4 routers whose link from 0 to 1 is broken from the start is the line 1, 2, 3, 0. The distances of its 6 pairs are 1, 1, 1, 2,
/// 2 and 3 hops, 10 / 6 on average. Packets of 2 terminals to 2 of 3 other terminals cross the middle link of the line: 4/3 flits per cycle
/// at a load of 1. In the whole ring 4 pairs are 1 hop apart and 2 pairs are 2 hops apart: the mean is 8 / 6 hops.
#[test]
fn bounds_are_those_of_the_network_that_is_left_or_say_that_they_are_not() {
    let implied = |routing: &str, faults: &str| {
        let text = format!(
            "topology: {{torus: {{widths: [4], terminals_per_router: 1}}}}\nrouting: {routing}\n\
             traffic: {{pattern: uniform, load: 0.1}}\nfaults: [{faults}]\n"
        );
        let point = expand("ring.yaml", &text, &[]).unwrap_or_else(|error| panic!("{error}")).remove(0);
        point.imply().unwrap_or_else(|error| panic!("{error}"))
    };
    let number = |value: &serde_json::Value, key: &str| value[key].as_f64().expect("a number");
    let reason_of = |value: &serde_json::Value| {
        let hints = value["hints"].as_array().expect("hints").iter();
        let hint = hints.clone().find(|hint| hint["code"] == "bounds_with_broken_links")?;
        let reason = hint["what"].as_str().expect("a sentence").rsplit("because ").next().expect("a reason").to_owned();
        Some((hint["numbers"].clone(), reason))
    };
    let broken = "{link: [0, 1], at: 0cycles}";
    let line = implied("shortest_path", broken);
    assert!((number(&line, "mean_hops") - 10.0 / 6.0).abs() < 1e-9, "{line}");
    assert!((number(&line, "channel_load_bound") - 3.0 / 4.0).abs() < 1e-9, "{line}");
    assert_eq!(reason_of(&line), None);
    // a fault later in the run does not change the bounds at the start
    let ring = implied("shortest_path", "{link: [0, 1], at: 15us}");
    assert!((number(&ring, "mean_hops") - 8.0 / 6.0).abs() < 1e-9, "{ring}");
    assert_eq!(reason_of(&ring), None);
    let counts = |broken: u32, reason: &str| {
        Some((serde_json::json!({ "broken_links": f64::from(broken), "links": 4.0 }), reason.to_owned()))
    };
    let whole = implied("dimension_order", broken);
    assert!((number(&whole, "mean_hops") - 8.0 / 6.0).abs() < 1e-9, "{whole}");
    assert_eq!(reason_of(&whole), counts(1, "dimension_order has no tables without the broken links"));
    let apart = implied("shortest_path", &format!("{broken}, {{link: [0, 3], at: 0cycles}}"));
    assert!((number(&apart, "mean_hops") - 8.0 / 6.0).abs() < 1e-9, "{apart}");
    assert_eq!(reason_of(&apart), counts(2, "some terminals are cut off"));
}
