//! The order in which operations that become ready at the same time enter the event queue.

use crate::form::Kind;

/// If there are more items than this number, the sort of the C++ library partitions the items, and then uses insertion
/// sort.
const THRESHOLD: usize = 16;

/// Position of a kind of operation in the order: sends, receives, computations.
fn rank_of(kind: Kind) -> u8 {
    match kind {
        Kind::Send => 1,
        Kind::Receive => 2,
        Kind::Compute => 3,
        Kind::Collective(_) => 4,
    }
}

/// Sorts by kind. LogGOPSim sorts with `std::sort`, which changes the order of equal items if there are more than 16
/// items. Finish times depend on this order, because it determines which of many simultaneous sends comes first. The
/// algorithm here is that of the GNU library: introsort with the median of three, an unguarded partition, then insertion
/// sort.
pub fn sort<T: Copy>(items: &mut [T], kind: impl Fn(&T) -> Kind) {
    let less = |a: &T, b: &T| rank_of(kind(a)) < rank_of(kind(b));
    let depth = 2 * items.len().checked_ilog2().unwrap_or(0);
    partition_all(items, depth, &less);
    items.sort_by_key(|item| rank_of(kind(item)));
}

/// Partitions the items until all parts are short. `depth` is the number of partitions that are still allowed. In
/// practice it never reaches 0, because the items have only three kinds and split evenly. If it does, the remaining
/// items keep their order.
fn partition_all<T: Copy>(items: &mut [T], depth: u32, less: &impl Fn(&T, &T) -> bool) {
    let (mut end, mut depth) = (items.len(), depth);
    while end > THRESHOLD && depth > 0 {
        depth -= 1;
        let cut = partition(&mut items[..end], less);
        partition_all(&mut items[cut..end], depth, less);
        end = cut;
    }
}

/// Moves the median of three items to the front, and partitions the other items around this median. Returns the index at
/// which the second part of the partition begins.
fn partition<T: Copy>(items: &mut [T], less: &impl Fn(&T, &T) -> bool) -> usize {
    let (a, b, c) = (1, items.len() / 2, items.len() - 1);
    let median = match (less(&items[a], &items[b]), less(&items[b], &items[c]), less(&items[a], &items[c])) {
        (true, true, _) => b,
        (true, false, true) => c,
        (true, false, false) => a,
        (false, _, true) => a,
        (false, true, false) => c,
        (false, false, false) => b,
    };
    items.swap(0, median);
    let (mut first, mut last) = (1, items.len());
    loop {
        while less(&items[first], &items[0]) {
            first += 1;
        }
        last -= 1;
        while less(&items[0], &items[last]) {
            last -= 1;
        }
        if first >= last {
            return first;
        }
        items.swap(first, last);
        first += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn up_to_16_items_keep_their_order_within_a_kind() {
        let mut items: Vec<(Kind, usize)> =
            (0..16).map(|k| ([Kind::Compute, Kind::Receive, Kind::Send][k % 3], k)).collect();
        sort(&mut items, |item| item.0);
        let places: Vec<usize> = items.iter().map(|item| item.1).collect();
        assert_eq!(places, [2, 5, 8, 11, 14, 1, 4, 7, 10, 13, 0, 3, 6, 9, 12, 15]);
    }

    #[test]
    fn equal_items_are_swapped_around_the_middle_as_the_gnu_library_does() {
        // 17 equal items. The median of three is item 8, because no item is less than another. Item 8 therefore changes
        // places with item 0. The partition then swaps items 1 and 16, 2 and 15, ... until both indices meet at 9.
        let mut items: Vec<(Kind, usize)> = (0..17).map(|k| (Kind::Send, k)).collect();
        sort(&mut items, |item| item.0);
        let places: Vec<usize> = items.iter().map(|item| item.1).collect();
        assert_eq!(places, [8, 16, 15, 14, 13, 12, 11, 10, 9, 0, 7, 6, 5, 4, 3, 2, 1]);
    }
}
