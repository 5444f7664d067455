//! Lists the modes in which a channel carries traffic, in the order of their rates.

use weft_api::state::rate::Rate;
use weft_api::state::{LinkState, Modes};
use weft_units::Refusal;

/// The modes that carry traffic, from the slowest one to `on`. `slowest`: the name of the slowest mode to use. `path`: the key of the
/// scenario that contains this name. Refuses a `slowest` that carries nothing or is not slower than `on`. Also refuses a run without a
/// slower mode that carries traffic, and two modes with the same rate.
pub fn rungs(modes: &Modes, slowest: Option<&str>, path: &str) -> Result<Vec<LinkState>, Refusal> {
    let rate = |state: LinkState| modes.rate(state);
    let slower = modes.named().filter(|&state| modes.carries(state) && rate(state).is_below(Rate::ONE));
    let mut rungs: Vec<LinkState> = slower.collect();
    rungs.sort_by(|&a, &b| rate(a).flits_times(rate(b).cycles()).cmp(&rate(b).flits_times(rate(a).cycles())));
    if let Some(slowest) = slowest {
        let state = modes.asked(slowest, path)?;
        let Some(place) = rungs.iter().position(|&rung| rung == state) else {
            let what = format!("the mode `{slowest}` does not carry traffic at a lower rate than `on`");
            return Err(Refusal::new(path, what, format!("write one of: {}", names(modes, &rungs))));
        };
        rungs.drain(..place);
    }
    if rungs.is_empty() {
        let what = "no mode of power.modes carries traffic at a lower rate than `on`";
        return Err(Refusal::new("power.modes", what, "add a mode, such as half: {rate: 1/2}"));
    }
    if let Some(pair) = rungs.windows(2).find(|pair| rate(pair[0]) == rate(pair[1])) {
        let what = format!("two steps of the ladder have the same rate: {}", names(modes, pair));
        return Err(Refusal::new("power.modes", what, "give each mode a different rate, or remove one mode"));
    }
    rungs.push(LinkState::On);
    Ok(rungs)
}

fn names(modes: &Modes, rungs: &[LinkState]) -> String {
    rungs.iter().map(|&rung| modes.name(rung)).collect::<Vec<_>>().join(", ")
}
