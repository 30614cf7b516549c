// Sliders and fields that pose the robot: its coordinates, and the rates that a run starts with.

import { everyFrame, h, redraw } from "./dom.js";
import { numberField, refresh } from "./fields.js";
import { on, send, state } from "./studio.js";

const FURTHEST = 1e4; // stands for "no limit"
export function makeSliders() {
  const box = h("div", {});
  on("design", () => draw(box));
  on("pose", () => place(box));
  on("refused", () => place(box, true));
  if (state.design) draw(box);
  return box;
}

function draw(box) {
  const rows = state.design.joints
    .filter((joint) => !joint.mimics)
    .flatMap((joint) => [
      ...range(joint.q).map((index, k) => slider(joint, index, k)),
      ...range(joint.v).map((index, k) => rate(joint, index, k)),
    ]);
  redraw(
    box,
    rows.length
      ? rows
      : h("p", { class: "soft small" }, "Nothing moves yet: dock a module so that a hinge has something to carry."),
  );
  place(box);
}

const range = ([start, stop]) => Array.from({ length: stop - start }, (_, i) => start + i);

function slider(joint, index, k) {
  const angular = joint.unit === "rad";
  const widest = angular ? Math.PI : 1;
  const [low, high] = [Math.max(joint.lower[k] ?? -widest, -widest), Math.min(joint.upper[k] ?? widest, widest)];
  const set = everyFrame((value) => send("set_coordinate", { index, value }));
  const key = `q ${index}`;
  const name = joint.q_names[k];
  return h(
    "div",
    { class: "slider" },
    h("label", { for: `slider-${index}` }, name, h("output", { class: "soft", "data-degrees": angular ? index : "" })),
    h("input", {
      id: `slider-${index}`,
      type: "range",
      min: low,
      max: high,
      step: (high - low) / 400,
      "data-key": `slider ${index}`,
      "data-q": index,
      oninput: (e) => set(Number(e.target.value)),
    }),
    numberField({
      "aria-label": `${name} ${joint.unit}`,
      "data-key": key,
      label: name,
      digits: 4,
      value: () => state.pose?.q[index],
      min: joint.lower[k] > -FURTHEST ? joint.lower[k] : undefined,
      max: joint.upper[k] < FURTHEST ? joint.upper[k] : undefined,
      set,
    }),
  );
}

function rate(joint, index, k) {
  const id = `rate-${index}`;
  const unit = joint.unit ? `${joint.unit}/s` : "";
  return h(
    "div",
    { class: "field" },
    h("label", { for: id, class: "soft small" }, `initial rate${joint.v_names[k].slice(joint.name.length)}`),
    numberField({
      id,
      "data-key": id,
      label: `initial rate of ${joint.name}`,
      digits: 4,
      value: () => state.pose?.v[index],
      set: (value) => send("set_rate", { index, value }),
    }),
    h("span", { class: "unit" }, unit),
  );
}

/** Values from the server; what is being typed or dragged stays, unless it was refused. */
function place(box, refused = false) {
  if (!state.pose) return;
  refresh(box, refused);
  for (const slider of box.querySelectorAll("input[type=range]"))
    if (refused || slider !== document.activeElement) slider.value = state.pose.q[slider.dataset.q];
  for (const output of box.querySelectorAll("output")) {
    const value = state.pose.q[output.dataset.degrees];
    output.textContent =
      output.dataset.degrees && value !== undefined ? `${((value * 180) / Math.PI).toFixed(1)}°` : "";
  }
}
