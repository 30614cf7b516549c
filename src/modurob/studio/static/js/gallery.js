// Robots to open: shipped, recent, from a file, from text or a share link.

import { byId, h, redraw } from "./dom.js";
import { toast } from "./refusals.js";
import { connection, on, send, state } from "./studio.js";
import { unpacked } from "./share.js";

const STORIES = {
  crab: "six Backbones, document 003",
  crane: "wagon and load, document 000",
  tree9: "nine modules, document 000",
  double_pendulum: "the classic, document 000",
};
let welcome = { shipped: [], recent: [], largest_upload: 0 };

export function startGallery() {
  const dialog = byId("gallery");
  connection.on("welcome", (event) => {
    welcome = event;
  });
  byId("gallery-open").onclick = () => {
    draw(dialog);
    dialog.showModal();
  };
  on("design", () => dialog.close());
}

function draw(dialog) {
  const text = h("textarea", {
    rows: 4,
    spellcheck: false,
    "aria-label": "Robot as YAML, or a share link",
    placeholder: "format: modurob assembly 1 …  or a share link",
  });
  const problem = h("p", { class: "refusal", "data-for": "open open_shipped open_recent new", role: "alert" });
  redraw(
    dialog,
    h(
      "div",
      { class: "row spread" },
      h("h2", { id: "gallery-title" }, "Open a robot"),
      h("button", { class: "button", onclick: () => dialog.close() }, "Close"),
    ),
    problem,
    h("h3", {}, "Shipped robots"),
    h(
      "div",
      { class: "robots" },
      welcome.shipped.map((name) =>
        tile(name.replaceAll("_", " "), STORIES[name] ?? "", () => send("open_shipped", { name })),
      ),
    ),
    welcome.recent.length ? h("h3", {}, "Recent, saved by themselves") : null,
    h(
      "div",
      { class: "robots" },
      welcome.recent.map((r) =>
        tile(r.name, `${r.modules} modules, ${ago(r.saved)}`, () => send("open_recent", { name: r.session })),
      ),
    ),
    h("h3", {}, "Start anew with one module"),
    h(
      "div",
      { class: "row" },
      state.types
        .filter((t) => t.ports.length)
        .map((t) =>
          h("button", { class: "chip", onclick: () => send("new", { kind: t.name }) }, t.name.replaceAll("_", " ")),
        ),
    ),
    h("h3", {}, "From a file or text"),
    h("input", {
      type: "file",
      accept: ".yaml,.yml",
      "aria-label": "Robot file",
      onchange: (e) => upload(e.target.files[0], problem),
    }),
    h("div", { style: { margin: "8px 0" } }, text),
    h("button", { class: "button main", onclick: () => openText(text.value, problem) }, "Open the text"),
  );
}

const tile = (name, story, act) =>
  h("button", { onclick: act }, h("b", {}, name), h("small", { class: "soft" }, story));

function ago(seconds) {
  const minutes = Math.max(0, Date.now() / 1000 - seconds) / 60;
  if (minutes < 60) return `${Math.round(minutes)} min ago`;
  return minutes < 2880 ? `${Math.round(minutes / 60)} h ago` : `${Math.round(minutes / 1440)} days ago`;
}

export async function upload(file, problem) {
  if (!file) return;
  const most = welcome.largest_upload;
  if (file.size > most) {
    const [found, allowed] = [file.size, most].map((bytes) => `${Number((bytes / 1e6).toFixed(1))} MB`);
    problem.textContent = `${file.name} has ${found}: the studio reads robots of at most ${allowed}`;
    return;
  }
  const answer = await fetch(`./open/${state.session}`, { method: "POST", body: file });
  if (!answer.ok) problem.textContent = await answer.text();
  else toast(`opened ${file.name}`);
}

async function openText(text, problem) {
  try {
    send("open", { text: text.includes("#robot=") ? await unpacked(text.split("#robot=")[1].trim()) : text });
  } catch {
    problem.textContent = "This share link cannot be read: it may have been cut off.";
  }
}
