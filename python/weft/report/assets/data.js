"use strict";
// Reads the data of the page, which `report/data.py` has written as JSON.

const report = JSON.parse(document.getElementById("weft-data").textContent);
const pointCount = report.points.words.length;

const ARRAYS = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, f32: Float32Array, f64: Float64Array };
const decodedArrays = new Map();

// Decodes an array from the text that `pack.py` wrote, such as "u16:BASE64". Bytes are in little-endian order, which
// all machines with a browser use.
function decode(text) {
  if (!decodedArrays.has(text)) {
    const colon = text.indexOf(":");
    const bytes = Uint8Array.from(atob(text.slice(colon + 1)), (letter) => letter.charCodeAt(0));
    decodedArrays.set(text, new ARRAYS[text.slice(0, colon)](bytes.buffer));
  }
  return decodedArrays.get(text);
}

// The values of a column for all points; null if the table of points lacks the column.
function column(name) {
  const kept = report.points.columns[name];
  if (kept === undefined) return null;
  const values = Array.isArray(kept) ? kept : new Array(pointCount).fill(kept.all);
  return values.some((value) => value !== null) ? values : null;
}

// The value of a column for one point; null if it is unknown.
function valueOf(name, point) {
  const kept = report.points.columns[name];
  if (kept === undefined) return null;
  return Array.isArray(kept) ? kept[point] : kept.all;
}

// Converts a stored value to the unit of its quantity; null if the value is missing.
function inUnit({ scale }, value) {
  return typeof value === "number" ? scale * value : value ?? null;
}

function anyKnown(values) {
  return values.some((value) => value !== null && value !== undefined);
}

// Minimum and maximum of an array that can have too many numbers for a call of Math.min.
function extent(values) {
  return values.reduce(([least, most], value) => [Math.min(least, value), Math.max(most, value)], [Infinity, -Infinity]);
}

function axisTitle(quantity) {
  return quantity.unit ? `${quantity.label} [${quantity.unit}]` : quantity.label;
}

// Makes an HTML element with properties and children. Strings become text, and are never interpreted as HTML.
function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

function byId(id) {
  return document.getElementById(id);
}

function css(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
