// The form of the settings: only those that matter for the choices made.

import { h, redraw } from "./dom.js";
import { numberField, refresh } from "./fields.js";
import { controller, onSettings, set, setGain, values } from "./settings.js";
import { on, state } from "./studio.js";

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
const FIELDS = {
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
    ],
    when: driven,
  },
  gait: offered("gait", "gaits", { when: byGait }),
  generator: offered("rhythm from", "generators", { when: byGait }),
  amplitude: number("amplitude or set point", "rad, m", {
    min: 0.001,
    max: 10,
    when: () => driven() && values.reference !== "hold",
  }),
  frequency: number("frequency", "Hz", { min: 0.01, max: 20, when: byGait }),
  filter: offered("filter, angles measured", "filters", { when: driven }),
  noise: number("noise of the measured angles", "rad, m", {
    min: 0,
    max: 1,
    when: () => driven() && values.filter !== "none",
  }),
  stepper: offered("stepper", "steppers"),
  step: number("step", "s", {
    min: 1e-5,
    max: 0.05,
    when: () => state.offers.steppers.find(({ name }) => name === values.stepper)?.fixed,
  }),
  sample_time: number("control every", "s", { min: 1e-4, max: 0.1 }),
  duration: number("duration", "s", { min: 0.01, max: 600 }),
};
const GROUPS = {
  Control: ["controller", "gains", "ideal"],
  Reference: ["reference", "gait", "generator", "amplitude", "frequency"],
  Sensing: ["filter", "noise"],
  Time: ["stepper", "step", "sample_time", "duration"],
};

/** The form, group by group. */
export function makeForm() {
  const form = h(
    "div",
    { onchange: () => show(form) },
    Object.entries(GROUPS).map(([name, keys]) => h("div", { class: "group" }, h("h2", {}, name), keys.map(row))),
  );
  show(form);
  onSettings(() => show(form));
  on("types", () => show(form));
  return form;
}

const id = (key) => `setting-${key}`;
const row = (key) => ({ check, choice, gains, number: typed })[FIELDS[key].kind](key, FIELDS[key]);

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

const typed = (key, { label, unit, min, max }) =>
  h(
    "div",
    { class: "field", "data-setting": key },
    field({ key, label, unit, min, max, value: () => values[key], set: (x) => set(key, x) }),
  );

const field = ({ key, label, unit, min, max, value, set }) => [
  h("label", { for: id(key) }, label),
  numberField({ id: id(key), label, min, max, value, set }),
  h("span", { class: "unit" }, unit),
];

/** The numbers of the controller that is chosen. */
const gains = (key) => h("div", { "data-setting": key });

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

/** The server may tell what it offers after the form was made. */
function choose(select, options, value) {
  if (select.options.length !== options.length)
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
    const { kind, options, when } = FIELDS[key];
    element.hidden = Boolean(when && !when());
    const field = element.querySelector(`#${id(key)}`);
    if (kind === "check") field.checked = values[key];
    if (kind === "choice") choose(field, options(), values[key]);
    if (kind === "gains") drawGains(element);
  }
  refresh(form);
}
