// The Inspect panel: the robot in numbers, one module's parameters, and sliders that pose the robot.

import { h, redraw, shown } from "./dom.js";
import { numberField } from "./fields.js";
import { poseTools } from "./posing.js";
import { changed, moduleOf, ofModules, on, send, state } from "./studio.js";

export function start(panel) {
  const tally = h("dl", { class: "tally" });
  const details = h("div", { class: "small", style: { marginTop: "10px" } });
  const kind = h("h2", {});
  const chooser = h("div", { class: "row", style: { marginBottom: "6px" } });
  const fields = h("div", {});
  panel.append(
    h("div", { class: "group" }, h("h2", {}, "Robot"), tally, details),
    poseTools("inspect"),
    h("div", { class: "group" }, kind, chooser, fields),
  );
  const draw = () => {
    kind.textContent = ofModules() ? "Module" : "Link";
    drawTally(tally, details);
    drawChooser(chooser);
    drawFields(fields);
  };
  on("design", draw);
  on("selection", () => {
    drawChooser(chooser);
    drawFields(fields);
  });
  on("refused", () => drawFields(fields));
  if (state.design) draw();
}

function drawTally(tally, details) {
  const { modules, degrees_of_freedom: count, mass, joints, idle, loops, redundant, gravity, notes } = state.design;
  const entry = (name, value) => h("div", {}, h("dt", {}, name), h("dd", {}, String(value)));
  redraw(
    tally,
    entry(ofModules() ? "modules" : "links", modules.length),
    entry("degrees of freedom", count),
    entry("moving mass", `${shown(mass, 3)} kg`),
  );
  const line = (name, items) =>
    h("p", {}, h("span", { class: "soft" }, `${name}: `), items.length ? items.join(", ") : "none");
  redraw(
    details,
    line(
      "joints that move",
      joints.map((j) => `${j.name} (${j.kind})`),
    ),
    line("idle hinges, locked", idle),
    line("loops", loops),
    redundant.length ? line("connections within one body", redundant) : null,
    line("gravity [m/s²]", [`(${gravity.map((g) => shown(g)).join(", ")})`]),
    notes.map((note) => h("p", { class: "soft" }, note)),
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
        "aria-label": `${ofModules() ? "Module" : "Link"} to inspect`,
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
    redraw(fields, h("p", { class: "soft small" }, "Choose one here, or click it in the 3D view."));
    return;
  }
  if (!ofModules()) {
    redraw(fields, linkFacts(module));
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

// a bound that is not there, or infinite, is null or undefined
const limits = ({ lower, upper, effort }) =>
  [
    lower == null && upper == null ? ", no limits" : `, from ${bound(lower, "-")} to ${bound(upper, "")}`,
    effort == null ? "" : `, at most ${shown(effort)} N m or N`,
  ].join("");
const bound = (x, sign) => (x == null ? `${sign}∞` : shown(x));

/** What a link of a URDF file is: the body it belongs to, with all that is welded to it. */
function linkFacts({ name, kind }) {
  const { body } = state.design.frames.find((frame) => frame.name === name);
  const { mass, centre } = state.design.bodies[body];
  const at = centre?.map((x) => shown(x, 3)).join(", ");
  const facts = mass ? `${shown(mass)} kg, centre of mass at (${at}) m` : "without mass";
  return [
    h("p", { class: "small" }, `${name}: ${kind}`),
    h("p", { class: "small soft" }, `Its body, with all links that are fixed to it: ${facts}.`),
    h("p", { class: "small soft" }, "Links of a URDF file have no parameters to change here: change the file."),
  ];
}

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
    : numberField({
        id,
        "data-key": id,
        label: name.replaceAll("_", " "),
        value: () => value,
        min: minimum ?? undefined,
        max: maximum ?? undefined,
        set,
      });
  return h(
    "div",
    { class: "field", title: description },
    h("label", { for: id, class: different ? "changed" : "" }, name.replaceAll("_", " ")),
    input,
    h("span", { class: "unit" }, unit),
  );
}
