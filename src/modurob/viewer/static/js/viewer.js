// A robot or a run on a page of its own: no server, nothing to edit; what moves is played.

import { drawnInSoftware } from "./detail.js";
import { View } from "./view.js";

const LOOKS = 24; // poses of a run that the view is fitted to, at most
const LAYERS = { frames: "Frames", centres: "Centres", ellipsoids: "Inertia" };
const quiet = { port() {}, module() {}, empty() {}, hover() {}, slow() {} };

/** Numbers of four bytes, written as base64. */
function floats(text) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  return new Float32Array(bytes.buffer);
}

const chip = (text, title, act) => {
  const button = document.createElement("button");
  Object.assign(button, { textContent: text, title, onclick: () => act(button) });
  return button;
};

/** The chapters of a run, one after the other: what is to be seen at a time. */
class Story {
  constructor(view, chapters, from) {
    Object.assign(this, { view, from });
    this.chapters = chapters.map((chapter) => ({ ...chapter, poses: floats(chapter.poses) }));
    this.start = chapters[0].t[0];
    this.end = chapters.at(-1).t.at(-1);
    this.open = null;
  }

  /** Show the pictures nearest before a time; returns that time. */
  show(t) {
    const chapter = this.chapters.findLast(({ t: times }) => times[0] <= t + 1e-9) ?? this.chapters[0];
    if (this.open !== chapter) this.#turnTo(chapter);
    const k = Math.max(0, chapter.t.findLastIndex((x) => x <= t + 1e-9));
    this.view.setPoses(this.#poses(chapter, k));
    return chapter.t[k];
  }

  #poses({ design, poses }, k) {
    const size = 12 * design.bodies.length;
    return poses.subarray(size * k, size * (k + 1));
  }

  #turnTo(chapter) {
    const first = this.open === null;
    this.open = chapter;
    this.view.setRobot(chapter.design);
    if (first && this.from) this.view.camera.lookFrom(this.from);
    const every = Math.ceil(chapter.t.length / LOOKS);
    const some = chapter.t.map((_, k) => k).filter((k) => k % every === 0 || k === chapter.t.length - 1);
    this.view.spanOver(some.map((k) => this.#poses(chapter, k)), first);
  }
}

/** Play, pause, scrub. */
class Player {
  constructor(story, bar) {
    this.story = story;
    this.play = chip("Play", "Play or pause (space)", () => this.toggle());
    this.slider = document.createElement("input");
    Object.assign(this.slider, { type: "range", min: story.start, max: story.end, step: "any", value: story.start });
    this.slider.setAttribute("aria-label", "Time in the run");
    this.slider.oninput = () => {
      this.pause();
      this.at(Number(this.slider.value));
    };
    this.clock = document.createElement("output");
    bar.append(this.play, this.slider, this.clock);
  }

  at(t) {
    this.t = t;
    this.story.show(t);
    this.slider.value = t;
    this.clock.textContent = `${t.toFixed(2)} s`;
  }

  toggle() {
    if (this.going) return this.pause();
    if (this.t >= this.story.end) this.t = this.story.start;
    this.going = true;
    this.play.textContent = "Pause";
    let before = performance.now();
    const next = (now) => {
      if (!this.going) return;
      this.at(Math.min(this.t + Math.max(0, now - before) / 1000, this.story.end));
      before = now;
      if (this.t >= this.story.end) return this.pause();
      requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
  }

  pause() {
    this.going = false;
    this.play.textContent = "Play";
  }
}

/** The poses that a program sends while it runs, the newest each time; the last picture stays when it ends. */
async function follow(address, view) {
  for (let number = 0; ; ) {
    const answer = await fetch(`${address}/${number}`).catch(() => null);
    if (!answer?.ok) return (document.querySelector("#trouble").textContent = "");
    number = Number(answer.headers.get("X-Number"));
    view.setPoses(new Float32Array(await answer.arrayBuffer()));
    await new Promise(requestAnimationFrame);
  }
}

/**
 * Draw `chapters` on the page, seen `from` a side; `bare` leaves the buttons out, for pictures. Without a word on the detail it is
 * `low` where there is no graphics card; `plain` is high detail without the room that surfaces mirror, which takes long there.
 */
export function start({ chapters, bare, low, plain, dark, from, live }, root = document) {
  const canvas = root.querySelector("canvas");
  const view = new View(canvas, quiet, low ?? drawnInSoftware());
  view.onDemand = bare;
  view.plain = plain;
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  const theme = () => view.setTheme((dark ?? scheme.matches) ? "dark" : "light");
  scheme.addEventListener("change", theme);
  const story = new Story(view, chapters, from);
  const bar = root.querySelector("#bar");
  const tools = root.querySelector("#tools");
  const player = new Player(story, bar);
  bar.hidden = bare || story.end <= story.start;
  tools.hidden = bare;
  tools.append(chip("Fit", "All of it in view (F)", () => view.fit()));
  for (const [layer, text] of Object.entries(LAYERS)) {
    const toggle = (button) => {
      const on = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(on));
      view.setVisible(layer, on);
    };
    const button = chip(text, `Show ${layer}`, toggle);
    button.setAttribute("aria-pressed", "false");
    tools.append(button);
  }
  (root === document ? window : root).addEventListener("keydown", (e) => {
    if (e.target.closest("button, input")) return;
    if (e.key === "f") view.fit();
    if (e.key === " " && !bar.hidden) player.toggle();
  });
  if (!bare) view.setInsets({ left: 10, right: 10, top: 44, bottom: bar.hidden ? 10 : 58 });
  player.at(story.start);
  theme();
  if (!bar.hidden && !matchMedia("(prefers-reduced-motion: reduce)").matches) player.toggle();
  if (live) follow(live, view);
  return { view, story, player };
}
