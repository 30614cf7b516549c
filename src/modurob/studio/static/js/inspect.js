// The Inspect panel: the robot in numbers, one module's parameters, and sliders that pose the robot.

import { everyFrame, h, redraw, shown } from "./dom.js";
import { changed, moduleOf, on, send, state } from "./studio.js";

const FURTHEST = 1e4; // stands for "no limit"
const COORDINATES = {
  free: ["x", "y", "z", "qw", "qx", "qy", "qz"],
  spherical: ["qw", "qx", "qy", "qz"],
  planar: ["x", "y", "angle"],
  cylindrical: ["slide", "angle"],
  universal: ["angle 1", "angle 2"],
};
const RATES = {
  free: ["vx", "vy", "vz", "wx", "wy", "wz"],
  spherical: ["wx", "wy", "wz"],
  planar: ["x", "y", "angle"],
  cylindrical: ["slide", "angle"],
  universal: ["angle 1", "angle 2"],
};

export function start(panel) {
  const tally = h("dl", { class: "tally" });
  const freedoms = h("div", { class: "small", style: { marginTop: "10px" } });
  const chooser = h("div", { class: "row", style: { marginBottom: "6px" } });
  const fields = h("div", {});
  const sliders = h("div", {});
  panel.append(
    h("div", { class: "group" }, h("h2", {}, "Robot"), tally, freedoms),
    h(
      "div",
      { class: "group" },
      h("h2", {}, "Pose"),
      sliders,
      h(
        "div",
        { class: "row", style: { marginTop: "6px" } },
        h("button", { class: "button", onclick: () => send("reset_pose") }, "All to zero"),
        h("span", { class: "soft small" }, "Runs start from this pose and these rates."),
      ),
      h("p", { class: "refusal", "data-for": "set_coordinate set_rate", role: "alert" }),
    ),
    h(
      "div",
      { class: "group" },
      h("h2", {}, "Module"),
      chooser,
      fields,
      h("p", { class: "refusal", "data-for": "set_parameter", role: "alert" }),
    ),
  );
  const draw = () => {
    drawTally(tally, freedoms);
    drawChooser(chooser);
    drawFields(fields);
  };
  on("design", () => {
    draw();
    drawSliders(sliders);
  });
  on("selection", () => {
    drawChooser(chooser);
    drawFields(fields);
  });
  on("pose", () => placeSliders(sliders));
  if (state.design) {
    draw();
    drawSliders(sliders);
  }
}

function drawTally(tally, freedoms) {
  const { modules, freedoms: count, mass, joints, idle, loops, redundant, gravity } = state.design;
  const entry = (name, value) => h("div", {}, h("dt", {}, name), h("dd", {}, String(value)));
  redraw(
    tally,
    entry("modules", modules.length),
    entry("freedoms", count),
    entry("moving mass", `${shown(mass, 3)} kg`),
  );
  const line = (name, items) =>
    h("p", {}, h("span", { class: "soft" }, `${name}: `), items.length ? items.join(", ") : "none");
  redraw(
    freedoms,
    line(
      "joints that move",
      joints.map((j) => `${j.name} (${j.kind})`),
    ),
    line("idle hinges, locked", idle),
    line("loops", loops),
    redundant.length ? line("connections within one body", redundant) : null,
    line("gravity [m/s²]", [`(${gravity.map((g) => shown(g)).join(", ")})`]),
  );
}

// ---- the module ----

function drawChooser(chooser) {
  redraw(
    chooser,
    h(
      "select",
      {
        "data-key": "module",
        "aria-label": "Module to inspect",
        onchange: (e) => {
          state.selected = e.target.value || null;
          changed("selection");
        },
      },
      h("option", { value: "", selected: !state.selected }, "choose"),
      state.design.modules.map((m) =>
        h("option", { value: m.name, selected: m.name === state.selected }, `${m.name} (${m.kind})`),
      ),
    ),
  );
}

