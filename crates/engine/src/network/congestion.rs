//! Builds the congestion control of a spec. It limits flows in queues per destination, and network interfaces keep one more queue for
//! notifications. Other specs are refused.

use crate::network::spec::Spec;
use std::sync::Arc;
use weft_api::classes::{MAX_QUEUES, Queueing};
use weft_api::congestion::{Control, LineSite};
use weft_units::Refusal;

const PATH: &str = "congestion_control";

impl Spec {
    /// The control of a run; `None` if sources send as fast as they can.
    pub(crate) fn control(&self) -> Result<Option<Arc<dyn Control>>, Refusal> {
        let site = LineSite { cycle_fs: self.cycle_fs, flit_bits: self.flit_bits, line: self.links[0].rate };
        let Some(control) = self.congestion.model().build(&site)? else { return Ok(None) };
        if self.interface.queueing != Queueing::PerDestination {
            let what = "it limits the rate to each terminal, and network interfaces have no queue per destination";
            return Err(Refusal::new(PATH, what, "write `interface: {queues: per_destination}`"));
        }
        if self.interface.queues >= MAX_QUEUES {
            let (queues, most) = (self.interface.queues, MAX_QUEUES - 1);
            let what = format!(
                "{queues} queues for destinations and one for notifications are {}; an interface has {MAX_QUEUES}",
                queues + 1
            );
            return Err(Refusal::new("interface.destinations", what, format!("write {most} or fewer")));
        }
        if !self.faults.is_empty() {
            let what = "notifications are not sent again when links or routers fail";
            return Err(Refusal::new(PATH, what, "leave faults out, or `congestion_control`"));
        }
        if self.keeps_packets() {
            let what =
                "packets keep their place at a terminal until they are answered, and notifications would wait for them";
            return Err(Refusal::new(
                PATH,
                what,
                "let terminals take any number of requests, or leave `congestion_control` out",
            ));
        }
        Ok(Some(control))
    }
}
