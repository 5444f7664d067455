use super::*;

/// Bins of 100 cycles from cycle 1000 on, each with 50 packets, and with the given mean latencies [cycles] and flits.
fn series(of: impl IntoIterator<Item = (u64, u64)>) -> Vec<(u64, Arrived)> {
    let bin = |(k, (latency, flits)): (usize, (u64, u64))| {
        let squares = u128::from(50 * latency.pow(2));
        (1000 + 100 * k as u64, Arrived { packets: 50, flits, latency: 50 * latency, squares, dropped: 0 })
    };
    of.into_iter().enumerate().map(bin).collect()
}

/// Ten bins before the fault: their mean latencies alternate between 38 and 42, and their flits between 95 and 105. The standard deviation
/// of the mean latencies is sqrt(10 * 4 / 9) = 2.11 cycles. So the upper limit of the latency is 40 + 4 * 2.11 * sqrt(1 + 1 / 10) = 48.8
/// cycles. The standard deviation of the flits is 5.27, so their lower limit is 100 - 22.1 = 77.9.
fn before() -> Vec<(u64, u64)> {
    [(38, 95), (42, 105)].repeat(5)
}

/// Computes the recovery time from all bins between the event and the end of the window. The routing has its new tables `rebuild` cycles
/// after the event.
fn since_event(after: &[(u64, u64)], rebuild: u64, lost_in: Option<usize>) -> Result<Time, String> {
    let mut bins = series(before().into_iter().chain(after.iter().copied()));
    if let Some(lost) = lost_in {
        bins[10 + lost].1.dropped = 1;
    }
    let end = 2000 + 100 * after.len() as u64;
    let judge = Baseline::from_bins(100, &bins, (1000, end), 2000)?;
    judge.back(&Span {
        event: 2000,
        lost_from: 0,
        lasts: "while broken",
        rebuilt: 2000 + rebuild,
        next: "the window ends",
        end,
    })
}

fn judged(after: &[(u64, u64)]) -> Result<u64, String> {
    since_event(after, 0, None).map(|time| time.cycles)
}

const GOOD: (u64, u64) = (40, 100);
const SLOW: (u64, u64) = (90, 100);

/// Returns the given bins, followed by `count` bins with the values before the fault.
fn then_good(first: &[(u64, u64)], count: usize) -> Vec<(u64, u64)> {
    [first, &vec![GOOD; count]].concat()
}

#[test]
fn chance_sets_the_limits() {
    assert_eq!(judged(&then_good(&[(48, 100)], 8)), Ok(0), "slower, but not beyond chance");
    assert_eq!(judged(&then_good(&[(49, 100), (60, 100)], 8)), Ok(200));
    assert_eq!(judged(&then_good(&[(40, 78)], 8)), Ok(0), "fewer flits, but not beyond chance");
    assert_eq!(judged(&then_good(&[(40, 77)], 8)), Ok(100));
    assert_eq!(judged(&then_good(&[(20, 150)], 8)), Ok(0), "faster than before");
}

#[test]
fn a_bin_alone_counts_only_right_after_the_event() {
    assert_eq!(judged(&then_good(&[GOOD, SLOW], 8)), Ok(0));
    assert_eq!(judged(&then_good(&[GOOD, SLOW, SLOW], 8)), Ok(300));
    assert_eq!(judged(&then_good(&[SLOW, GOOD, SLOW], 8)), Ok(300));
    // the second slow bin is 7 bins after the first, which is near enough to count, and then 8 bins after it, which is not
    let twice = |between: usize| [then_good(&[GOOD, SLOW], between), then_good(&[SLOW], 8)].concat();
    assert_eq!((judged(&twice(6)), judged(&twice(7))), (Ok(900), Ok(0)));
}

#[test]
fn a_lost_packet_counts_alone() {
    assert_eq!(since_event(&[GOOD; 13], 0, Some(4)).map(|time| time.cycles), Ok(500));
    let late = since_event(&[GOOD; 13], 0, Some(12)).expect_err("until the end");
    assert_eq!(
        late,
        "not while broken: latency, delivered flits or losses differ from those before the fault until the window ends in cycle 3300"
    );
}

#[test]
fn nothing_is_as_before_without_new_tables() {
    assert_eq!(since_event(&[GOOD; 12], 250, None), Ok(Time { cycles: 250, interval: (250, Some(250)) }));
    assert_eq!(since_event(&then_good(&[SLOW; 5], 8), 250, None).map(|time| time.cycles), Ok(500));
    let late = since_event(&[GOOD; 12], 500, None).expect_err("7 bins follow");
    assert!(
        late.contains("new tables are used from cycle 2500, too late for a decision until the window ends"),
        "{late}"
    );
}

#[test]
fn the_interval_counts_the_scatter_of_the_bins_themselves() {
    // the limit is 48.8 cycles; a variance of 200 of the 50 packets gives a standard error of sqrt(200 / 50) = 2 cycles
    let mut bins = series(before().into_iter().chain(then_good(&[(60, 100), (50, 100), (47, 100)], 9)));
    let judged = |bins: &[(u64, Arrived)]| {
        let judge = Baseline::from_bins(100, bins, (1000, 3200), 2000).expect("enough bins");
        judge.back(&Span {
            event: 2000,
            lost_from: 0,
            lasts: "while broken",
            rebuilt: 2000,
            next: "the window ends",
            end: 3200,
        })
    };
    assert_eq!(judged(&bins), Ok(Time { cycles: 200, interval: (200, Some(200)) }), "packets that are all alike");
    bins[10..13].iter_mut().for_each(|(_, bin)| bin.squares += 200 * 49);
    // with two standard errors, 60 - 4 is above the limit and 50 - 4 is not, and 47 + 4 is not below the limit
    assert_eq!(judged(&bins), Ok(Time { cycles: 200, interval: (100, Some(300)) }));
    bins[12..].iter_mut().for_each(|(_, bin)| bin.squares += 2000 * 49);
    assert_eq!(judged(&bins), Ok(Time { cycles: 200, interval: (100, None) }), "40 + 2 * 6.3 is not below it");
}

