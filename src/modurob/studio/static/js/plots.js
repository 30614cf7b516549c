// Live plots of runs: one for each chosen quantity, with the chosen joints of one run, or of two laid over each other.

import uPlot from "uplot";
import { h, redraw } from "./dom.js";
import { download } from "./download.js";
import { connection, on, send, state } from "./studio.js";
import { colour } from "./theme.js";

// where each quantity stands in a sample: t, q, v, vdot, tau, error, kinetic and potential energy
const QUANTITIES = {
  position: { unit: "rad, m", at: ({ nq, nv }, i) => 1 + nq - nv + i },
  velocity: { unit: "rad/s, m/s", at: ({ nq }, i) => 1 + nq + i },
  acceleration: { unit: "rad/s², m/s²", at: ({ nq, nv }, i) => 1 + nq + nv + i },
  torque: { unit: "N m, N", at: ({ nq, nv }, i) => 1 + nq + 2 * nv + i },
  error: { unit: "rad, m", at: ({ nq, nv }, i) => 1 + nq + 3 * nv + i },
  energy: { unit: "J", at: ({ nq, nv }, i) => 1 + nq + 4 * nv + i, names: ["kinetic", "potential"] },
};
const INK = {
  light: ["#1d5fb8", "#b45309", "#0f766e", "#9d2463", "#5b3fb5", "#4d6b12"],
  dark: ["#6cb0ff", "#f5b556", "#4fd8c8", "#ff8fc2", "#b9a3ff", "#b6d96a"],
};
const FIRST_JOINTS = 3; // shown until others are chosen
const HEIGHT = 136;
const REDRAW = 100; // milliseconds between redraws of a running plot

export function makePlots() {
  return new Plots();
}

class Plots {
  constructor() {
    this.runs = [];
    this.samples = new Map(); // run -> { rows, columns, data }
    this.chosen = []; // runs that are shown, at most two
    this.quantities = new Set(["position", "torque", "error"]);
    this.joints = new Set(); // by name
    this.chips = h("div", { class: "row", role: "group", "aria-label": "Quantities" });
    this.jointChips = h("div", { class: "row", role: "group", "aria-label": "Joints" });
    this.box = h("div", { class: "plots" });
    this.element = h(
      "div",
      {},
      h("div", { class: "row", style: { marginTop: "8px" } }, this.chips, this.jointChips),
      this.box,
    );
    this.plots = [];
    connection.on("history", ({ run, rows, columns, samples }) => {
      this.samples.set(run, {
        columns,
        data: Array.from({ length: rows }, (_, i) => samples.subarray(i * columns, (i + 1) * columns)),
      });
      this.draw();
    });
    on("theme", () => this.rebuild());
    on("panel", () => this.rebuild());
    new ResizeObserver(() => this.resize()).observe(this.box);
    this.drawChips();
  }

  // ---- which runs ----

  setRuns(runs) {
    const known = new Set(this.runs.map((run) => run.number));
    const before = new Map(this.runs.map((run) => [run.number, run.status]));
    this.runs = runs;
    const numbers = new Set(runs.map((run) => run.number));
    for (const number of this.samples.keys()) if (!numbers.has(number)) this.samples.delete(number);
    this.chosen = this.chosen.filter((number) => numbers.has(number));
    for (const run of runs) {
      if (!known.has(run.number)) this.choose(run.number);
      // the whole of a run that has just ended, or that this page has not seen
      if (run.status && before.get(run.number) !== run.status) send("fetch_run", { run: run.number });
    }
    this.rebuild();
  }

  choose(number) {
    // a new run takes the place of the last one, unless two are being compared
    this.chosen = this.chosen.length === 2 ? [this.chosen[1], number] : [number];
    const names = freedoms(this.run(number));
    if (!names.some((name) => this.joints.has(name))) this.joints = new Set(names.slice(0, FIRST_JOINTS));
    this.drawChips();
  }

  run(number) {
    return this.runs.find((run) => run.number === number);
  }

  shows(number) {
    return this.chosen.includes(number);
  }

  toggle(number, on) {
    this.chosen = on ? [...this.chosen, number].slice(-2) : this.chosen.filter((other) => other !== number);
    for (const run of this.chosen) if (!this.samples.has(run)) send("fetch_run", { run });
    this.rebuild();
  }

  /** The run that the slider moves through: the newest of those shown. */
  scrubbed() {
    return this.chosen.length ? Math.max(...this.chosen) : null;
  }

  // ---- samples ----

  /** One more sample of the run that is going on. */
  live(sample) {
    const run = state.runs.active;
    if (run < 0) return;
    if (!this.samples.has(run)) this.samples.set(run, { columns: sample.length, data: [] });
    const { data } = this.samples.get(run);
    if (!data.length || data.at(-1)[0] < sample[0]) data.push(sample.slice());
    if (!this.waiting)
      this.waiting = setTimeout(() => {
        this.waiting = 0;
        this.draw();
      }, REDRAW);
  }

  // ---- drawing ----

  drawChips() {
    const chip = (set, key, label) =>
      h(
        "button",
        {
          class: "chip",
          "data-key": label,
          "aria-pressed": String(set.has(key)),
          onclick: () => {
            set.has(key) ? set.delete(key) : set.add(key);
            this.drawChips();
            this.rebuild();
          },
        },
        label,
      );
    redraw(
      this.chips,
      Object.keys(QUANTITIES).map((name) => chip(this.quantities, name, name)),
    );
    const run = this.run(this.scrubbed());
    redraw(
      this.jointChips,
      run
        ? freedoms(run)
            .slice(0, 24)
            .map((name) => chip(this.joints, name, name))
        : [],
    );
  }

