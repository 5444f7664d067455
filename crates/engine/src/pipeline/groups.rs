//! Accounts of groups of channels: the cycles in which all channels of a group were off at once. What the channels of a group
//! share (a switch, a trunk) could have slept for so long. Only where they are asked for.

use crate::state::LinkState;

/// The group of a channel that is in none.
const NONE: u32 = u32::MAX;

#[derive(Debug, Clone, Copy, Default)]
struct Group {
    members: u32,
    /// Members that are not off.
    lit: u32,
    /// Since when all are off, or the window began if that is later.
    since: u64,
    asleep: u64,
}

/// GroupAccounts of channels of a block.
#[derive(Debug)]
pub(crate) struct GroupAccounts {
    /// Of each channel.
    of: Vec<u32>,
    groups: Vec<Group>,
}

impl GroupAccounts {
    /// `members`: for each channel its group and its state in cycle 0, `None` for one that is in no group.
    pub fn new(groups: usize, members: impl Iterator<Item = Option<(u32, LinkState)>>) -> Self {
        let mut all = Self { of: Vec::new(), groups: vec![Group::default(); groups] };
        for member in members {
            all.of.push(member.map_or(NONE, |(group, _)| group));
            if let Some((group, state)) = member {
                let group = &mut all.groups[group as usize];
                group.members += 1;
                group.lit += u32::from(state != LinkState::Off);
            }
        }
        all
    }

    /// A channel goes from one state to another.
    pub fn change(&mut self, channel: usize, from: LinkState, to: LinkState, now: u64) {
        let Some(&of) = self.of.get(channel).filter(|&&of| of != NONE) else { return };
        let group = &mut self.groups[of as usize];
        match (from == LinkState::Off, to == LinkState::Off) {
            (true, false) => {
                if group.lit == 0 {
                    group.asleep += now - group.since;
                }
                group.lit += 1;
            }
            (false, true) => {
                group.lit -= 1;
                group.since = now;
            }
            (true, true) | (false, false) => {}
        }
    }

    /// The window begins.
    pub fn begin(&mut self, now: u64) {
        self.groups.iter_mut().for_each(|group| (group.since, group.asleep) = (now, 0));
    }

    /// Cycles in which all channels of each group were off, in the window that ends at `now`; 0 for a group without any.
    pub fn asleep(&self, now: u64) -> impl Iterator<Item = u64> + '_ {
        let asleep = move |group: &Group| match group {
            Group { members: 0, .. } => 0,
            Group { lit: 0, since, asleep, .. } => asleep + (now - since),
            Group { asleep, .. } => *asleep,
        };
        self.groups.iter().map(asleep)
    }
}

#[cfg(test)]
mod tests {
    use super::GroupAccounts;
    use crate::state::LinkState::{Off, On, Waking};

    #[test]
    fn a_group_sleeps_while_all_its_members_are_off() {
        // group 0: channels 0 and 2; group 1: channel 3; group 2: none
        let members = [Some((0, On)), None, Some((0, Off)), Some((1, Off))];
        let mut groups = GroupAccounts::new(3, members.into_iter());
        let asleep = |groups: &GroupAccounts, now| groups.asleep(now).collect::<Vec<_>>();
        groups.change(0, On, Off, 10);
        groups.change(1, On, Off, 15);
        assert_eq!(asleep(&groups, 20), [10, 20, 0]);
        groups.begin(20);
        groups.change(2, Off, Waking, 30);
        groups.change(2, Waking, On, 35);
        groups.change(2, On, Off, 50);
        assert_eq!(asleep(&groups, 55), [10 + 5, 35, 0]);
    }
}
