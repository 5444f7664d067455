//! Refuses a routing that does something which it has not declared, although the cycle loop or the dependency check relies on the
//! declaration.

use super::walks::{Lost, SAMPLE, Taken, Walks};
use foldhash::HashSet;
use weft_api::routing::{Decides, Hop};
use weft_api::state::Packet;

/// Number of random packets for each pair of routers in a sample, to test the random choices of `inject`.
const DRAWN: u32 = 8;

impl Walks<'_> {
    /// Refuses a routing whose `inject` or `taken` changes the packet although its needs do not declare it. The cycle loop would not call
    /// these methods.
    pub fn check_needs(&self) -> Result<(), Lost> {
        let last_to_first: Vec<u32> = self.sample().collect();
        for (from, to) in self.sample().zip(last_to_first.into_iter().rev()) {
            for packet in self.packets(from, to).into_iter().take(1) {
                let changed = |drawn: Packet| drawn.route_state() != packet.route_state();
                if !self.needs.draws_path && self.injected(packet).any(changed) {
                    let what =
                        "writes into packets in `inject`, which the loop does not call: `Needs::draws_path` is off";
                    return Err(Lost::new(what, "set `Needs::draws_path` to true"));
                }
                for start in self.routing.detours(self.coords[from as usize], packet).all().take(SAMPLE) {
                    self.steps(from, to, &start)?;
                }
            }
        }
        Ok(())
    }

    /// Refuses a routing whose `inject` makes a random choice that `detours` does not list. The walks of the check start from that list.
    pub fn check_detours(&self) -> Result<(), Lost> {
        if !self.needs.draws_path {
            return Ok(());
        }
        for (from, to) in self.sample().flat_map(|from| self.sample().map(move |to| (from, to))) {
            for packet in self.packets(from, to) {
                let listed = self.routing.detours(self.coords[from as usize], packet);
                let listed: HashSet<_> = listed.all().map(|packet| packet.route_state()).collect();
                if self.injected(packet).any(|drawn| !listed.contains(&drawn.route_state())) {
                    let [from, to] = [from, to].map(|router| self.graph.router_name(router));
                    let what = format!(
                        "draws a path in `inject` that `detours` does not list, for a packet from router {from} to router {to}: Weft would \
                         not check this path"
                    );
                    return Err(Lost::new(
                        what,
                        "let `detours` list every packet that `inject` can produce, or implement `proof`",
                    ));
                }
            }
        }
        Ok(())
    }

    /// A sample of the packets that `inject` can produce from `packet`.
    fn injected(&self, packet: Packet) -> impl Iterator<Item = Packet> + '_ {
        (0..DRAWN).map(move |seq| {
            let mut drawn = Packet { seq, ..packet };
            self.routing.inject(&mut drawn, 0);
            drawn
        })
    }

    /// Refuses a routing whose escape is not available to every head. Calls `turn` with every hop on an escape channel and with the escape
    /// hop at the next router.
    pub fn check_escapes(&self, mut turn: impl FnMut(Taken, Hop)) -> Result<(), Lost> {
        if self.needs.decides != Decides::EachStep {
            let what = "relies on escapes, but a head that has requested another hop never requests its escape";
            return Err(Lost::new(what, "let `Needs::decides` be `EachStep`, or return another `proof`"));
        }
        for &to in &self.hosts {
            self.escapes_to(to, &mut turn)?;
        }
        for to in self.sample() {
            self.each_state(to, |_, at, steps| {
                let escape = self.routing.escape(self.coords[at as usize], self.coords[to as usize]);
                if at == to || steps.iter().any(|step| Some(step.hop) == escape) {
                    return Ok(());
                }
                let [at, to] = [at, to].map(|router| self.graph.router_name(router));
                let what = format!("does not offer its escape at router {at} to a packet to router {to}");
                Err(Lost::new(what, "let `steps` list the hop that `escape` returns"))
            })?;
        }
        Ok(())
    }

    /// Follows the escape hops from all routers to router `to`.
    fn escapes_to(&self, to: u32, turn: &mut impl FnMut(Taken, Hop)) -> Result<(), Lost> {
        let packet = Packet { dst_port: u16::MAX, ..Packet::default() };
        let escape = |from: u32| {
            let hop = self.routing.escape(self.coords[from as usize], self.coords[to as usize]).ok_or_else(|| {
                let [from, to] = [from, to].map(|router| self.graph.router_name(router));
                let what = format!("returns no escape at router {from} for a packet to router {to}");
                Lost::new(what, "let `escape` return a hop at every router except the destination router of the packet")
            })?;
            Ok((hop, self.cross(from, to, hop, &packet)?.unwrap_or(to)))
        };
        let routers = 0..self.graph.routers();
        let hops = routers.map(|from| if from == to { Ok(None) } else { escape(from).map(Some) });
        let hops: Vec<Option<(Hop, u32)>> = hops.collect::<Result<_, _>>()?;
        // for each router, whether its escape path is known to reach `to`
        let mut arrives: Vec<bool> = hops.iter().map(Option::is_none).collect();
        for from in 0..self.graph.routers() {
            let mut path = vec![from];
            while let &[.., at] = &path[..]
                && !arrives[at as usize]
                && let Some((_, next)) = hops[at as usize]
            {
                path.push(next);
                if path.len() > hops.len() + 1 {
                    let [from, to] = [from, to].map(|router| self.graph.router_name(router));
                    let what = format!("has escapes from router {from} that never lead to router {to}");
                    return Err(Lost::new(what, "let the hops that `escape` returns lead to the destination"));
                }
            }
            path.iter().for_each(|&router| arrives[router as usize] = true);
        }
        for (from, hop) in (0..).zip(&hops) {
            if let Some((hop, next)) = hop
                && let Some((onward, _)) = hops[*next as usize]
            {
                turn((from, *hop), onward);
            }
        }
        Ok(())
    }
}
