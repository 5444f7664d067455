//! The state machine of one end of a unit. A unit is a group of links between two routers that change their level together. The state
//! machine reads no clock and no channel. Therefore a test can explore every state of two ends and of the messages between them
//! (`model.rs`).
//!
//! A level is a number from 1 up: the number of members of a trunk that are on, or the width of a link. The end at the router with the
//! lower number is the leader. The other end sends requests for changes, and the leader decides. Each command of the leader gets one
//! answer, and the leader sends no other command before the answer. Messages keep their order. Therefore a request that arrives after the
//! answer to a command refers to the present level. A request that arrives before the answer is out of date.

use weft_api::base::kept::Value;

/// The change that an end requests after a measuring window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Value)]
pub(crate) enum Wish {
    Stay,
    More,
    Less,
}

/// A message from one end to the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Say {
    // sent by the leader
    /// Command to close the links above the lower level, and to drain them.
    Drain,
    /// Command to open the links above the lower level again.
    Return,
    /// Command to move to the lower level, after both ends have drained.
    Lower,
    /// Command to move to the higher level.
    Raise,
    // sent by the other end
    Wish(Wish),
    Drained,
    Returned,
    Lowered,
    // sent by both ends
    Raised,
}

impl Say {
    const ALL: [Self; 11] = [
        Self::Drain,
        Self::Return,
        Self::Lower,
        Self::Raise,
        Self::Wish(Wish::Stay),
        Self::Wish(Wish::More),
        Self::Wish(Wish::Less),
        Self::Drained,
        Self::Returned,
        Self::Lowered,
        Self::Raised,
    ];

    /// Encodes the message as a number for the body of a control message.
    pub fn number(self) -> u128 {
        Self::ALL.iter().position(|&say| say == self).expect("a message is one of all") as u128
    }

    pub fn of(number: u128) -> Self {
        Self::ALL[number as usize]
    }
}

/// An action that an end carries out on its channels. The "lower level" and the "higher level" are one step of [`Ladder`] away from the
/// present level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Deed {
    /// Links above the lower level accept no new packets.
    Close,
    /// Links above the lower level accept packets again.
    Reopen,
    /// The links above the lower level begin to go off (or to become narrower).
    BeginLower,
    /// The links above the present level, up to the higher level, begin to wake (or to become wider).
    BeginRaise,
    /// The links above the lower level are now off.
    EndLower,
    /// The links up to the higher level are now on, and accept packets.
    EndRaise,
}

/// The reaction of an end to an event: its action, and its message to the other end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Reply {
    pub deed: Option<Deed>,
    pub say: Option<Say>,
}

impl Reply {
    fn deed(deed: Deed) -> Self {
        Self { deed: Some(deed), say: None }
    }

    fn say(say: Say) -> Self {
        Self { deed: None, say: Some(say) }
    }

    fn both(deed: Deed, say: Say) -> Self {
        Self { deed: Some(deed), say: Some(say) }
    }
}

/// The possible levels are 1 to `top`. A change moves by `step` levels, or by fewer at the ends of the range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ladder {
    pub top: u16,
    pub step: u16,
}

impl Ladder {
    pub fn below(self, level: u16) -> u16 {
        level.saturating_sub(self.step).max(1)
    }

    pub fn above(self, level: u16) -> u16 {
        level.saturating_add(self.step).min(self.top)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Value)]
pub(crate) enum Phase {
    Rests,
    /// Links above the lower level are closed and drain.
    Drains,
    /// The leader has opened the closed links again, and waits until the other end has opened them.
    Returns,
    Lowers,
    Raises,
}

/// The state of one end of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Value)]
pub(crate) struct End {
    leads: bool,
    pub phase: Phase,
    /// The present level, or during a change the level before the change.
    pub level: u16,
    /// True if this end has completed its part of the present phase.
    pub is_done: bool,
    /// True if the other end has reported that it has completed its part of the present phase.
    other_is_done: bool,
    /// The last request of the end that is not the leader, or `Stay` if it has sent none in this phase. It is stored at both ends.
    wish: Wish,
}

impl End {
    pub fn new(leads: bool, level: u16) -> Self {
        Self { leads, phase: Phase::Rests, level, is_done: false, other_is_done: false, wish: Wish::Stay }
    }

    /// True if this end rests at the lowest level, and no request for a change is open. Then a window without traffic has no effect.
    pub fn is_settled(&self) -> bool {
        self.phase == Phase::Rests && self.level == 1 && self.wish == Wish::Stay
    }

    fn enter(&mut self, phase: Phase) {
        (self.phase, self.is_done, self.other_is_done, self.wish) = (phase, false, false, Wish::Stay);
    }

    fn rest(&mut self, level: u16) {
        (self.phase, self.level) = (Phase::Rests, level);
    }

    /// Called when a measuring window of this end has ended. `wish`: the change that this end requests for its outgoing direction.
    pub fn measured(&mut self, wish: Wish, ladder: Ladder) -> Reply {
        match self.phase {
            Phase::Rests if self.leads => self.decide(wish, ladder),
            Phase::Rests => {
                let can = match wish {
                    Wish::More => self.level < ladder.top,
                    Wish::Less => self.level > 1,
                    Wish::Stay => true,
                };
                self.tell(if can { wish } else { Wish::Stay })
            }
            Phase::Drains if wish != Wish::More => Reply::default(),
            Phase::Drains if self.leads => self.take_back(),
            Phase::Drains => self.tell(Wish::More),
            Phase::Returns | Phase::Lowers | Phase::Raises => Reply::default(),
        }
    }