#[test]
fn what_does_not_come_back_has_no_number() {
    let never = "not while broken: latency, delivered flits or losses differ from those before the fault until the window ends \
                 in cycle 2800";
    assert_eq!(judged(&[SLOW; 8]), Err(never.to_owned()));
    let few = judged(&[GOOD; 7]).expect_err("7 bins");
    assert!(few.contains("7 whole bins of 100 cycles are between cycle 2000 and cycle 2700"), "{few}");
    let late = judged(&then_good(&[SLOW], 7)).expect_err("7 bins follow");
    assert!(late.contains("only the last 7 bins until the window ends in cycle 2800 are as before"), "{late}");
}

#[test]
fn a_bin_without_packets_has_lost_its_flits() {
    let mut bins = series(before().into_iter().chain([GOOD; 9]));
    bins[10].1 = Arrived::default();
    let judge = Baseline::from_bins(100, &bins, (1000, 2900), 2000).expect("enough bins");
    let span =
        Span { event: 2000, lost_from: 0, lasts: "while broken", rebuilt: 2000, next: "the window ends", end: 2900 };
    assert_eq!(judge.back(&span).map(|time| time.cycles), Ok(100));
}

/// A part fails in the middle of the bin from cycle 2000 to 2100. The failure loses packets. In all later bins packets arrive as before.
#[test]
fn losses_in_the_bin_of_a_failure_count() {
    let mut bins = series(before().into_iter().chain([GOOD; 11]));
    let end = 3100;
    let judged = |bins: &[(u64, Arrived)], event, lost_from| {
        let judge = Baseline::from_bins(100, bins, (1000, end), event).expect("enough bins");
        let span = Span { event, lost_from, lasts: "while broken", rebuilt: event, next: "the window ends", end };
        judge.back(&span)
    };
    assert_eq!(judged(&bins, 2030, 0), Ok(Time { cycles: 0, interval: (0, Some(0)) }));
    bins[10].1.dropped = 3;
    assert_eq!(judged(&bins, 2030, 0), Ok(Time { cycles: 70, interval: (70, Some(70)) }));
    // if another change came earlier in this bin, it could have caused the losses
    assert_eq!(judged(&bins, 2030, 2010), Ok(Time { cycles: 0, interval: (0, Some(0)) }));
}

/// Ten bins whose flits alternate between 20 and 180. The standard deviation of the flits of these bins is sqrt(10 * 80^2 / 9) = 84.3
/// flits. The lower limit of the flits is below 0: 100 - 4 * 84.3 * sqrt(1 + 1 / 10) = -254.
#[test]
fn a_bin_without_packets_is_off_however_much_flits_scatter() {
    let mut bins = series([(38, 20), (42, 180)].repeat(5).into_iter().chain([GOOD; 11]));
    let judged = |bins: &[(u64, Arrived)]| {
        let judge = Baseline::from_bins(100, bins, (1000, 3100), 2000).expect("enough bins");
        judge.back(&Span {
            event: 2000,
            lost_from: 0,
            lasts: "while broken",
            rebuilt: 2000,
            next: "the window ends",
            end: 3100,
        })
    };
    assert_eq!(judged(&bins), Ok(Time { cycles: 0, interval: (0, Some(0)) }));
    bins[10].1 = Arrived::default();
    bins[11].1 = Arrived::default();
    assert_eq!(judged(&bins), Ok(Time { cycles: 200, interval: (200, Some(200)) }));
}

#[test]
fn few_packets_make_longer_bins_and_too_few_say_so() {
    // bins with 10 packets are joined to bins of 400 cycles with 40 packets; ten of the joined bins are before the fault
    let thin = |count: usize| -> Vec<(u64, Arrived)> {
        let bin = |k: usize| {
            let latency = 38 + k as u64 % 5;
            let squares = u128::from(10 * latency.pow(2));
            (1000 + 100 * k as u64, Arrived { packets: 10, flits: 10, latency: 10 * latency, squares, dropped: 0 })
        };
        (0..count).map(bin).collect()
    };
    let judge = Baseline::from_bins(100, &thin(50), (1000, 6000), 5200).expect("enough");
    assert_eq!((judge.bin, judge.count, judge.bins[0].0), (400, 10.0, 1200));
    let why = Baseline::from_bins(100, &thin(50), (1000, 6000), 3000).expect_err("too few");
    // at 0.1 packets per cycle, 45 packets need 450 cycles; doubled bins have 800 cycles, and the first of them begins in cycle 1600
    assert!(
        why.contains("4 whole bins of 400 cycles with 160 packets") && why.contains("in cycle 8000 or later"),
        "{why}"
    );
    // checks that the proposed number of cycles gives a baseline
    assert!(Baseline::from_bins(100, &thin(100), (1000, 11_000), 8000).is_ok());
}
