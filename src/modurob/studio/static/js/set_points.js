// Set points of single joints: a field for each joint with a drive; those that are not set go where all go.

import { h, redraw, shown } from "./dom.js";
import { numberField, refresh } from "./fields.js";
import { set, values } from "./settings.js";
import { state } from "./studio.js";

/** Joints that can be sent somewhere, as the server sees it. */
const settable = () => state.design.joints.filter(({ mimics, q, effort }) => !mimics && q[1] - q[0] === 1 && effort[0] > 0);

const put = (points) => set("set_points", { ...values.set_points, ...points });

/** Where the joints now are. */
const posed = () => Object.fromEntries(settable().map(({ name, q: [at] }) => [name, state.pose.q[at]]));

/** Draw the fields into a box, anew where the joints have changed. */
export function drawSetPoints(box) {
  if (!state.design) return;
  const joints = settable();
  const of = joints.map(({ name }) => name).join();
  if (box.dataset.of === of) return refresh(box);
  box.dataset.of = of;
  redraw(
    box,
    h("div", { class: "points" }, joints.map(field)),
    h(
      "div",
      { class: "row small" },
      h(
        "button",
        { class: "button small", id: "points-posed", title: "Pose the robot in Inspect first", onclick: () => put(posed()) },
        "As posed now",
      ),
      h("button", { class: "button small", id: "points-same", onclick: () => set("set_points", {}) }, "All the same"),
    ),
  );
}

const field = ({ name, unit, lower: [low], upper: [high] }, i) =>
  h(
    "div",
    { class: "field" },
    h("label", { for: `set-point-${i}` }, name),
    numberField({
      id: `set-point-${i}`,
      label: `set point of ${name}`,
      min: low,
      max: high,
      value: () => values.set_points[name] ?? values.amplitude,
      set: (x) => put({ [name]: x }),
    }),
    h("span", { class: "unit" }, unit, low > -1e4 ? h("small", { class: "soft" }, ` ${shown(low, 3)}…${shown(high, 3)}`) : null),
  );
