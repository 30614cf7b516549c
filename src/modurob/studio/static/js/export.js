// The Export panel: files to take away, pictures, and the robot as a link or a text.

import { h, redraw } from "./dom.js";
import { download, fetched, saveFile } from "./download.js";
import { saveFilm, saveGif } from "./film.js";
import { tell } from "./notices.js";
import { ofModules, on, state } from "./studio.js";

const ROBOT = { "robot.yaml": ["Robot (YAML)", "opens here and in mr.load"] };
const FOR = {
  "robot.urdf": "for ROS, Pinocchio, MuJoCo",
  "robot.mjcf": "for MuJoCo; mr.load reads it too",
  "robot.sdf": "for Gazebo",
  "robot.glb": "for Blender, slides, viewers",
  "robot.py": "the lines that make it",
};
const EQUATIONS = {
  "equations.tex": ["Equations (LaTeX)", "a document to print"],
  "equations.py": ["Equations (Python, NumPy)", "functions to import"],
  "equations.c": ["Equations (C99)", "for the microcontroller"],
};
const SCALES = [1, 2, 4]; // pixels of a picture for each of the screen
const TEXTS = {
  link:
    "Opens this robot in any browser on this machine, as long as this studio runs. It holds a key of its own, not the " +
    "token: whoever opens it sees this robot, and none of your others.",
  text: "Opens this robot anywhere: paste it into Open of any studio, or start one with modurob studio --share TEXT.",
};

export function start(panel) {
  const files = h("div", { class: "cards" });
  const symbols = h("p", { class: "soft small", style: { marginTop: "8px" } });
  const runs = h("ul", { class: "list" });
  const link = shared("Share link");
  const text = shared("Share text");
  panel.append(
    h("div", { class: "group" }, h("h2", {}, "Robot"), files, symbols),
    h("div", { class: "group" }, h("h2", {}, "Runs"), runs),
    h(
      "div",
      { class: "group" },
      h("h2", {}, "Picture"),
      h(
        "div",
        { class: "row" },
        h("button", { class: "button", id: "picture", onclick: () => savePicture(1) }, "PNG of the 3D view"),
        SCALES.slice(1).map((scale) =>
          h("button", { class: "button", id: `picture-${scale}`, onclick: () => savePicture(scale) }, `${scale} times finer`),
        ),
      ),
      h("p", { class: "soft small", style: { marginTop: "6px" } }, "Every plot has a PNG button of its own."),
    ),
    h("div", { class: "group" }, h("h2", {}, "Share as a link"), h("p", { class: "soft small" }, TEXTS.link), link.row),
    h("div", { class: "group" }, h("h2", {}, "Share as text"), h("p", { class: "soft small" }, TEXTS.text), text.row),
  );
  const draw = async () => {
    const offered = [...state.offers.exports, "glb"].map((ending) => [
      `robot.${ending}`,
      [`Robot (${ending.toUpperCase()})`, FOR[`robot.${ending}`] ?? ""],
    ]);
    const all = { ...(ofModules() ? ROBOT : {}), ...Object.fromEntries(offered), ...EQUATIONS };
    redraw(
      files,
      Object.entries(all).map(([name, words]) => card(name, ...words)),
      copyCard(),
    );
    const chosen = [...state.symbols].join(", ");
    symbols.textContent = `Equations with ${chosen ? `${chosen} as symbols` : "numbers only"}, as chosen in Equations.`;
    const code = await (await fetched("robot.share"))?.text();
    link.field.value = code ? `${location.origin}${location.pathname}?key=${state.shareKey}#robot=${code}` : "";
    text.field.value = code ?? "";
  };
  // a panel that nobody looks at need not be up to date
  const drawIfOpen = () => state.panel === "export" && state.design && draw();
  on("design", drawIfOpen);
  on("panel", drawIfOpen);
  on("runs", () => drawRuns(runs));
  drawRuns(runs);
}

/** A text that can be copied, and its field. */
function shared(label) {
  const field = h("input", { type: "text", readOnly: true, "aria-label": label, style: { flex: 1 } });
  const row = h(
    "div",
    { class: "row", style: { marginTop: "6px" } },
    field,
    h(
      "button",
      { class: "button", "aria-label": `Copy the ${label.toLowerCase()}`, onclick: () => copy(field, label) },
      "Copy",
    ),
  );
  return { field, row };
}

/** A file as a card: what it is, and what it is for. */
const card = (name, label, what) => h("div", { class: "export-card" }, fileLink(name, label), h("small", { class: "soft" }, what));

/** The robot as lines of Python, for the clipboard. */
function copyCard() {
  const act = async () => {
    const text = await (await fetched("robot.py"))?.text();
    if (text) copyText(text, "Python");
  };
  const button = h("button", { class: "link", id: "copy-python", "data-key": "copy-python", onclick: act }, "Copy as Python");
  return h("div", { class: "export-card" }, button, h("small", { class: "soft" }, FOR["robot.py"]));
}

/** A button that fetches a file; a refusal is shown here, not on a page of its own. */
function fileLink(name, label) {
  return h(
    "button",
    {
      class: "link",
      "data-file": name,
      "data-key": name,
      onclick: async ({ currentTarget: button }) => {
        button.textContent = `${label}: being written …`;
        button.disabled = true;
        await saveFile(name);
        button.textContent = label;
        button.disabled = false;
      },
    },
    label,
  );
}

function drawRuns(list) {
  const { runs } = state.runs;
  redraw(
    list,
    runs.length
      ? runs.map((run) =>
          h(
            "li",
            { style: { flexWrap: "wrap" } },
            h("span", { style: { flexBasis: "100%" } }, `Run ${run.number}`),
            filmButton(run, "film", "film (WebM)", "Plays the run in the 3D view and records it, in its own time", saveFilm),
            filmButton(run, "gif", "GIF", "Draws the run picture by picture", saveGif),
            fileLink(`run-${run.number}.csv`, "CSV"),
            fileLink(`run-${run.number}.parquet`, "Parquet"),
            fileLink(`run-${run.number}.mrun`, "recording"),
            fileLink(`run-${run.number}.mcap`, "MCAP"),
          ),
        )
      : h("li", { class: "soft small" }, "No runs yet."),
  );
}

/** A run as a film, made by `save`, which says how much is done. */
const filmButton = (run, key, label, title, save) =>
  h(
    "button",
    {
      class: "link",
      "data-key": `${key} ${run.number}`,
      disabled: !run.status,
      title,
      onclick: async ({ currentTarget: button }) => {
        button.textContent = "being filmed …";
        button.disabled = true;
        await save(run, window.studio.view, (done) => (button.textContent = `filmed ${Math.round(100 * done)} %`));
        button.textContent = label;
        button.disabled = false;
      },
    },
    label,
  );

async function copy(field, what) {
  field.select();
  try {
    await navigator.clipboard.writeText(field.value);
    tell(`${what} copied`);
  } catch {
    tell("The browser does not let this page copy: the text is selected, press Ctrl+C.");
  }
}

async function copyText(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    tell(`${what} copied`);
  } catch {
    download(new Blob([text], { type: "text/x-python" }), `${state.design.name}.py`);
    tell("The browser does not let this page copy: the lines are saved as a file.");
  }
}

async function savePicture(scale) {
  download(await window.studio.view.picture(scale), `${state.design.name}.png`);
}
