use super::*;

/// Bins of 100 cycles from cycle 1000 on, each of 50 packets, with these mean latencies [cycles] and flits.
fn series(of: impl IntoIterator<Item = (u64, u64)>) -> Vec<(u64, Arrived)> {
    let bin = |(k, (latency, flits)): (usize, (u64, u64))| {
        (1000 + 100 * k as u64, Arrived { packets: 50, flits, latency: 50 * latency, dropped: 0 })
    };
    of.into_iter().enumerate().map(bin).collect()
}

/// Ten bins with means 38 and 42 in turn, and 95 and 105 flits: a standard deviation of sqrt(10 * 4 / 9) = 2.11 cycles, so
/// the limit is 40 + 4 * 2.11 * sqrt(1 + 1 / 10) = 48.8 cycles; of flits it is 5.27, and the limit 100 - 22.1 = 77.9.
fn before() -> Vec<(u64, u64)> {
    [(38, 95), (42, 105)].repeat(5)
}

fn judged(after: &[(u64, u64)]) -> Result<u64, String> {
    let bins = series(before().into_iter().chain(after.iter().copied()));
    let end = 2000 + 100 * after.len() as u64;
    let judge = Baseline::from_bins(100, &bins, (1000, end), 2000)?;
    judge.back((2000, end), "the window ends")
}

#[test]
fn chance_sets_the_limits() {
    let good = (40, 100);
    assert_eq!(judged(&[(48, 100), good, good]), Ok(0), "slower, but not beyond chance");
    assert_eq!(judged(&[(49, 100), (60, 100), good]), Ok(200));
    assert_eq!(judged(&[(40, 78), good]), Ok(0), "fewer flits, but not beyond chance");
    assert_eq!(judged(&[(40, 77), good]), Ok(100));
    assert_eq!(judged(&[(20, 150), good]), Ok(0), "faster than before");
}

#[test]
fn a_bin_alone_counts_only_behind_the_event() {
    let good = (40, 100);
    assert_eq!(judged(&[good, (90, 100), good, good]), Ok(0));
    assert_eq!(judged(&[good, (90, 100), (90, 100), good]), Ok(300));
    assert_eq!(judged(&[(90, 100), good, (90, 100), good]), Ok(100));
}

#[test]
fn what_does_not_come_back_has_no_number() {
    assert_eq!(judged(&[(90, 100), (90, 100)]), Err("not as before the window ends in cycle 2200".to_owned()));
    let none = judged(&[]).expect_err("no bins");
    assert_eq!(none, "no whole bin of 100 cycles lies between cycle 2000 and the window ends in cycle 2000");
}

#[test]
fn a_bin_without_packets_has_lost_its_flits() {
    let mut bins = series(before().into_iter().chain([(40, 100); 3]));
    bins[10].1 = Arrived::default();
    let judge = Baseline::from_bins(100, &bins, (1000, 2300), 2000).expect("enough bins");
    assert_eq!(judge.back((2000, 2300), "the window ends"), Ok(100));
}

#[test]
fn few_packets_make_longer_bins_and_too_few_say_so() {
    // 10 packets in a bin: joined to bins of 400 cycles with 40 packets, ten of them before the fault
    let thin = |count: usize| -> Vec<(u64, Arrived)> {
        let bin = |k: usize| {
            (1000 + 100 * k as u64, Arrived { packets: 10, flits: 10, latency: 10 * (38 + k as u64 % 5), dropped: 0 })
        };
        (0..count).map(bin).collect()
    };
    let judge = Baseline::from_bins(100, &thin(50), (1000, 6000), 5200).expect("enough");
    assert_eq!((judge.bin, judge.count, judge.bins[0].0), (400, 10.0, 1200));
    let why = Baseline::from_bins(100, &thin(50), (1000, 6000), 3000).expect_err("too few");
    // 0.1 packets per cycle: 45 of them take 450 cycles, 800 with bins that double, and the first such bin begins in 1600
    assert!(
        why.contains("4 whole bins of 400 cycles with 160 packets") && why.contains("in cycle 8000 or later"),
        "{why}"
    );
    // the remedy works
    assert!(Baseline::from_bins(100, &thin(100), (1000, 11_000), 8000).is_ok());
}

#[test]
fn the_longest_time_is_told_unless_one_is_unknown() {
    let judge = Baseline::from_bins(100, &series(before()), (1000, 2000), 2000);
    let lost = Err("not as before the next fault in cycle 7".to_owned());
    assert_eq!(longest([Ok(5), Ok(9)].iter(), &judge, "fault"), (Some(9), None));
    assert_eq!(longest([lost.clone()].iter(), &judge, "fault"), (None, lost.clone().err()));
    let (none, why) = longest([Ok(5), lost, Ok(9)].iter(), &judge, "fault");
    assert_eq!(none, None);
    let told = "after 1 of 3 faults it is not known (not as before the next fault in cycle 7); the longest of the others is 9 cycles";
    assert_eq!(why.as_deref(), Some(told));
}
