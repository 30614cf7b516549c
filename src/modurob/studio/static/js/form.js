// The form of the settings: only those that matter for the choices made.

import { byId, h, redraw, shown } from "./dom.js";
import { numberField, refresh } from "./fields.js";
import { controller, onGround, onSettings, set, setGain, setOption, settings, stand, stands, take, values } from "./settings.js";
import { drawSetPoints } from "./set_points.js";
import { changed, connection, on, send, state } from "./studio.js";

const number = (label, unit, more = {}) => ({ kind: "number", label, unit, ...more });
/** A choice among what the server offers. */
const offered = (label, what, more = {}) => ({
  kind: "choice",
  label,
  options: () => state.offers[what].map(({ name, label }) => [name, label]),
  ...more,
});
const driven = () => values.controller !== "none";
const byGait = () => driven() && values.reference === "gait";
const swung = () => byGait() && values.generator === "sine";
const FIELDS = {
  stands: { kind: "stands" },
  friction: number("friction of the ground", "", { min: 0, max: 10, when: onGround }),
  slope: number("slope of the ground", "°", { min: -60, max: 60, when: onGround }),
  controller: offered("controller", "controllers"),
  gains: { kind: "gains", when: () => controller()?.gains.length > 0 },
  ideal: { kind: "check", label: "without friction, stops and limits of torque" },
  reference: {
    kind: "choice",
    label: "reference",
    options: () => [
      ["gait", "gait"],
      ["set_point", "set point"],
      ["hold", "hold the start pose"],
      ["motion", "way points, as in Motion"],
    ],
    when: driven,
  },
  gait: offered("gait", "gaits", { when: byGait }),
  options: { kind: "options", when: byGait },
  generator: offered("rhythm from", "generators", { when: byGait }),
  amplitude: number("amplitude or set point", "rad, m", {
    min: 0.001,
    max: 10,
    slider: [0.05, 1.5, 0.05],
    named: () => (byGait() ? "amplitude" : "set point of all joints"),
    when: () => driven() && ["gait", "set_point"].includes(values.reference),
  }),
  set_points: { kind: "points", when: () => driven() && values.reference === "set_point" },
  frequency: number("frequency", "Hz", { min: 0.01, max: 20, slider: [0.1, 3, 0.1], when: byGait }),
  search: { kind: "search", when: () => onGround() && swung() },
  filter: offered("filter, angles measured", "filters", { when: driven }),
  noise: number("noise of the measured angles", "rad, m", {
    min: 0,
    max: 1,
    when: () => driven() && values.filter !== "none",
  }),
  process: number("Q: variance of rates, a sample", "", {
    min: 0,
    max: 1e6,
    when: () => driven() && values.filter !== "none",
  }),
  believed: number("R: variance of angles, 0 as measured", "", {
    min: 0,
    max: 1e6,
    when: () => driven() && values.filter !== "none",
  }),
  stepper: {
    ...offered("stepper", "steppers"),
    options: () => state.offers.steppers.filter((x) => !onGround() || x.contacts).map(({ name, label }) => [name, label]),
  },
  step: number("step", "s", {
    min: 1e-5,
    max: 0.05,
    when: () => state.offers.steppers.find(({ name }) => name === values.stepper)?.fixed,
  }),
  sample_time: number("control every", "s", { min: 1e-4, max: 0.1 }),
  duration: number("duration", "s", { min: 0.01, max: 600 }),
};
const GROUPS = {
  "How it stands": ["stands", "friction", "slope"],
  Control: ["controller", "gains", "ideal"],
  Reference: ["reference", "gait", "options", "generator", "amplitude", "set_points", "frequency", "search"],
  Sensing: ["filter", "noise", "process", "believed"],
  Time: ["stepper", "step", "sample_time", "duration"],
};

/** The form, group by group. */
export function makeForm() {
  const form = h(
    "div",
    {},
    Object.entries(GROUPS).map(([name, keys]) => h("div", { class: "group" }, h("h2", {}, name), keys.map(row))),
  );
  show(form);
  onSettings(() => show(form));
  on("types", () => show(form));
  return form;
}

const id = (key) => `setting-${key}`;
const row = (key) => ({ check, choice, gains, options: gains, points, search, stands: standing, number: typed })[FIELDS[key].kind](key, FIELDS[key]);

const check = (key, { label }) =>
  h(
    "label",
    { class: "row small", "data-setting": key, style: { padding: "4px 0" } },
    h("input", { type: "checkbox", id: id(key), onchange: (e) => set(key, e.target.checked) }),
    label,
  );

const choice = (key, { label }) =>
  h(
    "div",
    { class: "field wide", "data-setting": key },
    h("label", { for: id(key) }, label),
    h(
      "select",
      { id: id(key), onchange: (e) => set(key, e.target.value) },
    ),
  );

