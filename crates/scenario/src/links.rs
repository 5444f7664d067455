//! Link classes: fills in every field of every class, and checks the fields against the packet and the router.

use crate::assemble::Clock;
use crate::config::{FlowControl, Link, Scenario};
use crate::diagnostic::suggestion;
use crate::packet::PacketConfig;
use crate::warning::Warning;
use std::collections::BTreeMap;
use weft_engine::Spec;
use weft_engine::spec::{LinkClass, Rate, RouterSpec};
use weft_topology::{Facts, Graph};
use weft_units::{Bandwidth, Flits, Refusal, Time};

/// The default properties of a link class, for fields that neither the class nor `links.default` sets.
const LINK: Link = Link {
    latency: Some(Time::Cycles(10)),
    credit_latency: None,
    vcs: Some(6),
    buffer: Some(Flits(32)),
    port_buffer: None,
    split: None,
    bandwidth: Some(Bandwidth::ONE_FLIT),
};

/// Latency of terminal links if neither `links.terminal` nor `links.default` sets it.
const TERMINAL_LATENCY: Time = Time::Cycles(1);

/// The places of values that come from a graph file instead of the scenario. Refusals of such values name these places.
#[derive(Debug, Default)]
pub(crate) struct Origins {
    /// For a class and a key: name of the graph file that states the value.
    stated: BTreeMap<(String, &'static str), String>,
    /// Warnings about values from the graph file.
    pub warnings: Vec<Warning>,
}

impl Origins {
    /// The path that a refusal of this key names, and the words with which the refusal begins.
    fn place(&self, class: &str, key: &'static str) -> (String, String) {
        match self.stated.get(&(class.to_owned(), key)) {
            Some(path) => (path.clone(), format!("the {key} of `{class}` links in the file: ")),
            None => (format!("links.{class}.{key}"), String::new()),
        }
    }

    /// Creates the refusal of a value. The refusal names the place of the value, in the scenario or in the graph file. `round`: a rounding
    /// step with which the value becomes valid; the remedy proposes it for `attributes` of the graph.
    fn refuse(&self, class: &str, key: &'static str, refusal: Refusal, round: Option<String>) -> Refusal {
        match self.place(class, key) {
            (_, lead) if lead.is_empty() => refusal,
            (path, lead) => {
                let round =
                    round.map_or_else(String::new, |step| format!("write `round: {step}` in `attributes.{key}`, or "));
                let help = format!(
                    "{round}write `links.{class}.{key}`, which overrides the file; or correct the file: {}",
                    refusal.help
                );
                Refusal::new(path, lead + &refusal.what, help)
            }
        }
    }

