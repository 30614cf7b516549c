// The form of the settings: only those that matter for the choices made.

import { h } from "./dom.js";
import { numberField, refresh } from "./fields.js";
import { onSettings, set, values } from "./settings.js";

const number = (label, unit, more = {}) => ({ kind: "number", label, unit, ...more });
const driven = () => values.controller !== "none";
const byGains = () => ["computed_torque", "pid"].includes(values.controller);
const byGait = () => driven() && values.reference === "gait";
const FIELDS = {
  controller: {
    kind: "choice",
    label: "controller",
    options: [
      ["computed_torque", "computed torque"],
      ["pole_placement", "pole placement"],
      ["pid", "PID"],
      ["none", "none: free motion"],
    ],
  },
  proportional: number("proportional gain", { computed_torque: "1/s²", pid: "N m" }, { min: 0, when: byGains }),
  integral: number("integral gain", { pid: "N m/s" }, { min: 0, when: () => values.controller === "pid" }),
  derivative: number("derivative gain", { computed_torque: "1/s", pid: "N m s" }, { min: 0, when: byGains }),
  pole1: number("first pole", "1/s", { max: -0.01, when: () => values.controller === "pole_placement" }),
  pole2: number("second pole", "1/s", { max: -0.01, when: () => values.controller === "pole_placement" }),
  saturated: { kind: "check", label: "torques limited as the joints are", when: driven },
  reference: {
    kind: "choice",
    label: "reference",
    options: [
      ["gait", "gait"],
      ["set_point", "set point"],
      ["hold", "hold the start pose"],
    ],
    when: driven,
  },
  gait: {
    kind: "choice",
    label: "gait",
    options: ["snake", "crab", "quadruped", "wheel"].map((x) => [x, x]),
    when: byGait,
  },
  generator: {
    kind: "choice",
    label: "rhythm from",
    options: [
      ["sine", "sines"],
      ["hopf", "Hopf oscillators"],
      ["matsuoka", "Matsuoka oscillators"],
      ["logistic", "logistic maps"],
    ],
    when: byGait,
  },
  amplitude: number("amplitude or set point", "rad, m", {
    min: 0.001,
    max: 10,
    when: () => driven() && values.reference !== "hold",
  }),
  frequency: number("frequency", "Hz", { min: 0.01, max: 20, when: byGait }),
  filtered: { kind: "check", label: "state from an extended Kalman filter, angles measured", when: driven },
  noise: number("noise of the measured angles", "rad, m", { min: 0, max: 1, when: () => driven() && values.filtered }),
  stepper: {
    kind: "choice",
    label: "stepper",
    options: [
      ["semi_implicit_euler", "semi-implicit Euler"],
      ["runge_kutta_4", "Runge-Kutta 4"],
      ["implicit_midpoint", "implicit midpoint"],
      ["variational", "variational"],
      ["adaptive", "adaptive, DOP853"],
    ],
  },
  step: number("step", "s", { min: 1e-5, max: 0.05, when: () => values.stepper !== "adaptive" }),
  sample_time: number("control every", "s", { min: 1e-4, max: 0.1 }),
  duration: number("duration", "s", { min: 0.01, max: 600 }),
};
const GROUPS = {
  Control: ["controller", "proportional", "integral", "derivative", "pole1", "pole2", "saturated"],
  Reference: ["reference", "gait", "generator", "amplitude", "frequency"],
  Sensing: ["filtered", "noise"],
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
  return form;
}

const id = (key) => `setting-${key}`;
const row = (key) => ({ check, choice, number: typed })[FIELDS[key].kind](key, FIELDS[key]);

const check = (key, { label }) =>
  h(
    "label",
    { class: "row small", "data-setting": key, style: { padding: "4px 0" } },
    h("input", { type: "checkbox", id: id(key), onchange: (e) => set(key, e.target.checked) }),
    label,
  );

const choice = (key, { label, options }) =>
  h(
    "div",
    { class: "field wide", "data-setting": key },
    h("label", { for: id(key) }, label),
    h(
      "select",
      { id: id(key), onchange: (e) => set(key, e.target.value) },
      options.map(([value, text]) => h("option", { value }, text)),
    ),
  );

const typed = (key, { label, unit, min, max }) =>
  h(
    "div",
    { class: "field", "data-setting": key },
    h("label", { for: id(key) }, label),
    numberField({ id: id(key), label, min, max, value: () => values[key], set: (x) => set(key, x) }),
    h("span", { class: "unit" }, unitOf(unit)),
  );

const unitOf = (unit) => (typeof unit === "string" ? unit : (unit[values.controller] ?? ""));

/** Only the fields that matter, with the values in force. */
function show(form) {
  for (const element of form.querySelectorAll("[data-setting]")) {
    const key = element.dataset.setting;
    const { kind, unit, when } = FIELDS[key];
    element.hidden = Boolean(when && !when());
    const field = element.querySelector(`#${id(key)}`);
    if (kind === "check") field.checked = values[key];
    if (kind === "choice") field.value = values[key];
    if (unit) element.querySelector(".unit").textContent = unitOf(unit);
  }
  refresh(form);
}
