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
      scrub(Number(e.target.value));
      showTime(Number(e.target.value));
    },
  });
  const speed = h(
    "select",
    { id: "speed", "aria-label": "Speed", onchange: (e) => send("set_speed", { speed: Number(e.target.value) }) },
    [0.1, 0.25, 0.5, 1, 2, 5].map((x) => h("option", { value: x, selected: x === 1 }, `${x}×`)),
  );
  timeline.prepend(h("div", { class: "transport" }, run, pause, step, stop, slider, clock, speed));

  const showTime = (t) => {
    clock.textContent = `${t.toFixed(2)} s`;
    plots.setCursor(t);
  };
  const update = () => {
    const { state: now, runs } = state.runs;
    pause.textContent = now === "paused" ? "Resume" : "Pause";
    pause.disabled = step.disabled = stop.disabled = now === "idle";
    timeline.dataset.state = now;
    const kept = runs.find((r) => r.number === plots.scrubbed());
    const gone = kept && kept.robot !== state.design?.robot;
    slider.disabled = !kept || gone || now === "running";
    slider.title = gone ? "The robot has changed since this run: undo to see it again" : "";
    if (kept) [slider.min, slider.max] = [kept.start, Math.max(kept.t, kept.start + 1e-3)];
  };
  on("runs", update);
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
