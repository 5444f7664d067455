"use strict";
// Computes colours that readers can distinguish from the background, on light and on dark pages.

// Minimum contrast (by WCAG 2) between a curve or marker and the background. The colours of curves are chosen for white
// paper, on which the brightest of them have a contrast of 2.
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

// A colour (#rrggbb), mixed with the colour of the text as far as necessary for the minimum contrast with the
// background.
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

// Colours for `steps` steps from low to high values: those colours of the scale that have enough contrast with the
// background. The highest value has the colour with the most contrast.
function ramp(steps) {
  const stops = isDark() ? [...report.heat].reverse() : report.heat;
  const kept = stops.filter((colour) => contrast(colour, css("--card")) >= 2);
  return Array.from({ length: steps }, (_, k) => kept[Math.round((k * (kept.length - 1)) / (steps - 1))]);
}
