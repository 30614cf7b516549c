// Two free ports of one robot docked to each other close a loop; loops are opened here too.

import { h, redraw } from "./dom.js";
import { on, send, state } from "./studio.js";

export function makeLoops() {
  const box = h("div", { class: "row small", style: { marginTop: "8px" } });
  on("design", () => draw(box));
  return box;
}

function draw(box) {
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