    /// Creates the refusal of a link that takes no time together with the router before it.
    fn refuse_no_time(&self, class: &str) -> Refusal {
        let (path, lead) = self.place(class, "latency");
        let what = "router.delay + latency is 0 + 0 cycles, so a flit would cross the network in 0 cycles";
        let help = match lead.is_empty() {
            true => "write 1cycle or more for one of the two".to_owned(),
            false => {
                format!("write `links.{class}.latency: 1cycle` or more, or a router.delay above 0, or correct the file")
            }
        };
        Refusal::new(path, lead + what, help)
    }
}

impl Scenario {
    /// Fills in every field of every link class.
    pub(crate) fn resolve_links(&mut self, graph: &Graph, clock: &Clock) -> Result<Origins, Refusal> {
        let classes = graph.class_names();
        let mut origins = Origins::default();
        let file = format!("topology.{}.file", self.topology.name());
        let mut rounded = Rounded::default();
        let known = |name: &str| name == "default" || classes.iter().any(|class| class == name);
        if let Some(unknown) = self.links.keys().find(|name| !known(name)) {
            let valid: Vec<_> = std::iter::once("default").chain(classes.iter().map(String::as_str)).collect();
            let what = format!("the topology `{}` has no link class `{unknown}`", self.topology.name());
            return Err(Refusal::new(
                format!("links.{unknown}"),
                what,
                suggestion(unknown, "its link classes", &valid),
            ));
        }
        let written = self.links.get("default").cloned().unwrap_or_default();
        for (number, (class, facts)) in classes.iter().zip(graph.facts()).enumerate() {
            let section = self.links.remove(class);
            if section.is_none() && graph.needs_section(number) {
                origins.warnings.push(without_section(class, number, graph));
            }
            let mut own = section.unwrap_or_default();
            if let Some(sum) = &facts.sum_of
                && let Some(one) = self.links.get(&sum.class)
            {
                own = own.or_sum(one, sum.links);
            }
            if own.latency.is_none() {
                own.latency = match facts.latency {
                    Some(latency) => {
                        origins.stated.insert((class.clone(), "latency"), file.clone());
                        let time = latency.rounded(clock.cycle_fs);
                        rounded.count(latency.time, time);
                        Some(time)
                    }
                    None if class == "terminal" && written.latency.is_none() => Some(TERMINAL_LATENCY),
                    None => None,
                };
            }
            if own.bandwidth.is_none() && facts.bandwidth.is_some() {
                origins.stated.insert((class.clone(), "bandwidth"), file.clone());
                own.bandwidth = facts.bandwidth;
            }
            // If a class sets its latency but no credit latency, its credits have this latency instead of the default latency.
            let credit_latency = own.credit_latency.or(own.latency);
            let own = Link { credit_latency, ..own }.or(&written).or(&LINK);
            let credit_latency = own.credit_latency.or(own.latency);
            self.links.insert(class.clone(), Link { credit_latency, ..own });
        }
        let default = written.or(&LINK);
        let credit_latency = default.credit_latency.or(default.latency);
        self.links.insert("default".to_owned(), Link { credit_latency, ..default });
        origins.warnings.extend(rounded.warning(format!("topology.{}.attributes", self.topology.name()), clock));
        Ok(origins)
    }

    /// Converts a link class to times in cycles and sizes in flits.
    pub(crate) fn link_class(&self, class: &str, clock: &Clock, origins: &Origins) -> Result<LinkClass, Refusal> {
        let path = |key: &str| format!("links.{class}.{key}");
        let Link { latency, credit_latency, vcs, buffer, port_buffer, split, bandwidth } =
            self.links.get(class).cloned().unwrap_or_default().or(&LINK);
        if port_buffer.is_some() && buffer.is_some() {
            let what = "`buffer` is the size of the buffer of each VC, but `port_buffer` is divided among the VCs";
            return Err(Refusal::new(path("port_buffer"), what, "leave one of the two out"));
        }
        if split.is_some() && port_buffer.is_none() {
            let help = "write `port_buffer`, or leave `split` out";
            return Err(Refusal::new(path("split"), "there is no `port_buffer` to divide", help));
        }
        // a placeholder: the memory of a port is divided later, when the lanes of its class are known
        let buffer = if port_buffer.is_some() { Some(Flits(1)) } else { buffer };
        let latency = latency.unwrap_or(Time::Cycles(0));
        let vcs = vcs.unwrap_or(0);
        let buffer = buffer.unwrap_or(Flits(0)).0;
        if !(1..=16).contains(&vcs) {
            return Err(Refusal::new(
                path("vcs"),
                format!("{vcs} virtual channels are given, but a link has 1 to 16"),
                "write 1 to 16",
            ));
        }
        if buffer == 0 {
            return Err(Refusal::new(path("buffer"), "a buffer of 0 flits lets nothing pass", "write 1flit or more"));
        }
        let (latency_path, _) = origins.place(class, "latency");
        let whole = clock.cycles(latency, &latency_path);
        // the remedy suggests rounding only if the latency is below the maximum, because rounding does not make a latency short enough
        let round = clock.limit(latency, &latency_path).is_ok().then(|| "1cycle".to_owned());
        let bandwidth = bandwidth.unwrap_or(Bandwidth::ONE_FLIT);
        let rate = self.rate(bandwidth, clock, &path("bandwidth"));
        Ok(LinkClass {
            latency: whole.map_err(|refusal| origins.refuse(class, "latency", refusal, round))?,
            credit_latency: clock.cycles(credit_latency.unwrap_or(latency), &path("credit_latency"))?,
            vcs: vcs as u8,
            buffer,
            rate: rate.map_err(|refusal| origins.refuse(class, "bandwidth", refusal, self.step(bandwidth, clock)))?,
        })
    }

