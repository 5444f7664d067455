//! The warning about a run in which no packet crossed a link that the power policy manages.

use crate::warning::Warning;
use weft_engine::Spec;
use weft_engine::outcome::{ChannelCount, Ending, Outcome};

weft_units::codes! {
    NO_MANAGED_LINK_USED = "no_managed_link_used", Warning,
        means: "No packet crossed a link that the power policy manages. Latencies and run times do not depend on the policy, and the \
                energy says nothing about the policy under load.",
        computed: "The channels of the classes in `power.manages` carried 0 flits in the window, and packets were delivered over other \
                   links. If the policy sends control packets, the code appears only if no packet crossed any link between routers.",
        helps: "Place the terminals of the jobs so that packets cross these links, or name the classes that carry packets in \
                `power.manages`.";
}

/// Warns if the policy can switch links, but no packet crossed these links.
pub(crate) fn warning(spec: &Spec, outcome: &Outcome) -> Option<Warning> {
    let is_managed = |channel: &&ChannelCount| spec.managed[usize::from(channel.class)];
    let carried = |channel: &ChannelCount| channel.flits.iter().any(|&flits| flits > 0);
    let managed: Vec<_> = outcome.channels.iter().filter(is_managed).collect();
    let control = outcome.control.as_ref().map_or(0, |count| count.flit_hops);
    let hops = outcome.sums.hops;
    // Channels count only the flits of the window, but packets that were created in the window can cross links after it. If no link
    // between routers carried a flit in the window, it is unknown which links these packets crossed.
    let between = |channel: &ChannelCount| channel.from.is_some() && channel.to.is_some();
    let is_late = hops > 0 && !outcome.channels.iter().any(|channel| between(channel) && carried(channel));
    // the flits of channels include control packets. If there are control packets, the hops of packets therefore decide
    let is_used = if control > 0 { hops > 0 } else { is_late || managed.iter().any(|channel| carried(channel)) };
    // packets that have not arrived may wait for these links
    let all_arrived = outcome.ending == Ending::Drained;
    if !spec.switches_links() || managed.is_empty() || is_used || outcome.sums.packets == 0 || !all_arrived {
        return None;
    }
    let names = spec.graph.class_names();
    let carries = |class: usize| outcome.channels.iter().any(|each| usize::from(each.class) == class && carried(each));
    let able: Vec<&str> = (1..names.len()).filter(|&class| carries(class)).map(|class| &*names[class]).collect();
    let what = format!(
        "{} packets were delivered, but none crossed one of the {} channels that {} manages: results under load do not \
         depend on the policy",
        outcome.sums.packets,
        managed.len(),
        spec.policy.name()
    );
    let terminals = spec.traffic.jobs.first().map_or(0, |job| job.terminals.len());
    let other = match able.is_empty() || control > 0 {
        true => String::new(),
        false => format!(", or write `power.manages: [{}]`", able.join(", ")),
    };
    let help = format!(
        "let packets cross these links: choose a pattern or other terminals in `traffic.jobs.N.terminals`, such as \
         `{{random: {{count: {terminals}}}}}`{other}"
    );
    let numbers = [("packets", outcome.sums.packets as f64), ("managed_channels", managed.len() as f64)];
    Some(Warning::new(&NO_MANAGED_LINK_USED, "power.policy", numbers, what, help))
}
