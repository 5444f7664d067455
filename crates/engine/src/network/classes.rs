//! Message classes: their VCs, and the check whether packets of different classes can wait for each other in a cycle.
//!
//! Packets of classes with separate VCs never wait for each other inside the network. The deadlock proof of the routing is therefore valid
//! for each class separately. At a terminal, a request can wait for the reply to an earlier request (`Workload::keeps`). Replies therefore
//! need VCs and queues in which no requests can be in front of them, and a reply must never wait at its terminal for another reply.

use crate::network::jobs::Job;
use crate::network::lanes::{self, Lanes};
use crate::network::spec::Spec;
use std::sync::Arc;
use weft_api::classes::{ClassVcs, InjectionRule, MAX_CLASSES, MAX_QUEUES, MessageClass, Queueing};
use weft_api::refined::{OfLink, Refined};
use weft_api::routing::{AnyRouting, Needs};
use weft_kernel::parts::queues::InterfaceRules;
use weft_units::Refusal;

/// The largest number of VC classes on a link. A route key (output port and VC class of a hop in one number) has no bits for more.
const MAX_VC_CLASSES: usize = 16;

/// Sets of VCs. Message classes with shared VCs form one set, and every other message class has its own set.
#[derive(Debug, Clone)]
pub(crate) struct VcSets {
    /// Index of the set of each message class.
    pub of_class: Vec<u8>,
    /// Number of VCs of each set that the spec states; `None`: the set gets an equal share of the remaining VCs.
    own: Vec<Option<u32>>,
    /// The VC classes that each set has on links, for each link class.
    links: Vec<OfLink>,
    /// Lanes of the queueing scheme; `None` if there is no scheme that divides VC classes.
    pub lanes: Option<Lanes>,
}

impl VcSets {
    /// Builds the sets of VCs for a spec. Refuses more VC classes than fit into a route key. `needs`: needs of the routing. `spare`:
    /// whether the routing gets one additional VC class for paths around faults.
    pub(crate) fn of(spec: &Spec, routing: &dyn AnyRouting, needs: &Needs, spare: bool) -> Result<Self, Refusal> {
        let (mut of_class, mut own, mut shared) = (Vec::new(), Vec::new(), None);
        for class in &spec.classes {
            let number = own.len() as u8;
            let set = match class.vcs {
                ClassVcs::Shared => *shared.get_or_insert(number),
                ClassVcs::Equal | ClassVcs::Own(_) => number,
            };
            if set == number {
                own.push(if let ClassVcs::Own(vcs) = class.vcs { Some(vcs) } else { None });
            }
            of_class.push(set);
        }
        if own.is_empty() {
            (of_class, own) = (vec![0], vec![None]);
        }
        // one lane per VC class divides nothing; with a spare class, such lanes are ignored, because they do not include the spare class
        let counts = |lanes: &Lanes| lanes.divide() || lanes.ideal().is_some() || !spare;
        let lanes = Lanes::of(spec, routing, needs)?.filter(counts);
        let links: Vec<OfLink> = match &lanes {
            Some(lanes) => lanes.of_links(),
            None => {
                let most = needs.classes.iter().copied().max().unwrap_or(1).max(1) + u8::from(spare);
                let each = if own.len() == 1 { MAX_VC_CLASSES } else { usize::from(most).min(MAX_VC_CLASSES) };
                vec![OfLink::of(&vec![1; each]); spec.links.len()]
            }
        };
        let sets = Self { of_class, own, links, lanes };
        sets.check_count(spec)?;
        sets.check_terminals(spec)?;
        Ok(sets)
    }

