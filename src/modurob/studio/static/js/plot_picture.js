// A plot as a picture that can be printed: larger than on the page, with its title and legend.

import uPlot from "uplot";
import { options } from "./chart.js";
import { h } from "./dom.js";
import { colour } from "./theme.js";

const [WIDTH, HEIGHT] = [1600, 900]; // pixels of the plot
const SCALE = 2.2; // of letters and lines, against those on the page
const MARGIN = 24;
const LINE = 34; // pixels of a line of the legend

/** A PNG of some series; `data` as the plot has them. */
export async function plotPicture(title, series, data) {
  const ratio = devicePixelRatio;
  const chart = new uPlot(options(series, WIDTH / ratio, HEIGHT / ratio, SCALE / ratio), data, h("div", {}));
  // uPlot draws when the page is next idle
  await new Promise((done) => setTimeout(done));
  const picture = h("canvas", {});
  const pen = picture.getContext("2d");
  const places = legend(pen, series);
  picture.width = WIDTH + 2 * MARGIN;
  picture.height = HEIGHT + 3 * MARGIN + LINE * (places.at(-1)?.row + 2 || 1);
  pen.fillStyle = colour("surface");
  pen.fillRect(0, 0, picture.width, picture.height);
  pen.fillStyle = colour("text");
  pen.font = "600 28px system-ui";
  pen.fillText(title, MARGIN, MARGIN + 28);
  for (const place of places) drawEntry(pen, place);
  pen.drawImage(chart.ctx.canvas, MARGIN, picture.height - HEIGHT - MARGIN);
  chart.destroy();
  return new Promise((done) => picture.toBlob(done, "image/png"));
}

const FONT = "24px system-ui";

/** Where each entry of the legend goes, line by line. */
function legend(pen, series) {
  pen.font = FONT;
  let [x, row] = [MARGIN, 0];
  return series.map(({ label, stroke, dash }) => {
    const width = 90 + pen.measureText(label).width;
    if (x + width > WIDTH && x > MARGIN) [x, row] = [MARGIN, row + 1];
    const place = { label, stroke, dash, x, row };
    x += width;
    return place;
  });
}

function drawEntry(pen, { label, stroke, dash, x, row }) {
  const y = 2 * MARGIN + 28 + LINE * (row + 0.6);
  pen.strokeStyle = stroke;
  pen.lineWidth = 4;
  pen.setLineDash(dash.map((length) => SCALE * length));
  pen.beginPath();
  pen.moveTo(x, y - 8);
  pen.lineTo(x + 44, y - 8);
  pen.stroke();
  pen.font = FONT;
  pen.fillStyle = colour("text");
  pen.fillText(label, x + 54, y);
}
