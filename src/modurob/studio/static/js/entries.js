// The matrices of the equations: formulas, numbers at the present pose, and entries one by one; what is pointed at lights its bodies.

import { everyFrame, h, redraw, shown } from "./dom.js";
import { copyButton, formula, mark } from "./formula.js";
import { changed, connection, on, send, state } from "./studio.js";

const MOST_ROWS = 30; // of tables that are drawn
const EVERY = 150; // milliseconds between numbers while the robot moves

/** Light these bodies in the 3D view; none: no body any more. */
function light(bodies) {
  state.lit = bodies;
  changed("lit");
}

/** What lights bodies while it is pointed at or focused. */
export const lights = (bodies) => ({
  onpointerenter: () => light(bodies()),
  onpointerleave: () => light([]),
  onfocusin: () => light(bodies()),
  onfocusout: () => light([]),
});

let owners = new Map(); // bodies, by the names of symbols

/** The symbols of the equations that are shown. */
export function know(legend) {
  owners = new Map(legend.filter(({ body }) => body).map(({ name, body }) => [name, body]));
  mark(legend.filter(({ name }) => owners.has(name)));
}

/** A formula whose symbols light what they belong to. */
export const lightFormula = (latex, label) => formula(latex, label, (name) => light(owners.has(name) ? [owners.get(name)] : []));

/** The body that a rate moves, and the joint's name. */
const moved = (rate) => state.design?.joints.find(({ v, mimics }) => !mimics && v[0] <= rate && rate < v[1]);
const bodiesOf = (...rates) => [...new Set(rates.map((rate) => moved(rate)?.body).filter((body) => body !== undefined))];

/** One matrix: its formula where it is typeset, a table of numbers whose cells open an entry, and that entry. */
function matrix({ name, title, latex, terms }, start) {
  const columns = terms[0].length;
  const opened = h("div", { class: "entry", "data-part": name, "aria-live": "polite" });
  const cell = (row, column) =>
    h(
      "button",
      {
        class: terms[row][column] ? "number" : "number none",
        "data-key": `${name} ${row} ${column}`,
        "data-entry": `${name} ${row} ${column}`,
        title: `${name}${columns > 1 ? ` ${row + 1}, ${column + 1}` : ` ${row + 1}`}: ${count(terms[row][column])}`,
        ...lights(() => (columns > 1 ? bodiesOf(row, column) : bodiesOf(row))),
        onclick: () => send("show_entry", { part: name, row, column }),
      },
      "·",
    );
  const heading = (rate) => h("th", { scope: "col", title: moved(rate)?.name ?? "", ...lights(() => bodiesOf(rate)) }, rateName(rate));
  const table = h(
    "table",
    { class: "numbers", "aria-label": `${title} at the present pose` },
    h("thead", {}, h("tr", {}, h("td", {}), columns > 1 ? terms[0].map((_, j) => heading(j)) : h("th", {}, name))),
    h(
      "tbody",
      {},
      terms.map((line, i) =>
        h(
          "tr",
          {},
          h("th", { scope: "row", title: moved(i)?.name ?? "", ...lights(() => bodiesOf(i)) }, rateName(i)),
          line.map((_, j) => h("td", {}, cell(i, j))),
        ),
      ),
    ),
  );
  return h(
    "section",
    { class: "matrix", "data-part": name },
    h(
      "div",
      { class: "row spread" },
      h("h3", {}, `${title} ${name}`),
      latex && copyButton(`${title} as LaTeX`, () => latex, `copy ${name}`),
    ),
    latex && lightFormula(latex, name),
    terms.length > MOST_ROWS
      ? h("p", { class: "soft small" }, `${terms.length} rows: too many for a table here.`)
      : h(
          "details",
          { open: start, ontoggle: ask },
          h("summary", { class: "small" }, "Numbers at the present pose, entry by entry"),
          h("div", { class: "scroll", tabIndex: 0, role: "region", "aria-label": `Entries of ${name}` }, table),
          opened,
        ),
  );
}

const rateName = (rate) => `q${String(rate + 1).replaceAll(/\d/g, (digit) => "₀₁₂₃₄₅₆₇₈₉"[digit])}`;
const count = (terms) => (terms === 0 ? "zero" : terms === 1 ? "one term" : `${terms} terms`);

/** All matrices; tables stand open where the formulas are too long to read. */
export const matrices = (parts) => parts.map((part) => matrix(part, !part.latex));

/** An entry that was asked for, below its table. */
function showEntry({ part, row, column, latex }) {
  const box = document.querySelector(`.entry[data-part="${part}"]`);
  if (!box) return;
  const name = `${part} ${row + 1}, ${column + 1}`;
  redraw(
    box,
    h(
      "div",
      { class: "row spread" },
      h("span", { class: "small soft" }, name),
      copyButton(`entry ${name} as LaTeX`, () => latex, `copy entry ${part}`),
    ),
    lightFormula(latex, name),
  );
}

/** Numbers into the tables. */
function showNumbers({ parts }) {
  for (const [name, rows] of Object.entries(parts)) {
    for (const button of document.querySelectorAll(`[data-entry^="${name} "]`)) {
      const [, row, column] = button.dataset.entry.split(" ").map(Number);
      button.textContent = shown(rows[row]?.[column] ?? NaN);
    }
  }
  const { q } = present();
  for (const cell of document.querySelectorAll("[data-coordinate]")) cell.textContent = shown(q[cell.dataset.coordinate] ?? NaN);
}

/** The state that is shown: that of a run, or the pose. */
function present() {
  const { nq, nv } = state.design;
  const { sample } = state;
  return sample?.length
    ? { q: [...sample.subarray(1, 1 + nq)], v: [...sample.subarray(1 + nq, 1 + nq + nv)] }
    : { q: state.pose.q, v: state.pose.v };
}

let waiting = 0;

/** Ask for the numbers of what is shown, now and then. */
export function ask() {
  if (state.panel !== "equations" || !state.derived || waiting) return;
  waiting = setTimeout(() => {
    waiting = 0;
    if (state.derived === state.design && state.pose?.q.length === state.design.nq) send("evaluate", present());
  }, EVERY);
}

export function startEntries() {
  connection.on("entry", showEntry);
  connection.on("numbers", showNumbers);
  for (const what of ["pose", "sample", "panel"]) on(what, everyFrame(ask));
}
