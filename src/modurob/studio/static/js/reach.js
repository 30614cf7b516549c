// Inverse kinematics: pull a frame of the robot to a point, and click through all poses that hold it where it is.

import { everyFrame, h, redraw, shown } from "./dom.js";
import { numberField, refresh } from "./fields.js";
import { Handle } from "./handle.js";
import { matrix } from "./poses.js";
import { connection, on, send, state } from "./studio.js";

let chosen = ""; // name of the frame
let found = null; // the solutions that were asked for last

export function makeReach() {
  const view = window.studio.view;
  const pull = everyFrame((x, y, z) => send("pull", { frame: chosen, point: [x, y, z], dragged: true }));
  const handle = new Handle(view, pull);
  const choice = h("div", { class: "row" });
  const point = h("div", { class: "row", style: { margin: "6px 0" } });
  const list = h("div", { class: "row", id: "solutions" });
  // modules, or links, and free ports, where tools go
  const frames = () => {
    const free = state.design.ports.filter(({ holds }) => holds === null).map(({ ref, ...port }) => ({ name: ref, ...port }));
    return [...state.design.frames, ...free].filter(({ body }) => body > 0);
  };
  const frame = () => frames().find(({ name }) => name === chosen);

  const drawAll = () => {
    if (!frame()) chosen = frames().at(-1)?.name ?? "";
    found = null;
    drawChoice();
    drawPoint();
    drawList();
    show();
  };
  const show = () => handle.setFrame(["inspect", "motion"].includes(state.panel) && state.design?.nv ? frame() : null);

  function drawChoice() {
    redraw(
      choice,
      h(
        "select",
        {
          id: "reach-frame",
          "aria-label": "Frame to pull",
          "data-key": "reach frame",
          onchange: (e) => {
            chosen = e.target.value;
            drawAll();
          },
        },
        frames().map(({ name }) => h("option", { value: name, selected: name === chosen }, name)),
      ),
      h(
        "button",
        {
          class: "button",
          id: "find-solutions",
          "data-key": "find solutions",
          disabled: !frame() || !state.design.nv,
          onclick: () => send("find_solutions", { frame: chosen }),
        },
        "All poses that hold it here",
      ),
    );
  }

  /** Where the frame is, in the world. */
  function place() {
    const at = frame();
    if (!at) return [0, 0, 0];
    const X_WB = matrix([...view.poses.slice(12 * at.body, 12 * at.body + 12)]);
    return X_WB.multiply(matrix(at.X)).elements.slice(12, 15);
  }

  function drawPoint() {
    redraw(
      point,
      ["x", "y", "z"].map((axis, i) =>
        h(
          "label",
          { class: "row small" },
          axis,
          numberField({
            label: `${axis} of ${chosen}`,
            "data-key": `reach ${axis}`,
            id: `reach-${axis}`,
            digits: 4,
            value: () => place()[i],
            set: (x) => send("pull", { frame: chosen, point: place().map((p, k) => (k === i ? x : p)) }),
            style: { width: "84px" },
          }),
        ),
      ),
      h("span", { class: "soft small" }, "m"),
    );
  }

  function drawList() {
    if (!found) return redraw(list, h("p", { class: "soft small" }, "Drag the amber ball, or type where it should be."));
    const count = found.q.length;
    const words = `${count || "no"} ${count === 1 ? "pose" : "poses"}${found.exact ? ", these are all" : ""}`;
    redraw(
      list,
      h("span", { class: "small" }, words),
      found.q.map((q, i) =>
        h(
          "button",
          {
            class: "chip",
            "data-key": `solution ${i}`,
            "aria-pressed": String(same(q)),
            title: q.map((x) => shown(x, 3)).join(", "),
            onclick: () => send("take_pose", { q }),
          },
          String(i + 1),
        ),
      ),
      found.note && h("p", { class: "soft small" }, found.note),
    );
  }

  const same = (q) => q.every((x, i) => Math.abs(x - (state.pose?.q[i] ?? Infinity)) < 1e-6);

  connection.on("solutions", (event) => {
    found = event;
    drawList();
  });
  connection.on("frame", () => {
    handle.place();
    refresh(point);
  });
  on("design", drawAll);
  on("panel", show);
  on("pose", drawList);
  on("refused", () => refresh(point, true));
  drawAll();
  return h("div", {}, choice, point, list);
}
