// Live plots of runs: one for each chosen quantity, with the chosen joints of one run, or of several laid over each other.

import uPlot from "uplot";
import { Chart } from "./chart.js";
import { h, redraw } from "./dom.js";
import { download } from "./download.js";
import { chip, drawJoints } from "./joint_chips.js";
import { plotPicture } from "./plot_picture.js";
import { connection, on, send, state } from "./studio.js";
import { scrubTo } from "./transport.js";

// where each quantity begins in a sample (t, q, v, vdot, tau, error, kinetic and potential energy), and what it is of
const QUANTITIES = {
  position: { unit: "rad, m", start: () => 1, of: "coordinates" },
  velocity: { unit: "rad/s, m/s", start: ({ nq }) => 1 + nq, of: "rates" },
  acceleration: { unit: "rad/s², m/s²", start: ({ nq, nv }) => 1 + nq + nv, of: "rates" },
  torque: { unit: "N m, N", start: ({ nq, nv }) => 1 + nq + 2 * nv, of: "rates" },
  error: { unit: "rad, m", start: ({ nq, nv }) => 1 + nq + 3 * nv, of: "rates" },
  energy: { unit: "J", start: ({ nq, nv }) => 1 + nq + 4 * nv, of: "energies" },
};
const INK = {
  light: ["#1d5fb8", "#b45309", "#0f766e", "#9d2463", "#5b3fb5", "#4d6b12"],
  dark: ["#6cb0ff", "#f5b556", "#4fd8c8", "#ff8fc2", "#b9a3ff", "#b6d96a"],
};
const DASHES = [[], [7, 4], [10, 3, 2, 3], [4, 2]]; // of the runs that are compared
const OVER = ["reference", "estimate"];
const NO_LIMIT = 1e4; // stands for none
const FIRST_JOINTS = 3; // shown until others are chosen
const REDRAW = 100; // milliseconds between redraws of a running plot

/** The plots; they are drawn while one of these panels is open. */
export function makePlots(panels) {
  return new Plots(panels);
}

class Plots {
  constructor(panels) {
    this.panels = panels;
    this.runs = [];
    this.samples = new Map(); // run -> { rows, columns, data }
    this.chosen = []; // runs that are shown
    this.quantities = new Set(["position", "torque", "error"]);
    this.over = new Set(["reference"]); // what is drawn with positions: those that were wanted, those that a filter believed in
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
    this.pointed = null; // the time under the pointer
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
    // a new run takes the place of the last one, unless several of its robot are being compared, or it follows what was planned
    const { joints, robot } = this.run(number);
    const alike = this.chosen.filter((other) => this.run(other)?.robot === robot);
    const compared = alike.length > 1 || this.follows(number);
    this.chosen = compared ? [...alike, number] : [number];
    if (!joints.some(({ name }) => this.joints.has(name))) this.joints = firstJoints(joints);
    this.drawChips();
  }

  /** Whether a run follows the plan that is shown, or repeats a run that is. */
  follows(number) {
    if (this.chosen.includes(this.run(number).twin)) return true;
    return this.run(number).reference === "motion" && this.chosen.some((other) => this.run(other)?.planned);
  }

  run(number) {
    return this.runs.find((run) => run.number === number);
  }

  shows(number) {
    return this.chosen.includes(number);
  }

  toggle(number, on) {
    this.chosen = on ? [...this.chosen, number] : this.chosen.filter((other) => other !== number);
    for (const run of this.chosen) if (!this.samples.has(run)) send("fetch_run", { run });
    this.rebuild();
  }

  /** The run that the slider moves through: the newest of those shown. */
  scrubbed() {
    return this.chosen.length ? Math.max(...this.chosen) : null;
  }

  setQuantities(names) {
    this.quantities = new Set(names);
    this.drawChips();
    this.rebuild();
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
    const redrawn = () => {
      this.drawChips();
      this.rebuild();
    };
    const turn = (set, name) => {
      set.has(name) ? set.delete(name) : set.add(name);
      redrawn();
    };
    const toggle = (name) => turn(this.quantities, name);
    redraw(
      this.chips,
      Object.keys(QUANTITIES).map((name) => chip(name, this.quantities.has(name), () => toggle(name))),
      OVER.map((name) => chip(name, this.over.has(name), () => turn(this.over, name))),
    );
    const run = this.run(this.scrubbed());
    drawJoints(this.jointChips, run?.joints.map(({ name }) => name) ?? [], this.joints, redrawn);
  }

  /** The plots anew: other quantities, joints, runs or colours. */
  rebuild() {
    for (const { chart } of this.plots) chart.destroy();
    this.pointed = null;
    const runs = this.chosen.map((number) => this.run(number)).filter(Boolean);
    const shown = this.panels.includes(state.panel) && runs.length ? [...this.quantities] : [];
    this.plots = shown.map((quantity) => this.make(quantity, runs));
    redraw(
      this.box,
      this.plots.map(({ figure }) => figure),
    );
    this.draw();
  }

  make(quantity, runs) {
    const series = this.series(quantity, runs);
    const pointed = (t) => this.point(t);
    const chart = new Chart(quantity, this.unit(quantity), series, { clicked: scrubTo, pointed });
    chart.heading.append(
      h(
        "button",
        {
          class: "link small",
          "aria-label": `Save the plot of ${quantity} as PNG`,
          onclick: () => this.save(quantity),
        },
        "PNG",
      ),
    );
    const label = `Plot of ${quantity}`;
    const properties = { class: "plot", "aria-label": label, style: { margin: 0 } };
    const figure = h("figure", properties, chart.heading, chart.host, chart.legend);
    return { quantity, chart, series, figure };
  }

