// The Equations panel: M, C, N and the friction and springs of the joints in closed form, derived by the server as the robot grows, typeset here.

import { h, redraw, shown } from "./dom.js";
import { fetched } from "./download.js";
import { ask, know, lightFormula, lights, matrices as drawn, startEntries } from "./entries.js";
import { copy, symbol } from "./formula.js";
import { connection, on, send, state } from "./studio.js";

const SYMBOLS = ["masses", "lengths", "gravity", "inertias", "centres", "dampings", "armatures", "stiffnesses"];
const NOT_LIVE = 8; // degrees of freedom above which a button must be pressed
let latex = "";

export function start(panel) {
  document.head.append(h("link", { rel: "stylesheet", href: new URL("../vendor/katex/katex.min.css", import.meta.url) }));
  startEntries();
  const chosen = h("div", { class: "row" });
  const progress = h("div", { hidden: true });
  const matrices = h("div", { "aria-live": "polite" });
  const copies = h(
    "div",
    { class: "row" },
    h(
      "button",
      {
        class: "button",
        id: "copy-latex",
        onclick: () => (latex ? copy(latex, "LaTeX") : copyFile("equations.tex", "LaTeX")),
      },
      "Copy LaTeX",
    ),
    h(
      "button",
      { class: "button", id: "copy-python", onclick: () => copyFile("equations.py", "Python") },
      "Copy Python",
    ),
    h("button", { class: "button", id: "copy-c", onclick: () => copyFile("equations.c", "C") }, "Copy C"),
  );
  panel.append(
    h(
      "div",
      { class: "group" },
      h("h2", {}, "Written as symbols"),
      chosen,
      h(
        "label",
        { class: "row small", style: { marginTop: "8px" } },
        h("input", {
          type: "checkbox",
          checked: state.shorthand,
          onchange: (e) => {
            state.shorthand = e.target.checked;
            derive();
          },
        }),
        "short: c₁₂ for cos(q₁ + q₂)",
      ),
    ),
    h("div", { class: "group" }, h("h2", {}, "Equations of motion"), progress, matrices),
    h("div", { class: "group" }, h("h2", {}, "Copy"), copies),
  );

  const drawSymbols = () =>
    redraw(
      chosen,
      SYMBOLS.map((name) =>
        h(
          "button",
          {
            class: "chip",
            "data-key": name,
            "aria-pressed": String(state.symbols.has(name)),
            onclick: () => {
              state.symbols.has(name) ? state.symbols.delete(name) : state.symbols.add(name);
              drawSymbols();
              derive();
            },
          },
          name,
        ),
      ),
    );
  drawSymbols();

  let derived = null; // the design that is shown or being derived
  function derive() {
    derived = state.design;
    state.derived = null;
    panel.setAttribute("aria-busy", "true");
    send("derive", { symbols: [...state.symbols], shorthand: state.shorthand });
    showProgress(progress, "starting", 0);
  }
  function live() {
    if (state.panel !== "equations" || !state.design || state.design === derived) return;
    if (!state.design.nv) {
      derived = state.design;
      redraw(
        matrices,
        h("p", { class: "soft" }, "Nothing moves yet: dock a module so that a hinge has something to carry."),
      );
    } else if (state.design.nv > NOT_LIVE) {
      redraw(
        matrices,
        h("p", { class: "soft" }, `${state.design.nv} degrees of freedom: these equations are long and take a while. `),
        h("button", { class: "button main", onclick: derive }, "Derive"),
      );
    } else derive();
  }
  on("design", live);
  on("panel", live);
  connection.on("progress", ({ stage, done }) => showProgress(progress, stage, done));
  connection.on("equations", (equations) => {
    progress.hidden = true;
    panel.setAttribute("aria-busy", "false");
    latex = equations.latex;
    state.derived = equations.problem ? null : derived;
    redraw(matrices, typeset(equations));
    ask();
  });
  live();
}

function showProgress(box, stage, done) {
  box.hidden = false;
  redraw(
    box,
    h(
      "div",
      { class: "row spread small" },
      h("span", {}, stage),
      h("button", { class: "link", "data-key": "cancel", onclick: () => send("cancel_derivation") }, "Cancel"),
    ),
    h("progress", { value: done, max: 1, "aria-label": "Derivation" }),
  );
}

function typeset({ law, parts, legend, notes, problem }) {
  if (problem) return [h("p", { class: "problem" }, problem)];
  know(legend);
  return [
    lightFormula(law, "Law of motion"),
    parts.some(({ latex }) => !latex) && remarks(notes),
    h("h3", {}, "Symbols"),
    symbols(legend),
    drawn(parts),
    parts.every(({ latex }) => latex) && remarks(notes),
  ];
}

const remarks = (notes) => h("ul", { class: "small soft" }, notes.map((line) => h("li", {}, line)));

/** What the symbols mean; the row that is pointed at lights its body. */
const symbols = (legend) =>
  h(
    "div",
    { class: "scroll", tabIndex: 0, role: "region", "aria-label": "Symbols" },
    h(
      "table",
      { class: "symbols small" },
      h("thead", {}, h("tr", {}, ["symbol", "meaning", "number", "unit"].map((word) => h("th", { scope: "col" }, word)))),
      h("tbody", {}, legend.map(row)),
    ),
  );

const row = ({ latex, name, meaning, value, unit, body, coordinate }) =>
  h(
    "tr",
    { "data-symbol": name, ...(body ? { class: "lights", tabIndex: 0, ...lights(() => [body]) } : {}) },
    h("td", {}, symbol(latex)),
    h("td", {}, meaning),
    h("td", { class: "right", ...(coordinate === null ? {} : { "data-coordinate": coordinate }) }, value === null ? "" : shown(value)),
    h("td", {}, unit),
  );

async function copyFile(name, what) {
  const answer = await fetched(name);
  if (answer) copy(await answer.text(), what);
}
