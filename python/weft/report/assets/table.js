"use strict";
// Tables that sort: a click or Enter on a head sorts by it, once more turns the order. Rows that can be chosen are one
// stop for the Tab key; arrows go up and down.

// Fills `place`. Heads have `label`, `unit`, `title` and `digits`; rows are lists of values.
// `onRow(index)` is called for a row that was chosen; `caption` stands above.
function sortable(place, heads, rows, { caption = "", onRow = null } = {}) {
  const body = element("tbody");
  const numeric = heads.map((_, at) => rows.some((row) => typeof row[at] === "number"));
  const made = rows.map((row, index) => {
    const cells = row.map((value, at) => {
      const cell = element("td", { textContent: written(value, heads[at].digits) });
      if (numeric[at] && typeof value !== "string") cell.className = "number";
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

  function headCell(head, at) {
    const button = element("button", { type: "button", textContent: head.label, title: head.title ?? head.label });
    if (head.unit) button.append(element("small", { textContent: head.unit }));
    const cell = element("th", { scope: "col" }, button);
    if (numeric[at]) cell.className = "number";
    button.addEventListener("click", () => {
      const down = cell.getAttribute("aria-sort") === "ascending";
      for (const other of row.children) other.removeAttribute("aria-sort");
      cell.setAttribute("aria-sort", down ? "descending" : "ascending");
      const order = rows.map((_, index) => index).sort((a, b) => compared(rows[a][at], rows[b][at], down) || a - b);
      body.append(...order.map((index) => made[index]));
    });
    return cell;
  }
}

// Numbers by size, words by alphabet, what is missing last.
function compared(a, b, down) {
  if (a === null || b === null) return (a === null) - (b === null);
  const order = typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });
  return down ? -order : order;
}

function heads(quantities) {
  return quantities.map(({ label, unit, short, digits }) => ({ label: short, unit, title: label, digits }));
}