  /** The plots anew: other quantities, joints, runs or colours. */
  rebuild() {
    for (const plot of this.plots) plot.chart.destroy();
    this.plots = [];
    const runs = this.chosen.map((number) => this.run(number)).filter(Boolean);
    if (state.panel !== "simulate" || !runs.length) {
      this.box.replaceChildren();
      return;
    }
    redraw(
      this.box,
      [...this.quantities].map((quantity) => this.make(quantity, runs)),
    );
    this.draw();
  }

  make(quantity, runs) {
    const { unit, at, names } = QUANTITIES[quantity];
    const ink = INK[document.documentElement.dataset.theme];
    const lines = names ?? [...new Set(runs.flatMap(freedoms))].filter((name) => this.joints.has(name));
    const series = runs.flatMap((run, k) =>
      lines
        .map((name, place) => ({ name, place, index: (names ?? freedoms(run)).indexOf(name) }))
        .filter(({ index }) => index >= 0)
        .map(({ name, place, index }) => ({
          run: run.number,
          column: at(run, index),
          label: runs.length > 1 ? `${name} (run ${run.number})` : name,
          stroke: ink[place % ink.length],
          width: 1.6,
          dash: k ? [5, 4] : [],
          points: { show: false },
        })),
    );
    const host = h("div", {});
    const grid = { stroke: colour("line"), width: 1 };
    const axis = {
      stroke: colour("soft"),
      grid,
      ticks: grid,
      font: "11px system-ui",
      labelFont: "11px system-ui",
      size: 48,
    };
    const chart = new uPlot(
      {
        width: 300,
        height: HEIGHT,
        series: [{ label: "t" }, ...series],
        legend: { show: false },
        cursor: { drag: { x: false, y: false } },
        scales: { x: { time: false } },
        axes: [{ ...axis, size: 26 }, axis],
      },
      [[], ...series.map(() => [])],
      host,
    );
    this.plots.push({ quantity, chart, series, host });
    return h(
      "figure",
      { class: "plot", style: { margin: 0 } },
      h(
        "h3",
        {},
        `${quantity} [${unit}]`,
        h(
          "button",
          {
            class: "link small",
            "aria-label": `Save the plot of ${quantity} as PNG`,
            onclick: () => this.save(quantity),
          },
          "PNG",
        ),
      ),
      host,
      h(
        "figcaption",
        { class: "legend" },
        series.map(({ label, stroke, dash }) =>
          h("span", {}, h("i", { style: { borderTop: `3px ${dash.length ? "dashed" : "solid"} ${stroke}` } }), label),
        ),
      ),
    );
  }

  /** The newest samples into the plots. */
  draw() {
    for (const { chart, series } of this.plots) {
      const runs = [...new Set(series.map((one) => one.run))];
      const tables = runs.map((run) => {
        const data = this.samples.get(run)?.data ?? [];
        return [
          Float64Array.from(data, (row) => row[0]),
          ...series.filter((one) => one.run === run).map((one) => Float64Array.from(data, (row) => row[one.column])),
        ];
      });
      chart.setData(
        tables.length === 0
          ? [[]]
          : tables.length === 1
            ? tables[0]
            : uPlot.join(tables.map((table) => table.map((column) => Array.from(column)))),
      );
    }
    this.resize();
    this.element.dataset.samples = String(
      Math.max(0, ...this.chosen.map((run) => this.samples.get(run)?.data.length ?? 0)),
    );
  }

  resize() {
    for (const { chart, host } of this.plots) {
      const width = host.clientWidth;
      if (width && Math.abs(width - chart.width) > 1) chart.setSize({ width, height: HEIGHT });
    }
    if (this.t !== undefined) this.setCursor(this.t);
  }

  /** A line at the time that the robot is shown at. */
  setCursor(t) {
    this.t = t;
    for (const { chart } of this.plots)
      if (chart.data[0]?.length) chart.setCursor({ left: chart.valToPos(t, "x"), top: -10 }, false);
  }

  save(quantity) {
    const { chart, series } = this.plots.find((plot) => plot.quantity === quantity);
    const picture = h("canvas", { width: chart.ctx.canvas.width, height: chart.ctx.canvas.height + 40 });
    const pen = picture.getContext("2d");
    pen.fillStyle = colour("surface");
    pen.fillRect(0, 0, picture.width, picture.height);
    pen.drawImage(chart.ctx.canvas, 0, 30);
    pen.font = "13px system-ui";
    pen.fillStyle = colour("text");
    pen.fillText(`${quantity} [${QUANTITIES[quantity].unit}]`, 8, 19);
    let x = 190;
    for (const { label, stroke } of series) {
      pen.fillStyle = stroke;
      pen.fillText(label, x, 19);
      x += pen.measureText(label).width + 16;
    }
    picture.toBlob((blob) => download(blob, `${quantity}.png`));
  }
}

/** The names of the freedoms: the joint, and its own number where it has several. */
function freedoms({ joints, freedoms: counts }) {
  return joints.flatMap((name, i) =>
    counts[i] === 1 ? [name] : Array.from({ length: counts[i] }, (_, k) => `${name} ${k + 1}`),
  );
}
