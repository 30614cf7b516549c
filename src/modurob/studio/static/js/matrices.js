// AIM, accessibility matrix, direct and indirect transformation lists: shown live; AIM and DTL also as text to edit or paste.

import { h, redraw, segments } from "./dom.js";
import { on, send, state } from "./studio.js";

const NAMES = [
  ["aim", "AIM"],
  ["accessibility", "Access"],
  ["dtl", "DTL"],
  ["idtl", "IDTL"],
];
const CAPTIONS = {
  aim: "Assembly Incidence Matrix: rows modules, columns connections, entries faces; below, the dyad classes",
  accessibility: "Accessibility matrix: 1 where the column's module hangs on the row's",
  dtl: "Direct transformations: module i holds module j, by face, by face",
  idtl: "Indirect transformations: T(i, j) = T(i, x) · T(x, j)",
};

export function makeMatrices() {
  let view = "aim";
  let editing = false;
  const shown = h("div", { class: "scroll", tabIndex: 0, role: "region", "aria-label": "Matrix" });
  const text = h("textarea", { rows: 8, spellcheck: false, "aria-label": "Matrix as text" });
  const editor = h(
    "div",
    { hidden: true },
    text,
    h(
      "div",
      { class: "row", style: { marginTop: "6px" } },
      h(
        "button",
        {
          class: "button main",
          onclick: () =>
            send("read_matrix", { text: text.value, view: view === "dtl" ? "dtl" : "aim", kind: state.kind }),
        },
        "Make this robot",
      ),
      h("span", { class: "soft small" }, "Rows without types are of the chosen module type."),
    ),
  );
  const edit = h(
    "button",
    {
      class: "button small",
      onclick: () => {
        editing = !editing;
        draw();
      },
    },
    "Edit as text",
  );
  const tabs = segments("matrix", "Which matrix", NAMES, view, (name) => {
    view = name;
    draw();
  });

  function draw() {
    const views = state.design?.views;
    if (!views) {
      redraw(shown, h("p", { class: "soft small" }, "Matrices are shown for robots of up to 48 modules."));
      edit.hidden = editor.hidden = true;
      shown.hidden = false;
      return;
    }
    const editable = view === "aim" || view === "dtl";
    edit.hidden = !editable;
    edit.textContent = editing ? "Show as table" : "Edit as text";
    editor.hidden = !(editing && editable);
    shown.hidden = editing && editable;
    if (document.activeElement !== text) text.value = asText(view, views);
    redraw(shown, table(view, views));
  }
  on("design", () => {
    editing = false;
    draw();
  });
  return h(
    "div",
    {},
    h("div", { class: "row spread", style: { marginBottom: "8px" } }, tabs, edit),
    shown,
    editor,
  );
}

function rowsOf(view, views) {
  const names = state.design.modules.map((module) => module.name);
  if (view === "aim") {
    const heads = ["", ...views.dyads.map((_, i) => `e${i}`), "type"];
    return [heads, ...views.aim.map((row, i) => [names[i] ?? "dyad", ...row])];
  }
  if (view === "accessibility") return [["", ...names], ...views.accessibility.map((row, i) => [names[i], ...row])];
  if (view === "dtl") return [["", "i", "j", "from", "to"], ...views.dtl.map((row, i) => [`e${i}`, ...row])];
  return [["", "i", "j", "= i", "x", "· x", "j"], ...views.idtl.map((row) => ["", ...row])];
}

function table(view, views) {
  const [heads, ...rows] = rowsOf(view, views);
  return h(
    "table",
    { class: "matrix" },
    h("caption", {}, CAPTIONS[view]),
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        heads.map((head) => h(head === "" ? "td" : "th", head === "" ? {} : { scope: "col" }, head)),
      ),
    ),
    h(
      "tbody",
      {},
      rows.map(([name, ...entries]) =>
        h(
          "tr",
          {},
          h(name ? "th" : "td", name ? { scope: "row" } : {}, name),
          entries.map((x) =>
            h("td", { class: x === 0 ? "zero" : typeof x === "string" && /^D|^-$/.test(x) ? "class" : "" }, String(x)),
          ),
        ),
      ),
    ),
  );
}

const asText = (view, views) => (views[view] ?? []).map((row) => row.join(" ")).join("\n");
