//! A registry with a recording that only tests use. The recording needs only its file and its line in
//! this registry.

use weft_engine::recording::{Recording, RecordingModel, TableInfo};

weft_units::registry! {
    /// The registry, with this recording as its only member.
    pub enum NewcomerConfig as RecordingModel declares TABLE: TableInfo, with examples:
    "longest_packet" => longest_packet::LongestPacket,
}
