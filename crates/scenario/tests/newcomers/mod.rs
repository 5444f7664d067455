//! A registry with a recording for tests: no code in Weft knows it, except its file and its line here.

use weft_engine::recording::{Recording, RecordingModel, TableInfo};

weft_units::registry! {
    /// The registry, with this recording as its only member.
    pub enum NewcomerConfig as RecordingModel declares TABLE: TableInfo, with examples:
    "longest_packet" => longest_packet::LongestPacket,
}
