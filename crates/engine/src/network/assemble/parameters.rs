//! Computes parameters of routers and links for the cycle loop, and refuses values that are incompatible.

use crate::network::bubbles;
use crate::network::classes::{VcSets, are_vcs};
use crate::network::spec::{FlowControl, InputSpeedup, LinkClass, Spec};
use weft_api::age::Priority;
use weft_api::routing::Needs;
use weft_api::state::link_class::Link;
use weft_api::state::rate::Rate;
use weft_api::walk::Proof;
use weft_kernel::parts::pace::Rates;
use weft_units::{Cycles, Refusal};

/// Number of flits that may wait after the switch for a slow link, which carries less than one flit per cycle. While one flit waits, the
/// next can cross the switch. Therefore the link is never idle because of a missing grant.
const STAGED: u32 = 2;

/// Maximum delay of a link or a router [cycles], because the calendar wheels of events have a slot for each cycle of the longest delay.
const MAX_DELAY: Cycles = 1 << 20;

/// Refuses wormhole flow control with a routing that needs escape paths. An escape path helps only packets at the front of a queue. Under
/// virtual cut-through, every blocked packet is at the front of a queue, or waits behind the packet at the front. Under wormhole flow
/// control, a packet may be blocked behind the tail of another packet whose head is blocked elsewhere.
pub(super) fn refuse_worms(spec: &Spec, proof: &Proof) -> Result<(), Refusal> {
    let worms = spec.router.flow_control == FlowControl::Wormhole && spec.traffic.longest() > 1;
    if worms && matches!(proof, Proof::Escapes | Proof::EscapeRings(_)) && !spec.allow_dependency_cycle {
        let what = format!(
            "wormhole, but {} avoids deadlock only if a buffer holds whole packets: with wormhole, packets of {} flits can occupy several \
             routers and block each other forever",
            spec.routing.name(),
            spec.traffic.longest()
        );
        let help = "write router.flow_control: virtual_cut_through, write packets of 1flit, or choose another routing";
        return Err(Refusal::new("router.flow_control", what, help));
    }
    Ok(())
}

pub(super) fn by_age(spec: &Spec) -> Result<bool, Refusal> {
    let by_age = spec.router.priority != Priority::RoundRobin;
    if by_age && spec.router.vc_realloc > 0 {
        return Err(Refusal::new(
            "router.priority",
            "not round robin, but with vc_realloc 1 a separate stage allocates VCs, always in round robin",
            "set router.vc_realloc to 0, or priority to round_robin",
        ));
    }
    // a separate stage of VC allocation always works in round-robin order; priorities of classes then affect only network interfaces
    Ok(by_age || spec.has_priorities() && spec.router.vc_realloc == 0)
}

/// Returns the limit on the flits that leave an input, and refuses a limit that does not work for some packets of the
/// run.
pub(super) fn input_speedup(spec: &Spec) -> Result<InputSpeedup, Refusal> {
    let (speedup, longest) = (spec.router.input_speedup, spec.traffic.longest());
    if speedup == InputSpeedup::One && longest > 1 {
        return Err(Refusal::new(
            "router.input_speedup",
            format!(
                "one, but packets have up to {longest} flits: the other VCs of an input would wait for single flits, not for the whole \
                 packet"
            ),
            "write packets of 1flits and a lower bandwidth of the links (8 flits at 1flits/cycle need the same time as one flit at \
             0.125flits/cycle), or write router.input_speedup: vcs",
        ));
    }
    Ok(speedup)
}

pub(super) fn hold_switch(spec: &Spec) -> Result<bool, Refusal> {
    if spec.router.hold_switch && spec.router.vc_realloc > 0 {
        return Err(Refusal::new(
            "router.hold_switch",
            "true, but with vc_realloc 1 several packets hold VCs of an output before they cross the switch",
            "set router.vc_realloc to 0, or hold_switch to false",
        ));
    }
    let worms = spec.router.flow_control == FlowControl::Wormhole && spec.traffic.longest() > 1;
    if spec.router.hold_switch && worms && !spec.allow_dependency_cycle {
        return Err(Refusal::new(
            "router.hold_switch",
            "true, but with wormhole a packet that waits for credits would block its output for all VC classes: the classes would no \
             longer prevent deadlock",
            "set router.flow_control to virtual_cut_through, or hold_switch to false",
        ));
    }
    Ok(spec.router.hold_switch)
}

