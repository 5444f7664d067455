//! The number of flits that must wait for a channel in a slower mode before the channel begins its change to the full rate.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use weft_api::policy::Site;
use weft_api::state::rate::Rate;
use weft_topology::{Peer, Port};
use weft_units::{Bits, Refusal};

/// An amount of data, or `break_even`: the smallest amount for which a change to the full rate takes no longer than staying at the lower
/// rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SwitchAt {
    BreakEven,
    Size(Bits),
}

const BREAK_EVEN: &str = "break_even";

impl Serialize for SwitchAt {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::BreakEven => serializer.serialize_str(BREAK_EVEN),
            Self::Size(size) => size.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for SwitchAt {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        weft_units::with_unit(deserializer, ("a size", "B", "64B"), |text| match text {
            BREAK_EVEN => Ok(Self::BreakEven),
            size => size.parse().map(Self::Size).map_err(|problem: String| format!("{problem}, or `{BREAK_EVEN}`")),
        })
    }
}

impl JsonSchema for SwitchAt {
    fn schema_name() -> Cow<'static, str> {
        "SwitchAt".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [{ "const": BREAK_EVEN, "type": "string" }, generator.subschema_for::<Bits>()] })
    }
}

impl SwitchAt {
    /// For each link class, the number of waiting flits at which a channel changes to its full rate. `share`: the bandwidth in the
    /// slower mode, as a share of the full bandwidth.
    pub(super) fn flits(self, site: &Site, (share, transition): (Rate, u64), path: &str) -> Result<Vec<u32>, Refusal> {
        let of_class = |rate: &Rate| match self {
            Self::BreakEven => break_even(*rate, share, transition),
            Self::Size(size) => u128::from(size.0).div_ceil(site.flit_bits.into()),
        };
        let narrow = |flits: u128| {
            u32::try_from(flits.max(1)).map_err(|_| {
                let what = format!("{flits} flits would have to wait, more than any queue can hold");
                Refusal::new(path, what, "write a smaller size, or a shorter transition")
            })
        };
        let flits: Vec<u32> = site.rates.iter().map(|rate| narrow(of_class(rate))).collect::<Result<_, _>>()?;
        check_room(site, &flits, path)?;
        Ok(flits)
    }
}

/// Refuses a number of flits that can never wait for a channel, even if all buffers of its router contain only flits for it. The channel
/// would otherwise stay in the slower mode forever.
fn check_room(site: &Site, flits: &[u32], path: &str) -> Result<(), Refusal> {
    let graph = site.graph;
    let places = |router: u32| (0..).zip(graph.ports(router)).filter(|(_, port)| port.peer != Peer::Unused);
    for router in 0..graph.routers() {
        let room = |(_, port): (u16, &Port)| site.rooms[usize::from(graph.way_back(*port))];
        let all: u64 = places(router).map(room).sum();
        for (number, port) in places(router).filter(|(_, port)| site.managed[usize::from(port.class)]) {
            // no packet leaves through the port through which it came, so flits in the input buffer of the same port do not count
            let (most, needed) = (all - room((number, port)), u64::from(flits[usize::from(port.class)]));
            if needed > most {
                let what = format!(
                    "{needed} flits must wait for a channel of class {}, but the buffers of router {} hold at most {most} flits of \
                     packets for this channel: the channel would never leave the slower mode",
                    site.class_name(port.class.into()),
                    graph.router_name(router)
                );
                let help = format!("write `switch_at: {}b` or less, or larger links.*.buffer", most * site.flit_bits);
                return Err(Refusal::new(path, what, help));
            }
        }
    }
    Ok(())
}

/// The smallest number of waiting flits that a channel sends no later with a change to the full rate than without the change. Let t be the
/// duration of the change [cycles], h the full rate [flits/cycle], and h s the slower rate, where s is `share`. With the change, B flits
/// need t + B / h cycles. Without it, they need B / (h s) cycles. The two times are equal for B = t h s / (1 - s).
fn break_even(full: Rate, share: Rate, transition: u64) -> u128 {
    let (flits, cycles) = (u128::from(full.flits()), u128::from(full.cycles()));
    let (part, of) = (u128::from(share.flits()), u128::from(share.cycles()));
    (u128::from(transition) * flits * part).div_ceil(cycles * (of - part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_break_even_point_is_that_of_the_paper() {
        // A change of 10 us, on a link of 96 Gb/s with 1 of 12 lanes on. Break-even: 10 us * 8 Gb/s * 96 / (96 - 8) = 87,273 bits = 10,909
        // bytes
        let rate = |flits, cycles| Rate::new(flits, cycles, "rate").expect("a rate");
        let twelfth = rate(1, 12);
        // if a flit has 240 bytes, a cycle has 20 ns: the change takes 500 cycles, and 10,909 bytes are 45.5 flits
        assert_eq!(break_even(Rate::ONE, twelfth, 500), 46);
        // if a flit has 12 bytes, a cycle has 1 ns: the change takes 10,000 cycles, and 10,909 bytes are 909.1 flits
        assert_eq!(break_even(Rate::ONE, twelfth, 10_000), 910);
        // at half the rate, a change of 40 cycles is worthwhile from 40 flits on: without it they take 80 cycles, with it 40 + 40
        assert_eq!(break_even(Rate::ONE, rate(1, 2), 40), 40);
        // a link of a quarter of a flit per cycle carries 10 flits in 40 cycles
        assert_eq!(break_even(rate(1, 4), rate(1, 2), 40), 10);
    }

    #[test]
    fn it_is_written_as_it_is_read() {
        for text in ["\"break_even\"", "\"87272b\""] {
            let read: SwitchAt = serde_json::from_str(text).expect("a size");
            assert_eq!(serde_json::to_string(&read).expect("text"), text);
        }
        assert_eq!(serde_json::from_str::<SwitchAt>("\"10909B\"").ok(), Some(SwitchAt::Size(Bits(87_272))));
        let problem = serde_json::from_str::<SwitchAt>("\"soon\"").expect_err("no size").to_string();
        assert!(problem.contains("break_even"), "{problem}");
    }
}
