//! The modes that the channels of a run can be in: a name, a rate, and whether they carry traffic.
//!
//! Every table begins with the roles that policies and routings know ([`LinkState::ROLES`]). The other modes are those that
//! the scenario names under `power.modes`, in its order. A scenario that names none has `half` and `quarter`.

use super::LinkState;
use super::rate::{MAX_PERIOD, Rate};
use std::sync::Arc;
use weft_units::{Refusal, gcd};

/// Most modes of a run, roles included.
pub const MAX_MODES: usize = 64;
/// Largest numerator and denominator of the rate of a mode. Times the rate of a link, whose terms are at most [`MAX_PERIOD`],
/// it has terms of at most 2^28. So sums of two terms in `Pace` fit 32 bits.
pub const MAX_PARTS: u128 = 1 << 12;

/// A mode of the channels of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mode {
    /// Its name in scenarios, columns, plots and messages.
    pub name: Arc<str>,
    /// Share of the bandwidth of its link class at which it carries flits.
    pub rate: Rate,
    /// Whether traffic passes.
    pub carries: bool,
}

impl Mode {
    /// A mode that carries traffic at a share of the bandwidth.
    pub fn carrying(name: &str, rate: Rate) -> Self {
        Self { name: name.into(), rate, carries: true }
    }

    /// A mode in which no flit crosses the channel.
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

/// The modes of a run, by their numbers. Copies share one table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Modes(Arc<[Mode]>);

impl Default for Modes {
    /// The table of a scenario that names no modes.
    fn default() -> Self {
        let slower = [("half", 2), ("quarter", 4)];
        Self::with(slower.map(|(name, parts)| Mode::carrying(name, Rate::ONE.over(parts))))
    }
}

impl Modes {
    /// The roles, then `named`.
    fn with(named: impl IntoIterator<Item = Mode>) -> Self {
        Self(LinkState::ROLES.map(Mode::of_role).into_iter().chain(named).collect())
    }

    /// A table with the modes that a scenario names at `path`. Refuses names that are taken, rates above 1, and too many modes.
    pub fn new(named: Vec<Mode>, path: &str) -> Result<Self, Refusal> {
        let most = MAX_MODES - LinkState::ROLES.len();
        if named.len() > most {
            let what = format!("{} modes, and a run has room for {most}", named.len());
            return Err(Refusal::new(path, what, format!("write at most {most}")));
        }
        for (place, mode) in named.iter().enumerate() {
            let at = || format!("{path}.{place}.name");
            if LinkState::ROLE_NAMES.contains(&&*mode.name) {
                let what = format!("every run has a mode `{}` already", mode.name);
                return Err(Refusal::new(
                    at(),
                    what,
                    "write another name, such as `low`; prices of it are in power.prices",
                ));
            }
            if named[..place].iter().any(|other| other.name == mode.name) {
                let what = format!("two modes have the name `{}`", mode.name);
                return Err(Refusal::new(at(), what, "give each mode a name of its own"));
            }
        }
        Ok(Self::with(named))
    }

    /// How many modes there are.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// All modes, in the order of their numbers.
    pub fn all(&self) -> impl ExactSizeIterator<Item = LinkState> + Clone + use<> {
        (0..self.0.len() as u8).map(LinkState::of)
    }

    /// The modes that are no role of every run.
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

    /// Share of the bandwidth at which a channel in this state carries flits.
    pub fn rate(&self, state: LinkState) -> Rate {
        self.mode(state).rate
    }

    /// Whether traffic passes.
    pub fn carries(&self, state: LinkState) -> bool {
        self.mode(state).carries
    }

    /// The slowest rate of these states; 1 if there is none.
    pub fn slowest(&self, states: &[LinkState]) -> Rate {
        states.iter().map(|&state| self.rate(state)).fold(Rate::ONE, |a, b| if b.is_below(a) { b } else { a })
    }

    /// The mode with this name.
    pub fn find(&self, name: &str) -> Option<LinkState> {
        self.all().find(|&state| self.name(state) == name)
    }

    /// The mode `name` for which a policy asks at `path`: `off`, or one of those that the scenario names. Refuses other roles
    /// and names that no mode has.
    pub fn asked(&self, name: &str, path: &str) -> Result<LinkState, Refusal> {
        let valid = || std::iter::once(LinkState::Off).chain(self.named());
        if let Some(found) = valid().find(|&state| self.name(state) == name) {
            return Ok(found);
        }
        let names: Vec<&str> = valid().map(|state| self.name(state)).collect();
        let what = match self.find(name) {
            Some(_) => format!("links pass through the mode `{name}`, and do not rest in it"),
            None => format!("no mode has the name `{name}`"),
        };
        let help = format!("write one of: {}; or add {{name: {name}, rate: 1/2}} to power.modes", names.join(", "));
        Err(Refusal::new(path, what, help))
    }
}

/// The rate `parts / of` of a mode: a share of the bandwidth. Refuses, at `path`, 0, more than 1, and terms that are too large.
pub fn share(parts: u128, of: u128, path: &str) -> Result<Rate, Refusal> {
    if parts == 0 || of == 0 {
        let what = "a rate of 0: the mode would carry traffic that never arrives";
        return Err(Refusal::new(path, what, "write a rate above 0, such as 1/12, or carries: false in its place"));
    }
    let common = gcd(parts, of);
    let (parts, of) = (parts / common, of / common);
    if parts > of {
        let what = format!("{parts}/{of} of the bandwidth of the link");
        let help = "write at most 1: links.*.bandwidth is the rate of a link that is on";
        return Err(Refusal::new(path, what, help));
    }
    if of > MAX_PARTS {
        let what = format!("{parts}/{of}: the denominator of the rate of a mode is at most {MAX_PARTS}");
        let near = (parts * MAX_PARTS / of).max(1);
        return Err(Refusal::new(path, what, format!("write a rounder rate, such as {near}/{MAX_PARTS}")));
    }
    Rate::new(parts, of, path)
}

const _: () = assert!(MAX_PERIOD * MAX_PARTS <= 1 << 28);
