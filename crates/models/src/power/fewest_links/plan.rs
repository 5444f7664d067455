//! Searches for the smallest set of links of a subnetwork that carries a given traffic matrix.
//!
//! The set must contain the star around the hub. A set of links carries the traffic under two conditions. Let the mark be a given
//! utilisation. First, the mean queue that a flit meets is at most as long as the queue of a channel at the mark. Second, no channel has a
//! utilisation above the mean of 1 and the mark. The search assumes these paths: if two members have a link, their flits use this link up
//! to a utilisation equal to the mark. The rest of their flits, and all flits between two members without a link, divide evenly among the
//! members that have links to both. If no member has links to both, the direct link carries all flits. The search runs once for each number
//! k of members. It begins with the set of all links that have at least one end at the first k members (the hub is the first). From this
//! set it removes links between members other than the hub, the least used links first. Links of equal use are removed in an order in which
//! every member loses about the same number. The plan is the smallest set over all k. With little traffic, the best sets give many links to
//! a few members. With much traffic, all members need equally many links. All channels then have the same load, as the lower bound of
//! TCEP's Fig. 12 assumes.

/// For each member, a mask of the members to which it has a link.
pub(super) type Links = Vec<u64>;

/// Largest number of rounds in which the search removes many links at once. After these rounds it tries single links.
const ROUNDS: usize = 6;
/// Utilisations are rounded to multiples of the mark divided by `STEPS`, so that small differences do not affect the order in which links
/// are removed.
const STEPS: f64 = 20.0;

/// The traffic between the members of a subnetwork, and the mark (a utilisation) that limits the load of its links.
pub(super) struct Traffic<'a> {
    /// Indexed by sender and receiver: traffic as a share of the capacity of a channel.
    pub sent: &'a [f64],
    pub members: usize,
    pub hub: usize,
    /// If all channels had this utilisation, the mean wait of flits would just reach its limit.
    pub mark: f64,
}

