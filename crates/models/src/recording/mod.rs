//! Recordings: tables about a run that a scenario requests under `measure`. Each recording is one file, and has one line in this file.

weft_units::registry! {
    /// Every recording.
    pub enum RecordingConfig as RecordingModel declares TABLE: TableInfo, with examples, open to AddedRecording:
    "transient" => transient::Transient,
    "series" => series::Series,
    "link_states" => link_states::LinkStates,
    "control_packets" => control_packets::ControlPackets,
    "router_sleep" => router_sleep::RouterSleep,
    "flows" => flows::Flows,
    "occupancy" => occupancy::Occupancy,
    "rank_states" => rank_states::RankStates,
    "message_times" => message_times::MessageTimes,
}

pub use weft_api::control::{ControlKind, ControlPacket};
pub use weft_api::recording::{
    Asked, ChannelUse, ChannelUses, Column, ControlArrival, Heading, Kind, NetworkSite, Packet, Reading, Receiver,
    Recorded, Recorder, RecorderSite, Recording, RecordingModel, Sender, Table, TableInfo, TerminalSet,
};

impl RecordingConfig {
    /// Descriptions of the tables of all recordings, by name.
    pub fn tables() -> impl Iterator<Item = (&'static str, TableInfo)> {
        Self::declared()
    }

    /// Description of the table of this recording.
    pub fn table(&self) -> TableInfo {
        self.declares()
    }

    /// Converts this recording into a request that a run can carry out.
    pub fn asked(&self) -> Asked {
        Asked { name: self.name(), model: self.model().share() }
    }
}
