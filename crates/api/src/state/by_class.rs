//! Tables with one value for each link class.

use std::ops::Deref;

/// A table with one value for each link class. The values can be read as a list. [`of`](Self::of) needs no bounds check, because the table
/// has an entry for each value of a byte.
#[derive(Debug, Clone)]
pub struct ByClass<T> {
    /// The values of all link classes; copies of the last value fill the other entries.
    all: Box<[T; 256]>,
    classes: usize,
}

impl<T: Clone> ByClass<T> {
    /// `values`: one value for each link class, from 1 to 256 classes.
    pub fn new(values: &[T]) -> Self {
        let place = |class: usize| values[class.min(values.len() - 1)].clone();
        assert!(values.len() <= 256, "{} link classes", values.len());
        Self { all: Box::new(std::array::from_fn(place)), classes: values.len() }
    }
}

impl<T> ByClass<T> {
    /// The value of link class number `class`.
    #[inline(always)]
    pub fn of(&self, class: u8) -> &T {
        debug_assert!(usize::from(class) < self.classes, "class {class} of {}", self.classes);
        &self.all[usize::from(class)]
    }
}

impl<T> Deref for ByClass<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.all[..self.classes]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_reads_as_the_list_of_values() {
        let of = ByClass::new(&[5, 7]);
        assert_eq!((&of[..], *of.of(0), *of.of(1)), (&[5, 7][..], 5, 7));
    }
}
