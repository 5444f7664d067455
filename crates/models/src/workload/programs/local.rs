//! Warnings about messages between ranks of one node: such messages take no time, or the scenario has keys for them although there are
//! none.

use super::{Programs, is_no_time};
use weft_units::{Refusal, Remark};

weft_units::codes! {
    LOCAL_MESSAGES_TAKE_NO_TIME = "local_messages_take_no_time", Warning,
        means: "Several ranks of a program share a node, and messages between these ranks take no time. The run time of the program is \
                then too short.",
        computed: "By default `local_latency` is 0, and `local_bandwidth` has no limit. A preset `interface` can give them other values. \
                   Each message still costs the processor time `overhead` at both ends. The number is the largest number of ranks that \
                   one node has.",
        helps: "Write `local_latency` and `local_bandwidth`, or an `interface` that sets them. If messages inside a node shall take no \
                time, write `local_latency: 0ns`.";
    NO_LOCAL_MESSAGES = "no_local_messages", Warning,
        means: "`local_latency` or `local_bandwidth` has no effect. Every node has only one rank of the program, and no rank sends \
                messages to itself, so all messages use the network.",
        computed: "The keys apply to messages inside a node. `ranks_per_terminal` gives the number of ranks of a node, and its \
                   default is 1. If programs share nodes, `cores_per_node` can also give this number.",
        helps: "Leave the key out, or write a larger `ranks_per_terminal`.";
}

/// The last part of a remedy that proposes several ranks per node.
pub(super) const FREE: &str =
    "; messages between ranks of a node take no time unless you write `local_latency` or `local_bandwidth`";

/// True if messages inside a node take no time, although the scenario does not request this with `local_latency`.
pub(super) fn is_free(programs: &Programs) -> bool {
    let times = programs.interfaces();
    programs.local_latency.is_none() && is_no_time(&times.local_latency) && times.local_bandwidth.is_none()
}

/// Returns the warning about messages inside nodes, if there is one, for nodes with at most `each` ranks. `path`: the dotted path of the
/// workload.
pub(super) fn remark(programs: &Programs, path: &str, each: u32) -> Result<Option<Remark>, Refusal> {
    if each == 1 {
        return without_effect(programs, path);
    }
    if !is_free(programs) {
        return Ok(None);
    }
    let counted = programs.counted(path)?;
    let together = each.min(counted.ranks);
    Ok((together > 1 && counted.has_messages).then(|| {
        let besides = if is_no_time(&programs.interfaces().overhead) { "" } else { " besides `overhead`" };
        let what = format!("{together} ranks share a node, and messages between them take no time{besides}");
        let help = "write `local_latency`, such as 500ns, and `local_bandwidth`, such as 900Gb/s, with the values of your nodes; if these \
                    messages shall take no time, write `local_latency: 0ns`";
        let numbers = [("ranks_of_node", f64::from(together))];
        Remark::new(&LOCAL_MESSAGES_TAKE_NO_TIME, format!("{path}.local_latency"), numbers, what, help)
    }))
}

/// Returns the warning about keys for messages inside nodes, if the scenario has such keys although every node has only one rank.
fn without_effect(programs: &Programs, path: &str) -> Result<Option<Remark>, Refusal> {
    let keys =
        [("local_latency", programs.local_latency.is_some()), ("local_bandwidth", programs.local_bandwidth.is_some())];
    let written: Vec<&str> = keys.iter().filter(|(_, is_written)| *is_written).map(|(key, _)| *key).collect();
    let Some(first) = written.first() else { return Ok(None) };
    if programs.counted(path)?.sends_to_itself {
        return Ok(None);
    }
    let (has, listed) = (if written.len() > 1 { "have" } else { "has" }, written.join(" and "));
    let what = format!("{listed} {has} no effect: every node has one rank, so all messages use the network");
    let help = format!("leave {listed} out, or write `ranks_per_terminal`, such as 2");
    Ok(Some(Remark::new(&NO_LOCAL_MESSAGES, format!("{path}.{first}"), [], what, help)))
}
