//! Tests of generated applications: their messages and bytes are compared with values computed by hand.

use weft_programs::form::{Kind, Op, Operation, Program};
use weft_programs::generators::{GeneratorConfig, Made, ProgramFile};

fn config(name: &str, place: usize) -> serde_json::Value {
    let all = GeneratorConfig::examples();
    serde_json::to_value(all.iter().filter(|example| example.name() == name).nth(place).unwrap()).unwrap()
}

fn make(name: &str, place: usize, change: impl Fn(&mut serde_json::Value)) -> Result<Made, String> {
    let mut program = config(name, place);
    change(&mut program[name]);
    let file: ProgramFile = serde_json::from_value(serde_json::json!({ "program": program })).unwrap();
    file.make().map(|(made, _)| made).map_err(|refusal| refusal.to_string())
}

fn example(name: &str, place: usize) -> Program {
    make(name, place, |_| {}).unwrap().program
}

fn sends(program: &Program, rank: usize) -> Vec<Op> {
    program.ranks[rank].ops.ops().iter().filter(|op| op.kind() == Kind::Send).copied().collect()
}

/// Sum of the bytes of all messages of all ranks.
fn sent(program: &Program) -> u64 {
    (0..program.ranks.len()).flat_map(|rank| sends(program, rank)).map(|op| op.size()).sum()
}

#[test]
fn a_transform_has_the_blocks_of_the_recorded_one() {
    // the recording in tests/data/traces: 128^3 numbers of 16 bytes on 8 x 8 ranks have blocks of 65,536 bytes, with 2
    // all-to-alls in each direction
    let program = example("big_fft", 0);
    let of = |op: &&Op| op.kind() == Kind::Collective(Operation::AllToAll);
    let all: Vec<Op> = program.ranks[9].ops.ops().iter().filter(of).copied().collect();
    assert_eq!(all.len(), 2 * 4);
    assert!(all.iter().all(|op| op.size() == 65_536));
    assert_eq!(all.iter().map(|op| op.comm()).collect::<Vec<_>>(), [1, 2, 2, 1, 1, 2, 2, 1]);
    let members = |comm: usize| program.ranks[9].comms[comm].members.to_vec();
    assert_eq!(members(0), (8..16).collect::<Vec<u32>>());
    assert_eq!(members(1), (0..8).map(|row| row * 8 + 1).collect::<Vec<u32>>());
}

#[test]
fn nekbone_sends_faces_edges_and_corners_of_its_elements() {
    // 4 elements of order 8 have 33 points per side. A rank has 6 faces, 12 edges and 8 corners with 8 bytes per point;
    // there are 27 ranks and 3 iterations
    let program = example("nekbone", 0);
    assert_eq!(sends(&program, 0).len(), 3 * 26);
    assert_eq!(sent(&program), 27 * 3 * 8 * (6 * 33 * 33 + 12 * 33 + 8));
    let sums = program.ranks[0].ops.ops().iter().filter(|op| op.kind() == Kind::Collective(Operation::AllReduce));
    assert_eq!(sums.count(), 3 * 3);
}

#[test]
fn multigrid_has_the_levels_of_the_recorded_one() {
    // a recording of PETSc's multigrid with 16^3 points per rank has messages of these sizes
    let program = example("multigrid", 0);
    let mut sizes: Vec<u64> = sends(&program, 0).iter().map(Op::size).collect();
    sizes.sort_unstable();
    sizes.dedup();
    assert_eq!(sizes, [8, 32, 128, 512, 2048]);
    // 64 ranks exchange 6 faces on each level, in 2 smoothings on the way down and 2 on the way up
    let faces: u64 = [256, 64, 16, 4, 1].iter().map(|points| 8 * points).sum();
    assert_eq!(sent(&program), 64 * 6 * 4 * faces);
    // with corners, a rank sends the surface of a cube of n + 2 points per side
    let shell = |n: u64| 8 * ((n + 2).pow(3) - n.pow(3));
    assert_eq!(sent(&example("multigrid", 1)), 27 * 4 * [16, 8, 4, 2, 1].into_iter().map(shell).sum::<u64>());
}

#[test]
fn boxes_send_their_ghost_cells_to_the_owners_of_their_neighbours() {
    // a box of 16 cells per side has 2 layers of ghost cells, which form a shell around the box. Each of 27 ranks has one
    // box, so all neighbours are on other ranks.
    let shell = 8 * (20u64.pow(3) - 16u64.pow(3));
    assert_eq!(sent(&example("fill_boundary", 0)), 2 * 27 * shell);
    // In a grid of 4 x 4 x 4 boxes on 8 ranks, Morton order assigns cubes of 2 x 2 x 2 boxes. A box is on the same rank
    // as 7 of its neighbours.
    let dealt = example("fill_boundary", 1);
    assert_eq!(sends(&dealt, 0).len(), 2 * 8 * (26 - 7));
    let inner = 8 * (3 * 16 * 16 * 2 + 3 * 16 * 4 + 8);
    assert_eq!(sent(&dealt), 2 * 64 * (shell - inner));
}

#[test]
fn hilo_has_small_collectives_between_long_computations() {
    let program = example("hilo", 0);
    let names: Vec<String> =
        program.ranks[3].ops.ops().iter().take(4).map(|op| format!("{:?} {}", op.kind(), op.size())).collect();
    let wanted = ["Collective(Broadcast) 1024", "Compute 50000", "Collective(AllReduce) 4096", "Collective(Reduce) 8"];
    assert_eq!(names, wanted);
}

#[test]
fn a_bound_on_bytes_ends_the_iterations_and_is_refused_below_one() {
    // an iteration of Nekbone on 27 ranks has the faces, edges and corners of the test above. Each rank also sends 8
    // bytes for each of three sums
    let messages = 27 * 8 * (6 * 33 * 33 + 12 * 33 + 8);
    let one = messages + 27 * 3 * 8;
    let bounded = |bytes: u64| make("nekbone", 0, |nekbone| nekbone["most_bytes"] = format!("{bytes}B").into());
    assert_eq!(sent(&bounded(3 * one - 1).unwrap().program), 2 * messages);
    assert_eq!(sent(&bounded(100 * one).unwrap().program), 3 * messages);
    let message = bounded(one - 1).unwrap_err();
    assert!(
        message.starts_with("program.nekbone.most_bytes: one iteration sends")
            && message.contains(&format!("write {one}B or more")),
        "{message}"
    );
    assert!(bounded(one).is_ok(), "the remedy helps");
    for (name, key, per) in [
        ("big_fft", "iterations", "most_bytes"),
        ("multigrid", "cycles", "most_bytes"),
        ("fill_boundary", "iterations", "most_bytes"),
        ("hilo", "iterations", "most_bytes"),
    ] {
        let message = make(name, 0, |config| config[per] = "1B".into()).unwrap_err();
        assert!(message.starts_with(&format!("program.{name}.most_bytes")), "{message}");
        assert!(make(name, 0, |config| config[key] = 0.into()).unwrap_err().contains("is not from 1"));
    }
}
