//! Combines the recorded calls of all ranks into one program.

use super::recorder::Recorder;
use super::{Assumptions, Converted, blocks, comms, matching};
use crate::form::{Program, RankProgram};
use std::sync::Arc;
use weft_units::Refusal;

/// Returns the program for the recorded calls of all ranks. `recorders` has one recorder per rank,
/// in the order of the ranks.
pub fn assemble(mut recorders: Vec<Recorder>) -> Result<Converted, Refusal> {
    let created: Vec<_> = recorders.iter_mut().map(|recorder| std::mem::take(&mut recorder.created)).collect();
    let own: Vec<Option<u16>> = recorders.iter().map(|recorder| recorder.own).collect();
    let counts: Vec<u16> = recorders.iter().map(|recorder| recorder.comms).collect();
    let unnamed: Vec<_> = recorders.iter_mut().map(|recorder| std::mem::take(&mut recorder.unnamed)).collect();
    let comms = comms::resolve(&created, &unnamed, &own, &counts)?;
    check_peers(&recorders, &comms)?;
    blocks::complete(&mut recorders, &comms)?;
    let mut assumptions: Assumptions = matching::complete(&mut recorders, &comms);
    let mut ranks = Vec::with_capacity(recorders.len());
    for (recorder, comms) in recorders.into_iter().zip(comms) {
        for (assumed, count) in recorder.assumptions {
            *assumptions.entry(assumed).or_default() += count;
        }
        ranks.push(RankProgram { ops: Arc::new(recorder.calls.finish()), comms });
    }
    let program = Program { ranks };
    program.check()?;
    Ok(Converted { program, assumptions })
}

/// Refuses messages whose receiver or sender is not in the communicator of the message.
fn check_peers(recorders: &[Recorder], comms: &[Vec<crate::form::Comm>]) -> Result<(), Refusal> {
    for (rank, recorder) in recorders.iter().enumerate() {
        for op in recorder.calls.ops() {
            let size =
                usize::from(op.comm()).checked_sub(1).map_or(recorders.len(), |place| comms[rank][place].members.len());
            if let Some(peer) = op.peer().filter(|&peer| peer as usize >= size) {
                let what = format!("a call names rank {peer}, but its communicator has {size} ranks");
                let help = "the trace is damaged or lacks files of ranks: copy or record the trace again";
                return Err(Refusal::new(format!("rank {rank}"), what, help));
            }
        }
    }
    Ok(())
}