    /// Refuses a spec whose sets together need more VC classes than fit into a route key.
    fn check_count(&self, spec: &Spec) -> Result<(), Refusal> {
        let most = |(_, of): &(usize, &OfLink)| of.each;
        let Some((link, of)) = self.links.iter().enumerate().max_by_key(most) else { return Ok(()) };
        let all = self.own.len() * usize::from(of.each);
        if !self.are_apart() || all <= MAX_VC_CLASSES {
            return Ok(());
        }
        let (name, sets) = (spec.routing.name(), self.own.len());
        let (what, help) = match &self.lanes {
            None => (format!("{name} needs {} VC classes", of.each), ""),
            Some(_) => {
                let link = &spec.graph.class_names()[link];
                let what =
                    format!("{name} under {} needs {} VC classes on {link} links", spec.queueing.name(), of.each);
                (what, ", or choose a scheme with fewer queues")
            }
        };
        let what = format!(
            "{what} for each of {sets} sets of VCs, {all} VC classes in total; a link has at most {MAX_VC_CLASSES}"
        );
        let help = format!("let classes share VCs (`vcs: shared`), or write fewer classes{help}");
        Err(Refusal::new("classes", what, help))
    }

    /// Refuses a channel from a terminal that has fewer VCs than lanes. Also refuses lanes for which a network interface would need more
    /// than `MAX_QUEUES` queues.
    fn check_terminals(&self, spec: &Spec) -> Result<(), Refusal> {
        let (lanes, vcs) = (self.lanes_from_terminals(), u32::from(spec.links[0].vcs));
        let queues = usize::from(lanes) * spec.classes.len();
        if spec.interface.queueing == Queueing::PerLane && queues > MAX_QUEUES as usize {
            let classes = spec.classes.len();
            let what = format!(
                "{lanes} lanes of {classes} classes need {queues} queues; an interface has at most {MAX_QUEUES}"
            );
            return Err(Refusal::new("interface.queues", what, "write `queues: per_class`, or write fewer classes"));
        }
        let ranges = self.ranges(vcs).unwrap_or_default();
        let Some(&(_, size)) = ranges.iter().find(|&&(_, size)| size < u32::from(lanes)) else { return Ok(()) };
        if lanes == 1 {
            return Ok(()); // the check of the links refuses this
        }
        let asked: u32 = self.own.iter().map(|own| own.unwrap_or(0).max(lanes.into())).sum();
        let sets =
            if self.are_apart() { format!(", for each of {} sets of VCs", self.own.len()) } else { String::new() };
        let what = format!(
            "packets use {lanes} lanes of {} on links from terminals{sets}, but there {}{}",
            spec.queueing.name(),
            are_vcs(size),
            if self.are_apart() { " in one of the sets" } else { "" }
        );
        let help = format!("set links.terminal.vcs to {asked} or more, or choose a scheme with fewer queues");
        Err(Refusal::new("links.terminal.vcs", what, help))
    }

    /// Number of sets of VCs.
    pub(crate) fn set_count(&self) -> u32 {
        self.own.len() as u32
    }

    /// Number of lanes of a channel from a terminal.
    pub(crate) fn lanes_from_terminals(&self) -> u8 {
        self.lanes.as_ref().map_or(1, |lanes| lanes.from_terminals)
    }

    /// Number of lanes of an ideal map of queues, and the largest number of destinations that it holds; `None` if the scheme has no ideal
    /// map.
    pub(crate) fn ideal(&self) -> Option<(u32, u32)> {
        self.lanes.as_ref().and_then(Lanes::ideal)
    }

    /// Number of lanes in each VC class of the routing, on links of class `link`.
    pub(crate) fn lanes_on(&self, link: usize, needs: &Needs) -> Vec<u8> {
        match &self.lanes {
            Some(lanes) => lanes.counts[link].clone(),
            None => vec![1; usize::from(needs.classes[link]).max(1)],
        }
    }

    /// Number of queues that each set of VCs has on links of class `link`.
    pub(crate) fn queues_on(&self, link: usize) -> u32 {
        match &self.lanes {
            Some(lanes) => lanes.counts[link].iter().map(|&lanes| u32::from(lanes)).sum(),
            None => self.links[link].each.into(),
        }
    }