impl Traffic<'_> {
    /// Returns the smallest set of links that the search finds for this traffic. Returns the set of all links if even this set is too
    /// small.
    pub fn fewest(&self) -> Links {
        let mut best = self.first(self.members);
        let mut used = Vec::new();
        for k in 1..=self.members {
            let mut links = self.first(k);
            if self.fits(&links, &mut used) {
                self.prune(&mut links, &mut used);
                if count(&links) < count(&best) {
                    best = links;
                }
            }
        }
        best
    }

    /// True if `links` carry the traffic. Writes the utilisation of each channel into `used`.
    pub fn fits(&self, links: &Links, used: &mut Vec<f64>) -> bool {
        self.spread(links, used);
        let most = self.mark.midpoint(1.0);
        // about u / (1 - u) flits wait for a channel of utilisation u: 1 / (1 - u) for each flit on the channel
        let (mut flits, mut waiting) = (0.0, 0.0);
        for &used in used.iter() {
            if used > most {
                return false;
            }
            flits += used;
            waiting += used / (1.0 - used);
        }
        waiting * (1.0 - self.mark) <= flits
    }

    /// Computes the utilisation that each channel would have if only `links` were on, and writes it into `used`.
    fn spread(&self, links: &Links, used: &mut Vec<f64>) {
        let n = self.members;
        used.clear();
        used.resize(n * n, 0.0);
        for (from, to) in (0..n).flat_map(|from| (0..n).map(move |to| (from, to))) {
            let sent = self.sent[from * n + to];
            if from == to || sent == 0.0 {
                continue;
            }
            let mut ways = links[from] & links[to];
            let direct = if links[from] >> to & 1 == 0 {
                0.0
            } else if ways == 0 {
                sent
            } else {
                sent.min(self.mark)
            };
            used[from * n + to] += direct;
            let share = (sent - direct) / f64::from(ways.count_ones());
            if direct == sent {
                continue;
            }
            while ways != 0 {
                let over = ways.trailing_zeros() as usize;
                ways &= ways - 1;
                used[from * n + over] += share;
                used[over * n + to] += share;
            }
        }
    }

    /// Index of the member with rank `rank`. The hub has rank 0, the member after it rank 1, and so on; member 0 follows the last member.
    fn member(&self, rank: usize) -> usize {
        (self.hub + rank) % self.members
    }

    /// The set of all links with at least one end at the members of ranks 0 to `k` - 1.
    fn first(&self, k: usize) -> Links {
        let mut links = vec![0; self.members];
        for (a, b) in (0..k).flat_map(|a| (0..self.members).map(move |b| (a, b))).filter(|(a, b)| a != b) {
            flip(&mut links, (self.member(a), self.member(b)), true);
        }
        links
    }

    /// Removes links from `links` as long as the rest carries the traffic.
    fn prune(&self, links: &mut Links, used: &mut Vec<f64>) {
        for _ in 0..ROUNDS {
            let order = self.least_used_first(links, used);
            let without = |most: usize| {
                let mut fewer = links.clone();
                order[..most].iter().for_each(|&link| flip(&mut fewer, link, false));
                fewer
            };
            let (mut fits, mut too_many) = (0, order.len() + 1);
            while too_many - fits > 1 {
                let middle = fits.midpoint(too_many);
                if self.fits(&without(middle), used) { fits = middle } else { too_many = middle }
            }
            if fits == 0 {
                break;
            }
            *links = without(fits);
        }
        let order = self.least_used_first(links, used);
        for &link in order.iter().take(2 * self.members) {
            flip(links, link, false);
            if !self.fits(links, used) {
                flip(links, link, true);
            }
        }
    }

    /// The links between members other than the hub, the least used first.
    fn least_used_first(&self, links: &Links, used: &mut Vec<f64>) -> Vec<(usize, usize)> {
        self.spread(links, used);
        let n = self.members;
        // links of equal use are in the order of the rounds of a round-robin tournament, because links of one round have no member in
        // common
        let rounds = if n.is_multiple_of(2) { n - 1 } else { n };
        let mut order = Vec::new();
        for (a, b) in (1..n).flat_map(|a| (1..a).map(move |b| (a, b))) {
            let (i, j) = (self.member(a), self.member(b));
            if links[i] >> j & 1 != 0 {
                let busier = used[i * n + j].max(used[j * n + i]);
                order.push(((busier / self.mark * STEPS).round() as u64, (a + b) % rounds, (i, j)));
            }
        }
        order.sort_unstable();
        order.into_iter().map(|(_, _, link)| link).collect()
    }
}

/// The number of links in the set.
pub(super) fn count(links: &Links) -> u32 {
    links.iter().map(|row| row.count_ones()).sum::<u32>() / 2
}