function drawFields(fields) {
  const module = moduleOf(state.selected);
  if (!module) {
    redraw(fields, h("p", { class: "soft small" }, "Choose a module here, or click one in the 3D view."));
    return;
  }
  const everywhere = h("input", {
    type: "checkbox",
    "data-key": "everywhere",
    checked: Boolean(state.everywhere),
    onchange: (e) => {
      state.everywhere = e.target.checked;
    },
  });
  redraw(
    fields,
    h(
      "label",
      { class: "row small", style: { marginBottom: "6px" } },
      everywhere,
      `change all modules of type ${module.kind}`,
    ),
    module.parameters.map((p) => field(module, p)),
    module.joints.map((j) =>
      h("p", { class: "small soft", style: { marginTop: "8px" } }, `${j.name}: ${j.kind}${limits(j)}`),
    ),
  );
}

const limits = ({ lower, upper, effort }) =>
  [
    lower === undefined ? ", no limits" : `, from ${shown(lower)} to ${shown(upper)}`,
    effort === undefined ? "" : `, at most ${shown(effort)} N m or N`,
  ].join("");

function field(module, { name, value, unit, minimum, maximum, choices, description, changed: different }) {
  const set = (x) =>
    send("set_parameter", { module: module.name, name, value: x, everywhere: Boolean(state.everywhere) });
  const id = `parameter-${name}`;
  const input = choices
    ? h(
        "select",
        { id, "data-key": id, onchange: (e) => set(e.target.value) },
        choices.map((c) => h("option", { value: c, selected: c === value }, c)),
      )
    : h("input", {
        id,
        "data-key": id,
        type: "number",
        step: "any",
        value: shown(value, 7),
        min: minimum ?? "",
        max: maximum ?? "",
        onchange: (e) => e.target.value !== "" && set(Number(e.target.value)),
      });
  return h(
    "div",
    { class: "field", title: description },
    h("label", { for: id, class: different ? "changed" : "" }, name.replaceAll("_", " ")),
    input,
    h("span", { class: "unit" }, unit),
  );
}

// ---- the pose ----

function drawSliders(box) {
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
  placeSliders(box);
}

const range = ([start, stop]) => Array.from({ length: stop - start }, (_, i) => start + i);
const coordinate = (names, joint, k) => (names[joint.kind] ? ` ${names[joint.kind][k]}` : "");

function slider(joint, index, k) {
  const angular = joint.kind === "revolute";
  const widest = angular ? Math.PI : 1;
  const [low, high] = [Math.max(joint.lower[k] ?? -widest, -widest), Math.min(joint.upper[k] ?? widest, widest)];
  const set = everyFrame((value) => send("set_coordinate", { index, value }));
  const key = `q ${index}`;
  const name = `${joint.name}${coordinate(COORDINATES, joint, k)}`;
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
    h("input", {
      type: "number",
      step: "any",
      "aria-label": `${name} ${joint.unit}`,
      "data-key": key,
      "data-q": index,
      min: Math.abs(joint.lower[k]) < FURTHEST ? low : "",
      max: Math.abs(joint.upper[k]) < FURTHEST ? high : "",
      onchange: (e) => e.target.value !== "" && set(Number(e.target.value)),
    }),
  );
}

function rate(joint, index, k) {
  const id = `rate-${index}`;
  const unit = joint.unit ? `${joint.unit}/s` : "";
  return h(
    "div",
    { class: "field" },
    h("label", { for: id, class: "soft small" }, `initial rate${coordinate(RATES, joint, k)}`),
    h("input", {
      id,
      type: "number",
      step: "any",
      "data-key": id,
      "data-v": index,
      onchange: (e) => e.target.value !== "" && send("set_rate", { index, value: Number(e.target.value) }),
    }),
    h("span", { class: "unit" }, unit),
  );
}

/** Values from the server; a field that is being typed in stays. */
function placeSliders(box) {
  if (!state.pose) return;
  for (const input of box.querySelectorAll("input")) {
    if (input === document.activeElement) continue;
    const value = input.dataset.q !== undefined ? state.pose.q[input.dataset.q] : state.pose.v[input.dataset.v];
    if (value !== undefined) input.value = input.type === "range" ? value : shown(value);
  }
  for (const output of box.querySelectorAll("output")) {
    const value = state.pose.q[output.dataset.degrees];
    output.textContent =
      output.dataset.degrees && value !== undefined ? `${((value * 180) / Math.PI).toFixed(1)}°` : "";
  }
}