    /// The reason why links of class `link` need their number of VCs, as a string for messages.
    pub(crate) fn needs_in_words(&self, spec: &Spec, link: usize, needs: &Needs) -> String {
        let routing = spec.routing.name();
        match &self.lanes {
            Some(lanes) if lanes.counts[link].iter().any(|&lanes| lanes > 1) => {
                let parts: Vec<_> = lanes.counts[link].iter().map(u8::to_string).collect();
                let (all, scheme) = (self.least_vcs(link, needs), spec.queueing.name());
                match parts.len() {
                    1 => format!("packets use {all} lanes of {scheme}"),
                    classes => {
                        let parts = parts.join(" + ");
                        format!(
                            "packets use {parts} = {all} lanes of {scheme} in the {classes} VC classes of {routing}"
                        )
                    }
                }
            }
            Some(_) | None => format!("{routing} needs {} VC classes", self.least_vcs(link, needs)),
        }
    }

    /// The VC classes that each set has on links, for each link class.
    pub(crate) fn links(&self) -> &[OfLink] {
        &self.links
    }

    /// Number of VC classes of all sets together, on the link class with the most VC classes.
    pub(crate) fn vc_classes(&self) -> usize {
        self.own.len() * self.links.iter().map(|of| usize::from(of.each)).max().unwrap_or(1)
    }

    /// The VC classes divided by sets and lanes; `None` if the network uses the VC classes of the routing unchanged.
    pub(crate) fn refined(&self, spec: &Spec, routing: &Arc<dyn AnyRouting>) -> Option<Arc<Refined>> {
        match &self.lanes {
            Some(lanes) => Some(lanes.refine(spec, routing, &self.of_class).into()),
            None if self.are_finer() => Some(lanes::refined(spec, &self.of_class, self.links.clone(), None).into()),
            None => None,
        }
    }

    /// The smallest number of VCs that a set needs on links of class `link`.
    pub(crate) fn least_vcs(&self, link: usize, needs: &Needs) -> u8 {
        match &self.lanes {
            Some(lanes) if needs.ring_entries.is_empty() => lanes.counts[link].iter().sum(),
            Some(_) | None => needs.least_vcs(link),
        }
    }

    /// Whether the VCs are divided into more than one set.
    pub(crate) fn are_apart(&self) -> bool {
        self.own.len() > 1
    }

    /// Whether sets or lanes divide the VC classes of the routing further.
    pub(crate) fn are_finer(&self) -> bool {
        self.are_apart() || self.lanes.is_some()
    }

    /// For each set, its first VC and its number of VCs, on a channel with `vcs` VCs.
    fn ranges(&self, vcs: u32) -> Option<Vec<(u32, u32)>> {
        let asked: u32 = self.own.iter().flatten().sum();
        let (rest, sharers) = (vcs.checked_sub(asked)?, self.own.iter().filter(|own| own.is_none()).count() as u32);
        let (mut from, mut k) = (0, 0);
        let range = |own: &Option<u32>| {
            let size = own.unwrap_or_else(|| {
                k += 1;
                k * rest / sharers - (k - 1) * rest / sharers
            });
            from += size;
            (from - size, size)
        };
        Some(self.own.iter().map(range).collect())
    }

