// The topology grid of planar robots: click an empty cell to add a module, a full one to turn it; drag to place and to move.

import { h, redraw } from "./dom.js";
import { moduleOf, on, send, state, typeOf } from "./studio.js";

const SVG = "http://www.w3.org/2000/svg";
const UNKNOWN = { ports: [], shapes: [] };
const ARROWS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

export function makeGrid() {
  const box = h("div", { class: "cells-box" });
  const note = h("p", { class: "soft small", style: { marginTop: "6px" } });
  on("design", () => draw(box, note));
  on("selection", () => draw(box, note));
  return h("div", {}, box, note);
}

function draw(box, note) {
  const { cells, problem } = state.design.grid;
  note.textContent =
    problem ||
    "Click an empty cell to add, a module to turn it by a quarter; after the last quarter it goes. Drag to place or move.";
  box.hidden = Boolean(problem);
  if (problem) return;
  const at = new Map(cells.map((cell) => [`${cell.column},${cell.row}`, cell]));
  const columns = span(cells.map((cell) => cell.column));
  const rows = span(cells.map((cell) => cell.row)).reverse();
  const near = (column, row) => Object.values(ARROWS).some(([x, y]) => at.has(`${column + x},${row + y}`));
  const grid = h(
    "div",
    {
      class: "cells",
      role: "group",
      "aria-label": "Topology grid",
      style: { gridTemplateColumns: `repeat(${columns.length}, 44px)` },
    },
    rows.flatMap((row) =>
      columns.map((column) => {
        const cell = at.get(`${column},${row}`);
        return cell ? full(cell) : empty(column, row, near(column, row));
      }),
    ),
  );
  const tabStop = grid.querySelector(".cell.near, .cell.full");
  grid.addEventListener("keydown", move);
  grid.addEventListener("focusin", (e) => {
    for (const cell of grid.querySelectorAll("[tabindex='0']")) cell.tabIndex = -1;
    e.target.tabIndex = 0;
  });
  redraw(box, grid);
  if (tabStop && !grid.querySelector("[tabindex='0']")) tabStop.tabIndex = 0;
}

/** One cell more on each side of what is there. */
function span(numbers) {
  const low = Math.min(...numbers) - 1;
  return Array.from({ length: Math.max(...numbers) - low + 2 }, (_, i) => low + i);
}

function common(column, row) {
  return {
    "data-key": `cell ${column},${row}`,
    "data-column": column,
    "data-row": row,
    tabIndex: -1,
    ondragover: (e) => {
      e.preventDefault();
      e.currentTarget.classList.add("over");
    },
    ondragleave: (e) => e.currentTarget.classList.remove("over"),
    ondrop: (e) => {
      e.preventDefault();
      const [kind, module] = ["text/kind", "text/module"].map((type) => e.dataTransfer.getData(type));
      if (module) send("move_cell", { module, column, row });
      else if (kind) send("place_cell", { column, row, kind });
    },
  };
}

function empty(column, row, near) {
  return h(
    "button",
    {
      ...common(column, row),
      class: near ? "cell near" : "cell",
      "aria-label": `Empty cell ${column}, ${row}`,
      onclick: () => send("place_cell", { column, row, kind: state.kind }),
    },
    near ? "+" : "",
  );
}

function full({ column, row, module, quarters }) {
  const button = h("button", {
    ...common(column, row),
    class: module === state.selected ? "cell full selected" : "cell full",
    draggable: true,
    "aria-label": `${module} in cell ${column}, ${row}, turned ${90 * quarters} degrees`,
    title: `${module}: click to turn`,
    ondragstart: (e) => e.dataTransfer.setData("text/module", module),
    onclick: () => send("turn_cell", { column, row }),
  });
  button.append(picture(module, quarters));
  return button;
}

/** The module from above: its shapes' colours, turned as it stands, with its name. */
function picture(name, quarters) {
  const type = typeOf(moduleOf(name).kind) ?? UNKNOWN;
  const reach = Math.max(...type.ports.map((port) => Math.hypot(port.X[3], port.X[7])), 1e-6);
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "-22 -22 44 44");
  const turned = document.createElementNS(SVG, "g");
  turned.setAttribute("transform", `rotate(${-90 * quarters})`);
  const scale = 20.5 / reach;
  for (const shape of [...type.shapes].sort((a, b) => (a.kind === "box" ? -1 : 1) - (b.kind === "box" ? -1 : 1))) {
    const [width, height] = extent(shape);
    const rect = document.createElementNS(SVG, "rect");
    const [x, y] = [shape.X[3] * scale, -shape.X[7] * scale];
    const attributes = {
      x: x - (width * scale) / 2,
      y: y - (height * scale) / 2,
      width: width * scale,
      height: height * scale,
      rx: 3,
      fill: shape.colour,
    };
    for (const [key, value] of Object.entries(attributes)) rect.setAttribute(key, value);
    turned.append(rect);
  }
  const text = document.createElementNS(SVG, "text");
  for (const [key, value] of Object.entries({
    "text-anchor": "middle",
    y: 4,
    "font-size": 11,
    "font-weight": 700,
    fill: "#fff",
    stroke: "#1a2230",
    "stroke-width": 2.4,
    "paint-order": "stroke",
  }))
    text.setAttribute(key, value);
  text.textContent = name;
  svg.append(turned, text);
  return svg;
}

/** Width along x and y of a shape seen from above. */
function extent({ kind, size, X }) {
  if (kind === "sphere") return [2 * size[0], 2 * size[0]];
  const edges = kind === "box" ? size : [2 * size[0], 2 * size[0], size[1]];
  return [0, 1].map((row) => edges.reduce((sum, edge, k) => sum + Math.abs(X[4 * row + k]) * edge, 0));
}

/** Arrow keys go from cell to cell; Delete removes the module there. */
function move(event) {
  const { column, row } = event.target.dataset;
  const cell = state.design.grid.cells.find((c) => c.column === Number(column) && c.row === Number(row));
  if (event.key === "Delete" && cell) send("undock", { module: cell.module });
  const step = ARROWS[event.key];
  if (!step) return;
  event.preventDefault();
  event.currentTarget
    .querySelector(`[data-column="${Number(column) + step[0]}"][data-row="${Number(row) + step[1]}"]`)
    ?.focus();
}
