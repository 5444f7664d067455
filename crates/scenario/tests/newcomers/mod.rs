//! A recording that no code in Weft knows, except its file and its line here.

use weft_engine::recording::{Recording, RecordingModel, TableInfo};

weft_units::registry! {
    /// A registry with one member.
    pub enum NewcomerConfig as RecordingModel declares TABLE: TableInfo, with examples:
    "longest_packet" => longest_packet::LongestPacket,
}
