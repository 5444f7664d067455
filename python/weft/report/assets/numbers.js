"use strict";
// Writes numbers as text. `si` does the same as the function in `text/si.py`, and the tests check the two with the same
// numbers.

const PREFIXES = ["a", "f", "p", "n", "\u00b5", "m", "", "k", "M", "G", "T", "P", "E"];
const NO_PREFIX = PREFIXES.indexOf("");
// Units that get a prefix such as k. Other units have none: cycles, pJ/bit, flits/cycle.
const PREFIXED = new Set(["J", "W", "s"]);

// Position in PREFIXES (0 is no prefix) of the prefix that suits a number, if the number is rounded to `digits`
// significant digits.
function prefixPlace(value, digits) {
  const exponent = Number(value.toExponential(digits - 1).split("e")[1]);
  return Math.min(Math.max(Math.floor(exponent / 3), -NO_PREFIX), PREFIXES.length - 1 - NO_PREFIX);
}

// A number with `digits` significant digits and its unit with a suitable prefix, for example 28.4 kW.
function si(value, unit, digits = 3) {
  if (value === null || value === undefined || Number.isNaN(value)) return "-";
  if (!value) return `0 ${unit}`;
  const place = prefixPlace(value, digits);
  return `${Number((value / 10 ** (3 * place)).toPrecision(digits))} ${PREFIXES[NO_PREFIX + place]}${unit}`;
}

// A common prefix for all values of a table column or axis, as {unit, scale, digits}. It suits the largest value, which
// gets four significant digits.
function sharedPrefix(values, unit) {
  const sizes = values.filter((value) => typeof value === "number").map(Math.abs);
  const largest = sizes.reduce((most, size) => Math.max(most, size), 0);
  if (!PREFIXED.has(unit) || !largest) return { unit, scale: 1, digits: undefined };
  const place = prefixPlace(largest, 4);
  const scale = 10 ** (-3 * place);
  return { unit: PREFIXES[NO_PREFIX + place] + unit, scale, digits: Math.max(0, 3 - Math.floor(Math.log10(largest * scale))) };
}

// A number as text, with `digits` decimal places, or with four significant digits if `digits` is undefined. A number
// that would be rounded to zero has two significant digits instead. Thousands are separated.
function written(value, digits) {
  if (value === null || value === undefined) return "-";
  if (typeof value !== "number") return String(value);
  if (digits === undefined && !Number.isInteger(value)) return plainDigits(value, 4);
  if (value !== 0 && Math.abs(value) < 0.5 * 10 ** -(digits ?? 0)) return plainDigits(value, 2);
  const places = { minimumFractionDigits: digits ?? 0, maximumFractionDigits: digits ?? 0 };
  return value.toLocaleString("en-US", places).replaceAll(",", "\u2009");
}

// A number with `digits` significant digits, without an exponent.
function plainDigits(value, digits) {
  return value.toLocaleString("en-US", { maximumSignificantDigits: digits, useGrouping: false });
}

// A number with its unit, as text.
function inWords(value, { unit, digits }) {
  if (typeof value === "number" && PREFIXED.has(unit)) return si(value, unit, 4);
  return [written(value, digits), unit].filter(Boolean).join(" ");
}
