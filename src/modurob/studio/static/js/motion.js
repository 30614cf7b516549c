// The Motion panel: way points from the poses that one shows, what goes between them, a preview against limits, and a run that follows.

import { h, redraw, segments, shown } from "./dom.js";
import { numberField, refresh } from "./fields.js";
import { refuse } from "./notices.js";
import { poseTools } from "./posing.js";
import { controller, set, settings, values } from "./settings.js";
import { sharedPlots } from "./shared_plots.js";
import { on, send, state } from "./studio.js";
import { end, play } from "./transport.js";
import { add, clear, how, motion, move, points, remove, setHow, setPose, setTime } from "./way_points.js";

const TIMINGS = [
  ["listed", "as listed"],
  ["within", "within limits"],
  ["fastest", "time-optimal"],
];
const NUMBERS = [
  ["velocity", "largest speed", "rad/s, m/s"],
  ["acceleration", "largest acceleration", "rad/s², m/s²"],
  ["jerk", "largest jerk", "rad/s³, m/s³"],
  ["blend", "time of a blend", "s"],
];
const REST = 0.5; // seconds that a run goes on after the last way point
const QUANTITIES = ["position", "velocity", "acceleration", "torque"];

export function start(panel) {
  const below = h("div", {});
  const list = h("ol", { class: "list", id: "way-points" });
  const between = h("div", {});
  const law = h("div", { class: "field wide" });
  const outcome = h("output", { id: "planned", class: "small soft" });
  const button = (id, text, act, more = {}) => h("button", { class: "button", id, onclick: act, ...more }, text);
  panel.append(
    below,
    h(
      "div",
      { class: "group" },
      h("h2", {}, "Way points"),
      list,
      h(
        "div",
        { class: "row", style: { marginTop: "6px" } },
        button("add-pose", "Add this pose", add),
        button("clear-points", "Clear", clear),
      ),
    ),
    h("div", { class: "group" }, h("h2", {}, "Between them"), between),
    h(
      "div",
      { class: "group" },
      h("h2", {}, "Try it"),
      law,
      h(
        "div",
        { class: "row", style: { marginTop: "6px" } },
        button("preview", "Preview", preview, { class: "button main" }),
        button("run-motion", "Run it with this controller", follow),
      ),
      outcome,
    ),
    poseTools("motion"),
  );
  const plots = sharedPlots("motion", below);
  const draw = () => {
    if (!state.design) return;
    drawList(list);
    drawBetween(between);
    drawLaw(law);
  };
  for (const what of ["way points", "design", "types", "settings"]) on(what, draw);
  on("refused", () => {
    previewed = false;
    refresh(panel, true);
  });
  on("runs", () => showPlan(outcome, plots));
  draw();
}

const summary = (q) => q.slice(0, 4).map((x) => shown(x, 3)).join(", ") + (q.length > 4 ? ", …" : "");

function drawList(list) {
  const all = points();
  const timed = chosen()?.timed && how.timing !== "fastest";
  const act = (i, name, label, onclick, disabled = false) =>
    h("button", { class: "link small", "data-key": `${name} ${i}`, "aria-label": `${label} ${i + 1}`, disabled, onclick }, name);
  redraw(
    list,
    all.length
      ? all.map(({ t, q }, i) =>
          h(
            "li",
            { "data-point": i },
            h(
              "button",
              { class: "link grow small", "data-key": `show ${i}`, title: "Show this pose", style: { textAlign: "left" }, onclick: () => send("take_pose", { q }) },
              `${i + 1}: ${summary(q)}`,
            ),
            timed && numberField({
              label: `time of way point ${i + 1}`,
              "aria-label": `Time of way point ${i + 1} in seconds`,
              "data-key": `time ${i}`,
              min: 0,
              max: 600,
              value: () => points()[i]?.t,
              set: (x) => setTime(i, x),
              style: { width: "60px" },
            }),
            timed && h("span", { class: "soft small" }, "s"),
            act(i, "↑", "Earlier: way point", () => move(i, -1), i === 0),
            act(i, "↓", "Later: way point", () => move(i, 1), i === all.length - 1),
            act(i, "set", "set to the present pose: way point", () => setPose(i)),
            act(i, "×", "Remove way point", () => remove(i)),
          ),
        )
      : h("li", { class: "soft small" }, "None yet. Pose the robot below, or drag the amber ball, and add the pose; then the next."),
  );
}

const chosen = () => state.offers.interpolations?.find(({ name }) => name === how.interpolation);

function drawBetween(box) {
  const needs = new Set(chosen()?.needs ?? []);
  if (how.timing !== "listed") needs.add("velocity").add("acceleration");
  redraw(
    box,
    h(
      "div",
      { class: "field wide" },
      h("label", { for: "interpolation" }, "motion"),
      h(
        "select",
        { id: "interpolation", "data-key": "interpolation", onchange: (e) => setHow("interpolation", e.target.value) },
        (state.offers.interpolations ?? []).map(({ name, label }) => h("option", { value: name, selected: name === how.interpolation }, label)),
      ),
    ),
    h("div", { class: "row", style: { margin: "6px 0" } }, segments("timing", "Whose times it keeps", TIMINGS, how.timing, (key) => setHow("timing", key))),
    NUMBERS.filter(([name]) => needs.has(name)).map(([name, label, unit]) =>
      h(
        "div",
        { class: "field" },
        h("label", { for: `motion-${name}` }, label),
        numberField({ id: `motion-${name}`, "data-key": `motion ${name}`, label, min: 1e-6, max: 1e6, value: () => how[name], set: (x) => setHow(name, x) }),
        h("span", { class: "unit" }, unit),
      ),
    ),
    how.timing === "fastest" && h("p", { class: "soft small" }, "The fastest that keeps speeds, accelerations, and the torques of the drives."),
  );
}

function drawLaw(box) {
  redraw(
    box,
    h("label", { for: "motion-controller" }, "controller"),
    h(
      "select",
      { id: "motion-controller", "data-key": "motion controller", onchange: (e) => set("controller", e.target.value) },
      state.offers.controllers
        .filter(({ name }) => !["none", "servos"].includes(name))
        .map(({ name, label }) => h("option", { value: name, selected: name === values.controller }, label)),
    ),
  );
}

/** Whether there is something to plan; if not, it is said. */
function enough() {
  if (points().length > 1) return true;
  refuse(`${points().length || "no"} way ${points().length === 1 ? "point" : "points"}: a motion needs two or more; pose the robot, and add them`, "No motion");
  return false;
}

let previewed = false; // the next plan that comes is played

const planned = () => state.runs.runs.find((run) => run.planned);

function preview() {
  end(); // the plan before is not played on: it may be gone
  previewed = true;
  send("plan_motion", { motion: motion() });
}

/** A run that follows, from the first way point on; it is laid over the plan. */
function follow() {
  if (!enough()) return;
  if (!controller() || ["none", "servos"].includes(values.controller)) set("controller", "computed-torque");
  const plan = planned();
  const end = plan && how.timing !== "listed" ? plan.t : Math.max(plan?.t ?? 0, points().at(-1).t - points()[0].t);
  send("take_pose", { q: [...points()[0].q] });
  send("start_run", { settings: { ...settings(), reference: "motion", motion: motion(), duration: end + REST, ground: false } });
}

/** How long the plan takes, and its picture in motion. */
function showPlan(outcome, plots) {
  const plan = planned();
  outcome.textContent = plan ? `The plan takes ${shown(plan.t, 4)} s; dashed lines are limits.` : "";
  if (!plan || !previewed) return;
  previewed = false;
  plots.setQuantities(QUANTITIES);
  play(plan);
}
