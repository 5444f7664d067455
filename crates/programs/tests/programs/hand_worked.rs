//! Tests of the executor with programs whose finish times are computed by hand. The LogGOPS parameters are L 100, o 10, g 20, G 2, O 0 and
//! S 100 unless the test says otherwise. A receiver "takes in" a message while its processor and interface are busy with it.

use crate::support::{finish, read, run};
use serde_json::json;
use weft_programs::loggops::{Failure, Parameters};

const AT: Parameters = Parameters {
    unit_fs: 1_000_000,
    latency: 100,
    overhead: 10,
    gap: 20,
    gap_per_byte: 2,
    overhead_per_byte: 0,
    eager: 100,
};

fn two(first: &str, second: &str) -> String {
    format!("num_ranks 2\nrank 0 {{\n{first}\n}}\nrank 1 {{\n{second}\n}}\n")
}

#[test]
fn an_eager_message_occupies_its_receiver_for_o_and_all_bytes_after_the_first() {
    // The send occupies rank 0 from 0 to o = 10. The first byte arrives at 10 + L = 110. Rank 1 takes in the message for o + 9 G, until
    // 110 + 10 + 18 = 138.
    assert_eq!(finish(&two("send 10b to 1", "recv 10b from 0"), AT), [10, 138]);
}

#[test]
fn two_messages_of_an_interface_are_a_gap_and_their_bytes_apart() {
    let program = two("send 10b to 1\nsend 10b to 1", "recv 10b from 0\nrecv 10b from 0");
    // The second send begins at g + 9 G = 38, when the interface is free; the processor is already free at 10. The second message arrives
    // at 38 + 110 = 148. With the first message, the receiver's processor is busy until 138, and its interface until 110 + 20 + 18 = 148.
    // So the second message is taken in until 148 + 28 = 176.
    assert_eq!(finish(&program, AT), [48, 176]);
}

#[test]
fn a_rendezvous_lets_its_sender_go_on_when_the_receive_has_matched() {
    // A message of 101 bytes is above S, so it uses a rendezvous. The receive is posted at 0 and the first byte arrives at 110, so the send
    // finishes at 110. After the send, the computation of 5 runs until 115. The message is taken in until 110 + 10 + 200 = 320.
    let program = two("s: send 101b to 1\nc: calc 5\nc requires s", "recv 101b from 0");
    assert_eq!(finish(&program, AT), [115, 320]);
    // With an eager message of 100 bytes the computation begins at 10.
    let eager = two("s: send 100b to 1\nc: calc 5\nc requires s", "recv 100b from 0");
    assert_eq!(finish(&eager, AT), [15, 110 + 10 + 198]);
}

#[test]
fn a_late_receive_of_a_rendezvous_holds_its_sender_back() {
    // The processor of the receiver computes from 0 to 500. The receive is posted at 500, after the computation. The message, which waits
    // for the processor since 110, is taken in at 500, matches, and takes until 500 + 210 = 710. The send finishes at 500.
    let program = two("s: send 101b to 1\nc: calc 5\nc requires s", "c: calc 500\nr: recv 101b from 0\nr requires c");
    assert_eq!(finish(&program, AT), [505, 710]);
}

#[test]
fn a_ring_of_rendezvous_messages_goes_round_if_receives_are_posted_first_and_stops_if_not() {
    let ring = |order: &str| {
        let rank = |r: u32| {
            let (to, from) = ((r + 1) % 4, (r + 3) % 4);
            format!("rank {r} {{\ns: send 201b to {to}\nr: recv 201b from {from}\n{order}\n}}\n")
        };
        format!("num_ranks 4\n{}", (0..4).map(rank).collect::<String>())
    };
    // All ranks send 201 bytes at 0, and all first bytes arrive at 110. All messages are taken in until 110 + 10 + 200 * 2 = 520.
    assert_eq!(finish(&ring(""), AT), [520; 4]);
    assert_eq!(finish(&ring("s irequires r"), AT), [520; 4]);
    let Err(Failure::Stuck(stuck)) = run(&read(ring("r requires s").as_bytes()), AT) else {
        panic!("each waits for the next")
    };
    assert_eq!((stuck.ranks, stuck.waiting.len()), (4, 4));
    let data = stuck.as_json();
    let second = json!({
        "rank": 1, "finished": 0, "of": 2, "receives": [], "messages": [{"source": 0, "tag": 0, "bytes": 201}],
    });
    assert_eq!((&data["stuck_ranks"], &data["waiting"][1]), (&json!(4), &second), "it holds a message");
    assert!(
        stuck
            .to_string()
            .contains("rank 1 has finished 0 of 2 operations; no receive takes 201 bytes from 0 with tag 0")
    );
    // Messages of 51 bytes are below S and therefore eager, so each send ends at 10. The receives are posted at 10, because each receive
    // requires the send of its rank.
    let eager = ring("r requires s").replace("201b", "51b");
    assert_eq!(finish(&eager, AT), [110 + 10 + 100; 4]);
}

