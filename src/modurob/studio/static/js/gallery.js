// Robots to open: shipped, recent, from a file, from text or a share link.

import { byId, h, redraw } from "./dom.js";
import { refuse, succeeded, tell } from "./notices.js";
import { show } from "./panels.js";
import { allTypes, connection, on, send, state } from "./studio.js";
import { drawnRobot, drawnType } from "./thumbnails.js";

const STORIES = {
  caterpillar: "ten modules, crawls",
  convoy: "six Scouts in a row",
  hexapod: "six legs, walks",
  quadruped: "four legs, walks",
  snake: "bends up, down and sideways",
  wheel: "a ring that rolls",
  crab: "six modules, two legs",
  crane: "a wagon and a swinging load",
  tree9: "nine modules, branched",
  double_pendulum: "two links, two hinges",
  lwa4p: "an arm of three Powerballs",
  lwa4p_angled: "the same arm, angled",
};
const START = 400; // milliseconds until the start screen opens by itself
let welcome = { shipped: [], recent: [], largest_upload: 0 };

export function startGallery() {
  const dialog = byId("gallery");
  const open = () => {
    draw(dialog);
    dialog.showModal();
  };
  connection.on("welcome", (event) => {
    welcome = event;
    if (location.hash !== "#start") return;
    history.replaceState(null, "", location.pathname + location.search);
    // the robot that comes with the welcome closes the dialog
    setTimeout(open, START);
  });
  byId("gallery-open").onclick = open;
  on("design", () => dialog.close());
  takeDrops();
}

function draw(dialog) {
  const open = () => dialog.open;
  const text = h("textarea", {
    rows: 4,
    spellcheck: false,
    "aria-label": "Robot as text, or a share link",
    placeholder: "format: modurob robot 2 …  or URDF, MJCF, or a share link",
  });
  redraw(
    dialog,
    h(
      "div",
      { class: "row spread" },
      h("h2", { id: "gallery-title" }, "Robots"),
      h("button", { class: "button", onclick: () => dialog.close() }, "Close"),
    ),
    h("h3", {}, "New, from one module"),
    h(
      "div",
      { class: "robots small" },
      allTypes()
        .filter((t) => t.ports.length)
        .map((t) => tile(t.name.replaceAll("_", " "), "", () => send("new", { kind: t.name }), drawnType(t, open))),
    ),
    h("h3", {}, "Examples"),
    h(
      "div",
      { class: "robots" },
      welcome.shipped.map((name) => {
        const picture = drawnRobot("shipped", name, open);
        return tile(name.replaceAll("_", " "), STORIES[name] ?? "", () => send("open_shipped", { name }), picture);
      }),
    ),
    welcome.recent.length ? h("h3", {}, "Recent, saved by themselves") : null,
    h(
      "div",
      { class: "robots" },
      welcome.recent.map((r) => {
        const picture = drawnRobot("recent", r.session, open);
        const story = `${r.modules} ${r.made_of}, ${ago(r.saved)}`;
        return tile(r.name, story, () => send("open_recent", { name: r.session }), picture);
      }),
    ),
    h("h3", {}, "From a file or text"),
    h(
      "p",
      { class: "soft small", style: { marginBottom: "6px" } },
      "A robot of modules (YAML), a URDF file, one of MuJoCo (MJCF), a share link, or a recording (.mrun) of the robot that is shown. Files can also be " +
        "dropped anywhere on the page.",
    ),
    h("input", {
      type: "file",
      accept: ".yaml,.yml,.urdf,.xml,.mjcf,.mrun",
      "aria-label": "Robot file",
      onchange: (e) => upload(e.target.files[0]),
    }),
    h("div", { style: { margin: "8px 0" } }, text),
    h("button", { class: "button main", onclick: () => send("open", { text: text.value }) }, "Open the text"),
  );
}

/** A robot to click, its picture following when it is drawn. */
function tile(name, story, act, picture) {
  const image = h("img", { alt: "", width: 240, height: 160 });
  picture.then((source) => {
    if (source) image.src = source;
  });
  return h("button", { onclick: act }, image, h("b", {}, name), story && h("small", { class: "soft" }, story));
}

function ago(seconds) {
  const minutes = Math.max(0, Date.now() / 1000 - seconds) / 60;
  if (minutes < 60) return `${Math.round(minutes)} min ago`;
  return minutes < 2880 ? `${Math.round(minutes / 60)} h ago` : `${Math.round(minutes / 1440)} days ago`;
}

async function upload(file) {
  if (!file) return;
  const recording = file.name.toLowerCase().endsWith(".mrun");
  const most = recording ? Infinity : welcome.largest_upload; // the server says how large recordings may be
  if (file.size > most) {
    const [found, allowed] = [file.size, most].map((bytes) => `${Number((bytes / 1e6).toFixed(1))} MB`);
    refuse(`${file.name} has ${found}: the studio reads robots of at most ${allowed}`, "Not opened");
    return;
  }
  try {
    const address = `./open/${state.session}?${new URLSearchParams({ name: file.name })}`;
    const answer = await fetch(address, { method: "POST", body: file });
    if (!answer.ok) return refuse(await answer.text(), "Not opened");
    succeeded();
    tell(`opened ${file.name}`);
    if (!recording) return;
    byId("gallery").close();
    show("simulate");
  } catch {
    refuse(`${file.name} could not be sent: the studio does not answer`, "Not opened");
  }
}

/** Files may be dropped anywhere on the page. */
function takeDrops() {
  const holdsFiles = (e) => e.dataTransfer?.types.includes("Files");
  addEventListener("dragover", (e) => {
    if (holdsFiles(e)) e.preventDefault();
  });
  addEventListener("drop", (e) => {
    if (!holdsFiles(e)) return;
    e.preventDefault();
    upload(e.dataTransfer.files[0]);
  });
}
