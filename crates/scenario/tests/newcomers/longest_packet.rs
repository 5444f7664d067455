//! A recording that only tests use. Its table has the length of the longest packet that was
//! delivered in each time span.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_engine::kept::Kept;
use weft_engine::recording::{
    Column, Heading, Kind, NetworkSite, Packet, Recorded, Recorder, RecorderSite, Recording, Table, TableInfo,
};
use weft_units::{Refusal, Time};

/// The parameters of the recording.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LongestPacket {
    /// Length of a span [time].
    pub every: Time,
}

impl Recording for LongestPacket {
    const TABLE: TableInfo = TableInfo {
        meaning: "longest packet by time of delivery",
        rows: "A row per span of time, over the whole run.",
        bounded: false,
        in_summary: false,
        columns: || vec![Heading::new("packet_flits", Kind::Count, "flits", "the longest packet; 0 without packets")],
    };
    const HEARS_DELIVERIES: bool = true;
    type Part = Longest;

    fn part(&self, network: &NetworkSite, _: &RecorderSite, path: &str) -> Result<Longest, Refusal> {
        Ok(Longest { every: network.cycles(self.every, &format!("{path}.every"))?, flits: Vec::new() })
    }

    fn table(&self, parts: Vec<Longest>, _: &Recorded) -> Table {
        let spans = parts.iter().map(|part| part.flits.len()).max().unwrap_or(0);
        let longest = |span: usize| parts.iter().filter_map(|part| part.flits.get(span)).max().copied().unwrap_or(0);
        Table::whole([("packet_flits", Column::Counts((0..spans).map(longest).collect()))])
    }

    fn examples() -> Vec<Self> {
        vec![Self { every: Time::Cycles(100) }]
    }
}

/// The longest packets that were delivered in one block of the network.
#[derive(Debug, Kept)]
pub struct Longest {
    every: u64,
    flits: Vec<u64>,
}

impl Recorder for Longest {
    fn delivered(&mut self, packet: &Packet, at: u64, _inside: bool) {
        let span = (at / self.every) as usize;
        self.flits.resize(self.flits.len().max(span + 1), 0);
        self.flits[span] = self.flits[span].max(packet.len.into());
    }
}