    /// The finest rounding step that leaves at most two digits of a bandwidth. `None` if the engine cannot represent the rounded rate.
    fn step(&self, bandwidth: Bandwidth, clock: &Clock) -> Option<String> {
        let Bandwidth::BitsPerSecond(bits) = bandwidth else { return None };
        let highest = 10u128.pow(bits.checked_ilog10()?);
        let steps = [highest / 10, highest].into_iter().filter(|step| *step > 0);
        let rounded = |step: u128| Bandwidth::BitsPerSecond(bits.saturating_add(step / 2) / step * step);
        let mut mending = steps.filter(|&step| self.rate(rounded(step), clock, "").is_ok());
        mending.next().map(|step| Bandwidth::BitsPerSecond(step).to_string())
    }

    /// Converts a bandwidth to flits per cycle.
    fn rate(&self, bandwidth: Bandwidth, clock: &Clock, path: &str) -> Result<Rate, Refusal> {
        let (flits, cycles) = bandwidth.flits_in_cycles(self.flit.0, clock.cycle_fs, path)?;
        Rate::new(flits, cycles, path)
    }

    /// Under virtual cut-through the longest packet must fit into every buffer. The remedies also include other needs of the routing, such
    /// as space for a second packet, so that the next check does not refuse the remedy.
    pub(crate) fn check_packet(&self, spec: &Spec) -> Result<(), Refusal> {
        let (packet, classes) = (spec.traffic.longest(), spec.graph.class_names());
        let small = |(_, (link, _)): &(usize, (&LinkClass, &String))| link.buffer < packet;
        let Some((_, (link, class))) = spec.links.iter().zip(classes).enumerate().find(small) else { return Ok(()) };
        if self.router.flow_control == FlowControl::Wormhole {
            return Ok(());
        }
        let buffer = Flits(link.buffer);
        let what = format!(
            "a buffer of {buffer} on `{class}` links can't hold a packet of {packet} flits: {} < {packet}, and virtual \
             cut-through forwards a packet only if the buffer has room for the whole packet",
            link.buffer
        );
        let (least, worms) = spec.least_buffers()?;
        // a buffer that must have space for two of the longest packets accepts packets of half its size
        let fits = |(link, least): (&LinkClass, &u32)| link.buffer / (least / packet).max(1);
        let most = Flits(spec.links.iter().zip(&least).map(fits).min().unwrap_or(0));
        let room = least.iter().copied().max().unwrap_or(packet);
        let why = if room > packet { " (the routing needs room for two packets)" } else { "" };
        let shorter = match &self.traffic.packet {
            PacketConfig::One(one) if one.0 == packet => format!("`traffic.packet: {most}` or less"),
            several @ PacketConfig::Several(_) if several.has(packet) => {
                format!("sizes of {most} or less in `traffic.packet`")
            }
            PacketConfig::One(_) | PacketConfig::Several(_) => format!("packets and replies of {most} or less"),
        };
        let mut ways = vec![format!("`buffer: {room}flits` or more{why}")];
        ways.extend((most.0 > 0).then_some(shorter));
        ways.extend(worms.then(|| "`router.flow_control: wormhole`".to_owned()));
        let help = match ways.as_slice() {
            [one] => format!("write {one}"),
            [first, second] => format!("write {first}, or {second}"),
            [others @ .., last] => format!("write {}, or {last}", others.join(", ")),
            [] => String::new(),
        };
        Err(Refusal::new(format!("links.{class}.buffer"), what, help))
    }
}

impl Link {
    /// Takes keys that are not set from `one`. Several single links of class `one` are added up to a link of this class. The bandwidth
    /// is that of `links` single links. The name of this class is the name of `one` with a suffix, such as `link_x4` for `link`. `one`
    /// has already been resolved, because Weft resolves classes in alphabetical order.
    fn or_sum(self, one: &Self, links: u32) -> Self {
        let bandwidth = one.bandwidth.map(|bandwidth| bandwidth.times(links));
        let credit_latency = self.credit_latency.or(self.latency);
        Self { credit_latency, ..self }.or(&Self { bandwidth, ..one.clone() })
    }

