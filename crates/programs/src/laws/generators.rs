//! The laws that every generator must obey: it makes the same program each time, each send has a receive, and the program ends
//! on an ideal network. The laws are checked for the number of ranks of each example, and for other numbers of ranks. A
//! generator with the parameter `most_bytes` must not send more bytes than this limit.

use crate::collectives::{Rules, RulesConfig, TableConfig};
use crate::form::{Kind, Program};
use crate::generators::{GeneratorConfig, Made, ProgramFile};
use crate::info;
use crate::loggops::{self, Parameters};
use serde_json::Value;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use weft_units::Refusal;

/// Numbers of ranks for which the laws are checked, in addition to the example's number. The numbers include squares,
/// cubes, and neighbours of powers of 2.
const RANKS: [u32; 11] = [2, 3, 4, 5, 8, 9, 16, 27, 33, 64, 65];

/// Largest number of ranks of an example.
const MOST_RANKS: u32 = 64;

/// The ideal network on which the programs run. A unit of time is 1 ps. The parameters are: L 1 us, o 0.3 us, g 0.1 us,
/// G 0.02 ns per byte, S 64 KiB.
const IDEAL: Parameters = Parameters {
    unit_fs: 1000,
    latency: 1_000_000,
    overhead: 300_000,
    gap: 100_000,
    gap_per_byte: 20,
    overhead_per_byte: 0,
    eager: 1 << 16,
};

/// Checks the laws for an example of a generator. `read` returns the configuration of the same generator with other
/// parameters, or the reason for its refusal.
///
/// # Panics
/// If the generator breaks a law. The message names the law and the configuration.
pub fn check_generator(example: &GeneratorConfig, read: &dyn Fn(Value) -> Result<GeneratorConfig, String>) {
    let of = |config: &GeneratorConfig| serde_json::to_value(config).expect("a configuration");
    let parameters = of(example)[example.name()].clone();
    let with = |key: &str, value: Value| {
        let mut changed = parameters.clone();
        changed[key] = value;
        read(changed)
    };
    let what = of(example).to_string();
    let made = make(example).unwrap_or_else(|refusal| panic!("{what}: {refusal}"));
    let ranks = made.program.len();
    assert!((2..=MOST_RANKS).contains(&ranks), "{what}: an example needs 2 to {MOST_RANKS} ranks, but has {ranks}");
    check_made(example, &made, &what);
    if parameters.get("ranks").is_some() {
        check_ranks(&|ranks| with("ranks", ranks.into()), example.name());
    }
    if let Ok(bounded) = with("most_bytes", "1B".into()) {
        check_bound(&made.program, &bounded, &|bytes| with("most_bytes", format!("{bytes}B").into()), &what);
    }
}

fn make(config: &GeneratorConfig) -> Result<Made, Refusal> {
    let file = ProgramFile { program: config.clone(), collectives: RulesConfig::default() };
    file.make().map(|(made, _)| made)
}

/// Checks the laws for other numbers of ranks. For each number, the generator must either refuse it, or make a program of this
/// number of ranks that obeys the laws. The check of the program's form can also refuse the program.
fn check_ranks(with: &dyn Fn(u32) -> Result<GeneratorConfig, String>, name: &str) {
    for ranks in RANKS {
        let Ok(config) = with(ranks) else { continue };
        let what = format!("{name} of {ranks} ranks");
        if let Ok(made) = make(&config) {
            assert_eq!(made.program.len(), ranks, "{what}: wrong number of ranks in the program");
            check_made(&config, &made, &what);
        }
    }
}

/// Checks the laws for one program, with the rules of each table of algorithms.
fn check_made(config: &GeneratorConfig, made: &Made, what: &str) {
    assert_eq!(
        make(config).map(|again| again.program).as_ref(),
        Ok(&made.program),
        "{what}: the second program differs from the first"
    );
    assert!(!made.arithmetic.is_empty(), "{what} has no arithmetic");
    check_matches(&made.program, what);
    for table in TableConfig::examples() {
        let rules = RulesConfig { table, ..RulesConfig::default() };
        let rules = rules.build("collectives").unwrap_or_else(|refusal| panic!("{what}: {refusal}"));
        let messages = check_end(&made.program, rules, what);
        assert_eq!(messages > 0, config.model().sends(), "{what} sends {messages} messages");
    }
}

