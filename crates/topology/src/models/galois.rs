//! Galois fields of up to 256 elements, with the arithmetic that `slim_fly` and `polarfly` use.
//!
//! Weft does not use an existing crate, because existing crates support only characteristic 2, or a prime that is fixed at compile time. In
//! Weft the size of the field comes from a scenario.

use weft_units::Refusal;

/// Maximum number of elements of a field.
pub(crate) const MAX_ELEMENTS: u32 = 256;

/// The Galois field with q = p^n elements. Element e is the polynomial whose coefficients are the base-p digits of e.
/// The elements 0 and 1 are the numbers 0 and 1.
#[derive(Debug, Clone)]
pub(crate) struct Field {
    p: u32,
    n: u32,
    /// The powers of a primitive element, beginning with power 0.
    powers: Vec<u32>,
    /// For each element, the exponent with which the primitive element gives it; the entry for 0 has no meaning.
    logarithms: Vec<u32>,
}

/// The prime p and the exponent n with q = p^n; `None` if q is not a power of a prime.
pub(crate) fn prime_power(q: u32) -> Option<(u32, u32)> {
    let p = (2..).take_while(|&p| p <= q / p).find(|&p| q.is_multiple_of(p)).unwrap_or(q);
    let n = (0..u32::BITS).find(|&n| p.checked_pow(n).is_none_or(|power| power >= q))?;
    (q >= 2 && p.checked_pow(n) == Some(q)).then_some((p, n))
}

impl Field {
    /// Creates the field of `q` elements, where `q` must be a power of a prime. Refuses, under `path`, a field that is too large.
    pub fn of(q: u32, path: &str) -> Result<Self, Refusal> {
        Self::new(q).ok_or_else(|| {
            let what = format!("a field of {q} elements is too large: its tables have room for {MAX_ELEMENTS}");
            Refusal::new(format!("{path}.q"), what, format!("write at most {MAX_ELEMENTS}"))
        })
    }

    /// Creates the field of `q` elements; `None` if q is not a power of a prime, or is more than [`MAX_ELEMENTS`].
    pub fn new(q: u32) -> Option<Self> {
        let (p, n) = prime_power(q).filter(|_| q <= MAX_ELEMENTS)?;
        // The search tries each element as a replacement for x^n. If the powers of x then include all elements except 0, each of these
        // elements has an inverse. The result is then a field, and x is primitive in it. (With n = 1, x itself is the element that is
        // tried.)
        (1..q).find_map(|replacement| {
            let mut field = Self { p, n, powers: Vec::new(), logarithms: vec![0; q as usize] };
            let mut power = 1;
            loop {
                field.logarithms[power as usize] = field.powers.len() as u32;
                field.powers.push(power);
                power = field.times_x(power, replacement);
                if power == 1 || field.powers.len() as u32 == q {
                    break;
                }
            }
            (field.powers.len() as u32 == q - 1).then_some(field)
        })
    }

    /// Number of elements.
    pub fn elements(&self) -> u32 {
        self.logarithms.len() as u32
    }

    /// The power of the primitive element with this exponent.
    pub fn power(&self, exponent: u32) -> u32 {
        self.powers[(exponent % (self.elements() - 1)) as usize]
    }

    pub fn sum(&self, a: u32, b: u32) -> u32 {
        self.by_digit(|place| a / place + b / place)
    }

    pub fn product(&self, a: u32, b: u32) -> u32 {
        match (a, b) {
            (0, _) | (_, 0) => 0,
            _ => self.power(self.logarithms[a as usize] + self.logarithms[b as usize]),
        }
    }

    /// The element whose sum with this one is 0.
    pub fn negative(&self, a: u32) -> u32 {
        self.by_digit(|place| self.p - a / place % self.p)
    }

    /// The element whose product with this one is 1. Panics for 0, which has no inverse.
    pub fn inverse(&self, a: u32) -> u32 {
        assert!(a != 0, "0 has no inverse");
        self.power(self.elements() - 1 - self.logarithms[a as usize])
    }

