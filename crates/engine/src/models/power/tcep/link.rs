//! One end of a link: what each message and each end of an epoch makes of its state. Nothing else is known here, so that
//! the two ends and what is under way between them can be explored exhaustively (the test below does).
//!
//! A request is answered once. The asker carries out what was agreed when the answer comes, or withdraws, which undoes
//! what the answerer has begun. An answer settles whatever its receiver had been asked for before, so what an end asks for
//! itself goes out behind its answers. A link goes dark, or carries flits again, when both ends say that they are ready;
//! they say so on the side channel of the link that also carries credits.

use crate::models::power::LinkState;

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
    /// Not any more: undo what was agreed.
    Withdraw,
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
    /// The link has failed, and this end drains without the other's word.
    alone: bool,
}

impl End {
    pub fn new(state: LinkState) -> Self {
        Self { state, asked: None, ready: false, peer_ready: false, alone: false }
    }

    fn enter(&mut self, state: LinkState) {
        (self.state, self.ready) = (state, false);
        // a peer that drains first is ready before this end begins to
        self.peer_ready &= state == LinkState::Draining;
        self.alone &= state == LinkState::Draining;
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

    /// Both ends have asked for the same: the request of the lower end is void, that of the higher one gets the answer.
    /// Returns whether the request of the other end is the void one.
    pub fn crossed(&mut self, want: Want, lower: bool) -> bool {
        let crossed = self.asked == Some(want);
        if crossed && lower {
            self.asked = None;
        }
        crossed && !lower
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
        let Some(want) = self.asked.take() else { return Ok(None) };
        if can && self.fits(want) {
            self.begin(want);
            Ok(Some(want))
        } else {
            Err(Say::Withdraw)
        }
    }

    /// The other end refuses.
    pub fn nacked(&mut self) {
        self.asked = None;
    }

    /// The other end withdraws the request that this end has agreed to.
    pub fn withdrawn(&mut self) {
        match self.state {
            LinkState::Waking => self.enter(LinkState::Off),
            LinkState::Shadow | LinkState::Draining => self.enter(LinkState::On),
            _ => {}
        }
    }

    /// Whether this end can still take the link back by itself: what it has not said to be drained is not dark.
    pub fn can_return(&self) -> bool {
        self.state == LinkState::Shadow || self.state == LinkState::Draining && !self.ready && !self.alone
    }

    /// This end wants its link back at once.
    pub fn reactivate(&mut self) -> Say {
        debug_assert!(self.can_return());
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

    /// The link fails: what was agreed is void, and this end goes dark as soon as it is drained itself.
    pub fn fail(&mut self) {
        let dark = matches!(self.state, LinkState::Off | LinkState::Waking);
        *self = Self::new(if dark { LinkState::Off } else { LinkState::Draining });
        self.alone = !dark;
    }

    /// Whether this end drains because the link has failed.
    pub fn is_alone(&self) -> bool {
        self.alone
    }

    /// This end is drained, or awake.
    pub fn done(&mut self) -> Say {
        self.ready = true;
        self.settle();
        Say::Ready
    }

    /// The other end is. What this end answers: one that has waked first may not have been heard.
    pub fn peer_done(&mut self) -> Option<Say> {
        // in other states it speaks of what has been withdrawn or taken back, or of what has not begun here
        if matches!(self.state, LinkState::Shadow | LinkState::Draining | LinkState::Waking) {
            let waking = self.state == LinkState::Waking;
            self.peer_ready = true;
            self.settle();
            return (waking && self.state == LinkState::On).then_some(Say::Ready);
        }
        None
    }

    fn settle(&mut self) {
        if self.ready && (self.peer_ready || self.alone) {
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