    /// Returns the result of `ranges` for links of class `link`. Refuses a set with fewer VCs than the routing needs.
    pub(crate) fn on_link(
        &self,
        spec: &Spec,
        link: usize,
        vcs: u32,
        needs: &Needs,
    ) -> Result<Vec<(u32, u32)>, Refusal> {
        let (name, least) = (&spec.graph.class_names()[link], u32::from(self.least_vcs(link, needs)).max(1));
        let ranges = self.ranges(vcs).unwrap_or_else(|| vec![(0, 0); self.own.len()]);
        let used: u32 = ranges.iter().map(|&(_, size)| size).sum();
        let is_whole = vcs == u32::from(spec.links[link].vcs);
        if self.are_apart() && is_whole && used < vcs && ranges.iter().all(|&(_, size)| size >= least) {
            let what = format!(
                "the classes request {used} VCs, and {} of the {vcs} VCs of {name} links belong to no class",
                vcs - used
            );
            let help =
                format!("set links.{name}.vcs to {used}, or remove `vcs` from a class, which then gets the other VCs");
            return Err(Refusal::new("classes", what, help));
        }
        let Some(set) = ranges.iter().position(|&(_, size)| size < least) else { return Ok(ranges) };
        if !self.are_apart() {
            return Ok(ranges); // the routing needs more VCs even without message classes; another check refuses this
        }
        let class = self.of_class.iter().position(|&of| usize::from(of) == set).unwrap_or(0);
        let asked: u32 = self.own.iter().flatten().sum();
        let sharers = self.own.iter().filter(|own| own.is_none()).count() as u32;
        let needed = self.own.iter().map(|own| own.unwrap_or(0).max(least)).sum::<u32>();
        let what = format!(
            "class `{}` has {} of the {vcs} VCs of {name} links, but {} needs {least}: the keys `vcs` of classes request {asked} VCs, and \
             {sharers} sets share the other VCs",
            spec.classes[class].name,
            ranges[set].1,
            spec.routing.name()
        );
        let key = if vcs < u32::from(spec.links[link].vcs) {
            "router.ejection_vcs".into()
        } else {
            format!("links.{name}.vcs")
        };
        let help = match self.own[set] {
            Some(own) if own < least => format!("write `vcs: {least}` or more for this class"),
            _ => format!("set {key} to {needed} or more, or let classes share VCs (`vcs: shared`)"),
        };
        Err(Refusal::new(format!("classes.{}.vcs", spec.classes[class].name), what, help))
    }
}

/// The verdict of the deadlock check for a job: can its requests and replies wait for each other in a cycle?
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Protocol {
    /// Index of the job.
    pub job: usize,
    /// Names of the message classes of requests and replies; `None` if the spec defines no message classes.
    pub classes: Option<(String, String)>,
    pub deadlock_free: bool,
    /// The reason for the verdict, as a sentence.
    pub why: String,
}

impl Spec {
    /// The verdict about requests and replies, for each job whose packets have replies.
    pub fn protocols(&self) -> Vec<Protocol> {
        let circle = self.circle_of_classes();
        let of_job = |(j, job): (usize, &Job)| {
            let model = job.workload.model();
            model.reply_flits()?;
            let classes = self.classes_of(job);
            let name = |class: Option<&u8>| Some(self.classes.get(usize::from(*class?))?.name.clone());
            let why = match &circle {
                _ if !model.keeps_requests() => "a terminal accepts any number of requests, so none waits for a reply",
                Some((_, what, _)) => what,
                None => "replies have their own VCs, and their own queues in network interfaces",
            };
            Some(Protocol {
                job: j,
                classes: name(classes.first()).zip(name(classes.last())),
                deadlock_free: !model.keeps_requests() || circle.is_none(),
                why: why.to_owned(),
            })
        };
        self.traffic.jobs.iter().enumerate().filter_map(of_job).collect()
    }

    /// Number of sets of VCs on each channel: one for each message class with its own VCs, and one for all classes that share VCs.
    pub fn sets_of_vcs(&self) -> usize {
        let mut sets = self.sets_of_classes();
        sets.sort_unstable();
        sets.dedup();
        sets.len()
    }

    /// Whether the packets of a job and their replies use the same VCs.
    pub fn vcs_are_shared(&self, job: &Job) -> bool {
        let (sets, classes) = (self.sets_of_classes(), self.classes_of(job));
        classes.iter().all(|&class| sets[usize::from(class)] == sets[usize::from(classes[0])])
    }

