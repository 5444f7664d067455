//! One end of a link: what each message and each end of an epoch makes of its state. Nothing else is known here, so that
//! the two ends and what is under way between them can be explored exhaustively (the test below does).
//!
//! A request is answered once. The asker carries out what was agreed when the answer comes, or withdraws with a NACK,
//! which undoes what the answerer has begun. A link goes dark, or carries flits again, when both ends say that they are
//! ready; they say so on the side channel of the link that also carries credits.

use crate::power::LinkState;

/// What a router asks its neighbour for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Want {
    Activate,
    Deactivate,
}

/// What an end says to the other one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Say {
    Ack,
    Nack,
    Reactivate,
    /// Drained, or awake.
    Ready,
}

/// One end of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct End {
    pub state: LinkState,
    /// The request of this end that has no answer yet.
    pub asked: Option<Want>,
    /// This end is drained, or awake; the other one says that it is.
    pub ready: bool,
    peer_ready: bool,
}

impl End {
    pub fn new(state: LinkState) -> Self {
        Self { state, asked: None, ready: false, peer_ready: false }
    }

    fn enter(&mut self, state: LinkState) {
        (self.state, self.ready) = (state, false);
        // a peer that wakes first may be ready before this end has begun
        if state != LinkState::Waking && state != LinkState::Draining {
            self.peer_ready = false;
        }
    }

    /// Whether a request can be about this link in its present state.
    pub fn fits(&self, want: Want) -> bool {
        self.state == if want == Want::Activate { LinkState::Off } else { LinkState::On }
    }

    /// Begins what was agreed.
    fn begin(&mut self, want: Want) {
        self.asked = None;
        self.enter(if want == Want::Activate { LinkState::Waking } else { LinkState::Shadow });
    }

    /// Answers the request of the other end.
    pub fn judge(&mut self, want: Want, agree: bool) -> Say {
        if agree && self.fits(want) {
            self.begin(want);
            Say::Ack
        } else {
            Say::Nack
        }
    }

    /// The other end agrees. `can`: this end still can. Returns what it was asked for, if that begins now, or what to say.
    pub fn acked(&mut self, can: bool) -> Result<Option<Want>, Say> {
        let Some(want) = self.asked.take() else { return Ok(None) }; // both had asked, and both agreed
        if can && self.fits(want) {
            self.begin(want);
            Ok(Some(want))
        } else {
            Err(Say::Nack)
        }
    }

    /// The other end refuses, or withdraws what this end has agreed to.
    pub fn nacked(&mut self) {
        if self.asked.take().is_none() {
            match self.state {
                LinkState::Waking => self.enter(LinkState::Off),
                LinkState::Shadow => self.enter(LinkState::On),
                _ => {}
            }
        }
    }

    /// This end wants its shadow link back at once.
    pub fn reactivate(&mut self) -> Say {
        debug_assert_eq!(self.state, LinkState::Shadow);
        self.enter(LinkState::On);
        Say::Reactivate
    }

    /// The other end has taken the link back.
    pub fn reactivated(&mut self) {
        debug_assert_ne!(self.state, LinkState::Off, "a link is dark only when no end can take it back");
        if matches!(self.state, LinkState::Shadow | LinkState::Draining) {
            self.enter(LinkState::On);
        }
    }

    /// Nobody took the shadow link back in time.
    pub fn expire(&mut self) {
        debug_assert_eq!(self.state, LinkState::Shadow);
        self.enter(LinkState::Draining);
    }

    /// This end is drained, or awake.
    pub fn done(&mut self) -> Say {
        self.ready = true;
        self.settle();
        Say::Ready
    }

    /// The other end is.
    pub fn peer_done(&mut self) {
        // in any other state it speaks of what has been withdrawn or taken back
        if self.state != LinkState::On {
            self.peer_ready = true;
            self.settle();
        }
    }

    fn settle(&mut self) {
        if self.ready && self.peer_ready {
            match self.state {
                LinkState::Draining => self.enter(LinkState::Off),
                LinkState::Waking => self.enter(LinkState::On),
                _ => {}
            }
        }
    }

    /// Whether flits may be on their way from this end.
    #[cfg(test)]
    fn may_send(&self) -> bool {
        match self.state {
            LinkState::On | LinkState::Shadow => true,
            LinkState::Draining => !self.ready,
            LinkState::Off | LinkState::Waking => false,
        }
    }

    /// Whether this end can receive.
    #[cfg(test)]
    fn is_lit(&self) -> bool {
        match self.state {
            LinkState::On | LinkState::Shadow | LinkState::Draining => true,
            LinkState::Waking => self.ready,
            LinkState::Off => false,
        }
    }
}

#[cfg(test)]
#[path = "link_model.rs"]
mod model;