    /// The decision of the leader at the end of its window. Begins one step up if either direction requests it, and one step down if both
    /// directions request it.
    fn decide(&mut self, own: Wish, ladder: Ladder) -> Reply {
        match (own, self.wish) {
            (Wish::More, _) | (_, Wish::More) if self.level < ladder.top => self.raise(),
            (Wish::Less, Wish::Less) if self.level > 1 => {
                self.enter(Phase::Drains);
                Reply::both(Deed::Close, Say::Drain)
            }
            (Wish::More | Wish::Less | Wish::Stay, _) => Reply::default(),
        }
    }

    /// Sends a request for a change to the leader, unless it is the same as the last request.
    fn tell(&mut self, wish: Wish) -> Reply {
        match std::mem::replace(&mut self.wish, wish) == wish {
            true => Reply::default(),
            false => Reply::say(Say::Wish(wish)),
        }
    }

    fn raise(&mut self) -> Reply {
        self.enter(Phase::Raises);
        Reply::both(Deed::BeginRaise, Say::Raise)
    }

    fn take_back(&mut self) -> Reply {
        self.enter(Phase::Returns);
        Reply::both(Deed::Reopen, Say::Return)
    }

    /// Called when the closed links of this end have drained.
    pub fn drained(&mut self) -> Reply {
        debug_assert!(self.phase == Phase::Drains && !self.is_done);
        self.is_done = true;
        if self.leads { self.lower_if_both_are_drained() } else { Reply::say(Say::Drained) }
    }

    fn lower_if_both_are_drained(&mut self) -> Reply {
        if !(self.is_done && self.other_is_done) {
            return Reply::default();
        }
        self.enter(Phase::Lowers);
        Reply::both(Deed::BeginLower, Say::Lower)
    }

    /// Called when the links of this end have completed the move to the lower or higher level.
    pub fn moved(&mut self, ladder: Ladder) -> Reply {
        debug_assert!(matches!(self.phase, Phase::Lowers | Phase::Raises) && !self.is_done);
        self.is_done = true;
        match self.phase {
            Phase::Raises => Reply { say: Some(Say::Raised), ..self.open_if_both_are_up(ladder) },
            Phase::Lowers if self.leads => {
                self.rest_if_both_are_down(ladder);
                Reply::deed(Deed::EndLower)
            }
            Phase::Lowers | Phase::Rests | Phase::Drains | Phase::Returns => {
                self.rest(ladder.below(self.level));
                Reply::both(Deed::EndLower, Say::Lowered)
            }
        }
    }

    fn rest_if_both_are_down(&mut self, ladder: Ladder) {
        if self.is_done && self.other_is_done {
            self.rest(ladder.below(self.level));
        }
    }

    fn open_if_both_are_up(&mut self, ladder: Ladder) -> Reply {
        if !(self.is_done && self.other_is_done) {
            return Reply::default();
        }
        self.rest(ladder.above(self.level));
        Reply::deed(Deed::EndRaise)
    }

    /// Handles a message from the other end.
    pub fn heard(&mut self, say: Say, ladder: Ladder) -> Reply {
        if self.leads { self.hears_answer(say, ladder) } else { self.hears_command(say, ladder) }
    }

    fn hears_answer(&mut self, say: Say, ladder: Ladder) -> Reply {
        match (self.phase, say) {
            (Phase::Rests, Say::Wish(wish)) => {
                self.wish = wish;
                if wish == Wish::More && self.level < ladder.top { self.raise() } else { Reply::default() }
            }
            (Phase::Drains, Say::Wish(Wish::More)) => self.take_back(),
            // the other end is already at the lower level, so its request is valid; this end will soon be at the lower level
            (Phase::Lowers, Say::Wish(wish)) if self.other_is_done => {
                self.wish = wish;
                Reply::default()
            }
            (Phase::Drains, Say::Drained) => {
                self.other_is_done = true;
                self.lower_if_both_are_drained()
            }
            (Phase::Returns, Say::Returned) => {
                self.rest(self.level);
                Reply::default()
            }
            (Phase::Lowers, Say::Lowered) => {
                self.other_is_done = true;
                self.rest_if_both_are_down(ladder);
                Reply::default()
            }
            (Phase::Raises, Say::Raised) => {
                self.other_is_done = true;
                self.open_if_both_are_up(ladder)
            }
            // out of date: the other end sent the message before it received the last command
            (Phase::Drains | Phase::Returns | Phase::Lowers | Phase::Raises, Say::Wish(_))
            | (Phase::Returns, Say::Drained) => Reply::default(),
            (phase, say) => unreachable!("{say:?} comes to the leader in the phase {phase:?}"),
        }
    }

    fn hears_command(&mut self, say: Say, ladder: Ladder) -> Reply {
        match (self.phase, say) {
            (Phase::Rests, Say::Drain) => {
                self.enter(Phase::Drains);
                Reply::deed(Deed::Close)
            }
            (Phase::Drains, Say::Return) => {
                self.enter(Phase::Rests);
                Reply::both(Deed::Reopen, Say::Returned)
            }
            (Phase::Drains, Say::Lower) => {
                self.enter(Phase::Lowers);
                Reply::deed(Deed::BeginLower)
            }
            (Phase::Rests, Say::Raise) => {
                self.enter(Phase::Raises);
                Reply::deed(Deed::BeginRaise)
            }
            (Phase::Raises, Say::Raised) => {
                self.other_is_done = true;
                self.open_if_both_are_up(ladder)
            }
            (phase, say) => unreachable!("{say:?} comes to the end that follows in the phase {phase:?}"),
        }
    }
}

#[cfg(test)]
#[path = "model.rs"]
mod model;
