"use strict";
// The data of the page, and how it is read.

const report = JSON.parse(document.getElementById("weft-data").textContent);
const pointCount = report.points.words.length;

const ARRAYS = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, f32: Float32Array, f64: Float64Array };
const decodedArrays = new Map();

// An array as `pack.py` wrote it: "u16:BASE64", in little-endian order as all machines with a browser have it.
function decode(text) {
  if (!decodedArrays.has(text)) {
    const colon = text.indexOf(":");
    const bytes = Uint8Array.from(atob(text.slice(colon + 1)), (letter) => letter.charCodeAt(0));
    decodedArrays.set(text, new ARRAYS[text.slice(0, colon)](bytes.buffer));
  }
  return decodedArrays.get(text);
}

// The values of a column of the points, or null if no point has one.
function column(name) {
  const kept = report.points.columns[name];
  if (kept === undefined) return null;
  const values = Array.isArray(kept) ? kept : new Array(pointCount).fill(kept.all);
  return values.some((value) => value !== null) ? values : null;
}

// The value of a point, or null.
function valueOf(name, point) {
  const kept = report.points.columns[name];
  if (kept === undefined) return null;
  return Array.isArray(kept) ? kept[point] : kept.all;
}

// The value of a quantity in its unit, or null.
function inUnit({ scale }, value) {
  return typeof value === "number" ? scale * value : value ?? null;
}

function anyKnown(values) {
  return values.some((value) => value !== null && value !== undefined);
}

// The least and the largest of some numbers, of which there may be too many for Math.min.
function extent(values) {
  return values.reduce(([least, most], value) => [Math.min(least, value), Math.max(most, value)], [Infinity, -Infinity]);
}

function axisTitle(quantity) {
  return quantity.unit ? `${quantity.label} [${quantity.unit}]` : quantity.label;
}

// An element with properties and children; text is never read as HTML.
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