/// Number of cycles from a grant until the flit is on the link. With this number, a head without contention spends `delay` cycles in a
/// router.
pub(super) fn after_grant(spec: &Spec) -> Result<u64, Refusal> {
    let router = &spec.router;
    // if VC allocation is a separate stage, the grant is one step after the arrival; at speedup 1 a step is a cycle
    let waits = u64::from(router.vc_realloc > 0 && router.speedup == 1);
    router.delay.checked_sub(waits).ok_or_else(|| {
        Refusal::new(
            "router.delay",
            "0 cycles, but with vc_realloc 1 and speedup 1 a head flit waits 1 cycle for the switch",
            "set router.delay to at least 1cycle, or vc_realloc to 0",
        )
    })
}

/// The part of the router delay that a head spends only after the previous packet has left the VC [cycles].
pub(super) fn routing_delay(spec: &Spec) -> Result<u64, Refusal> {
    let router = &spec.router;
    if router.routing_delay > router.delay {
        let what = format!(
            "{} cycles, but a head spends only {} cycles in a router, including its routing",
            router.routing_delay, router.delay
        );
        let help = format!("set router.routing_delay to at most {}cycles, or increase router.delay", router.delay);
        return Err(Refusal::new("router.routing_delay", what, help));
    }
    Ok(router.routing_delay)
}

/// Number of free flit slots that a buffer must have before a head may take it.
pub(super) fn room(spec: &Spec) -> u32 {
    if spec.router.flow_control == FlowControl::VirtualCutThrough { spec.traffic.longest() } else { 1 }
}

/// Properties of link class `c` in the form that the cycle loop uses.
pub(super) fn link_of(spec: &Spec, c: usize, needed: &Needs, sets: &VcSets) -> Result<Link, Refusal> {
    let (link, classes, name) = (&spec.links[c], sets.least_vcs(c, needed), &spec.graph.class_names()[c]);
    check_buffer(spec, link, &sets.needs_in_words(spec, c, needed), classes, name)?;
    check_delays(spec, link, name)?;
    let vcs = u32::from(link.vcs);
    let usable = if name == "terminal" { spec.router.ejection_vcs.map_or(vcs, u32::from) } else { vcs };
    if usable == 0 || usable > vcs {
        return Err(Refusal::new(
            "router.ejection_vcs",
            format!("{usable}, but on links to terminals there {}", are_vcs(vcs)),
            if vcs == 1 { "write 1".to_owned() } else { format!("write 1 to {vcs}") },
        ));
    }
    let (_, of_lane) = sets.ideal().unwrap_or((1, 1));
    let buffer = vc_buffer(link, of_lane, name)?;
    let ranges = sets.on_link(spec, c, usable, needed)?;
    let entering = needed.ring_entries_on(c).fold(0, |classes, entry| classes | 1 << entry.enter);
    Ok(Link {
        latency: link.latency,
        credit_latency: (link.credit_latency + spec.router.credit_delay).max(1),
        buffer,
        all: ((1u32 << vcs) - 1) as u16,
        vcs_of: vcs_of_sets(c, needed, sets, &ranges),
        entering: (0..ranges.len()).fold(0, |all, set| all | entering << (set * usize::from(sets.links()[c].each))),
        room_to_enter: bubbles::room_to_enter(spec) as u16,
        capacity: vcs * u32::from(buffer),
        paced: is_paced(spec, c),
    })
}

/// Size [flits] of a VC that has a separate buffer for each of `destinations` destinations.
fn vc_buffer(link: &LinkClass, destinations: u32, name: &str) -> Result<u16, Refusal> {
    let all = u64::from(link.buffer) * u64::from(destinations);
    u16::try_from(all).map_err(|_| {
        let (each, most) = (link.buffer, u32::from(u16::MAX) / destinations);
        let what = format!(
            "{each} flits for each of {destinations} destinations in a VC are {all} flits; a VC holds at most {} flits",
            u16::MAX
        );
        let help = format!("write {most}flits or less, or choose a scheme with fewer queues");
        Refusal::new(format!("links.{name}.buffer"), what, help)
    })
}

