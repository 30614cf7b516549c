// How to simulate: the settings of the next run, as the server suggests for the robot until the user changes them.

import { motion } from "./way_points.js";
import { changed, on, send, state } from "./studio.js";

const SAMPLE_TIME = 0.005;
// where neither the robot nor the ground asks for something else
const USUAL = { controller: "computed-torque", stepper: "semi-implicit-euler", frequency: 0.5, options: {}, joints: [] };
/** The settings, by name; gains are numbers of the controller, by its own names for them. */
export const values = {
  ...USUAL,
  gains: {},
  ideal: false,
  reference: "gait",
  gait: "snake",
  generator: "sine",
  amplitude: 0.4,
  set_points: {}, // of joints that do not go where all go, by name
  filter: "none",
  noise: 0.01,
  process: 1e-4,
  believed: 0,
  step: 0.001,
  sample_time: SAMPLE_TIME,
  duration: 10,
  ground: false,
  friction: 0.8,
  slope: 0,
};
const SUGGESTED = ["reference", "gait", "amplitude", "ideal", "step"];
const LIVE = ["amplitude", "frequency"]; // what servos take while they run
const touched = new Set(); // what the user has set

/** The settings as the server wants them; what is fixed in the world stands on no ground. */
export const settings = () => ({
  ...values,
  gains: { ...values.gains },
  options: { ...values.options },
  set_points: values.reference === "set_point" ? setPoints() : {},
  ground: onGround(),
  ...(values.reference === "motion" && { motion: motion() }),
});

/** Set points of joints that the robot has. */
function setPoints() {
  const own = new Set(state.design.joints.map(({ name }) => name));
  return Object.fromEntries(Object.entries(values.set_points).filter(([name]) => own.has(name)));
}

/** Whether the robot stands on the ground in the next run. */
export const onGround = () => values.ground && Boolean(state.design?.floating);

/** fixed, ground or floats. */
export const stands = () => (!state.design?.floating ? "fixed" : values.ground ? "ground" : "floats");

/** The controller that is chosen, as the server offers it. */
export const controller = () => state.offers.controllers.find(({ name }) => name === values.controller);

/** Call `listener` when settings have changed. */
export const onSettings = (listener) => on("settings", listener);

export function set(key, value) {
  values[key] = value;
  touched.add(key);
  // options are those of one gait
  if (key === "gait") suggestOptions();
  // gains are of another size for another controller
  if (key === "controller") suggest(gains(), true);
  if (LIVE.includes(key)) tune();
  changed("settings");
}

function suggestOptions() {
  Object.assign(values, { options: {}, joints: [] });
  for (const key of ["options", "joints"]) touched.add(key);
}

/** An option of the gait, such as its stance. */
export function setOption(name, value) {
  values.options = { ...values.options, [name]: value };
  for (const key of ["gait", "options"]) touched.add(key);
}

export function setGain(name, value) {
  values.gains = { ...values.gains, [name]: value };
  touched.add("gains");
}

/** Fix the robot at its base, set it on the ground, or let it float. */
export function stand(how) {
  set("ground", how === "ground");
  const { base, floating, suggested } = state.design;
  if (floating !== (how !== "fixed")) send("set_base", { module: base, floating: how !== "fixed" });
  // what suits the ground does not suit the air
  for (const key of ["controller", ...Object.keys(suggested.on_ground)]) touched.delete(key);
  touched.delete("gains");
  suggestAll();
}

/** Servos swing another way from now on. */
function tune() {
  const { runs, active } = state.runs;
  const run = runs.find(({ number }) => number === active);
  if (run?.controller !== "servos" || run.reference !== "gait") return;
  send("tune_run", { amplitude: values.amplitude, frequency: values.frequency });
}

/** Gains that suit the controller, and the robot where they are torques; and how often it is asked. */
function gains() {
  const chosen = controller();
  if (!chosen) return {};
  const { torques, servos } = state.design?.suggested ?? {};
  const suited = chosen.name === "servos" ? { gains: servos ?? {} } : (chosen.torques && torques) || { gains: {} };
  const own = chosen.gains.map(({ name, value }) => [name, suited.gains[name] ?? value]);
  return { gains: Object.fromEntries(own), sample_time: suited.sample_time ?? SAMPLE_TIME };
}

function suggest(suggested, always = false) {
  for (const [key, value] of Object.entries(suggested)) {
    if (!always && touched.has(key)) continue;
    values[key] = value;
    touched.delete(key);
  }
  changed("settings");
}

/** All that suits the robot, on the ground or off it. */
function suggestAll() {
  const { suggested } = state.design;
  const own = Object.fromEntries(SUGGESTED.map((key) => [key, suggested[key]]));
  suggest({ ...USUAL, ...own, ...(onGround() ? suggested.on_ground : {}) });
  suggest(gains());
}

/** A gait that was found to go far. */
export function take(found) {
  suggest({ reference: "gait", generator: "sine", options: {}, joints: [], ...found }, true);
  tune();
}

let known = null;
on("design", () => {
  const { robot, number, suggested } = state.design;
  if (known === `${number} ${robot}`) return;
  known = `${number} ${robot}`;
  if (!touched.has("ground")) values.ground = suggested.ground;
  suggestAll();
});