  /** The unit of a quantity: for angles, for lengths, or for both if joints of both kinds are shown. */
  unit(quantity) {
    const [turning, sliding] = QUANTITIES[quantity].unit.split(", ");
    const units = new Set((state.design?.joints ?? []).filter(({ name }) => this.joints.has(name)).map(({ unit }) => unit));
    if (!sliding || units.size !== 1) return QUANTITIES[quantity].unit;
    return units.has("rad") ? turning : units.has("m") ? sliding : QUANTITIES[quantity].unit;
  }

  /** The lines of each run, and where each stands in the samples: a line has the same colour in all runs. */
  series(quantity, runs) {
    const { start, of } = QUANTITIES[quantity];
    const ink = INK[document.documentElement.dataset.theme];
    const lines = runs.map((run) => LINES[of](run).filter(({ joint }) => !joint || this.joints.has(joint)));
    const names = [...new Set(lines.flat().map(({ name }) => name))];
    return lines.flatMap((own, k) =>
      own.flatMap((line) => {
        const column = start(runs[k]) + line.index;
        const drawn = {
          run: runs[k].number,
          value: (row) => row[column],
          label: runs.length > 1 ? `${line.name} (run ${runs[k].number})` : line.name,
          stroke: ink[names.indexOf(line.name) % ink.length],
          limits: limits(quantity, line, runs[k]),
          dash: DASHES[k % DASHES.length],
        };
        if (quantity !== "position") return [drawn];
        const over = (word, value, dash) => value && { ...drawn, value, dash, label: `${drawn.label}, ${word}`, limits: [], unlisted: true };
        return [
          drawn,
          over("wanted", this.over.has("reference") && reference(runs[k], line, column), [2, 3]),
          over("estimate", this.over.has("estimate") && estimate(runs[k], line), [1, 2]),
        ].filter(Boolean);
      }),
    );
  }

  /** The newest samples into the plots. */
  draw() {
    for (const { chart, series } of this.plots) chart.setData(this.data(series));
    this.resize();
    this.element.dataset.samples = String(
      Math.max(0, ...this.chosen.map((run) => this.samples.get(run)?.data.length ?? 0)),
    );
  }

  /** Times, and a column for each line; what is not a number is a gap. */
  data(series) {
    const tables = [...new Set(series.map((one) => one.run))].map((run) => {
      const rows = this.samples.get(run)?.data ?? [];
      const column = (value) => rows.map((row) => (Number.isFinite(value(row)) ? value(row) : null));
      return [column((row) => row[0]), ...series.filter((one) => one.run === run).map((one) => column(one.value))];
    });
    return tables.length > 1 ? uPlot.join(tables) : (tables[0] ?? [[]]);
  }

  resize() {
    for (const { chart } of this.plots) chart.resize();
    this.showTime();
  }

  /** A line at the time that the robot is shown at. */
  setCursor(t) {
    this.t = t;
    this.showTime();
  }

  /** The time under the pointer, which all plots show as long as it is in one of them; null: it has left. */
  point(t) {
    this.pointed = t;
    this.showTime();
  }

  showTime() {
    const t = this.pointed ?? this.t;
    if (t !== undefined) for (const { chart } of this.plots) chart.setTime(t);
  }

  async save(quantity) {
    const { series } = this.plots.find((plot) => plot.quantity === quantity);
    const title = `${state.design.name}: ${quantity} [${this.unit(quantity)}] over time [s]`;
    download(await plotPicture(title, series, this.data(series)), `${state.design.name}_${quantity}.png`);
  }
}

/** A joint's coordinates or rates: what they are called, and where they stand in q or v. */
const parts = (joints, slice) =>
  joints.flatMap(({ name, [slice]: [first], [`${slice}_names`]: names }) =>
    names.map((called, k) => ({ joint: name, part: k, name: called, index: first + k })),
  );

const LINES = {
  coordinates: ({ joints }) => parts(joints, "q"),
  rates: ({ joints }) => parts(joints, "v"),
  energies: () => ["kinetic", "potential"].map((name, index) => ({ name, index })),
};

/** Where a coordinate was to be, as a function of the sample: none where nothing was followed, or it is no joint of one. */
function reference({ joints, nq, nv, controller, planned }, { joint, part }, column) {
  const own = joints.find(({ name }) => name === joint);
  if (controller === "none" || planned || own.q[1] - own.q[0] !== own.v[1] - own.v[0]) return null;
  const lacks = 1 + nq + 3 * nv + own.v[0] + part;
  return (row) => row[column] + row[lacks];
}

/** What a filter believed a coordinate to be, as a function of the sample: none without a filter. */
const estimate = ({ nq, nv, filtered }, { index }) => (filtered ? (row) => row[1 + nq + 4 * nv + 2 + index] : null);

/** Between which values a joint of the robot stays, its drive, and what was planned: none where there are none. */
function limits(quantity, { joint: name, part, index }, run) {
  const joint = state.design?.joints.find((one) => one.name === name);
  if (!joint || joint.kind === "free") return [];
  const planned = run.limits?.[quantity]?.[index];
  const bounds = {
    position: [joint.lower[part], joint.upper[part]],
    torque: [-joint.effort[part], joint.effort[part]],
    ...(planned && { [quantity]: [-planned, planned] }),
  };
  return (bounds[quantity] ?? []).filter((x) => Math.abs(x) < NO_LIMIT);
}

/** The first joints with a drive: a base that floats is of less interest. */
function firstJoints(joints) {
  const driven = joints.filter(({ kind }) => kind !== "free");
  return new Set((driven.length ? driven : joints).slice(0, FIRST_JOINTS).map(({ name }) => name));
}
