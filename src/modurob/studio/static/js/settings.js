// How to simulate: the settings of the next run, as the server suggests for the robot until the user changes them.

import { on, state } from "./studio.js";

/** The settings, by name; gains are numbers of the controller, by its own names for them. */
export const values = {
  controller: "computed-torque",
  gains: {},
  ideal: false,
  reference: "gait",
  gait: "snake",
  generator: "sine",
  amplitude: 0.4,
  frequency: 0.5,
  filter: "none",
  noise: 0.01,
  stepper: "semi-implicit-euler",
  step: 0.001,
  sample_time: 0.005,
  duration: 10,
};
const SAMPLE_TIME = 0.005;
const SUGGESTED = ["reference", "gait", "amplitude", "ideal", "step"];
const touched = new Set(); // what the user has set
const listeners = [];

/** The settings as the server wants them. */
export const settings = () => ({ ...values, gains: { ...values.gains } });

/** The controller that is chosen, as the server offers it. */
export const controller = () => state.offers.controllers.find(({ name }) => name === values.controller);

/** Call `listener` when settings have changed by themselves. */
export const onSettings = (listener) => listeners.push(listener);

export function set(key, value) {
  values[key] = value;
  touched.add(key);
  // gains are of another size for another controller
  if (key === "controller") suggest(gains(), true);
}

export function setGain(name, value) {
  values.gains = { ...values.gains, [name]: value };
  touched.add("gains");
}

/** Gains that suit the controller, and the robot where they are torques; and how often it is asked. */
function gains() {
  const chosen = controller();
  if (!chosen) return {};
  const torques = (chosen.torques && state.design?.suggested.torques) || { gains: {}, sample_time: SAMPLE_TIME };
  const own = chosen.gains.map(({ name, value }) => [name, torques.gains[name] ?? value]);
  return { gains: Object.fromEntries(own), sample_time: torques.sample_time };
}

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
