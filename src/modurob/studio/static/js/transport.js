// Run, pause, step, stop, scrub, and how fast.

import { everyFrame, h } from "./dom.js";
import { settings } from "./settings.js";
import { on, send, state } from "./studio.js";

// stands for the plots until Simulate is opened
const NO_PLOTS = { scrubbed: () => state.runs.runs.at(-1)?.number ?? null, setCursor() {}, live() {} };
let plots = NO_PLOTS;

/** The plots that show the same time. */
export function join(made) {
  plots = made;
}

let scrubbing = () => {};

/** Show the robot as it was at a time of the run that is shown. */
export const scrubTo = (t) => scrubbing(t);

let playing = null; // the run that is shown again, and its end
let following = () => {};

/** Show a run again, in its own time, at the speed that is chosen; `done` is called at its end. */
export function play(run) {
  end();
  const began = performance.now();
  const mine = (playing = { run });
  state.scrubbing = run.number;
  return new Promise((done) => {
    mine.done = done;
    const next = () => {
      if (playing !== mine) return;
      const t = Math.min(run.t, run.start + (state.runs.speed * (performance.now() - began)) / 1000);
      send("scrub", { run: run.number, t });
      following(t);
      if (t < run.t) requestAnimationFrame(next);
      else end();
    };
    next();
  });
}

/** No run is shown again any more. */
export function end() {
  const { done } = playing ?? {};
  playing = null;
  following(null);
  done?.();
}

export function startTransport(timeline) {
  const run = h(
    "button",
    { class: "button main", id: "run", onclick: () => send("start_run", { settings: settings() }) },
    "Run",
  );
  const pause = h(
    "button",
    { class: "button", id: "pause", onclick: () => send(state.runs.state === "paused" ? "resume_run" : "pause_run") },
    "Pause",
  );
  const step = h("button", { class: "button", id: "step", onclick: () => send("step_run") }, "Step");
  const stop = h("button", { class: "button", id: "stop", onclick: () => send("stop_run") }, "Stop");
  const again = h("button", { class: "button", id: "play", title: "Show the run again, in its own time", onclick: () => toggle() }, "Play");
  const clock = h("output", { class: "clock", id: "clock", "aria-label": "Simulated time" });
  const scrub = everyFrame((t) => {
    const number = plots.scrubbed();
    if (number === null) return;
    state.scrubbing = number;
    send("scrub", { run: number, t });
  });
  const slider = h("input", {
    type: "range",
    id: "scrub",
    min: 0,
    max: 1,
    step: "any",
    value: 0,
    "aria-label": "Time in the run",
    oninput: (e) => {
      end();
      scrub(Number(e.target.value));
      showTime(Number(e.target.value));
    },
  });
  const speed = h(
    "select",
    { id: "speed", "aria-label": "Speed", onchange: (e) => send("set_speed", { speed: Number(e.target.value) }) },
    [0.1, 0.25, 0.5, 1, 2, 5].map((x) => h("option", { value: x, selected: x === 1 }, `${x}×`)),
  );
  timeline.prepend(h("div", { class: "transport" }, run, pause, step, stop, again, slider, clock, speed));

  const showTime = (t) => {
    clock.textContent = `${t.toFixed(2)} s`;
    plots.setCursor(t);
  };
  scrubbing = (t) => {
    if (slider.disabled) return;
    end();
    slider.value = t;
    scrub(Number(slider.value));
    showTime(Number(slider.value));
  };
  const shownRun = () => state.runs.runs.find((r) => r.number === plots.scrubbed());
  const toggle = () => (playing ? end() : shownRun() && play(shownRun()));
  following = (t) => {
    again.textContent = playing ? "Halt" : "Play";
    if (t === null) return;
    slider.value = t;
    showTime(t);
  };
  const update = () => {
    const { state: now, runs } = state.runs;
    pause.textContent = now === "paused" ? "Resume" : "Pause";
    pause.disabled = step.disabled = stop.disabled = now === "idle";
    timeline.dataset.state = now;
    const kept = shownRun();
    const gone = kept && kept.robot !== state.design?.robot;
    slider.disabled = again.disabled = !kept || gone || now === "running";
    if (playing && slider.disabled) end();
    slider.title = gone ? "The robot has changed since this run: undo to see it again" : "";
    if (kept) [slider.min, slider.max] = [kept.start, Math.max(kept.t, kept.start + 1e-3)];
  };
  on("runs", update);
  on("plots", update); // they choose which run is scrubbed
  on("design", update);
  on("sample", () => {
    const t = state.sample[0];
    if (state.runs.state === "idle") return;
    slider.max = Math.max(slider.max, t);
    slider.value = t;
    showTime(t);
    plots.live(state.sample);
  });
  update();
  showTime(0);
}
