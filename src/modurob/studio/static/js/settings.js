// How to simulate: the settings, and the form that shows those that matter.

import { byId, h } from "./dom.js";

const number = (label, unit, more = {}) => ({ kind: "number", label, unit, ...more });
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
  proportional: number(
    "proportional gain",
    { computed_torque: "1/s²", pid: "N m" },
    { min: 0, for: ["computed_torque", "pid"] },
  ),
  integral: number("integral gain", { pid: "N m/s" }, { min: 0, for: ["pid"] }),
  derivative: number(
    "derivative gain",
    { computed_torque: "1/s", pid: "N m s" },
    { min: 0, for: ["computed_torque", "pid"] },
  ),
  pole1: number("first pole", "1/s", { max: -0.01, for: ["pole_placement"] }),
  pole2: number("second pole", "1/s", { max: -0.01, for: ["pole_placement"] }),
  saturated: {
    kind: "check",
    label: "torques limited as the joints are",
    for: ["computed_torque", "pole_placement", "pid"],
  },
  reference: {
    kind: "choice",
    label: "reference",
    options: [
      ["gait", "gait"],
      ["set_point", "set point"],
      ["hold", "hold the start pose"],
    ],
    not: ["none"],
  },
  gait: {
    kind: "choice",
    label: "gait",
    options: ["snake", "crab", "quadruped", "wheel"].map((x) => [x, x]),
    not: ["none"],
    when: () => values.reference === "gait",
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
    not: ["none"],
    when: () => values.reference === "gait",
  },
  amplitude: number("amplitude or set point", "rad, m", {
    min: 0.001,
    max: 10,
    not: ["none"],
    step: 0.05,
    when: () => values.reference !== "hold",
  }),
  frequency: number("frequency", "Hz", {
    min: 0.01,
    max: 20,
    not: ["none"],
    step: 0.05,
    when: () => values.reference === "gait",
  }),
  filtered: { kind: "check", label: "state from an extended Kalman filter, angles measured", not: ["none"] },
  noise: number("noise of the measured angles", "rad, m", {
    min: 0,
    max: 1,
    not: ["none"],
    step: 0.001,
    when: () => values.filtered,
  }),
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
  step: number("step", "s", { min: 1e-5, max: 0.05, step: 0.001, when: () => values.stepper !== "adaptive" }),
  sample_time: number("control every", "s", { min: 1e-4, max: 0.1, step: 0.001 }),
  duration: number("duration", "s", { min: 0.01, max: 600, step: 1 }),
};
const GROUPS = {
  Control: ["controller", "proportional", "integral", "derivative", "pole1", "pole2", "saturated"],
  Reference: ["reference", "gait", "generator", "amplitude", "frequency"],
  Sensing: ["filtered", "noise"],
  Time: ["stepper", "step", "sample_time", "duration"],
};
const values = {
  controller: "computed_torque",
  proportional: 50,
  integral: 0,
  derivative: 15,
  pole1: -10,
  pole2: -5,
  saturated: false,
  reference: "gait",
  gait: "snake",
  generator: "sine",
  amplitude: 0.4,
  frequency: 0.5,
  filtered: false,
  noise: 0.01,
  stepper: "semi_implicit_euler",
  step: 0.001,
  sample_time: 0.005,
  duration: 10,
};
// gains of computed torque are accelerations, those of PID torques
const GAINS = {
  computed_torque: { proportional: 50, derivative: 15 },
  pid: { proportional: 8, integral: 2, derivative: 0.6 },
};

/** The settings as the server wants them. */
export function settings() {
  const { pole1, pole2, ...rest } = values;
  return { ...rest, poles: [pole1, pole2] };
}

/** The form, group by group. */
export function makeForm() {
  const form = h(
    "div",
    { onchange: () => showFields(form) },
    Object.entries(GROUPS).map(([name, keys]) => h("div", { class: "group" }, h("h2", {}, name), keys.map(fieldOf))),
  );
  showFields(form);
  return form;
}

function fieldOf(key) {
  const field = FIELDS[key];
  const id = `setting-${key}`;
  if (field.kind === "check") {
    return h(
      "label",
      { class: "row small", "data-setting": key, style: { padding: "4px 0" } },
      h("input", {
        type: "checkbox",
        id,
        checked: values[key],
        onchange: (e) => {
          values[key] = e.target.checked;
        },
      }),
      field.label,
    );
  }
  const input =
    field.kind === "choice"
      ? h(
          "select",
          {
            id,
            onchange: (e) => {
              values[key] = e.target.value;
              if (key === "controller") suggestGains();
            },
          },
          field.options.map(([v, text]) => h("option", { value: v, selected: v === values[key] }, text)),
        )
      : h("input", {
          id,
          type: "number",
          min: field.min ?? "",
          max: field.max ?? "",
          step: field.step ?? "any",
          value: values[key],
          onchange: (e) => {
            if (e.target.value !== "") values[key] = Number(e.target.value);
          },
        });
  return h(
    "div",
    { class: field.kind === "choice" ? "field wide" : "field", "data-setting": key },
    h("label", { for: id }, field.label),
    input,
    field.unit ? h("span", { class: "unit" }, unitOf(field)) : null,
  );
}

const unitOf = ({ unit }) => (typeof unit === "string" ? unit : (unit[values.controller] ?? ""));

/** Gains of a size that fits the controller. */
function suggestGains() {
  for (const [key, value] of Object.entries(GAINS[values.controller] ?? {})) {
    values[key] = value;
    byId(`setting-${key}`).value = value;
  }
}

/** Only the fields that matter. */
function showFields(form) {
  for (const row of form.querySelectorAll("[data-setting]")) {
    const { for: only, not, when } = FIELDS[row.dataset.setting];
    const off = (only && !only.includes(values.controller)) || not?.includes(values.controller) || (when && !when());
    row.hidden = Boolean(off);
    const unit = row.querySelector(".unit");
    if (unit) unit.textContent = unitOf(FIELDS[row.dataset.setting]);
  }
}
