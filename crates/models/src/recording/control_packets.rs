//! Records each control packet of the power policy. By control packets, routers agree on the states of links.
//!
//! A packet is recorded when it is sent, and again when it arrives, possibly in another block of the simulation. The limit `max_packets`
//! applies to the packets of all blocks together. Therefore the table does not depend on the division into blocks.
//!
//! # Source
//! None. The table lists the packets that the agents of a power policy send.
//! # Parameters
//! `max_packets` [packets]: largest number of packets to record.
//! # Guarantees
//! Rows are in the order in which packets were sent. If more than `max_packets` packets are sent, the table ends, for all routers, before
//! the cycle in which the limit is exceeded.
//! # Not modelled
//! The path of a packet. Only the number of links that it crossed is recorded.
//! # Validation
//! `engine/tests/tcep.rs` checks the packets of small examples one by one, and that every link that a packet crosses is counted. It also
//! checks that the rows are the same for any number of blocks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use weft_api::base::kept::Kept;
use weft_api::control::ControlPacket;
use weft_api::recording::{
    Column, ControlArrival, Heading, Kind, NetworkSite, Recorded, Recorder, RecorderSite, Recording, Table, TableInfo,
    most_rows,
};
use weft_units::Refusal;

/// A row for each control packet that the power policy sent in the whole run, saved as control_packets.parquet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ControlPackets {
    /// Largest number of packets to record, 1 to 100000000. The table ends, for all routers, before the cycle in which the limit is
    /// exceeded.
    #[schemars(range(min = 1, max = 100_000_000))]
    pub max_packets: u32,
}

impl Default for ControlPackets {
    fn default() -> Self {
        Self { max_packets: 1_000_000 }
    }
}

impl Recording for ControlPackets {
    const TABLE: TableInfo = TableInfo {
        meaning: "control packets that routers sent to each other for the power policy",
        rows: "A row per control packet of the power policy, over the whole run, in the order of sending. A control packet is a single \
               flit from a router to another router of its subnetwork (routers that are all neighbours: a row along a dimension, or a \
               group). If the policy sends no control packets, the table is empty.",
        bounded: true,
        in_summary: false,
        columns: headings,
    };
    type Part = Log;

    fn part(&self, _: &NetworkSite, _: &RecorderSite, path: &str) -> Result<Log, Refusal> {
        let most = most_rows(self.max_packets, &format!("{path}.max_packets"))?;
        Ok(Log { sent: Vec::new(), arrivals: Vec::new(), most })
    }

    fn table(&self, mut parts: Vec<Log>, run: &Recorded) -> Table {
        for arrival in parts.iter_mut().flat_map(|log| std::mem::take(&mut log.arrivals)).collect::<Vec<_>>() {
            // a packet that was sent after the record was full has no entry in `sent`
            if let Some(packet) = parts[arrival.block as usize].sent.get_mut(arrival.number as usize) {
                packet.arrival = Some((arrival.cycle, arrival.hops));
            }
        }
        let mut packets: Vec<_> = parts.into_iter().flat_map(|log| log.sent).collect();
        packets.sort_unstable();
        let cut = packets.get(self.max_packets as usize).map(|packet| packet.cycle);
        packets.retain(|packet| cut.is_none_or(|cut| packet.cycle < cut));
        Table::bounded(columns(&packets, &run.network.classes), cut.is_none())
    }

    fn examples() -> Vec<Self> {
        vec![Self::default()]
    }
}

fn headings() -> Vec<Heading> {
    let ranks = "Two values are not counts, and rank above all counts: 4294967294 means that the link belongs to a star or to a router \
                 that has returned; 4294967295 means that, since a fault, packets have no path without the link. Remove these two values \
                 before adding up";
    let value = format!(
        "for requests: the number by which routers compare requests. `activate`, `activate_yours`: flits that took a detour because the \
         link was off; `deactivate`: minimal traffic of the link. {ranks}. Null for packets that are not requests"
    );
    let about = "the packet is about the link from the sender (`activate_yours`: from the receiver) to this router; null if it is about \
                 the link between sender and receiver, and for `hub`";
    let flag = "1 if `state` means active, `fault` means failed, or `ack` or `nack` answers `activate_yours`; else 0";
    let arrived = "time of arrival at the receiving router; null if the packet was in flight at the end of the run, or the receiver had \
                   failed";
    let hops = "links that the packet crossed; 0 if it arrived on side channels, because it could not continue on a link; null if it has \
                not arrived";
    vec![
        Heading::new("sent_cycle", Kind::Count, "cycles", "time at which the packet left the sending router"),
        Heading::new("arrived_cycle", Kind::MaybeCount, "cycles", arrived),
        Heading::new("kind", Kind::Text, "", "kind of the control packet, as the policy names it"),
        Heading::new("from_router", Kind::Router, "", "router that sent the packet"),
        Heading::new("to_router", Kind::Router, "", "router to which the packet was sent"),
        Heading::new("link_class", Kind::Text, "", "class of the links of the subnetwork of both routers"),
        Heading::new("about_router", Kind::Router, "", about),
        Heading::new("flag", Kind::Count, "", flag),
        Heading::new("value_flits", Kind::MaybeCount, "flits", value),
        Heading::new("hops", Kind::MaybeCount, "links", hops),
    ]
}

fn columns(packets: &[ControlPacket], classes: &[Arc<str>]) -> [(&'static str, Column); 10] {
    let each = |of: &dyn Fn(&ControlPacket) -> u64| Column::Counts(packets.iter().map(of).collect());
    let maybe = |of: &dyn Fn(&ControlPacket) -> Option<u64>| Column::MaybeCounts(packets.iter().map(of).collect());
    let router = |of: &dyn Fn(&ControlPacket) -> Option<u32>| Column::Routers(packets.iter().map(of).collect());
    let texts = |of: &dyn Fn(&ControlPacket) -> Arc<str>| Column::Texts(packets.iter().map(of).collect());
    [
        ("sent_cycle", each(&|packet| packet.cycle)),
        ("arrived_cycle", maybe(&|packet| packet.arrival.map(|(cycle, _)| cycle))),
        ("kind", texts(&|packet| packet.kind.name.into())),
        ("from_router", router(&|packet| Some(packet.from))),
        ("to_router", router(&|packet| Some(packet.to))),
        ("link_class", texts(&|packet| classes[usize::from(packet.class)].clone())),
        ("about_router", router(&|packet| packet.about)),
        ("flag", each(&|packet| packet.flag.into())),
        ("value_flits", maybe(&|packet| packet.value.map(u64::from))),
        ("hops", maybe(&|packet| packet.arrival.map(|(_, hops)| hops.into()))),
    ]
}

/// The control packets that a block has recorded.
#[derive(Debug, Kept)]
pub struct Log {
    /// Sent control packets, indexed by their number.
    sent: Vec<ControlPacket>,
    arrivals: Vec<ControlArrival>,
    #[kept(fixed)]
    most: usize,
}

impl Recorder for Log {
    /// Stores up to one packet more than the limit. The sending cycle of this additional packet is the one in which the limit is exceeded.
    fn control_sent(&mut self, _: u32, packet: &ControlPacket) {
        if self.sent.len() <= self.most {
            self.sent.push(*packet);
        }
    }

    fn control_arrived(&mut self, arrival: ControlArrival) {
        if arrival.number as usize <= self.most {
            self.arrivals.push(arrival);
        }
    }
}