/// Whether channels of class `c` are limited by more than credits and one flit per cycle.
fn is_paced(spec: &Spec, c: usize) -> bool {
    let slows = spec.managed[c] && spec.slowest_mode() != Rate::ONE;
    spec.links[c].rate != Rate::ONE || slows || spec.router.output_buffer.is_some()
}

/// Maximum number of additional cycles that a channel of class `c` needs in its slowest mode, compared with the full rate, for the flits
/// that wait for it and the flits behind them. The result is 0 if no mode is slower than the full rate.
pub(crate) fn slowed(spec: &Spec, c: usize, link: &LinkClass) -> u64 {
    let slowest = spec.slowest_mode();
    if !spec.managed[c] || slowest == Rate::ONE {
        return 0;
    }
    let capacity = link.buffer.saturating_mul(link.vcs.into());
    (u64::from(staged(spec, c).min(capacity)) + 3) * link.rate.times(slowest).cycles_per_flit()
}

/// Maximum number of flits that may wait after the switch for a link of class `c`.
fn staged(spec: &Spec, c: usize) -> u32 {
    match spec.router.output_buffer {
        Some(flits) => flits,
        None if is_paced(spec, c) && !spec.links[c].rate.is_above(1) => STAGED,
        None => u32::MAX,
    }
}

/// The rates of all link classes; `None` if no link needs pacing. The function refuses rates at which routers or
/// terminals cannot send.
pub(super) fn rates(spec: &Spec) -> Result<Option<Rates>, Refusal> {
    if !(0..spec.links.len()).any(|c| is_paced(spec, c)) {
        return Ok(None);
    }
    for (class, link) in spec.links.iter().enumerate() {
        check_rate(spec, link, class)?;
    }
    let staged = (0..spec.links.len()).map(|c| staged(spec, c)).collect();
    let of = spec.links.iter().map(|link| link.rate).collect();
    Ok(Some(Rates::new(of, staged)))
}

/// Refuses a link rate at which a terminal or a crossbar cannot send.
fn check_rate(spec: &Spec, link: &LinkClass, class: usize) -> Result<(), Refusal> {
    let path = format!("links.{}.bandwidth", spec.graph.class_names()[class]);
    let speedup = u32::from(spec.router.speedup);
    let (most, feeder) = match class {
        0 => (1, "a terminal sends and receives at most 1 flit per cycle".to_owned()),
        _ => (speedup, format!("the crossbar sends at most {speedup} flits per cycle to an output (router.speedup)")),
    };
    if !link.rate.is_above(most) {
        return Ok(());
    }
    let help = match class {
        0 => "write at most 1flit/cycle; if the bandwidth is in bits per second, a shorter cycle also helps".to_owned(),
        _ => {
            let needed = link.rate.per_cycle().ceil();
            format!(
                "write at most {most}flits/cycle, or router.speedup: {needed} or more; if the bandwidth is in bits per second, a \
                 shorter cycle also helps"
            )
        }
    };
    Err(Refusal::new(path, format!("{} flits per cycle, but {feeder}", link.rate.per_cycle()), help))
}

/// Refuses a link class that has too few VCs for the routing's VC classes and their lanes (`needed` names these in words), or a buffer too
/// small for a packet.
fn check_buffer(spec: &Spec, link: &LinkClass, needed: &str, classes: u8, name: &str) -> Result<(), Refusal> {
    let path = |key: &str| format!("links.{name}.{key}");
    if link.vcs < classes {
        return Err(Refusal::new(
            path("vcs"),
            format!("{needed} on {name} links, but there {}", are_vcs(link.vcs.into())),
            format!("set vcs of {name} links to at least {classes}"),
        ));
    }
    let needs = room(spec);
    if link.buffer > u32::from(u16::MAX) {
        let what = format!("{} flits, but the buffer of a VC has at most {} flits", link.buffer, u16::MAX);
        return Err(Refusal::new(path("buffer"), what, format!("write at most {}flits", u16::MAX)));
    }
    if link.buffer < needs {
        return Err(Refusal::new(
            path("buffer"),
            format!("{} flits, but the buffer must hold a packet of {needs} flits", link.buffer),
            format!("set buffer to at least {needs}flits, or flow_control to wormhole"),
        ));
    }
    Ok(())
}

