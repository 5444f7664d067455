//! The registry of workloads. A workload decides which packets the terminals of a job send, and when. Several workloads get the random
//! times of their packets from clocks (`api/src/clocks.rs`).

weft_units::registry! {
    /// Every workload.
    pub enum WorkloadConfig as WorkloadModel, with examples, open to AddedWorkload:
    "open_loop" => open_loop::OpenLoop,
    "request_reply" => request_reply::RequestReply,
    "programs" => programs::Programs,
    "scheduler" => scheduler::Scheduler,
}

use weft_api::workload::WorkloadModel;

impl Default for WorkloadConfig {
    fn default() -> Self {
        Self::OpenLoop(open_loop::OpenLoop {})
    }
}
