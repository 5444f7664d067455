//! Code that all topologies with global links share: the largest number of groups, and the possible arrangements.

use crate::Arrangement;
use weft_units::Refusal;

/// The global ports of a group: `routers` routers with `links` global links each, and the scenario keys that set these two numbers.
pub(crate) struct GlobalPorts {
    pub routers: u32,
    pub links: u32,
    pub keys: [&'static str; 2],
}

impl GlobalPorts {
    /// The number of groups in the scenario. If the scenario gives none, the largest possible number, which is one more than the number of
    /// global ports of a group.
    pub fn groups(&self, asked: Option<u32>, path: &str) -> Result<u32, Refusal> {
        let Self { routers, links, keys: [routers_key, links_key] } = *self;
        let ports = routers * links;
        let (groups, most) = (asked.unwrap_or(ports + 1), ports + 1);
        if (2..=most).contains(&groups) {
            return Ok(groups);
        }
        let what = match groups {
            0 | 1 => format!("the number of groups is {groups}, not 2 to {most}"),
            _ => {
                let there_are = format!("{routers} routers x {links} links give {ports}");
                format!("{groups} groups need {} global links per group; {there_are}", groups - 1)
            }
        };
        let help = format!("use 2 to {most} groups, or change {routers_key} or {links_key}");
        Err(Refusal::new(format!("{path}.groups"), what, help))
    }

    /// Checks the `circulant` arrangement. Its links come in pairs on two ports of the same router. In group i, one of these ports leads to
    /// group i + d, and the other port to group i - d.
    pub fn check(&self, arrangement: Arrangement, groups: u32, path: &str) -> Result<(), Refusal> {
        let Self { routers, links, keys: [_, links_key] } = *self;
        if arrangement != Arrangement::Circulant {
            return Ok(());
        }
        if links % 2 == 1 {
            let what = format!(
                "{links} global links per router is an odd number, but circulant needs pairs of links: from group i to \
                 i + d and to i - d"
            );
            let help = "use an even number, or another arrangement";
            return Err(Refusal::new(format!("{path}.{links_key}"), what, help));
        }
        let others = groups - 1;
        let copies = routers * links / others;
        if copies > 1 && groups.is_multiple_of(2) {
            let what = format!(
                "{groups} groups with floor({routers} x {links} / {others}) = {copies} links per pair of groups: circulant \
                 can't pair the {others} links from a group to the others"
            );
            let help = "use an odd number of groups, or another arrangement";
            return Err(Refusal::new(format!("{path}.groups"), what, help));
        }
        Ok(())
    }
}
