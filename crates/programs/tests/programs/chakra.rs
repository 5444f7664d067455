//! Chakra: nodes that tests write, damaged files. `tests/test_traces.py` reads traces of ASTRA-sim.

use crate::damage::rounds;
use crate::recorded::Memory;
use proptest::prelude::*;
use weft_programs::form::{Op, Operation, When};
use weft_programs::mpi::{Assumed, Converted};
use weft_programs::readers::chakra::Chakra;
use weft_programs::readers::traces::{Clock, TraceFormat};
use weft_units::Refusal;

/// A whole number as protobuf writes it.
fn varint(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 128 {
        bytes.push(number as u8 | 128);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

/// A field that is a whole number, or one that has a length.
fn number(field: u64, value: u64) -> Vec<u8> {
    [varint(field << 3), varint(value)].concat()
}

fn block(field: u64, bytes: &[u8]) -> Vec<u8> {
    [varint(field << 3 | 2), varint(bytes.len() as u64), bytes.to_vec()].concat()
}

/// An attribute with an `int64`.
fn attribute(name: &str, value: u64) -> Vec<u8> {
    block(10, &[block(1, name.as_bytes()), number(9, value)].concat())
}

/// A node with its length: number, kind, nodes that it waits for, microseconds, attributes.
pub fn node(id: u64, kind: u64, after: &[u64], micros: u64, attributes: &[(&str, u64)]) -> Vec<u8> {
    let mut bytes = [number(1, id), number(3, kind), number(7, micros)].concat();
    after.iter().for_each(|&earlier| bytes.extend(number(4, earlier)));
    attributes.iter().for_each(|&(name, value)| bytes.extend(attribute(name, value)));
    [varint(bytes.len() as u64), bytes].concat()
}

pub fn file(nodes: &[Vec<u8>]) -> Vec<u8> {
    let head = block(1, b"0.0.4");
    [varint(head.len() as u64), head, nodes.concat()].concat()
}

fn read(ranks: &[Vec<u8>]) -> Result<Converted, Refusal> {
    let names = (0..ranks.len()).map(|rank| format!("step.{rank}.et")).collect();
    Chakra.read(&mut Memory { names, bytes: ranks.to_vec() }, None)
}

#[test]
fn nodes_keep_their_dependencies_and_collectives_their_sizes() {
    let of = |me: u64| {
        let other = 1 - me;
        let message = [("comm_src", other), ("comm_dst", other), ("comm_size", 100), ("comm_tag", 3), ("is_cpu_op", 0)];
        file(&[
            node(7, 4, &[], 5, &[("is_cpu_op", 1)]),
            node(9, if me == 0 { 5 } else { 6 }, &[7], 0, &message),
            node(11, 7, &[9, 99], 0, &[("comm_type", 6), ("comm_size", 101), ("is_cpu_op", 0)]),
            node(12, 7, &[11], 2, &[]),
            node(13, 4, &[], 0, &[("num_ops", 50)]),
        ])
    };
    let Converted { program, assumptions } = read(&[of(0), of(1)]).unwrap();
    let ops = &program.ranks[0].ops;
    // an all-to-all of 101 bytes sends blocks of 51 bytes to 2 ranks
    let wanted = [
        Op::compute(5000),
        Op::send(1, 100, Some(3)).on(1, 0),
        Op::collective(Operation::AllToAll, 0, 51, 0).on(1, 0),
        Op::compute(2000),
        Op::compute(0),
    ];
    assert_eq!(ops.ops(), wanted);
    let later = |op: u32| ops.successors(op, When::Finish).to_vec();
    assert_eq!([later(0), later(1), later(2), later(3)], [vec![1], vec![2], vec![3], vec![]]);
    assert_eq!(program.ranks[1].ops.op(1), Op::receive(Some(0), 100, Some(3)).on(1, 0));
    let counted = |assumed: Assumed| assumptions.get(&assumed).copied();
    use Assumed::{DependencyMissing, NoDuration, NoSize, RanksOfFiles};
    assert_eq!([DependencyMissing, NoDuration, NoSize, RanksOfFiles].map(counted), [Some(2); 4]);
}

#[test]
fn what_can_not_be_converted_is_refused_with_place_and_remedy() {
    let message_of = |nodes: &[Vec<u8>]| read(&[file(nodes)]).unwrap_err().to_string();
    // the head has 1 + 7 bytes
    assert!(
        message_of(&[node(1, 5, &[], 0, &[])]).starts_with("step.0.et, byte 8: node 1 () has no comm_dst that fits")
    );
    let missing = message_of(&[node(1, 5, &[], 0, &[("comm_dst", 1), ("comm_size", 8)])]);
    assert!(
        missing.contains("names rank 1, and there are files of 1") && missing.contains("copy the files of all ranks")
    );
    assert!(message_of(&[node(1, 77, &[], 0, &[])]).contains("node 1 () has kind 77"));
    // 5 is the field of data dependencies
    let data = |id, earlier| {
        let bytes = [number(1, id), number(3, 4), number(5, earlier)].concat();
        [varint(bytes.len() as u64), bytes].concat()
    };
    assert!(message_of(&[data(1, 2), data(2, 1)]).contains("waits for itself through its data dependencies"));
    // node 2 is called by node 1, which waits for its data
    let caller = read(&[file(&[data(1, 2), node(2, 4, &[1], 0, &[])])]).unwrap();
    assert_eq!(caller.assumptions.get(&Assumed::ControlLeftOut), Some(&1));
    assert_eq!(caller.program.ranks[0].ops.successors(1, When::Finish), [0]);
    assert!(message_of(&[node(1, 4, &[], 0, &[]), node(1, 4, &[], 0, &[])]).contains("two nodes have the number 1"));
    let group = |id, group| node(id, 7, &[], 0, &[("comm_type", 0), ("comm_size", 8), ("pg_name", group)]);
    assert!(message_of(&[group(1, 0), group(2, 1)]).contains("collectives are of 2 groups (0, 1)"));
    let clock = Chakra.read(&mut Memory { names: vec!["a.0.et".into()], bytes: vec![file(&[])] }, Some(Clock::Wall));
    assert!(clock.unwrap_err().to_string().contains("leave out --clock"));
    let whole = file(&[node(1, 4, &[], 5, &[("is_cpu_op", 1)])]);
    for length in (0..whole.len()).filter(|&length| length != 8) {
        let refused = read(&[whole[..length].to_vec()]).unwrap_err();
        assert!(refused.path.starts_with("step.0.et, byte "), "{length}: {refused}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000 * rounds(), failure_persistence: None, ..ProptestConfig::default() })]

    /// Changed bytes of a whole file, and any bytes.
    #[test]
    fn any_bytes_never_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        tail in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        let message = [("comm_dst", 0), ("comm_size", 100)];
        let mut whole = file(&[node(1, 4, &[], 5, &[]), node(2, 5, &[1], 0, &message), node(3, 7, &[2], 0, &[("comm_type", 0), ("comm_size", 8)])]);
        for (place, byte) in changes {
            let place = place.index(whole.len());
            whole[place] = byte;
        }
        let _ = read(&[whole]);
        let _ = read(&[tail]);
    }
}