    /// The element whose digits are the results of `number` modulo p; `number` gets the value of the digit's place.
    fn by_digit(&self, number: impl Fn(u32) -> u32) -> u32 {
        (0..self.n).map(|digit| self.p.pow(digit)).map(|place| number(place) % self.p * place).sum()
    }

    /// The product of x and an element; `replacement` is x^n.
    fn times_x(&self, element: u32, replacement: u32) -> u32 {
        let highest = self.p.pow(self.n - 1);
        let (top, rest) = (element / highest, element % highest);
        self.by_digit(|place| rest * self.p / place + top * (replacement / place % self.p))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_primes_are_distinguished_from_other_numbers() {
        let powers: Vec<u32> = (0..=50).filter(|&q| prime_power(q).is_some()).collect();
        let expected = [2, 3, 4, 5, 7, 8, 9, 11, 13, 16, 17, 19, 23, 25, 27, 29, 31, 32, 37, 41, 43, 47, 49];
        assert_eq!(powers, expected);
        assert_eq!((prime_power(243), prime_power(256), prime_power(u32::MAX)), (Some((3, 5)), Some((2, 8)), None));
        assert_eq!(prime_power(4_294_967_291), Some((4_294_967_291, 1)), "the largest prime of 32 bits");
    }

    #[test]
    fn every_field_keeps_the_laws_of_fields() {
        for q in (2..=MAX_ELEMENTS).filter(|&q| prime_power(q).is_some()) {
            let field = Field::new(q).expect("a field");
            assert_eq!(field.elements(), q);
            // each row of the tables of sums and products contains every element once, so sums and products can be undone
            for a in 0..q {
                assert_eq!([field.sum(a, 0), field.product(a, 1), field.product(a, 0)], [a, a, 0]);
                assert_eq!(field.sum(a, field.negative(a)), 0, "q = {q}");
                assert!(a == 0 || field.product(a, field.inverse(a)) == 1, "q = {q}");
                let row = |of: &dyn Fn(u32) -> u32| {
                    let mut row: Vec<u32> = (0..q).map(of).collect();
                    row.sort_unstable();
                    row
                };
                let all: Vec<u32> = (0..q).collect();
                assert_eq!(row(&|b| field.sum(a, b)), all, "q = {q}");
                assert!(a == 0 || row(&|b| field.product(a, b)) == all, "q = {q}");
            }
            // tests all triples of small fields, and a sample of the triples of large fields
            let some: Vec<u32> = (0..q).step_by(1 + q as usize / 20).chain([q - 1]).collect();
            let count = some.len();
            for number in 0..count.pow(3) {
                let [a, b, c] = [number, number / count, number / count / count].map(|place| some[place % count]);
                assert_eq!([field.sum(a, b), field.product(a, b)], [field.sum(b, a), field.product(b, a)]);
                assert_eq!(field.sum(field.sum(a, b), c), field.sum(a, field.sum(b, c)));
                assert_eq!(field.product(field.product(a, b), c), field.product(a, field.product(b, c)));
                let apart = field.sum(field.product(a, c), field.product(b, c));
                assert_eq!(field.product(field.sum(a, b), c), apart, "q = {q}: {a}, {b}, {c}");
            }
        }
    }

    #[test]
    fn what_is_no_field_is_not_made() {
        assert!([0, 1, 6, 12, 100, 257, 1 << 20].into_iter().all(|q| Field::new(q).is_none()));
    }

    #[test]
    fn nine_elements_are_no_numbers_modulo_nine() {
        // GF(9) has characteristic 3. The element 3 is x, and x + x + x = 0. 3 + 3 + 3 = 9 is also 0 modulo 9, but only by coincidence
        let field = Field::new(9).unwrap();
        assert_eq!((field.sum(3, 3), field.sum(6, 3), field.sum(2, 1)), (6, 0, 0));
        assert_ne!(field.product(3, 3), 0);
    }
}
