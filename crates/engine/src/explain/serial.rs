//! How long the flits of a packet take without contention over links of several rates.
//!
//! Over links that all carry one flit per cycle a packet of P flits takes P - 1 cycles more than its head. Over others
//! the times follow from the same paces as in the loop, flit by flit.

use crate::network::spec::Spec;
use crate::pipeline::pace::Rates;
use crate::state::rate::Rate;
use std::collections::HashMap;

/// The sequences of link classes that packets cross, each with a number, and what each adds to the latency of a packet.
/// Where all links carry one flit per cycle, there is only one sequence, the number 0, which adds nothing.
#[derive(Debug)]
pub struct Sequences {
    rates: Option<Rates>,
    /// Lengths of packets, and the share of each.
    lengths: Vec<(u32, f64)>,
    /// For each sequence: the classes of its links between routers.
    links: Vec<Vec<u8>>,
    /// For each sequence followed by a class: the longer sequence.
    longer: HashMap<(u32, u8), u32>,
    /// For each sequence, if it is known: cycles that it adds.
    adds: Vec<Option<f64>>,
}

/// The number of the sequence without links between routers.
pub const NO_LINKS: u32 = 0;

impl Sequences {
    pub fn new(spec: &Spec, lengths: Vec<(u32, f64)>) -> Self {
        let rates: Vec<Rate> = spec.links.iter().map(|link| link.rate).collect();
        let uneven = rates.iter().any(|&rate| rate != Rate::ONE);
        let rates = uneven.then(|| Rates::new(rates, vec![0; spec.links.len()]));
        Self { rates, lengths, links: vec![Vec::new()], longer: HashMap::new(), adds: vec![None] }
    }

    /// The sequence that a link of this class makes of sequence `before`.
    pub fn after(&mut self, before: u32, class: u8) -> u32 {
        if self.rates.is_none() {
            return NO_LINKS;
        }
        let Self { links, longer, adds, .. } = self;
        *longer.entry((before, class)).or_insert_with(|| {
            let mut sequence = links[before as usize].clone();
            sequence.push(class);
            links.push(sequence);
            adds.push(None);
            links.len() as u32 - 1
        })
    }

    /// Mean cycles that the sequence, between two terminal links, adds to what a packet takes over links of rate 1.
    pub fn adds(&mut self, sequence: u32) -> f64 {
        let Some(rates) = &self.rates else { return 0.0 };
        let links = &self.links[sequence as usize];
        let mean = || self.lengths.iter().map(|&(flits, share)| extra_cycles(rates, links, flits) as f64 * share).sum();
        *self.adds[sequence as usize].get_or_insert_with(mean)
    }
}

/// Cycles that a packet of so many flits takes longer, over links of these classes between two terminal links, than if
/// all carried one flit per cycle.
pub fn extra(spec: &Spec, links: &[u8], flits: u32) -> u64 {
    let rates = spec.links.iter().map(|link| link.rate).collect();
    extra_cycles(&Rates::new(rates, vec![0; spec.links.len()]), links, flits)
}

/// As [`extra`]. Latencies and delays of routers add the same to all flits, so they are left out.
fn extra_cycles(rates: &Rates, links: &[u8], flits: u32) -> u64 {
    let mut paces = std::iter::once(&0).chain(links).chain([&0]).map(|&class| (class, rates.pace(class), 0));
    let (_, mut source, mut source_free) = paces.next().expect("the injection channel");
    let mut rest: Vec<_> = paces.collect();
    let (mut now, mut last) = (0, 0);
    for _ in 0..flits {
        // a terminal sends at most one flit per cycle, and only if its link can begin it
        now += source.full_for(source_free, now);
        let (mut at, next_free) = source.take(source_free, rates.ready_at_source(now));
        source_free = next_free;
        let mut before = 0;
        for (class, pace, free) in &mut rest {
            let ready = rates.ready((before, 1), (*class, pace), at);
            (at, *free) = pace.take(*free, ready);
            before = *class;
        }
        (now, last) = (now + 1, at);
    }
    (last + 1).saturating_sub(u64::from(flits))
}
