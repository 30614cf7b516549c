// The Build panel: what to dock and how, the grid, the free ports, the modules, the matrices.

import { byId, h, redraw, segments } from "./dom.js";
import { makeGrid } from "./grid.js";
import { makeLoops } from "./loops.js";
import { makeMatrices } from "./matrices.js";
import { makeModules } from "./modules.js";
import { allTypes, changed, dockAt, fits, ofModules, on, send, state, typeOf } from "./studio.js";
import { drawnType } from "./thumbnails.js";

const LATER = 900; // milliseconds until pictures are drawn: the robot comes first
const pictures = new Map(); // of types that were drawn, by name
const OF_LINKS =
  "This robot is made of links from a URDF file or one of MuJoCo: there is nothing to dock or to undock. Pose it in Inspect, derive, " +
  "simulate and export it; to build, open a robot of modules or start a new one (Open).";

export function startBuild() {
  const palette = h("div", {});
  const docking = h("div", { class: "docking" });
  const ports = h("div", { class: "ports" });
  const panel = byId("panel-build");
  panel.append(
    h("p", { class: "of-links" }, OF_LINKS),
    h(
      "div",
      { class: "group of-modules" },
      h("h2", {}, "Module to dock"),
      palette,
      h("div", { style: { marginTop: "10px" } }, docking),
    ),
    h("div", { class: "group of-modules" }, h("h2", {}, "Topology grid"), makeGrid()),
    h("details", { class: "group of-modules", open: true }, h("summary", {}, "Free ports"), ports, makeLoops()),
    h("details", { class: "group", open: true }, h("summary", { id: "modules-title" }, "Modules"), makeModules()),
    h("details", { class: "group of-modules", open: true }, h("summary", {}, "Matrices"), makeMatrices()),
  );

  on("types", () => drawPalette(palette));
  on("choice", () => {
    drawDocking(docking);
    drawPorts(ports);
  });
  on("design", () => {
    panel.dataset.madeOf = state.design.made_of;
    byId("modules-title").textContent = ofModules() ? "Modules" : "Links";
    if (!typeOf(state.kind)) choose("backbone");
    drawPalette(palette);
    drawPorts(ports);
  });
}

/** Choose a module type; its port that was chosen last, or a sensible one, docks. */
export function choose(kind) {
  state.kind = kind;
  const names = typeOf(kind).ports.map((port) => port.name);
  if (!names.includes(state.by)) state.by = names.includes("4") ? "4" : (names[0] ?? "");
  changed("choice");
}

/** The family that fits the robot, and the others behind a word. */
function drawPalette(box) {
  const open = box.querySelector("details")?.open ?? false;
  const [first, ...others] = families();
  if (!first || !state.design) return; // what fits is known with the robot
  const group = (style, label, content) => h("div", { class: style, role: "radiogroup", "aria-label": label }, content);
  redraw(
    box,
    group("palette", "Module type", first[1].map(card)),
    h(
      "details",
      { open: open || others.some(([, types]) => types.some(({ name }) => name === state.kind)) },
      h("summary", { class: "soft small" }, "Other families, and virtual joints"),
      virtualJoints(),
      group("kinds", "Module type of another family", others.flatMap(([name, types]) => [h("p", { class: "family" }, name), types.map(card)])),
    ),
  );
}

/** Joints that have no body, to set the base on: rails and turntables, one on another. */
const virtualJoints = () => [
  h("p", { class: "family" }, "virtual joints: the base slides or turns in the world"),
  h(
    "div",
    { class: "row" },
    [
      ["prismatic", "slide"],
      ["revolute", "turn"],
    ].flatMap(([freedom, word]) =>
      ["x", "y", "z"].map((axis) =>
        h(
          "button",
          {
            class: "chip",
            "data-key": `mount ${freedom} ${axis}`,
            title: `Set the base on a joint that ${word}s ${freedom === "prismatic" ? "along" : "about"} the ${axis} axis of its frame`,
            onclick: () => send("mount", { freedom, axis }),
          },
          `${word} ${axis}`,
        ),
      ),
    ),
  ),
];

/** A module type to choose, or to drag to the grid. */
const card = (type) =>
  h(
    "label",
    {
      class: "card",
      title: type.description,
      draggable: true,
      ondragstart: (e) => e.dataTransfer.setData("text/kind", type.name),
    },
    h("input", {
      type: "radio",
      name: "kind",
      value: type.name,
      checked: type.name === state.kind,
      "data-key": `kind ${type.name}`,
      onchange: () => choose(type.name),
    }),
    portrait(type),
    h(
      "span",
      {},
      h("b", {}, type.name.replaceAll("_", " ")),
      h("small", {}, `${type.ports.length} ports, ${type.joints} ${type.joints === 1 ? "joint" : "joints"}`),
    ),
  );

/** Module types by the connectors that they share: those of a family fit each other. */
function families() {
  const found = new Map();
  for (const type of allTypes().filter(({ ports }) => ports.length)) {
    const name = [...new Set(type.ports.map(({ connector }) => connector))].join(", ");
    found.set(name, [...(found.get(name) ?? []), type]);
  }
  const used = new Set(state.design?.modules.map(({ kind }) => kind));
  const rank = ([, types]) => (types.some(({ name }) => used.has(name)) ? 0 : 1);
  // what fits the robot first
  return [...found].sort((a, b) => rank(a) - rank(b)).map(([name, types]) => [`${name} connectors`, types]);
}

const image = (src) => h("img", { src, alt: "", draggable: false });

/** The picture of a type; its letter until that is drawn, which waits until the page is there and the letter is seen. */
function portrait(type) {
  if (pictures.has(type.name)) return image(pictures.get(type.name));
  const place = h("span", { class: "badge", "aria-hidden": "true" }, type.letter);
  setTimeout(() => seen(place, () => draw(place, type)), LATER);
  return place;
}

async function draw(place, type) {
  const source = await drawnType(type, () => place.isConnected);
  if (!source) return;
  pictures.set(type.name, source);
  place.replaceWith(image(source));
}

/** Do something once an element is on the screen. */
function seen(element, act) {
  const observer = new IntersectionObserver((entries) => {
    if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
    observer.disconnect();
    act();
  });
  observer.observe(element);
}

function drawDocking(docking) {
  const type = typeOf(state.kind);
  if (!type) return;
  const port = type.ports.find((p) => p.name === state.by);
  const rolls = (port?.rolls ?? [0]).map((roll) => [roll, `${roll}°`]);
  redraw(
    docking,
    h("span", { class: "label soft small" }, "by face"),
    segments(
      "by",
      "Face it docks by",
      type.ports.map((p) => [p.name, p.name]),
      state.by,
      (by) => {
        state.by = by;
        changed("choice");
      },
    ),
    h("span", { class: "label soft small" }, "turned"),
    segments("roll", "Turned by", rolls, state.roll, (roll) => {
      state.roll = roll;
      changed("choice");
    }),
  );
}

function drawPorts(ports) {
  const free = state.design?.ports.filter((port) => port.holds === null) ?? [];
  redraw(
    ports,
    free.length
      ? free.map((port) =>
          h(
            "button",
            {
              class: fits(port) || state.copying ? "chip port" : "chip port unfit",
              "data-key": port.ref,
              title: fits(port)
                ? `Dock a ${state.kind} by ${state.by} at ${port.ref}`
                : `A ${state.kind} does not fit ${port.ref}`,
              onclick: () => dockAt(port.ref),
            },
            port.ref,
          ),
        )
      : h("p", { class: "soft small" }, "No port is free."),
  );
}
