//! The results of a program: times of ranks, completion times of messages, bandwidths of collectives.

use super::node::Node;
use super::processors::Count;
use super::site::{Site, lock};
use hdrhistogram::Histogram;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::Ordering::Relaxed;
use weft_api::activity::{self, Activity, Log, Span, Wanted};
use weft_api::base::kept::{Kept, Reader, Unreadable, Value, Writer};
use weft_api::recording::{Column, Table};
use weft_programs::form::{Kind, Op, Operation};

/// An event: a rank has begun or ended a call of a collective.
#[derive(Debug, Clone, Copy)]
pub struct Ended {
    pub at: u64,
    pub has_ended: bool,
}

/// A call of a collective that not all ranks have ended yet.
#[derive(Debug, Clone, Copy, Value)]
struct Call {
    /// The cycle in which the first rank began the call.
    begin: u64,
    /// The latest cycle so far in which a rank ended the call.
    end: u64,
    /// Number of ranks that have not ended the call.
    left: u32,
}

/// Statistics of all calls of collectives with the same operation, size and number of ranks. Times are in cycles.
#[derive(Debug, Clone, Copy, Value)]
struct Calls {
    count: u64,
    sum: u64,
    least: u64,
    most: u64,
}

/// Times of messages [cycles]. `None` before the first message, because a histogram takes at least 16 KB.
#[derive(Debug, Default, Clone)]
struct Flows(Option<Histogram<u64>>);

impl Flows {
    /// Returns an empty histogram whose upper bound grows with the recorded times.
    fn none_yet() -> Histogram<u64> {
        Histogram::new(3).expect("a constant precision is valid")
    }

    fn add(&mut self, times: impl Iterator<Item = u64>) {
        for cycles in times {
            self.0.get_or_insert_with(Self::none_yet).record(cycles).expect("a histogram that grows has room");
        }
    }
}

impl Kept for Flows {
    fn keep(&self, to: &mut Writer) {
        self.0.is_some().keep(to);
        self.0.iter().for_each(|counted| counted.keep(to));
    }

    fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), Unreadable> {
        self.0 = bool::read(from)?.then(Self::none_yet);
        self.0.iter_mut().try_for_each(|counted| counted.restore(from))
    }
}

/// Times of messages [cycles] that a node has not yet added to the statistics of all ranks. The node adds several times at once, because
/// all threads share these statistics, and each access to them costs much time.
#[derive(Debug, Default, Kept)]
pub struct NewFlows(Vec<u64>);

impl NewFlows {
    /// Number of message times that a node adds in one access to the shared statistics.
    const MOST: usize = 32;

    /// Records the time of a message that has arrived.
    pub fn record(&mut self, site: &Site, message: activity::Message) {
        self.0.push(message.arrived - message.begun);
        if self.0.len() == Self::MOST {
            lock(&site.shared).flows.add(self.0.drain(..));
        }
        if site.wanted.messages > 0 {
            lock(&site.shared).activity.messages.push(message);
        }
    }
}

/// The statistics of all ranks together. The order in which ranks add values has no effect on the result.
#[derive(Debug, Kept)]
pub struct Shared {
    /// Time of each message from the end of the sender's work for it until its last packet has arrived [cycles].
    flows: Flows,
    /// The calls that not all ranks have ended. The key is the number of the communicator, and the number of the call in this communicator.
    under_way: BTreeMap<(u32, u32), Call>,
    /// The statistics of ended calls. The key is the operation, the number of bytes (`None` if the blocks of the ranks differ in size), and
    /// the number of ranks.
    calls: BTreeMap<(&'static str, Option<u64>, u32), Calls>,
    /// Activity of the ranks, for the recordings `rank_states` and `message_times`.
    activity: Activity,
}

impl Shared {
    pub fn new(wanted: Wanted) -> Self {
        let activity = Activity { spans: Log::new(wanted.spans), messages: Log::new(wanted.messages) };
        Self { flows: Flows::default(), under_way: BTreeMap::new(), calls: BTreeMap::new(), activity }
    }

    pub fn span(&mut self, span: Span) {
        self.activity.spans.push(span);
    }