    /// The rule that decides which packets of a terminal share a queue of its network interface. With one lane and no message classes, a
    /// queue per lane is a single queue.
    fn queueing_of(&self, sets: &VcSets) -> Queueing {
        match self.interface.queueing {
            Queueing::PerLane if sets.lanes_from_terminals() == 1 && self.classes.is_empty() => Queueing::One,
            asked => asked,
        }
    }

    /// Whether network interfaces have separate queues (`false`: they send the packets of one source in order). Network interfaces need
    /// queues for message classes, for several lanes, for a `rate` of the interface, for a queueing rule other than `one`, or if packets
    /// stay at terminals.
    pub(crate) fn has_queues(&self, sets: &VcSets) -> bool {
        let one = self.queueing_of(sets) == Queueing::One && self.interface.rate.is_none();
        !one || sets.lanes_from_terminals() > 1 || !self.classes.is_empty() || self.keeps_packets()
    }

    /// Whether at least one job lets delivered packets occupy the buffer of their terminal.
    pub(crate) fn keeps_packets(&self) -> bool {
        self.traffic.jobs.iter().any(|job| job.workload.model().keeps_requests())
    }

    /// Rules for the queues of all network interfaces; `None` if each interface sends the packets of one source in order.
    pub(crate) fn interface_rules(&self, sets: &VcSets) -> Option<InterfaceRules> {
        if !self.has_queues(sets) {
            return None;
        }
        let (interface, queueing, lanes) = (&self.interface, self.queueing_of(sets), sets.lanes_from_terminals());
        let (queues, depth) = match queueing {
            Queueing::One => (1, 1),
            Queueing::PerClass => (self.classes.len(), 1),
            Queueing::PerDestination => (interface.queues as usize, interface.depth),
            Queueing::PerLane => (self.classes.len().max(1) * usize::from(lanes), interface.depth),
        };
        let rate = |q: usize| match queueing {
            Queueing::PerClass => self.classes[q].rate.or(interface.rate),
            Queueing::One | Queueing::PerDestination | Queueing::PerLane => interface.rate,
        };
        let vcs = u32::from(self.links[0].vcs);
        let ranges = sets.ranges(vcs).unwrap_or_default();
        let part = |(from, size): (u32, u32), lane: u32| {
            let [begin, end] = [lane, lane + 1].map(|lane| from + lane * size / u32::from(lanes));
            ((1u32 << end) - (1 << begin)) as u16
        };
        let masks = |&set: &u8| {
            let range = ranges.get(usize::from(set)).copied().unwrap_or_default();
            (0..u32::from(lanes)).map(move |lane| part(range, lane))
        };
        Some(InterfaceRules {
            queueing,
            rule: interface.rule,
            queues,
            depth,
            rates: (0..queues).map(rate).collect(),
            lanes,
            notifies: !self.congestion.is_usual(),
            vcs_of: sets.of_class.iter().flat_map(masks).collect(),
        })
    }

    /// For each message class, the number of classes with a higher priority.
    pub(crate) fn class_ranks(&self) -> Vec<u64> {
        let mut priorities: Vec<u8> = self.classes.iter().map(|class| class.priority).collect();
        priorities.sort_unstable();
        priorities.dedup();
        let above = |class: &MessageClass| priorities.iter().filter(|&&other| other > class.priority).count() as u64;
        if self.classes.is_empty() { vec![0] } else { self.classes.iter().map(above).collect() }
    }

    /// Whether the message classes have different priorities.
    pub fn has_priorities(&self) -> bool {
        self.class_ranks().iter().any(|&rank| rank > 0)
    }

    /// The message classes of a job's packets: the class of its requests, and the class of its replies if that class differs.
    pub fn classes_of(&self, job: &Job) -> Vec<u8> {
        let named = |name: &str| self.classes.iter().position(|class| class.name == name).map(|class| class as u8);
        let reply = job.workload.model().reply_class().and_then(named);
        [job.class].into_iter().chain(reply.filter(|&reply| reply != job.class)).collect()
    }

