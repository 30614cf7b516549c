// The Export panel: files to take away, pictures, and a link with the robot in it.

import { h, redraw } from "./dom.js";
import { download } from "./download.js";
import { toast } from "./refusals.js";
import { packed } from "./share.js";
import { fileAddress, on, state } from "./studio.js";

export function start(panel) {
  const files = h("ul", { class: "list" });
  const runs = h("ul", { class: "list" });
  const link = h("input", { type: "text", readOnly: true, "aria-label": "Share link", style: { flex: 1 } });
  panel.append(
    h("div", { class: "group" }, h("h2", {}, "Robot"), files),
    h("div", { class: "group" }, h("h2", {}, "Runs"), runs),
    h(
      "div",
      { class: "group" },
      h("h2", {}, "Picture"),
      h("button", { class: "button", id: "picture", onclick: savePicture }, "PNG of the 3D view"),
      h("p", { class: "soft small", style: { marginTop: "6px" } }, "Every plot has a PNG button of its own."),
    ),
    h(
      "div",
      { class: "group" },
      h("h2", {}, "Share link"),
      h(
        "p",
        { class: "soft small", style: { marginBottom: "6px" } },
        "The robot is in the link itself; open it in any studio, or paste it into Open.",
      ),
      h("div", { class: "row" }, link, h("button", { class: "button", onclick: () => copy(link) }, "Copy")),
    ),
  );
  const draw = async () => {
    redraw(
      files,
      ["robot.yaml", "robot.urdf", "equations.tex", "equations.py", "equations.c"].map((name) =>
        h("li", {}, fileLink(name, NAMES[name])),
      ),
    );
    link.value = await shareLink();
  };
  on("design", draw);
  on("runs", () => drawRuns(runs));
  if (state.design) draw();
  drawRuns(runs);
}

const NAMES = {
  "robot.yaml": "Robot (YAML)",
  "robot.urdf": "Robot (URDF)",
  "equations.tex": "Equations (LaTeX)",
  "equations.py": "Equations (Python, NumPy)",
  "equations.c": "Equations (C99)",
};

/** A link to a file; a refusal is shown here, not on a page of its own. */
function fileLink(name, label) {
  const file = name.startsWith("robot") ? `${state.design.name}.${name.split(".")[1]}` : name.replace("/", "_");
  return h(
    "a",
    {
      class: "link",
      href: fileAddress(name),
      download: file,
      "data-file": name,
      onclick: (e) => {
        e.preventDefault();
        fetchFile(name, file);
      },
    },
    label,
  );
}

async function fetchFile(name, file) {
  const answer = await fetch(fileAddress(name));
  if (answer.ok) download(await answer.blob(), file);
  else toast(await answer.text());
}

function drawRuns(list) {
  const { runs } = state.runs;
  redraw(
    list,
    runs.length
      ? runs.map(({ number }) =>
          h(
            "li",
            {},
            h("span", { class: "grow" }, `Run ${number}`),
            fileLink(`run-${number}.csv`, "CSV"),
            fileLink(`run-${number}.mrun`, "recording"),
          ),
        )
      : h("li", { class: "soft small" }, "No runs yet."),
  );
}

async function shareLink() {
  const text = await (await fetch(fileAddress("robot.yaml"))).text();
  return `${location.origin}${location.pathname}#robot=${await packed(text)}`;
}

async function copy(input) {
  input.select();
  try {
    await navigator.clipboard.writeText(input.value);
    toast("Link copied");
  } catch {
    toast("The browser does not let this page copy: the link is selected, press Ctrl+C.");
  }
}

async function savePicture() {
  download(await window.studio.view.picture(), `${state.design.name}.png`);
}
