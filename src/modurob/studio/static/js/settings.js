// How to simulate: the settings of the next run, as the server suggests for the robot until the user changes them.

import { on, state } from "./studio.js";

/** The settings, by name. */
export const values = {
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
// gains of computed torque are accelerations, and fit every robot; those of PID are torques, and are suggested
const GAINS = {
  computed_torque: { proportional: 50, derivative: 15, sample_time: 0.005 },
  pole_placement: { sample_time: 0.005 },
};
const SUGGESTED = ["reference", "gait", "amplitude"];
const touched = new Set(); // what the user has set
const listeners = [];

/** The settings as the server wants them. */
export function settings() {
  const { pole1, pole2, ...rest } = values;
  return { ...rest, poles: [pole1, pole2] };
}

/** Call `listener` when settings have changed by themselves. */
export const onSettings = (listener) => listeners.push(listener);

export function set(key, value) {
  values[key] = value;
  touched.add(key);
  // gains are of another size for another controller
  if (key === "controller") suggest(gains(), true);
}

const gains = () => (values.controller === "pid" ? state.design?.suggested.pid : GAINS[values.controller]) ?? {};

function suggest(suggested, always = false) {
  for (const [key, value] of Object.entries(suggested)) {
    if (!always && touched.has(key)) continue;
    values[key] = value;
    touched.delete(key);
  }
  for (const listener of listeners) listener();
}

let known = null;
on("design", () => {
  const { robot, number, suggested } = state.design;
  if (known === `${number} ${robot}`) return;
  known = `${number} ${robot}`;
  suggest({ ...Object.fromEntries(SUGGESTED.map((key) => [key, suggested[key]])), ...gains() });
});
