// A run as a film: played once in the 3D view, in its own time, and recorded from there as WebM.

import { download } from "./download.js";
import { refuse } from "./notices.js";
import { state } from "./studio.js";
import { colour } from "./theme.js";
import { play } from "./transport.js";

const RATE = 30; // pictures a second

/** Play a run and save the film; the view must be left alone meanwhile. */
export async function saveFilm(run, view) {
  if (run.robot !== state.design.robot) return refuse("the robot has changed since this run: undo to see it again", "No film");
  if (!window.MediaRecorder) return refuse("this browser records no films; run.animate in Python does", "No film");
  view.setBackdrop(colour("sky-2"));
  const recorder = new MediaRecorder(view.canvas.captureStream(RATE), { mimeType: "video/webm" });
  const parts = [];
  recorder.ondataavailable = ({ data }) => parts.push(data);
  const made = new Promise((done) => (recorder.onstop = done));
  recorder.start();
  state.scrubbing = run.number;
  await play(run);
  recorder.stop();
  await made;
  view.setBackdrop(null);
  download(new Blob(parts, { type: "video/webm" }), `${state.design.name}_run_${run.number}.webm`);
}
