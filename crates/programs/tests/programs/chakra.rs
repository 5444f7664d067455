//! Tests of the reader for Chakra traces, with nodes that tests write, and with damaged files.
//! `tests/test_traces.py` tests the same reader with traces of ASTRA-sim.

use crate::damage::rounds;
use crate::recorded::Memory;
use proptest::prelude::*;
use weft_programs::form::{Comm, Op, Operation, When};
use weft_programs::mpi::{Assumed, Converted};
use weft_programs::readers::chakra::Chakra;
use weft_programs::readers::traces::{Clock, TraceFormat};
use weft_units::Refusal;

/// Encodes an integer as protobuf does.
fn varint(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 128 {
        bytes.push(number as u8 | 128);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

/// Encodes a protobuf field that contains an integer. The next function encodes a field that begins with its length.
fn number(field: u64, value: u64) -> Vec<u8> {
    [varint(field << 3), varint(value)].concat()
}

fn block(field: u64, bytes: &[u8]) -> Vec<u8> {
    [varint(field << 3 | 2), varint(bytes.len() as u64), bytes.to_vec()].concat()
}

/// Encodes an attribute of a node with an `int64` as its value.
fn attribute(name: &str, value: u64) -> Vec<u8> {
    block(10, &[block(1, name.as_bytes()), number(9, value)].concat())
}

/// Encodes a node, without the length that precedes it in a file. Arguments: number, kind, numbers of the nodes that
/// this node depends on, duration \[us\], attributes.
pub fn node(id: u64, kind: u64, after: &[u64], micros: u64, attributes: &[(&str, u64)]) -> Vec<u8> {
    let mut bytes = [number(1, id), number(3, kind), number(7, micros)].concat();
    after.iter().for_each(|&earlier| bytes.extend(number(4, earlier)));
    attributes.iter().for_each(|&(name, value)| bytes.extend(attribute(name, value)));
    [varint(bytes.len() as u64), bytes].concat()
}

/// Encodes a node that lists process groups in the form that PyTorch writes.
pub fn groups(id: u64, listed: &str) -> Vec<u8> {
    let inputs = block(1, listed.as_bytes());
    let name = block(2, b"## process_group:init ##");
    let bytes = [number(1, id), name, number(3, 1), block(8, &inputs)].concat();
    [varint(bytes.len() as u64), bytes].concat()
}

pub fn file(nodes: &[Vec<u8>]) -> Vec<u8> {
    let head = block(1, b"0.0.4");
    [varint(head.len() as u64), head, nodes.concat()].concat()
}

fn read(ranks: &[Vec<u8>]) -> Result<Converted, Refusal> {
    read_with(ranks, &[])
}

/// Reads a trace with these files of ranks, and with `others`: further files in the same folder, given by name and
/// text.
fn read_with(ranks: &[Vec<u8>], others: &[(&str, &str)]) -> Result<Converted, Refusal> {
    let names = (0..ranks.len()).map(|rank| format!("step.{rank}.et"));
    let names = names.chain(others.iter().map(|(name, _)| (*name).to_owned())).collect();
    let bytes = ranks.iter().cloned().chain(others.iter().map(|(_, text)| text.as_bytes().to_vec())).collect();
    Chakra.read(&mut Memory { names, bytes }, None)
}

/// Encodes two nodes of a rank: an all-to-all of 100 bytes in a group, and a barrier of all ranks.
fn in_group(id: u64, group: u64) -> Vec<u8> {
    let within = node(id, 7, &[], 0, &[("comm_type", 6), ("comm_size", 100), ("pg_name", group)]);
    [within, node(id + 1, 7, &[], 0, &[("comm_type", 9), ("comm_size", 0)])].concat()
}

#[test]
fn collectives_are_of_the_group_that_they_name() {
    // The file lists the groups as [0, 1] and [3, 2]; each group numbers its ranks in this order.
    let pairs = [0, 0, 1, 1].map(|group| file(&[in_group(1, group), in_group(3, group)]));
    let of_file = read_with(&pairs, &[("step.json", r#"{"0": [0, 1], "1": [3, 2]}"#), ("system.json", "{}x")]).unwrap();
    let comms = |number, members: [u32; 2], me| vec![Comm { number, members: members.into(), me }];
    let wanted = [comms(1, [0, 1], 0), comms(1, [0, 1], 1), comms(2, [3, 2], 1), comms(2, [3, 2], 0)];
    assert_eq!(of_file.program.ranks.iter().map(|rank| rank.comms.clone()).collect::<Vec<_>>(), wanted);
    for rank in &of_file.program.ranks {
        // each of the 2 ranks of a group gets 50 of the 100 bytes. Collectives are numbered separately in each group
        let call = |instance| Op::collective(Operation::AllToAll, 0, 50, instance).within(1);
        let barrier = |instance| Op::collective(Operation::Barrier, 0, 0, instance);
        assert_eq!(rank.ops.ops(), [call(0), barrier(0), call(1), barrier(1)]);
    }
    // Each rank lists its groups as PyTorch does, so two groups may have the same name.
    let lists = [[0, 1], [0, 1], [3, 2], [3, 2]].map(|members| {
        let listed = format!(r#"['[{{"pg_name": "7", "ranks": {members:?}, "group_size": 2}}]']"#);
        file(&[groups(1, &listed), in_group(2, 7), in_group(4, 7)])
    });
    let of_nodes = read(&lists).unwrap();
    for (rank, other) in of_nodes.program.ranks.iter().zip(&of_file.program.ranks) {
        assert_eq!(rank.comms, other.comms);
        assert_eq!(rank.ops.ops()[1..], *other.ops.ops());
    }
    // A group without listed members contains all ranks, in the order of their files.
    let escaped = r#"["[{\"pg_name\": \"0\", \"ranks\": [], \"group_size\": 2}]"]"#;
    let all = [0, 1].map(|_| file(&[groups(1, escaped), in_group(2, 0)]));
    let all = read(&all).unwrap();
    assert_eq!([0, 1].map(|rank| all.program.ranks[rank].comms[0].members.to_vec()), [[0, 1], [0, 1]]);
}

#[test]
fn groups_that_do_not_fit_are_refused_with_place_and_remedy() {
    let refused = |of: &[u64], text: &str| {
        let ranks: Vec<_> = of.iter().map(|&group| file(&[in_group(1, group)])).collect();
        read_with(&ranks, &[("step.json", text)]).unwrap_err().to_string()
    };
    assert!(refused(&[0, 1], r#"{"0": [0, 1]}"#).contains("the trace lists no members of the groups 1"));
    let outside = refused(&[0, 0], r#"{"0": [0, 5]}"#);
    assert!(outside.starts_with("step.json: group 0 has rank 5, but there are files of 2 ranks"), "{outside}");
    assert!(refused(&[0, 0], r#"{"0": [0, 1, 0]}"#).contains("has rank 0 twice"));
    let not_in = refused(&[0, 1], r#"{"0": [0], "1": [0]}"#);
    assert!(
        not_in.starts_with("step.1.et, byte 8: node 1 () belongs to group 1, but rank 1 is not in this group"),
        "{not_in}"
    );
    // refused: member 1 of group 0 calls no collective of this group
    assert!(refused(&[0, 1], r#"{"0": [0, 1], "1": [1]}"#).contains("collective 0 of communicator 1"));
    let ranks = [file(&[in_group(1, 0)])];
    let twice = read_with(&ranks, &[("a.json", r#"{"0": [0]}"#), ("b.json", r#"{"0": [0]}"#)]).unwrap_err();
    assert!(twice.to_string().contains("a.json and b.json both list groups"));
    let lacking = [file(&[groups(1, r#"[{"pg_name": "0", "ranks": [], "group_size": 8}]"#), in_group(2, 0)])];
    assert!(read(&lacking).unwrap_err().to_string().contains("group 0 has 8 ranks, but there are files of 1 ranks"));
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
    // an all-to-all of 101 bytes between 2 ranks sends blocks of 51 bytes
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
    // the first node begins at byte 8, because the header has 1 + 7 bytes
    assert!(message_of(&[node(1, 5, &[], 0, &[])]).starts_with("step.0.et, byte 8: node 1 () has no valid comm_dst"));
    let missing = message_of(&[node(1, 5, &[], 0, &[("comm_dst", 1), ("comm_size", 8)])]);
    assert!(
        missing.contains("names rank 1, but there are files of 1 ranks")
            && missing.contains("copy the files of all ranks")
    );
    assert!(message_of(&[node(1, 77, &[], 0, &[])]).contains("node 1 () has kind 77"));
    // field 5 of a node lists its data dependencies
    let data = |id, earlier| {
        let bytes = [number(1, id), number(3, 4), number(5, earlier)].concat();
        [varint(bytes.len() as u64), bytes].concat()
    };
    assert!(message_of(&[data(1, 2), data(2, 1)]).contains("is part of a cycle of data dependencies"));
    // node 1 calls node 2 and waits for its data
    let caller = read(&[file(&[data(1, 2), node(2, 4, &[1], 0, &[])])]).unwrap();
    assert_eq!(caller.assumptions.get(&Assumed::ControlLeftOut), Some(&1));
    assert_eq!(caller.program.ranks[0].ops.successors(1, When::Finish), [0]);
    assert!(message_of(&[node(1, 4, &[], 0, &[]), node(1, 4, &[], 0, &[])]).contains("two nodes have the number 1"));
    let group = |id, group| node(id, 7, &[], 0, &[("comm_type", 0), ("comm_size", 8), ("pg_name", group)]);
    assert!(
        message_of(&[group(1, 0), group(2, 1)])
            .contains("collectives use 2 groups, but the trace lists no members of the groups 0, 1")
    );
    let clock = Chakra.read(&mut Memory { names: vec!["a.0.et".into()], bytes: vec![file(&[])] }, Some(Clock::Wall));
    assert!(clock.unwrap_err().to_string().contains("remove --clock"));
    let whole = file(&[node(1, 4, &[], 5, &[("is_cpu_op", 1)])]);
    for length in (0..whole.len()).filter(|&length| length != 8) {
        let refused = read(&[whole[..length].to_vec()]).unwrap_err();
        assert!(refused.path.starts_with("step.0.et, byte "), "{length}: {refused}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000 * rounds(), failure_persistence: None, ..ProptestConfig::default() })]

    /// Valid files with changed bytes, and random bytes, never cause a panic.
    #[test]
    fn any_bytes_never_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        tail in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        let message = [("comm_dst", 0), ("comm_size", 100)];
        let listed = groups(4, r#"['[{"pg_name": "0", "ranks": [0]}]']"#);
        let sized = [("comm_type", 0), ("comm_size", 8), ("pg_name", 0)];
        let mut whole = file(&[node(1, 4, &[], 5, &[]), node(2, 5, &[1], 0, &message), listed, node(3, 7, &[2], 0, &sized)]);
        for (place, byte) in changes {
            let place = place.index(whole.len());
            whole[place] = byte;
        }
        let _ = read(&[whole]);
        let _ = read(&[tail]);
    }
}
