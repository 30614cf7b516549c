// A run as a film: played once in the 3D view, in its own time, and recorded from there as WebM; or picture by picture as GIF.

import { download } from "./download.js";
import { refuse } from "./notices.js";
import { gif } from "./gif.js";
import { connection, send, state } from "./studio.js";
import { colour } from "./theme.js";
import { play } from "./transport.js";

const RATE = 30; // pictures a second
const GIF_RATE = 12.5; // of a GIF
const MOST = 300; // pictures of a GIF
const WIDEST = 640; // pixels of a GIF

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
  download(new Blob(parts, { type: "video/webm" }), `${state.design.name}_run-${run.number}.webm`);
}

/** Show a run picture by picture and save them as a GIF; `tell` is told how much is done. */
export async function saveGif(run, view, tell) {
  if (run.robot !== state.design.robot) return refuse("the robot has changed since this run: undo to see it again", "No film");
  const count = Math.min(MOST, Math.max(2, Math.ceil((run.t - run.start) * GIF_RATE)));
  view.setBackdrop(colour("sky-2"));
  state.scrubbing = run.number;
  const pictures = [];
  for (let k = 0; k < count; k++) {
    await shown(run.number, run.start + (k * (run.t - run.start)) / (count - 1));
    pictures.push(pixels(view));
    tell(k / count);
  }
  view.setBackdrop(null);
  const hundredths = Math.max(2, Math.round((100 * (run.t - run.start)) / count));
  download(gif(pictures, hundredths), `${state.design.name}_run-${run.number}.gif`);
}

/** Wait until the robot is posed as it was at a time. */
function shown(number, t) {
  const arrived = new Promise((done) => connection.once("frame", done));
  send("scrub", { run: number, t });
  return arrived;
}

/** What the view shows, drawn now. */
function pixels(view) {
  view.still();
  const { width, height } = view.canvas;
  const scale = Math.min(1, WIDEST / width);
  const paper = new OffscreenCanvas(Math.round(scale * width), Math.round(scale * height));
  const ink = paper.getContext("2d", { willReadFrequently: true });
  ink.drawImage(view.canvas, 0, 0, paper.width, paper.height);
  return ink.getImageData(0, 0, paper.width, paper.height);
}