    /// Refuses message classes and network interfaces that can't work. `path` returns the dotted path of a job, for the message.
    pub fn check_classes(&self, path: impl Fn(usize) -> String) -> Result<(), Refusal> {
        self.check_interface()?;
        if self.classes.len() > MAX_CLASSES {
            let what = format!("{} classes, but a run has at most {MAX_CLASSES} classes", self.classes.len());
            return Err(Refusal::new("classes", what, "join similar classes"));
        }
        let mut used = vec![false; self.classes.len()];
        for (j, job) in self.traffic.jobs.iter().enumerate() {
            self.check_reply_class(job, &path(j))?;
            for class in self.classes_of(job) {
                if let Some(used) = used.get_mut(usize::from(class)) {
                    *used = true;
                }
            }
        }
        if let Some(unused) = used.iter().position(|used| !used) {
            let name = &self.classes[unused].name;
            let what = format!("no job sends packets of class `{name}`");
            let help = format!("write `class: {name}` in a job or in `traffic`, or remove the class");
            return Err(Refusal::new(format!("classes.{name}"), what, help));
        }
        self.check_circles(path)
    }

    fn check_interface(&self) -> Result<(), Refusal> {
        let interface = &self.interface;
        if interface.queueing == Queueing::PerClass && self.classes.is_empty() {
            let what = "per_class, but there are no classes";
            let help = "write classes under `classes`, or write `queues: one`";
            return Err(Refusal::new("interface.queues", what, help));
        }
        if interface.queueing == Queueing::PerDestination && !(1..=MAX_QUEUES).contains(&interface.queues) {
            let what = format!("{} queues for destinations, but an interface has 1 to {MAX_QUEUES}", interface.queues);
            return Err(Refusal::new("interface.destinations", what, format!("write 1 to {MAX_QUEUES}")));
        }
        if matches!(interface.queueing, Queueing::PerDestination | Queueing::PerLane) && interface.depth == 0 {
            return Err(Refusal::new("interface.depth", "a queue for 0 packets sends no packet", "write 1 or more"));
        }
        if interface.rule == InjectionRule::Priority && !self.has_priorities() {
            let what = "priority, but no class has a higher priority than another";
            let help = "give a class a `priority`, such as `classes: {control: {priority: 1}, bulk: {}}`, or write `rule: round_robin`";
            return Err(Refusal::new("interface.rule", what, help));
        }
        let limited = self.classes.iter().find(|class| class.rate.is_some());
        if let Some(class) = limited.filter(|_| interface.queueing != Queueing::PerClass) {
            let what = "a rate belongs to a queue, but this class does not have its own queue";
            let help = "write `interface: {queues: per_class}`, or remove the rate";
            return Err(Refusal::new(format!("classes.{}.rate", class.name), what, help));
        }
        Ok(())
    }

    fn check_reply_class(&self, job: &Job, path: &str) -> Result<(), Refusal> {
        let model = job.workload.model();
        let Some(name) = model.reply_class() else { return Ok(()) };
        if self.classes.iter().any(|class| class.name == name) {
            return Ok(());
        }
        let names: Vec<_> = self.classes.iter().map(|class| format!("`{}`", class.name)).collect();
        let what = format!("there is no class `{name}`");
        let help = match names.as_slice() {
            [] => format!("add this class under `classes`: `classes: {{requests: {{}}, {name}: {{}}}}`"),
            names => format!("write one of {}, or add this class under `classes`", names.join(", ")),
        };
        Err(Refusal::new(format!("{path}.workload.{}.reply_class", job.workload.name()), what, help))
    }

