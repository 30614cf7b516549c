// The Build panel: what to dock and how, the grid, the free ports, the modules, the matrices.

import { byId, h, redraw, segments } from "./dom.js";
import { makeGrid } from "./grid.js";
import { makeMatrices } from "./matrices.js";
import { changed, dockAt, fits, on, select, send, state, typeOf } from "./studio.js";

export function startBuild() {
  const palette = h("div", { class: "palette", role: "radiogroup", "aria-label": "Module type" });
  const docking = h("div", { class: "docking" });
  const ports = h("div", { class: "ports" });
  const loops = h("div", { class: "row small", style: { marginTop: "8px" } });
  const modules = h("ul", { class: "list" });
  const base = h("div", { class: "row" });
  const actions = h("div", { class: "row", style: { marginTop: "8px" } });
  byId("panel-build").append(
    h(
      "div",
      { class: "group" },
      h("h2", {}, "Module to dock"),
      palette,
      h("div", { style: { marginTop: "10px" } }, docking),
    ),
    h(
      "div",
      { class: "group" },
      h("h2", {}, "Topology grid"),
      makeGrid(),
      h("p", { class: "refusal", "data-for": "place_cell turn_cell move_cell", role: "alert" }),
    ),
    h(
      "details",
      { class: "group", open: true },
      h("summary", {}, "Free ports"),
      ports,
      loops,
      h("p", { class: "refusal", "data-for": "dock duplicate connect disconnect", role: "alert" }),
    ),
    h(
      "details",
      { class: "group", open: true },
      h("summary", {}, "Modules"),
      base,
      modules,
      actions,
      h("p", { class: "refusal", "data-for": "undock mirror set_base", role: "alert" }),
    ),
    h("details", { class: "group", open: true }, h("summary", {}, "Matrices"), makeMatrices()),
  );

  on("types", () => drawPalette(palette));
  on("choice", () => {
    drawDocking(docking);
    drawPorts(ports);
  });
  on("design", () => {
    drawBase(base);
    drawModules(modules);
    drawActions(actions);
    drawPorts(ports);
    drawLoops(loops);
  });
  on("selection", () => {
    drawModules(modules);
    drawActions(actions);
  });
}

/** Choose a module type; its port that was chosen last, or a sensible one, docks. */
export function choose(kind) {
  state.kind = kind;
  const names = typeOf(kind).ports.map((port) => port.name);
  if (!names.includes(state.by)) state.by = names.includes("4") ? "4" : (names[0] ?? "");
  changed("choice");
}

function drawPalette(palette) {
  redraw(
    palette,
    state.types
      .filter((type) => type.ports.length)
      .map((type) =>
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
            onchange: () => choose(type.name),
          }),
          h("span", { class: "badge", "aria-hidden": "true" }, type.letter),
          h(
            "span",
            {},
            h("b", {}, type.name.replaceAll("_", " ")),
            h("small", {}, `${type.ports.length} ports, ${type.joints} ${type.joints === 1 ? "joint" : "joints"}`),
          ),
        ),
      ),
  );
}

function drawDocking(docking) {
  const type = typeOf(state.kind);
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
    state.copying &&
      h(
        "p",
        { class: "small" },
        `Click a free port: a copy of ${state.copying} and what hangs on it docks there. `,
        h(
          "button",
          {
            class: "link",
            onclick: () => {
              state.copying = null;
              changed("choice");
            },
          },
          "Cancel",
        ),
      ),
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

/** Two free ports of one robot docked to each other close a loop; undone here too. */
function drawLoops(box) {
  const free = state.design.ports.filter((port) => port.holds === null).map((port) => port.ref);
  const picker = (key, label, chosen) =>
    h(
      "select",
      { "data-key": key, "aria-label": label },
      free.map((ref, i) => h("option", { value: ref, selected: i === chosen }, ref)),
    );
  const [a, b] = [
    picker("loop a", "First port of the loop", 0),
    picker("loop b", "Second port of the loop", free.length - 1),
  ];
  redraw(
    box,
    free.length > 1 &&
      state.design.modules.length > 2 && [
        h("span", { class: "soft" }, "Close a loop"),
        a,
        b,
        h(
          "button",
          {
            class: "button small",
            "data-key": "connect",
            onclick: () => send("connect", { a: a.value, b: b.value, roll: state.roll }),
          },
          "Connect",
        ),
      ],
    [...state.design.loops, ...state.design.redundant].map((loop) =>
      h(
        "span",
        {},
        `loop ${loop} `,
        h(
          "button",
          {
            class: "link",
            "aria-label": `Open the loop ${loop}`,
            onclick: () => send("disconnect", { port: loop.split(" ")[0] }),
          },
          "open",
        ),
      ),
    ),
  );
}

function drawBase(base) {
  const { modules, base: name, floating } = state.design;
  redraw(
    base,
    h(
      "label",
      { class: "row small" },
      "Base",
      h(
        "select",
        { "data-key": "base", onchange: (e) => send("set_base", { module: e.target.value, floating }) },
        modules.map((m) => h("option", { value: m.name, selected: m.name === name }, m.name)),
      ),
    ),
    h(
      "label",
      { class: "row small" },
      h("input", {
        type: "checkbox",
        "data-key": "floating",
        checked: floating,
        onchange: (e) => send("set_base", { module: name, floating: e.target.checked }),
      }),
      "free floating",
    ),
  );
}

function drawModules(list) {
  redraw(
    list,
    state.design.modules.map((module) =>
      h(
        "li",
        { class: module.name === state.selected ? "selected" : "" },
        h(
          "button",
          {
            class: "link grow",
            "data-key": `module ${module.name}`,
            "aria-pressed": String(module.name === state.selected),
            onclick: () => select(module.name),
          },
          module.name,
          h("span", { class: "soft small" }, ` ${module.kind}${module.name === state.design.base ? ", base" : ""}`),
        ),
        h(
          "button",
          {
            class: "link small",
            "data-key": `undock ${module.name}`,
            "aria-label": `Undock ${module.name}`,
            onclick: () => send("undock", { module: module.name }),
          },
          "undock",
        ),
      ),
    ),
  );
}

function drawActions(actions) {
  const name = state.selected;
  const off = !name;
  redraw(
    actions,
    h(
      "button",
      {
        class: "button small",
        disabled: off,
        "data-key": "duplicate",
        title: "Copy this module and all that hangs on it; then click a port",
        onclick: () => {
          state.copying = name;
          changed("choice");
        },
      },
      "Duplicate",
    ),
    h(
      "button",
      {
        class: "button small",
        disabled: off,
        "data-key": "mirror",
        title: "Build the same branch on the other side",
        onclick: () => send("mirror", { module: name }),
      },
      "Mirror",
    ),
    h(
      "button",
      {
        class: "button small bad",
        disabled: off,
        "data-key": "undock-branch",
        title: "Undock it with all that hangs on it",
        onclick: () => send("undock", { module: name, branch: true }),
      },
      "Undock branch",
    ),
    off ? h("span", { class: "soft small" }, "Select a module first.") : h("span", { class: "small" }, name),
  );
}
