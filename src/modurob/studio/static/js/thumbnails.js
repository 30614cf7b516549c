// Small pictures of robots and modules, drawn one after another by a view that nobody sees.

import { h } from "./dom.js";
import { IDENTITY } from "./poses.js";
import { View } from "./view.js";

const SIZE = { width: "240px", height: "160px" };
const quiet = { port() {}, module() {}, empty() {}, hover() {}, slow() {} };
const drawn = new Map(); // addresses of pictures, or what they are waited for by
let view = null;
let queue = Promise.resolve();

/** The picture of a shipped or a recent robot; null if there is none, or nobody `wants()` it any more when its turn comes. */
export function drawnRobot(kind, name, wants) {
  return kept(`${kind} ${name}`, wants, async () => {
    const answer = await fetch(`./scene/${kind}/${encodeURIComponent(name)}`);
    if (!answer.ok) return null;
    const { design, poses } = await answer.json();
    const bytes = Uint8Array.from(atob(poses), (c) => c.charCodeAt(0));
    return picture(design, new Float32Array(bytes.buffer));
  });
}

/** The picture of a module by itself. */
export const drawnType = (type, wants) =>
  kept(`type ${type.name}`, wants, async () => {
    const shapes = type.shapes.map((shape) => ({ ...shape, body: 0, module: 0 }));
    const design = { shapes, cables: [], ports: [], frames: [], bodies: [{ mass: 0 }], modules: [{ name: type.name }] };
    return shapes.length ? picture({ ...design, floating: true }, new Float32Array(IDENTITY)) : null;
  });

/** One at a time, and each once; between two the page can do other things. What is not wanted any more is not drawn: it may be later. */
function kept(key, wants, draw) {
  if (!drawn.has(key)) {
    const turn = () => (wants() ? draw() : (drawn.delete(key), null));
    queue = queue.then(() => new Promise((done) => setTimeout(done))).then(turn, () => null);
    drawn.set(key, queue.catch(() => null));
  }
  return drawn.get(key);
}

export let pictures = 0; // how many were drawn, for tests

function picture(design, poses) {
  pictures++;
  view ??= unseen();
  if (view.renderer.blind) return null;
  view.setTheme(document.documentElement.dataset.theme);
  view.setRobot({ ...design, number: drawn.size + Math.random() });
  view.spanOver([poses], true);
  view.setPoses(poses);
  return view.still();
}

function unseen() {
  const canvas = h("canvas", { style: { width: "100%", height: "100%" } });
  const nowhere = { position: "fixed", left: "0", top: "0", opacity: "0", pointerEvents: "none", zIndex: "-1" };
  const box = h("div", { "aria-hidden": "true", style: { ...SIZE, ...nowhere } }, canvas);
  document.body.append(box);
  const made = new View(canvas, quiet, true);
  made.onDemand = true;
  made.renderer.setPixelRatio(1.5);
  made.fix();
  return made;
}