    /// Refuses jobs whose packets might wait for each other in a cycle through the buffers of terminals.
    fn check_circles(&self, path: impl Fn(usize) -> String) -> Result<(), Refusal> {
        if self.allow_dependency_cycle {
            return Ok(());
        }
        let Some((j, what, help)) = self.circle_of_classes() else { return Ok(()) };
        let help =
            format!("{help}; with allow_dependency_cycle: true Weft runs the scenario anyway, to study the deadlock");
        let key = format!("{}.workload.{}.finite_buffers", path(j), self.traffic.jobs[j].workload.name());
        Err(Refusal::new(key, what, help))
    }

    /// Searches for a cycle of message classes whose requests occupy buffers at terminals and wait for each other. Returns a job of the
    /// cycle, the reason, and the remedy. Returns `None` if no such cycle exists.
    fn circle_of_classes(&self) -> Option<(usize, String, String)> {
        let sets = self.sets_of_classes();
        let waits: Vec<(usize, Vec<u8>)> = (0..)
            .zip(&self.traffic.jobs)
            .filter(|(_, job)| job.workload.model().keeps_requests())
            .map(|(j, job)| (j, self.classes_of(job)))
            .collect();
        let remedy = "give replies a class with its own VCs: write `classes: {requests: {}, replies: {}}`, `class: requests` in the job, \
                      and `reply_class: replies` next to `finite_buffers`";
        let name = |class: u8| format!("`{}`", self.classes[usize::from(class)].name);
        for (j, classes) in &waits {
            let [request, reply] = classes[..] else {
                let what = "requests occupy buffers until their replies have left, and replies use the VCs of requests: waiting requests \
                            block the replies that they wait for";
                return Some((*j, what.into(), remedy.into()));
            };
            if sets[usize::from(request)] == sets[usize::from(reply)] {
                let what = format!(
                    "classes {} and {} share VCs, and requests occupy buffers until their replies have left: waiting requests block the \
                     replies that they wait for",
                    name(request),
                    name(reply)
                );
                return Some((*j, what, format!("remove `vcs: shared` from {} or {}", name(request), name(reply))));
            }
            if !matches!(self.interface.queueing, Queueing::PerClass | Queueing::PerLane) {
                let what = "requests occupy buffers until their replies have left, and in the network interface a reply may wait behind a \
                            request: the replies may then never leave";
                return Some((*j, what.into(), "write `interface: {queues: per_class}`".into()));
            }
        }
        // each job is an edge from the set of its requests to the set of its replies; a path of edges back to its requests closes a cycle
        for (j, classes) in &waits {
            let (from, mut reached) = (sets[usize::from(classes[0])], vec![sets[usize::from(classes[1])]]);
            let mut k = 0;
            while let Some(&at) = reached.get(k) {
                let onward = waits.iter().filter(|(_, next)| sets[usize::from(next[0])] == at);
                let onward: Vec<usize> = onward.map(|(_, next)| sets[usize::from(next[1])]).collect();
                let new: Vec<usize> = onward.into_iter().filter(|to| !reached.contains(to)).collect();
                reached.extend(new);
                k += 1;
            }
            if reached.contains(&from) {
                let what = format!(
                    "classes depend on each other in a cycle: packets of {} wait for replies of {}, which wait for packets of {} in \
                     another job",
                    name(classes[0]),
                    name(classes[1]),
                    name(classes[0])
                );
                let help =
                    "give the replies of every such job a class that no job with `finite_buffers` uses for requests";
                return Some((*j, what, help.into()));
            }
        }
        None
    }

    /// The set of VCs for each message class, before the routing restricts the VCs.
    fn sets_of_classes(&self) -> Vec<usize> {
        let shared = self.classes.len();
        let set = |(number, class): (usize, &MessageClass)| if class.vcs == ClassVcs::Shared { shared } else { number };
        if self.classes.is_empty() { vec![0] } else { self.classes.iter().enumerate().map(set).collect() }
    }
}

/// The words "is 1 VC" or "are `count` VCs", for messages.
pub(crate) fn are_vcs(count: u32) -> String {
    if count == 1 { "is 1 VC".to_owned() } else { format!("are {count} VCs") }
}
