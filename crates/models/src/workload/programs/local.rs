//! The warning about messages between ranks of one node that take no time.

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
}

/// The end of a remedy that puts several ranks on a node.
pub(super) const FREE: &str =
    "; messages between ranks of a node take no time unless you write `local_latency` or `local_bandwidth`";

/// True if messages inside a node take no time, and the scenario does not say so.
pub(super) fn is_free(programs: &Programs) -> bool {
    let times = programs.interfaces();
    programs.local_latency.is_none() && is_no_time(&times.local_latency) && times.local_bandwidth.is_none()
}

/// Returns the warning about messages inside nodes, if there is one. A node has at most `each` ranks. `path` is the dotted path of the
/// workload.
pub(super) fn remark(programs: &Programs, path: &str, each: u32) -> Result<Option<Remark>, Refusal> {
    if each == 1 || !is_free(programs) {
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