/// Checks that the program ends. Also checks that it sends exactly the messages that follow from its operations, with
/// collectives expanded by `rules`. Returns the number of messages.
fn check_end(program: &Program, rules: Rules, what: &str) -> u64 {
    let pairs = info::matrix(program, &rules).unwrap_or_else(|refusal| panic!("{what}: {refusal}"));
    let answer = loggops::run(program, &Arc::new(rules), IDEAL);
    let answer = answer.unwrap_or_else(|failure| panic!("{what} does not end: {failure:?}"));
    let declared = pairs.iter().fold((0, 0), |(bytes, messages), pair| (bytes + pair.2, messages + pair.3));
    assert_eq!((answer.bytes, answer.messages), declared, "{what}: bytes and messages, as run and as declared");
    assert!(answer.last().0 > 0, "{what} takes no time");
    answer.messages
}

/// Messages from one rank to another rank with one tag: the sizes of the sends, and the sizes of the receives.
type Both = (VecDeque<u64>, VecDeque<u64>);

/// Checks that each receive has a send of the same size. If some receive accepts any message, the function compares
/// only the numbers of messages.
fn check_matches(program: &Program, what: &str) {
    let mut of: BTreeMap<(u32, u32, u32, Option<u32>), Both> = BTreeMap::new();
    let mut at: BTreeMap<(u32, u32), [u64; 2]> = BTreeMap::new();
    let mut takes_any = false;
    for (rank, own) in (0..).zip(&program.ranks) {
        for op in own.ops.ops() {
            let comm = usize::from(op.comm()).checked_sub(1).map_or(0, |place| own.comms[place].number);
            let peer = op.peer().map(|peer| own.rank_of(op.comm(), peer));
            match (op.kind(), peer) {
                (Kind::Send, Some(to)) => {
                    at.entry((to, comm)).or_default()[0] += 1;
                    of.entry((rank, to, comm, op.tag())).or_default().0.push_back(op.size());
                }
                (Kind::Receive, from) => {
                    at.entry((rank, comm)).or_default()[1] += 1;
                    takes_any |= from.is_none() || op.tag().is_none();
                    let from = from.unwrap_or(u32::MAX);
                    of.entry((from, rank, comm, op.tag())).or_default().1.push_back(op.size());
                }
                (Kind::Send | Kind::Compute | Kind::Collective(_), _) => {}
            }
        }
    }
    for ((rank, comm), [sends, receives]) in at {
        assert_eq!(sends, receives, "{what}: sends to rank {rank} and its receives in communicator {comm}");
    }
    for ((from, to, comm, tag), (sent, received)) in of.into_iter().filter(|_| !takes_any) {
        assert_eq!(sent, received, "{what}: bytes from {from} to {to}, communicator {comm}, tag {tag:?}");
    }
}

/// Checks the parameter `most_bytes`. If the limit equals the bytes of the program, the program must not change. If the limit
/// is one byte less, the program must become shorter.
fn check_bound(
    program: &Program,
    one_byte: &GeneratorConfig,
    with: &dyn Fn(u64) -> Result<GeneratorConfig, String>,
    what: &str,
) {
    let bytes = info::given(program);
    let refused = make(one_byte).expect_err("no program fits into 1 byte");
    assert!(refused.path.ends_with(".most_bytes"), "{what}: a bound of 1 byte is refused at another path: {refused}");
    let bounded = |most: u64| with(most).map(|config| make(&config).map(|made| made.program));
    let same = bounded(bytes);
    assert!(
        same.as_ref().is_ok_and(|made| made.as_ref() == Ok(program)),
        "{what}: a bound equal to its bytes, {bytes} B, changes the program"
    );
    if let Ok(Ok(less)) = bounded(bytes - 1) {
        let given = info::given(&less);
        assert!(given < bytes, "{what} sends {given} B, but `most_bytes` is {} B", bytes - 1);
    }
}