/// Adds a link to the set, or removes it.
pub(super) fn flip(links: &mut Links, (a, b): (usize, usize), on: bool) {
    for (from, to) in [(a, b), (b, a)] {
        links[from] = links[from] & !(1 << to) | u64::from(on) << to;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_traffic::mix;

    fn fewest(sent: &[f64], members: usize, hub: usize, mark: f64) -> Links {
        let traffic = Traffic { sent, members, hub, mark };
        let links = traffic.fewest();
        assert_eq!(links[hub], (u64::MAX >> (64 - members)) & !(1 << hub), "the star");
        links
    }

    fn uniform(members: usize, load: f64) -> Vec<f64> {
        (0..members * members).map(|pair| if pair % (members + 1) == 0 { 0.0 } else { load }).collect()
    }

    #[test]
    fn without_traffic_the_star_is_left_and_with_too_much_all_links() {
        for (members, hub) in [(2, 1), (3, 0), (8, 5), (64, 63)] {
            assert_eq!(count(&fewest(&uniform(members, 0.0), members, hub, 0.75)), members as u32 - 1);
            let all = (members * (members - 1) / 2) as u32;
            assert_eq!(count(&fewest(&uniform(members, 1.0), members, hub, 0.75)), all);
        }
    }

    #[test]
    fn uniform_traffic_comes_near_the_bound_of_tcep() {
        // for 32 routers with 32 terminals each; with TCEP, the share of links that are on is up to 0.122 above the bound
        for load in [0.05, 0.1, 0.2, 0.3, 0.41, 0.5, 0.6, 0.7, 0.8, 0.9] {
            let links = fewest(&uniform(32, load), 32, 0, 0.96);
            let share = f64::from(count(&links)) / 496.0;
            let bound = (2.0 * load / (1.0 + load)).max(2.0 / 32.0);
            assert!(share >= bound && share < bound + 0.06, "load {load}: {share}, bound {bound}");
        }
    }

    #[test]
    fn permutations_take_the_star_while_it_carries_them_and_then_some_of_their_own_links() {
        // Each of 8 members sends to the third member after it, and to the next one. If only the star is on, each of its channels carries
        // the flits of one member
        let found = |third: f64, next: f64| {
            let mut sent = vec![0.0; 64];
            (0..8).for_each(|from| sent[from * 8 + (from + 3) % 8] = third);
            (0..8).for_each(|from| sent[from * 8 + (from + 1) % 8] = next);
            let links = fewest(&sent, 8, 0, 0.75);
            assert!(Traffic { sent: &sent, members: 8, hub: 0, mark: 0.75 }.fits(&links, &mut Vec::new()));
            count(&links)
        };
        assert_eq!(found(0.7, 0.0), 7);
        let both = found(0.5, 0.5);
        assert!((8..=14).contains(&both), "{both} links");
    }

    #[test]
    fn a_lower_mark_never_has_fewer_links_for_the_same_traffic() {
        for members in [5, 8, 16] {
            for load in [0.05, 0.2, 0.4, 0.6] {
                // traffic to each member: equal, and random between 0 and twice that amount
                let draw = |place: usize| 2.0 * mix(1, members as u64, place as u64) as f64 / u64::MAX as f64;
                let drawn = uniform(members, load).iter().enumerate().map(|(place, sent)| sent * draw(place)).collect();
                for sent in [uniform(members, load), drawn] {
                    let plans =
                        [0.98, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4].map(|mark| count(&fewest(&sent, members, 1, mark)));
                    assert!(plans.is_sorted(), "{members} members, load {load}: {plans:?}");
                }
            }
        }
    }

    #[test]
    fn a_pair_that_sends_more_than_its_link_takes_gets_other_ways_also_from_and_to_the_hub() {
        for (from, to) in [(0, 3), (3, 0), (2, 5)] {
            for hot in [1.0, 1.25] {
                let mut sent = uniform(8, 0.02);
                sent[from * 8 + to] = hot;
                let plan = fewest(&sent, 8, 0, 0.75);
                let traffic = Traffic { sent: &sent, members: 8, hub: 0, mark: 0.75 };
                assert!(traffic.fits(&plan, &mut Vec::new()), "{hot} from {from} to {to}");
                assert!(!traffic.fits(&traffic.first(1), &mut Vec::new()), "{hot} from {from} to {to}: the star");
                assert!((8..=12).contains(&count(&plan)), "{hot} from {from} to {to}: {} links", count(&plan));
                assert_ne!(plan[from] & plan[to], 0, "{hot} from {from} to {to}: another way");
            }
        }
    }

    #[test]
    fn pairs_without_a_link_share_all_ways() {
        // members 1 and 2 have no link: half of the load 0.4 goes over member 0, and half over member 3
        let mut links = Traffic { sent: &[], members: 4, hub: 0, mark: 1.0 }.first(4);
        flip(&mut links, (1, 2), false);
        let mut sent = vec![0.0; 16];
        (sent[4 + 2], sent[3 * 4 + 2]) = (0.4, 0.5);
        let mut used = Vec::new();
        Traffic { sent: &sent, members: 4, hub: 0, mark: 1.0 }.spread(&links, &mut used);
        let expected = [(4, 0.2), (2, 0.2), (4 + 3, 0.2), (3 * 4 + 2, 0.7)];
        for (place, &found) in used.iter().enumerate() {
            let known = expected.iter().find(|(at, _)| *at == place).map_or(0.0, |&(_, share)| share);
            assert!((found - known).abs() < 1e-12, "{used:?}");
        }
    }
}