fn check_delays(spec: &Spec, link: &LinkClass, name: &str) -> Result<(), Refusal> {
    let path = |key: &str| format!("links.{name}.{key}");
    if link.latency == 0 {
        return Err(Refusal::new(path("latency"), "0 cycles", format!("write 1cycle to {MAX_DELAY}cycles")));
    }
    let delays = [
        (path("latency"), link.latency),
        (path("credit_latency"), link.credit_latency),
        ("router.delay".to_owned(), spec.router.delay),
        ("router.credit_delay".to_owned(), spec.router.credit_delay),
        ("router.ejection_delay".to_owned(), spec.router.ejection_delay),
    ];
    if let Some((path, cycles)) = delays.into_iter().find(|(_, cycles)| *cycles > MAX_DELAY) {
        let what = format!("{cycles} cycles, but a delay of links and routers has at most {MAX_DELAY} cycles");
        return Err(Refusal::new(path, what, format!("write at most {MAX_DELAY}cycles")));
    }
    Ok(())
}

/// For each finer VC class, the mask of its VCs on links of class `c`. `ranges`: for each set of VCs, its first VC and
/// its number of VCs. Each set contains all VC classes of the routing.
fn vcs_of_sets(c: usize, needed: &Needs, sets: &VcSets, ranges: &[(u32, u32)]) -> [u16; 16] {
    let (mut all, each) = ([0u16; 16], usize::from(sets.links()[c].each));
    for (set, &(from, size)) in ranges.iter().enumerate() {
        let of_set = vcs_of(c, needed, sets, size);
        let places = all[set * each..].iter_mut().take(each);
        places.zip(of_set).for_each(|(vcs, own)| *vcs = own << from);
    }
    all
}

/// For each finer VC class of one set, the mask of its VCs on links of class `c`. VC classes, and the lanes of each class, get equal shares
/// of the `usable` VCs. A class on which packets enter a ring has the same VCs as the class on which they continue in the ring.
fn vcs_of(c: usize, needed: &Needs, sets: &VcSets, usable: u32) -> [u16; 16] {
    let mut vcs_of = [0u16; 16];
    // rings that declare their number of VCs get the VCs with the highest numbers; the first ring gets the highest
    let mut usable = usable;
    for (entry, vcs) in needed.ring_entries_on(c).filter_map(|entry| Some((entry, u32::from(entry.vcs?)))) {
        vcs_of[usize::from(entry.move_on)] = ((1u32 << usable) - (1u32 << (usable - vcs))) as u16;
        usable -= vcs;
    }
    let apart =
        |class: &u8| needed.ring_entries_on(c).any(|e| e.enter == *class || e.move_on == *class && e.vcs.is_some());
    let (first, lanes) = (sets.links()[c].first, sets.lanes_on(c, needed));
    let sharing = (0..needed.classes[c].max(1)).filter(|class| !apart(class));
    let fine = |class: u8| (0..lanes[usize::from(class)]).map(move |lane| first[usize::from(class)] + lane);
    let sharing: Vec<u8> = sharing.flat_map(fine).collect();
    let shares = sharing.len().max(1) as u32;
    for (k, class) in (0..).zip(sharing) {
        let (from, to) = (k * usable / shares, (k + 1) * usable / shares);
        vcs_of[usize::from(class)] = ((1u32 << to) - (1u32 << from)) as u16;
    }
    for entry in needed.ring_entries_on(c) {
        vcs_of[usize::from(entry.enter)] = vcs_of[usize::from(entry.move_on)];
    }
    vcs_of
}
