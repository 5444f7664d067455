"use strict";
// Makes tables that readers can sort: a click or Enter on a heading sorts by its column, and a second one reverses the
// order. If rows can be chosen, the Tab key enters the table once, and the arrow keys move from row to row.

// A text with more letters than this number is broken into lines.
const LONG = 36;

// Fills the element `place` with a table. Heads have `label`, `unit`, `title` and `digits`. Rows are lists of cells. A
// cell is a value, or {text, value, title}: its text, the value by which it is sorted (null is last), and a text on
// hover. Or a cell is {mark, value, title}: a number and the sign after it. Numbers in J, W and s have the same prefix
// in a column. `onRow(index)` is called when a row is chosen, and `caption` is written above the table.
function sortable(place, heads, rows, { caption = "", onRow = null } = {}) {
  const body = element("tbody");
  const numeric = heads.map((_, at) => rows.some((row) => typeof worth(row[at]) === "number"));
  const units = heads.map((head, at) => sharedPrefix(rows.map((row) => worth(row[at])), head.unit));
  // if some numbers have a mark, a blank after the others aligns the digits
  const marked = heads.map((_, at) => rows.some((row) => row[at]?.mark));
  const made = rows.map((row, index) => {
    const cells = row.map((value, at) => {
      const textContent = value?.text ?? inColumn(worth(value), at);
      const cell = element("td", { textContent, title: value?.title ?? "" });
      if (marked[at]) cell.append(element("span", { className: "mark", textContent: value?.mark ?? "" }));
      if (numeric[at] && typeof value !== "string") cell.className = "number";
      else if (textContent.length > LONG) cell.className = "long";
      return cell;
    });
    const line = element("tr", {}, ...cells);
    if (onRow) {
      line.tabIndex = index ? -1 : 0;
      line.addEventListener("click", () => onRow(index));
      line.addEventListener("keydown", (event) => {
        if (event.key === "Enter" || event.key === " ") {
          event.preventDefault();
          onRow(index);
        }
        const next = { ArrowDown: line.nextElementSibling, ArrowUp: line.previousElementSibling }[event.key];
        if (next) {
          event.preventDefault();
          line.tabIndex = -1;
          next.tabIndex = 0;
          next.focus();
        }
      });
    }
    return line;
  });
  body.append(...made);
  const row = element("tr");
  heads.forEach((head, at) => row.append(headCell(head, at)));
  const table = element("table", {}, element("thead", {}, row), body);
  if (caption) table.prepend(element("caption", { textContent: caption }));
  place.replaceChildren(element("div", { className: "scroll" }, table));
  return made;

  function inColumn(value, at) {
    const { scale, digits = heads[at].digits } = units[at];
    return written(typeof value === "number" ? value * scale : value, digits);
  }

  function headCell(head, at) {
    const button = element("button", { type: "button", textContent: head.label, title: head.title ?? head.label });
    if (head.unit) button.append(element("small", { textContent: units[at].unit.replaceAll("/", "/\u200b") }));
    const cell = element("th", { scope: "col" }, button);
    if (numeric[at]) cell.className = "number";
    button.addEventListener("click", () => {
      const down = cell.getAttribute("aria-sort") === "ascending";
      for (const other of row.children) other.removeAttribute("aria-sort");
      cell.setAttribute("aria-sort", down ? "descending" : "ascending");
      const order = rows.map((_, index) => index).sort((a, b) => compared(worth(rows[a][at]), worth(rows[b][at]), down) || a - b);
      body.append(...order.map((index) => made[index]));
    });
    return cell;
  }
}

// The value by which a cell is sorted.
function worth(cell) {
  return cell !== null && typeof cell === "object" ? cell.value : cell;
}

// Compares two values for sorting: numbers by size, words by alphabet, missing values last.
function compared(a, b, down) {
  if (a === null || b === null) return (a === null) - (b === null);
  const order = typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });
  return down ? -order : order;
}

function heads(quantities) {
  return quantities.map(({ label, unit, short, digits }) => ({ label: short, unit, title: label, digits }));
}