    fn or(self, other: &Self) -> Self {
        Self {
            latency: self.latency.or(other.latency),
            credit_latency: self.credit_latency.or(other.credit_latency),
            vcs: self.vcs.or(other.vcs),
            // a class that sets `buffer` or `port_buffer` does not inherit the other key
            buffer: self.buffer.or(other.buffer.filter(|_| self.port_buffer.is_none())),
            port_buffer: self.port_buffer.or(other.port_buffer.filter(|_| self.buffer.is_none())),
            split: self.split.or(other.split.filter(|_| self.buffer.is_none())),
            bandwidth: self.bandwidth.or(other.bandwidth),
        }
    }
}

/// Refuses delays with which a flit needs less than a cycle from one router to the next.
pub(crate) fn check_delays(
    router: &RouterSpec,
    links: &[LinkClass],
    classes: &[String],
    origins: &Origins,
) -> Result<(), Refusal> {
    match links.iter().zip(classes).find(|(link, _)| router.delay + link.latency == 0) {
        None => Ok(()),
        Some((_, class)) => Err(origins.refuse_no_time(class)),
    }
}

weft_units::codes! {
    LINK_CLASS_WITHOUT_SECTION = "link_class_without_section", Warning,
        means: "The graph file names a link class that has no section in `links`. The links of this class use \
                `links.default`.",
        computed: "The number of links of the class. A link that represents several links counts as several.",
        helps: "Write a section of that name below `links`. The section may be empty.";
    GRAPH_LATENCIES_ROUNDED = "graph_latencies_rounded", Warning,
        means: "Latencies of the graph file are not whole numbers of cycles. Weft rounds them up.",
        computed: "The largest difference between a latency of the file and its rounded value.",
        helps: "Nothing, if the difference is small compared with the latencies. A shorter `cycle` makes it smaller.";
}

/// Warns about a link class in a graph file that has no section in the scenario's `links`.
fn without_section(class: &str, number: usize, graph: &Graph) -> Warning {
    let is_sum = |facts: &Facts| facts.sum_of.as_ref().filter(|sum| sum.class == class).map(|sum| sum.links as usize);
    let by_class = graph.links_by_class();
    let in_sums = by_class.iter().zip(graph.facts()).filter_map(|((_, links), facts)| Some(links * is_sum(facts)?));
    let links = by_class[number].1 + in_sums.sum::<usize>();
    let what = format!(
        "the file has {links} links of the class `{class}`, but `links` has no section of this name: these links use \
         `links.default`"
    );
    let help = format!(
        "write `{class}: {{...}}` in `links`, with the keys that differ from `default`; or `{class}: {{}}` if no key \
         differs"
    );
    Warning::new(&LINK_CLASS_WITHOUT_SECTION, format!("links.{class}"), [("links", links as f64)], what, help)
}

/// Counts latencies of a graph file that were rounded to whole cycles, for a warning.
#[derive(Debug, Default)]
struct Rounded {
    classes: u32,
    most_fs: u128,
}

impl Rounded {
    fn count(&mut self, before: Time, after: Time) {
        if let (Time::Femtoseconds(before), Time::Femtoseconds(after)) = (before, after)
            && before != after
        {
            self.classes += 1;
            self.most_fs = self.most_fs.max(after - before);
        }
    }

    fn warning(&self, path: String, clock: &Clock) -> Option<Warning> {
        let most = Time::Femtoseconds(self.most_fs);
        let cycle = Time::Femtoseconds(clock.cycle_fs);
        (self.classes > 0).then(|| {
            let what = format!(
                "the latencies of {} link classes of the file are rounded up to whole cycles of {cycle}, by at most {most}",
                self.classes
            );
            let numbers = [("classes", f64::from(self.classes)), ("most_ns", self.most_fs as f64 / 1e6)];
            let help =
                "do nothing if the difference is small compared with the latencies; a shorter `cycle` makes it smaller";
            Warning::new(&GRAPH_LATENCIES_ROUNDED, path, numbers, what, help)
        })
    }
}
