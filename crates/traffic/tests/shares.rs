//! Tests rows of (destination, share), the form in which the user's Python functions return destinations.

use weft_traffic::pattern::Destinations;
use weft_traffic::pattern::matrix::Rows;
use weft_traffic::stream;

#[test]
fn shares_below_1_are_a_part_of_the_load() {
    let rows = Rows::of_shares([vec![(1, 0.25), (2, 0.75)], Vec::new(), vec![(0, 0.5)]]);
    assert_eq!([0, 1, 2].map(|source| rows.relative_load(source)), [1.0, 0.0, 0.5]);
    assert_eq!(rows.distribution(0), [(1, 0.25), (2, 0.75)]);
    // All packets of source 2 go to terminal 0.
    assert_eq!(rows.distribution(2), [(0, 1.0)]);
    let mut rng = stream(1, 0, 0);
    assert_eq!((rows.draw(1, &mut rng), rows.draw(2, &mut rng)), (None, Some(0)));
}
