//! The modes that the channels of a run can have. A mode has a name, a rate, and a flag for traffic.
//!
//! The table of modes begins with the roles that policies and routings use ([`LinkState::ROLES`]). The modes that the scenario lists under
//! `power.modes` follow, in the order of the scenario. If the scenario lists none, the modes `half` and `quarter` follow.

use super::LinkState;
use super::rate::{MAX_PERIOD, Rate};
use std::sync::Arc;
use weft_units::{Refusal, gcd};

/// Maximum number of modes of a run, including the roles.
pub const MAX_MODES: usize = 64;
/// Maximum of the numerator and of the denominator of a mode's rate. The two terms of a link's rate are at most [`MAX_PERIOD`] = 2^16.
/// Therefore the terms of the product of both rates are at most 2^28, and sums of two such terms in `Pace` fit into 32 bits.
pub const MAX_PARTS: u128 = 1 << 12;

/// A mode that the channels of a run can have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mode {
    /// Name of the mode in scenarios, columns, plots and messages.
    pub name: Arc<str>,
    /// Rate at which a channel in this mode carries flits, as a share of its link class's bandwidth.
    pub rate: Rate,
    /// Whether a channel in this mode carries traffic.
    pub carries: bool,
}

impl Mode {
    /// A mode in which channels carry traffic at `rate`, a share of the bandwidth.
    pub fn carrying(name: &str, rate: Rate) -> Self {
        Self { name: name.into(), rate, carries: true }
    }

    /// A mode in which channels carry no flits.
    pub fn dark(name: &str) -> Self {
        Self { name: name.into(), rate: Rate::ONE, carries: false }
    }

    fn of_role(role: LinkState) -> Self {
        let name = LinkState::ROLE_NAMES[usize::from(role.number())];
        match role {
            LinkState::On | LinkState::Shadow | LinkState::Draining => Self::carrying(name, Rate::ONE),
            LinkState::Off | LinkState::Waking | LinkState::Named(_) => Self::dark(name),
        }
    }
}

/// The table of the modes of a run, indexed by their numbers. All copies of `Modes` share one table in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Modes(Arc<[Mode]>);

impl Default for Modes {
    /// The table for a scenario that lists no modes.
    fn default() -> Self {
        let slower = [("half", 2), ("quarter", 4)];
        Self::with(slower.map(|(name, parts)| Mode::carrying(name, Rate::ONE.over(parts))))
    }
}

impl Modes {
    /// A table with all roles first, and then the modes `named`.
    fn with(named: impl IntoIterator<Item = Mode>) -> Self {
        Self(LinkState::ROLES.map(Mode::of_role).into_iter().chain(named).collect())
    }

    /// A table with the modes `named`, which the scenario lists at `path`. Refuses names that other modes have, rates above 1, and too many
    /// modes.
    pub fn new(named: Vec<Mode>, path: &str) -> Result<Self, Refusal> {
        let most = MAX_MODES - LinkState::ROLES.len();
        if named.len() > most {
            let what = format!("{} modes are given, but a run has room for {most}", named.len());
            return Err(Refusal::new(path, what, format!("write at most {most}")));
        }
        for (place, mode) in named.iter().enumerate() {
            let at = || format!("{path}.{place}.name");
            if LinkState::ROLE_NAMES.contains(&&*mode.name) {
                let what = format!("every run already has a mode `{}`", mode.name);
                return Err(Refusal::new(
                    at(),
                    what,
                    "write another name, such as `low`; the prices of the existing mode are in power.prices",
                ));
            }
            if named[..place].iter().any(|other| other.name == mode.name) {
                let what = format!("two modes have the name `{}`", mode.name);
                return Err(Refusal::new(at(), what, "give each mode a different name"));
            }
        }
        Ok(Self::with(named))
    }

    /// Number of modes.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// All modes, in the order of their numbers.
    pub fn all(&self) -> impl ExactSizeIterator<Item = LinkState> + Clone + use<> {
        (0..self.0.len() as u8).map(LinkState::of)
    }

    /// The modes after the roles, in the order of their numbers.
    pub fn named(&self) -> impl ExactSizeIterator<Item = LinkState> + Clone + use<> {
        self.all().skip(LinkState::ROLES.len())
    }

    pub fn mode(&self, state: LinkState) -> &Mode {
        &self.0[usize::from(state.number())]
    }

    pub fn name(&self, state: LinkState) -> &str {
        &self.mode(state).name
    }

    /// Names of all modes, in the order of their numbers.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|mode| &*mode.name)
    }

    /// Rate at which a channel in this state carries flits, as a share of the bandwidth.
    pub fn rate(&self, state: LinkState) -> Rate {
        self.mode(state).rate
    }

    /// Whether a channel in this state carries traffic.
    pub fn carries(&self, state: LinkState) -> bool {
        self.mode(state).carries
    }

    /// The lowest rate of these states; 1 if there is no state.
    pub fn slowest(&self, states: &[LinkState]) -> Rate {
        states.iter().map(|&state| self.rate(state)).fold(Rate::ONE, |a, b| if b.is_below(a) { b } else { a })
    }

    /// The mode with the name `name`; `None` if the table has none.
    pub fn find(&self, name: &str) -> Option<LinkState> {
        self.all().find(|&state| self.name(state) == name)
    }

    /// The mode with the name `name`, which a policy's parameter at `path` contains: `off`, or a mode that the scenario lists. Refuses
    /// names of other modes, in which links never stay, and names that no mode has.
    pub fn asked(&self, name: &str, path: &str) -> Result<LinkState, Refusal> {
        let valid = || std::iter::once(LinkState::Off).chain(self.named());
        if let Some(found) = valid().find(|&state| self.name(state) == name) {
            return Ok(found);
        }
        let names: Vec<&str> = valid().map(|state| self.name(state)).collect();
        let what = match self.find(name) {
            Some(_) => format!("links only pass through the mode `{name}` and never stay in it"),
            None => format!("no mode has the name `{name}`"),
        };
        let help = format!("write one of: {}; or add {{name: {name}, rate: 1/2}} to power.modes", names.join(", "));
        Err(Refusal::new(path, what, help))
    }
}

/// The rate of a mode: the share `parts / of` of the bandwidth. Refuses a share of 0 or above 1, and terms that are too large. `path`: the
/// key of the share in the scenario.
pub fn share(parts: u128, of: u128, path: &str) -> Result<Rate, Refusal> {
    if parts == 0 || of == 0 {
        let what = "with a rate of 0, the mode would carry traffic that never arrives";
        return Err(Refusal::new(path, what, "write a rate above 0, such as 1/12, or write carries: false instead"));
    }
    let common = gcd(parts, of);
    let (parts, of) = (parts / common, of / common);
    if parts > of {
        let what = format!("{parts}/{of} exceeds the bandwidth of the link");
        let help = "write at most 1: links.*.bandwidth is the rate of a link that is on";
        return Err(Refusal::new(path, what, help));
    }
    if of > MAX_PARTS {
        let what = format!("{parts}/{of}: the denominator of the rate of a mode is at most {MAX_PARTS}");
        let near = (parts * MAX_PARTS / of).max(1);
        return Err(Refusal::new(path, what, format!("write a simpler rate, such as {near}/{MAX_PARTS}")));
    }
    Rate::new(parts, of, path)
}

const _: () = assert!(MAX_PERIOD * MAX_PARTS <= 1 << 28);