const typed = (key, { label, unit, min, max, slider }) =>
  h(
    "div",
    { class: "field", "data-setting": key },
    field({ key, label, unit, min, max, value: () => values[key], set: (x) => set(key, x) }),
    slider && slid(key, label, ...slider),
  );

/** A slider for what may be changed while it runs. */
const slid = (key, label, min, max, step) =>
  h("input", {
    type: "range",
    class: "live",
    "data-slider": key,
    "aria-label": `${label}, slider`,
    min,
    max,
    step,
    oninput: (e) => set(key, Number(e.target.value)),
  });

const STANDS = [
  ["fixed", "Fixed", "Its base stands in the world"],
  ["ground", "On the ground", "It stands on the ground by what touches it, and may walk"],
  ["floats", "Floating", "Nothing holds it: it falls if there is gravity"],
];

/** What holds the robot. */
const standing = (key) =>
  h(
    "div",
    { "data-setting": key },
    h(
      "div",
      { class: "segments", role: "radiogroup", "aria-label": "How the robot stands" },
      STANDS.map(([value, text, title]) =>
        h(
          "label",
          { title },
          h("input", { type: "radio", name: "stands", value, id: `stands-${value}`, onchange: () => stand(value) }),
          text,
        ),
      ),
    ),
  );

/** A button that tries gaits on the ground. */
const search = (key) =>
  h(
    "div",
    { class: "row", "data-setting": key, style: { marginTop: "6px" } },
    h(
      "button",
      { class: "button small", id: "find-gait", title: "Tries gaits, swings and rhythms on the ground", onclick: find },
      "Find the fastest gait",
    ),
    h("output", { id: "found-gait", class: "soft small" }),
  );

function find() {
  byId("find-gait").disabled = true;
  byId("found-gait").textContent = "trying gaits …";
  send("find_gait", { settings: settings() });
}

connection.on("found_gait", ({ settings: found, distance, duration }) => {
  take(found);
  changed("gait");
  byId("find-gait").disabled = false;
  byId("found-gait").textContent = `${found.gait}: ${distance.toFixed(2)} m in ${shown(duration)} s`;
});
on("refused", () => {
  if (!byId("find-gait")) return;
  byId("find-gait").disabled = false;
  byId("found-gait").textContent = "";
});

const field = ({ key, label, unit, min, max, value, set }) => [
  h("label", { for: id(key) }, label),
  numberField({ id: id(key), label, min, max, value, set }),
  h("span", { class: "unit" }, unit),
];

/** The numbers of the controller that is chosen. */
const gains = (key) => h("div", { "data-setting": key });

/** The set points of single joints. */
const points = (key) => h("div", { "data-setting": key });

function drawGains(box) {
  const chosen = controller();
  if (!chosen || box.dataset.of === chosen.name) return;
  box.dataset.of = chosen.name;
  redraw(
    box,
    chosen.gains.map(({ name, label, unit, min, max }) =>
      h(
        "div",
        { class: "field" },
        field({
          key: name,
          label,
          unit,
          min: min ?? undefined,
          max: max ?? undefined,
          value: () => values.gains[name],
          set: (x) => setGain(name, x),
        }),
      ),
    ),
  );
}

/** The numbers of the gait that is chosen, beside amplitude and frequency. */
function drawOptions(box) {
  const chosen = state.offers.gaits.find(({ name }) => name === values.gait);
  if (!chosen || box.dataset.of === chosen.name) return;
  box.dataset.of = chosen.name;
  redraw(
    box,
    chosen.options.map(({ name, label, value }) =>
      h(
        "div",
        { class: "field" },
        field({ key: `option-${name}`, label, unit: "", value: () => values.options[name] ?? value, set: (x) => setOption(name, x) }),
      ),
    ),
  );
}

/** The server may tell what it offers after the form was made. */
function choose(select, options, value) {
  if ([...select.options].map((x) => x.value).join() !== options.map(([name]) => name).join())
    redraw(
      select,
      options.map(([name, text]) => h("option", { value: name }, text)),
    );
  select.value = value;
}

/** Only the fields that matter, with the values in force. */
function show(form) {
  for (const element of form.querySelectorAll("[data-setting]")) {
    const key = element.dataset.setting;
    const { kind, options, when, named } = FIELDS[key];
    element.hidden = Boolean(when && !when());
    if (named) element.querySelector("label").textContent = named();
    const field = element.querySelector(`#${id(key)}`);
    if (kind === "check") field.checked = values[key];
    if (kind === "choice") choose(field, options(), values[key]);
    if (kind === "gains") drawGains(element);
    if (kind === "options") drawOptions(element);
    if (kind === "points") drawSetPoints(element);
    if (kind === "stands") for (const radio of element.querySelectorAll("input")) radio.checked = radio.value === stands();
    const slider = element.querySelector("[data-slider]");
    if (slider) slider.value = values[key];
  }
  // a heading of nothing is not shown
  for (const group of form.querySelectorAll(".group")) group.hidden = !group.querySelector("[data-setting]:not([hidden])");
  refresh(form);
}