#[test]
fn wildcards_take_the_first_message_that_has_come() {
    // Rank 1 computes for 50 before it sends, so the message of rank 2 arrives first: at 110, taken in until 120. The message of rank 1
    // arrives at 50 + 110 = 160, and is taken in until 170. The first receive takes the message of rank 2, and a computation of 1,000
    // follows this receive.
    let program = "num_ranks 3\nrank 0 {\na: recv 1b from -1 tag -1\nb: recv 1b from -1 tag 7\nc: calc 1000\nc requires a\n}\n\
                   rank 1 {\nc: calc 50\ns: send 1b to 0 tag 7\ns requires c\n}\nrank 2 {\nsend 1b to 0 tag 3\n}\n";
    // The computation begins at 120 and ends at 1,120; the second message is taken in after it, until 1,130.
    assert_eq!(finish(program, AT), [1130, 60, 10]);
}

#[test]
fn a_receive_with_a_tag_leaves_earlier_messages_of_other_tags() {
    let program =
        two("send 1b to 1 tag 5\nsend 1b to 1 tag 6", "a: recv 1b from 0 tag 6\nb: recv 1b from 0 tag 5\nb requires a");
    // messages are sent at 0 and at 20, and arrive at 110 and 130. Receive `a` gets the message with tag 6, which arrives second. Its end
    // at 140 releases receive `b`, whose message has already arrived
    assert_eq!(finish(&program, AT), [30, 140]);
}

#[test]
fn operations_that_are_free_at_the_same_time_start_sends_first() {
    // Rank 0 has a send and a computation that are both ready at 0. The send runs first, so the computation begins at 10.
    let program = two("calc 100\nsend 1b to 1", "recv 1b from 0");
    assert_eq!(finish(&program, AT), [110, 120]);
}

#[test]
fn irequires_waits_for_the_start_and_requires_for_the_end() {
    // A rendezvous starts at 0 and ends at 110. The computation of 7 requires only the start of the rendezvous, so it runs from 10 to 17.
    let program = |word: &str| two(&format!("s: send 101b to 1\nc: calc 7\nc {word} s"), "recv 101b from 0");
    assert_eq!(finish(&program("irequires"), AT)[0], 110, "the computation ends at 17");
    assert_eq!(finish(&program("requires"), AT)[0], 117);
}

#[test]
fn a_processor_per_byte_is_charged_where_it_is_more_than_the_interface() {
    // O is 3, which is more than G. The send takes 10 + 9 * 3 = 37, because each byte after the first adds O. Its first byte leaves at 10
    // and arrives at 110. The message is taken in until 110 + 10 + 27 = 147.
    let at = Parameters { overhead_per_byte: 3, ..AT };
    assert_eq!(finish(&two("send 10b to 1", "recv 10b from 0"), at), [37, 147]);
}

#[test]
fn dependencies_between_processors_are_not_waited_for_and_are_counted() {
    let program = "num_ranks 1\nrank 0 {\na: calc 100 cpu 0\nb: calc 50 cpu 1\nb requires a\n}\n";
    let answer = run(&read(program.as_bytes()), AT).unwrap();
    assert_eq!((answer.finish, answer.cross_cpu), (vec![100], 1), "as LogGOPSim: b runs from 0 to 50");
    let same = program.replace("cpu 1", "cpu 0");
    let answer = run(&read(same.as_bytes()), AT).unwrap();
    assert_eq!((answer.finish, answer.cross_cpu), (vec![150], 0));
}

#[test]
fn an_empty_program_finishes_at_0() {
    assert_eq!(finish("num_ranks 2\nrank 0 {\n}\nrank 1 {\n}\n", AT), [0, 0]);
}

#[test]
fn a_program_of_more_time_than_is_counted_is_refused() {
    let program = format!("num_ranks 1\nrank 0 {{\na: calc {}\nb: calc {}\nb requires a\n}}\n", i64::MAX, i64::MAX);
    let Err(Failure::Refused(refusal)) = run(&read(program.as_bytes()), AT) else { panic!("too long") };
    assert!(refusal.what.contains("longer than"), "{refusal}");
}
