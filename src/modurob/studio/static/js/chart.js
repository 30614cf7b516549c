// One plot of runs over time: axes with labels that can be told apart, and the values where the crosshair is.

import uPlot from "uplot";
import { h, shown } from "./dom.js";
import { colour } from "./theme.js";

const HEIGHT = 150;
const FLAT = 1e-6; // a range below this is rounding: it is not blown up to look like motion
const CLICK = 4; // pixels that a click may travel
const ABOUT = "Click: the robot as it was then. Drag: a part of the time; a double click shows all of it again.";
const FINEST = 5; // decimals; beyond, numbers are written with exponents

/** Labels of ticks: as many decimals as tell neighbours apart, and no minus before a zero. */
export function ticks(values) {
  const step = Math.min(...values.slice(1).map((x, i) => Math.abs(x - values[i])));
  const largest = Math.max(...values.map(Math.abs));
  if (!Number.isFinite(step) || step === 0) return values.map((x) => shown(x));
  const decimals = decimalsOf(step);
  const digits = Math.ceil(Math.log10(largest / step)) + 2;
  const exponent = (x) => Number(x.toPrecision(Math.min(digits, 12))).toExponential();
  const label = decimals > FINEST || largest >= 1e6 ? exponent : (x) => x.toFixed(decimals);
  return values.map((x) => (Math.abs(x) < step / 1e6 ? "0" : label(x)));
}

/** How many decimals a step has; more than the finest if it has too many. */
function decimalsOf(step) {
  let decimals = 0;
  const whole = (x) => Math.round(x) > 0 && Math.abs(x - Math.round(x)) < 1e-6 * x;
  while (decimals <= FINEST && !whole(step * 10 ** decimals)) decimals++;
  return decimals;
}

/** A range that shows what moves and not what rounding left. */
function range(chart, low, high) {
  if (low === null || !Number.isFinite(low + high)) return [-1, 1];
  const middle = (low + high) / 2;
  const half = Math.max((high - low) / 2, FLAT / 2, 1e-7 * Math.abs(middle));
  return [middle - 1.1 * half, middle + 1.1 * half];
}

/** Options of a plot; `scale` makes lines and letters larger. */
export function options(series, width, height, scale = 1) {
  const font = `${Math.round(11 * scale)}px system-ui`;
  const grid = { stroke: colour("line"), width: scale };
  const marks = { ...grid, size: 5 * scale };
  const axis = { stroke: colour("soft"), grid, ticks: marks, font, labelFont: font, gap: 4 * scale };
  return {
    width,
    height,
    padding: [8 * scale, 12 * scale, 0, 0],
    series: [{ label: "t" }, ...series.map((one) => ({ ...one, width: 1.6 * scale, points: { show: false } }))],
    legend: { show: false },
    scales: { x: { time: false }, y: { range } },
    axes: [
      { ...axis, size: 24 * scale, space: 50 * scale, values: (chart, splits) => ticks(splits) },
      { ...axis, size: 56 * scale, space: 24 * scale, values: (chart, splits) => ticks(splits) },
    ],
  };
}