    /// Records that a rank begins or ends a collective of communicator `number`. The communicator has `ranks` ranks.
    pub fn call(&mut self, op: &Op, (number, ranks): (u32, u32), event: Ended) {
        let Kind::Collective(operation) = op.kind() else { return };
        let key = (number, op.instance());
        let call = self.under_way.entry(key).or_insert(Call { begin: event.at, end: 0, left: ranks });
        call.begin = call.begin.min(event.at);
        if !event.has_ended {
            return;
        }
        call.end = call.end.max(event.at);
        call.left -= 1;
        if call.left > 0 {
            return;
        }
        let cycles = call.end - call.begin;
        self.under_way.remove(&key);
        let bytes = (op.sizes() == 0).then_some(op.size());
        let none = Calls { count: 0, sum: 0, least: u64::MAX, most: 0 };
        let calls = self.calls.entry((operation.name(), bytes, ranks)).or_insert(none);
        calls.count += 1;
        calls.sum += cycles;
        (calls.least, calls.most) = (calls.least.min(cycles), calls.most.max(cycles));
    }
}

/// Returns the bytes of a collective as nccl-tests count them, and the factor between algorithm bandwidth and bus bandwidth
/// (nccl-tests, doc/PERFORMANCE.md). `None` for a barrier, which has no bytes.
fn of_nccl_tests(operation: Operation, bytes: u64, ranks: u32) -> Option<(f64, f64)> {
    let (bytes, n) = (bytes as f64, f64::from(ranks));
    let share = (n - 1.0) / n;
    match operation {
        Operation::Barrier => None,
        Operation::Broadcast | Operation::Reduce => Some((bytes, 1.0)),
        Operation::AllReduce => Some((bytes, 2.0 * share)),
        Operation::ReduceScatter => Some((bytes, share)),
        // for these operations, `bytes` is the size of the block of one rank
        Operation::AllGather | Operation::Gather | Operation::Scatter | Operation::AllToAll => Some((bytes * n, share)),
    }
}

/// Builds the table of results with one row per rank.
fn ranks(site: &Site, nodes: &[Mutex<Node>]) -> Table {
    let mut counts: Vec<(Option<u32>, Count)> = Vec::new();
    let first_terminals = site.terminals.iter().step_by(site.rails.count as usize);
    for (node, &terminal) in nodes.iter().zip(first_terminals) {
        counts.extend(lock(node).ranks.iter().map(|rank| (Some(terminal), rank.count)));
    }
    let column = |of: fn(&Count) -> u64| Column::Counts(counts.iter().map(|(_, count)| of(count)).collect());
    let cycles = |fs: u128| fs as f64 / site.cycle_fs as f64;
    let times = |of: fn(&Count) -> u128| Column::Floats(counts.iter().map(|(_, count)| cycles(of(count))).collect());
    let finish = |(_, count): &(Option<u32>, Count)| (count.finish > 0).then_some(count.finish);
    Table::whole([
        ("rank", Column::Counts((0..counts.len() as u64).collect())),
        ("terminal", Column::MaybeNumbers(counts.iter().map(|&(terminal, _)| terminal).collect())),
        ("finish_cycles", Column::MaybeCounts(counts.iter().map(finish).collect())),
        ("compute_cycles", times(|count| count.compute_fs)),
        ("overhead_cycles", times(|count| count.overhead_fs)),
        ("transfer_cycles", column(|count| count.transfer)),
        ("wait_cycles", column(|count| count.wait)),
        ("exposed_cycles", Column::MaybeCounts(counts.iter().map(|(_, count)| count.exposed(site.start)).collect())),
        ("sent_messages", column(|count| count.sent)),
        ("sent_bytes", column(|count| count.sent_bytes)),
        ("received_messages", column(|count| count.received)),
        ("received_bytes", column(|count| count.received_bytes)),
    ])
}

/// Builds the table of results with one row per kind of collective.
fn collectives(site: &Site, shared: &Shared) -> Table {
    let mut columns: [Vec<Option<u64>>; 2] = Default::default();
    for (&(name, bytes, ranks), calls) in &shared.calls {
        let seconds = calls.sum as f64 / calls.count as f64 * site.cycle_fs as f64 / 1e15;
        let operation = weft_programs::collectives::operation(name);
        let counted = operation.zip(bytes).and_then(|(operation, bytes)| of_nccl_tests(operation, bytes, ranks));
        let rate = |factor: f64| {
            counted.filter(|_| seconds > 0.0).map(|(bytes, _)| (8.0 * bytes * factor / seconds).round() as u64)
        };
        columns[0].push(rate(1.0));
        columns[1].push(counted.and_then(|(_, factor)| rate(factor)));
    }
    let [algorithm, bus] = columns;
    let counts = |of: fn(&Calls) -> u64| Column::Counts(shared.calls.values().map(of).collect());
    let mean = |calls: &Calls| calls.sum as f64 / calls.count as f64;
    Table::whole([
        ("operation", Column::Texts(shared.calls.keys().map(|(name, ..)| (*name).into()).collect())),
        ("ranks", Column::Counts(shared.calls.keys().map(|&(_, _, ranks)| ranks.into()).collect())),
        ("bytes", Column::MaybeCounts(shared.calls.keys().map(|&(_, bytes, _)| bytes).collect())),
        ("calls", counts(|calls| calls.count)),
        ("mean_cycles", Column::Floats(shared.calls.values().map(mean).collect())),
        ("least_cycles", counts(|calls| calls.least)),
        ("most_cycles", counts(|calls| calls.most)),
        ("algorithm_bandwidth_bits_per_second", Column::MaybeCounts(algorithm)),
        ("bus_bandwidth_bits_per_second", Column::MaybeCounts(bus)),
    ])
}

/// Returns the activity of the ranks up to cycle `end`.
pub fn activity(site: &Site, nodes: &[Mutex<Node>], end: u64) -> Activity {
    let mut activity = lock(&site.shared).activity.clone();
    if site.wanted.spans > 0 {
        for node in nodes {
            lock(node).ranks.iter().flat_map(|rank| rank.last_spans(end)).for_each(|span| activity.spans.push(span));
        }
    }
    activity
}

/// Returns the tables of results of a program.
pub fn tables(site: &Site, nodes: &[Mutex<Node>]) -> Vec<(&'static str, Table)> {
    vec![("ranks", ranks(site, nodes)), ("collectives", collectives(site, &lock(&site.shared)))]
}

/// Returns the figures for the whole program. The run time is `None` if some rank has not ended.
pub fn figures(site: &Site, nodes: &[Mutex<Node>], finish: Option<u64>) -> Vec<(&'static str, Option<f64>)> {
    let (mut messages, mut bytes, mut exposed) = (0, 0, Vec::new());
    let mut flows = lock(&site.shared).flows.clone();
    for node in nodes {
        let node = lock(node);
        flows.add(node.new_flows.0.iter().copied());
        for rank in &node.ranks {
            exposed.extend(rank.count.exposed(site.start));
            messages += rank.count.sent;
            bytes += rank.count.sent_bytes;
        }
    }
    let flows = flows.0.as_ref();
    let quantile = |share: f64| flows.map(|flows| flows.value_at_quantile(share) as f64);
    let exposed_mean = exposed.iter().sum::<u64>() as f64 / exposed.len().max(1) as f64;
    vec![
        ("run_time_cycles", finish.map(|finish| (finish - site.start) as f64)),
        ("messages", Some(messages as f64)),
        ("message_bytes", Some(bytes as f64)),
        ("ranks", Some(f64::from(site.ranks))),
        ("ended_ranks", Some(f64::from(site.ranks) - site.open.load(Relaxed) as f64)),
        ("exposed_mean_cycles", finish.map(|_| exposed_mean)),
        ("exposed_max_cycles", finish.and(exposed.iter().max().map(|&cycles| cycles as f64))),
        ("flow_completion_mean_cycles", flows.map(Histogram::mean)),
        ("flow_completion_p50_cycles", quantile(0.5)),
        ("flow_completion_p99_cycles", quantile(0.99)),
        ("flow_completion_max_cycles", flows.map(|flows| flows.max() as f64)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that a histogram whose range grows has the same quantiles as one with full range, and needs less memory.
    #[test]
    fn times_of_messages_take_the_room_that_they_need() {
        let mut flows = Flows::default();
        assert!(flows.0.is_none());
        let mut bounded = Histogram::<u64>::new_with_bounds(1, 1 << 48, 3).unwrap();
        for cycles in (0..2_000).map(|k| k * k * 7 + k % 13) {
            flows.add([cycles].into_iter());
            bounded.record(cycles).unwrap();
        }
        let grown = flows.0.as_ref().unwrap();
        for share in [0.0, 0.1, 0.5, 0.99, 1.0] {
            assert_eq!(grown.value_at_quantile(share), bounded.value_at_quantile(share));
        }
        assert_eq!((grown.mean(), grown.max()), (bounded.mean(), bounded.max()));
        assert!(2 * grown.distinct_values() < bounded.distinct_values());
        for flows in [Flows::default(), flows] {
            let (mut bytes, mut restored) = (Writer::new(), Flows::default());
            flows.keep(&mut bytes);
            restored.add([1].into_iter());
            restored.restore(&mut Reader::new(&bytes)).unwrap();
            assert_eq!(restored.0, flows.0);
        }
    }
}
