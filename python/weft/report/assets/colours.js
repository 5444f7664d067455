"use strict";
// Colours that can be told from the ground, in light and dark.

// Least contrast (WCAG 2) between what is drawn and the ground behind it. The data colours are chosen for white paper,
// where the brightest of them have 2.
const LEAST_CONTRAST = { light: 2, dark: 3 };

function printing() {
  return document.documentElement.classList.contains("printing");
}

function isDark() {
  return !printing() && matchMedia("(prefers-color-scheme: dark)").matches;
}

function channelsOf(colour) {
  return [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
}

function luminance(colour) {
  const [red, green, blue] = channelsOf(colour).map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one, other) {
  const [bright, dark] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (bright + 0.05) / (dark + 0.05);
}

// A colour (#rrggbb), nearer to that of the text as far as needed to stand out from the ground.
function legible(colour) {
  const [ground, ink, least] = [css("--card"), css("--ink"), LEAST_CONTRAST[isDark() ? "dark" : "light"]];
  for (let step = 0; step <= 10; step++) {
    const mixed = mix(colour, ink, step / 10);
    if (contrast(mixed, ground) >= least) return mixed;
  }
  return ink;
}

function mix(from, to, share) {
  const ends = channelsOf(to);
  return `#${channelsOf(from).map((part, k) => Math.round(part + (ends[k] - part) * share).toString(16).padStart(2, "0")).join("")}`;
}

// So many colours from low to high: those of the scale that stand out from the ground, the most legible for the highest.
function ramp(steps) {
  const stops = isDark() ? [...report.heat].reverse() : report.heat;
  const kept = stops.filter((colour) => contrast(colour, css("--card")) >= 2);
  return Array.from({ length: steps }, (_, k) => kept[Math.round((k * (kept.length - 1)) / (steps - 1))]);
}
