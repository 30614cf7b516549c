// The modules of the robot: which stands in the world, which is selected, and what can be done with it.

import { h, redraw } from "./dom.js";
import { copy, ofModules, on, select, send, state } from "./studio.js";

export function makeModules() {
  const base = h("div", { class: "row" });
  const list = h("ul", { class: "list" });
  const actions = h("div", { class: "row", style: { marginTop: "8px" } });
  const drawChosen = () => {
    drawModules(list);
    drawActions(actions);
  };
  on("design", () => drawBase(base));
  on("refused", () => state.design && drawBase(base));
  on("design", drawChosen);
  on("selection", drawChosen);
  return h("div", {}, base, list, actions);
}

function drawBase(base) {
  const { modules, base: name, floating } = state.design;
  // links hang on their root
  const choices = ofModules() ? modules : modules.filter((m) => m.name === name);
  redraw(
    base,
    h(
      "label",
      { class: "row small" },
      "Base",
      h(
        "select",
        { "data-key": "base", onchange: (e) => send("set_base", { module: e.target.value, floating }) },
        choices.map((m) => h("option", { value: m.name, selected: m.name === name }, m.name)),
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
        ofModules() && undockButton(module.name),
      ),
    ),
  );
}

const undockButton = (name) =>
  h(
    "button",
    {
      class: "link small",
      "data-key": `undock ${name}`,
      "aria-label": `Undock ${name}`,
      onclick: () => send("undock", { module: name }),
    },
    "undock",
  );

function drawActions(actions) {
  if (!ofModules()) return redraw(actions);
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
        onclick: () => copy(name),
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