export class Chart {
  /** `clicked(t)` is called with the time of a click, `pointed(t)` with that under the pointer, null when it has left. */
  constructor(title, unit, series, { clicked, pointed }) {
    this.series = series;
    this.wanted = null; // the time of the crosshair
    this.held = false; // whether the pointer says where the crosshair is
    this.host = h("div", {});
    this.time = h("span", { class: "soft" });
    this.values = series.map(({ unlisted }) => h(unlisted ? "i" : "b", {}));
    this.plot = new uPlot(
      {
        ...options(series, 300, HEIGHT),
        cursor: { drag: { x: true, y: false, dist: CLICK }, sync: { key: "runs" } },
        hooks: { setCursor: [() => this.#moved(pointed)], draw: [(plot) => this.#drawn(plot)] },
      },
      [[], ...series.map(() => [])],
      this.host,
    );
    this.#takeClicks(clicked);
    this.#takePointer(pointed);
    this.legend = h(
      "figcaption",
      { class: "legend" },
      series.map(({ label, stroke, dash, unlisted }, i) =>
        h(
          "span",
          { hidden: Boolean(unlisted) },
          h("i", { style: { borderTop: `3px ${dash.length ? "dashed" : "solid"} ${stroke}` } }),
          `${label} `,
          this.values[i],
        ),
      ),
    );
    this.heading = h("p", { class: "title", title: ABOUT }, `${title} [${unit}]`, this.time);
  }

  /** A click is one that did not travel: then it was a drag, which zooms. */
  #takeClicks(clicked) {
    const { over } = this.plot;
    let from = null;
    over.addEventListener("pointerdown", (e) => (from = e.clientX));
    over.addEventListener("pointerup", (e) => {
      const still = from !== null && Math.abs(e.clientX - from) <= CLICK;
      if (still) clicked(this.plot.posToVal(e.clientX - over.getBoundingClientRect().left, "x"));
      from = null;
    });
  }

  /** The pointer holds the crosshair from its first move on, which is seen before uPlot sees it, until it leaves. */
  #takePointer(pointed) {
    const { over } = this.plot;
    over.addEventListener("mousemove", () => (this.held = true), { capture: true });
    over.addEventListener("mouseleave", () => {
      this.held = false;
      pointed(null);
    });
  }

  /** The crosshair is elsewhere, or other data came under it. */
  #moved(pointed) {
    this.#showValues();
    if (this.held && this.t !== undefined) pointed(this.t);
  }

  #drawn(plot) {
    drawLimits(plot, this.series);
    if (this.plot) this.#place(); // uPlot draws once before it is made
  }

  /** The time of the crosshair: none where there is no sample, such as after the data became shorter. */
  get t() {
    return this.plot.data[0]?.[this.plot.cursor.idx];
  }

  /** Whether a part of the time is shown. */
  get zoomed() {
    const { min, max } = this.plot.scales.x;
    const t = this.plot.data[0];
    return t.length > 1 && (min > t[0] + 1e-9 || max < t.at(-1) - 1e-9);
  }

  setData(data) {
    const kept = this.zoomed;
    this.plot.setData(data, !kept);
    if (kept) this.plot.redraw();
    this.#showValues();
  }

  resize() {
    const width = this.host.clientWidth;
    if (width && Math.abs(width - this.plot.width) > 1) this.plot.setSize({ width, height: HEIGHT });
  }

  /** The crosshair at a time, unless the pointer holds it. */
  setTime(t) {
    this.wanted = t;
    this.#place();
  }

  /** The crosshair where its time is: again after each drawing, for the axis may have changed. */
  #place() {
    if (!this.plot.data[0]?.length || this.held || this.wanted === null) return;
    this.plot.setCursor({ left: this.plot.valToPos(this.wanted, "x"), top: -10 }, false);
    this.#showValues();
  }

  /** What the lines are where the crosshair is. */
  #showValues() {
    const { t } = this;
    this.time.textContent = t === undefined ? "" : `t = ${t.toFixed(3)} s`;
    this.values.forEach((element, i) => {
      const value = t === undefined ? null : nearest(this.plot.data[i + 1], this.plot.cursor.idx);
      element.textContent = value === null ? "" : shown(value, 4);
    });
  }

  destroy() {
    this.plot.destroy();
  }
}

/** Limits of what the lines show, dashed, where they are in sight. */
function drawLimits(plot, series) {
  const { ctx: ink, bbox } = plot;
  ink.save();
  ink.setLineDash([6 * devicePixelRatio, 5 * devicePixelRatio]);
  ink.lineWidth = devicePixelRatio;
  ink.strokeStyle = colour("bad");
  for (const x of new Set(series.flatMap(({ limits = [] }) => limits))) {
    const y = plot.valToPos(x, "y", true);
    if (y < bbox.top - 1 || y > bbox.top + bbox.height + 1) continue;
    ink.beginPath();
    ink.moveTo(bbox.left, y);
    ink.lineTo(bbox.left + bbox.width, y);
    ink.stroke();
  }
  ink.restore();
}

/** The value at a place, or the next one there is: two runs are not sampled at the same times. */
function nearest(column, at) {
  for (let k = 0; k < 3; k++)
    for (const value of [column?.[at - k], column?.[at + k]]) if (Number.isFinite(value)) return value;
  return null;
}
