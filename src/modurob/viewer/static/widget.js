// A robot within a notebook: poses come from Python. Scripts are packed in here, and find each other as blobs.

const CODE = "__CODE__";
let loaded = null;

async function unpacked() {
  const bytes = Uint8Array.from(atob(CODE), (c) => c.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

/** The address of a script, after those that it imports: notebooks have no import map of ours. */
function addressOf(name, files, known) {
  known[name] ??= URL.createObjectURL(
    new Blob(
      [files[name].replace(/(from\s*|import\s*)(['"])([\w./]+)\2/g, (all, word, mark, other) =>
        files[other] === undefined ? all : `${word}${mark}${addressOf(other, files, known)}${mark}`,
      )],
      { type: "text/javascript" },
    ),
  );
  return known[name];
}

async function scripts() {
  const files = await unpacked();
  const known = {};
  const [{ View }, { drawnInSoftware }] = await Promise.all(
    ["view", "detail"].map((name) => import(addressOf(`modurob/${name}.js`, files, known))),
  );
  return { View, drawnInSoftware };
}
const load = () => (loaded ??= scripts());
const quiet = { port() {}, module() {}, empty() {}, hover() {}, slow() {} };
const numbers = (view) => new Float32Array(view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength));

async function render({ model, el }) {
  const { View, drawnInSoftware } = await load();
  const canvas = document.createElement("canvas");
  canvas.tabIndex = 0;
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", `${model.get("design").name} in 3D: drag turns the view, the wheel zooms`);
  Object.assign(canvas.style, { display: "block", width: "100%", height: "100%" });
  const stage = document.createElement("div");
  Object.assign(stage.style, { position: "relative", height: `${model.get("height")}px`, borderRadius: "8px", overflow: "hidden" });
  stage.append(canvas);
  el.append(stage);
  const view = new View(canvas, quiet, drawnInSoftware());
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  const theme = () => {
    stage.style.background = scheme.matches ? "linear-gradient(#1c232b, #0f1419)" : "linear-gradient(#fdfdfe, #e3e8ee)";
    view.setTheme(scheme.matches ? "dark" : "light");
  };
  const show = () => view.setPoses(numbers(model.get("poses")));
  view.setRobot(model.get("design"));
  show();
  theme();
  model.on("change:poses", show);
  scheme.addEventListener("change", theme);
  stage.view = view; // for tests
  return () => {
    model.off("change:poses", show);
    scheme.removeEventListener("change", theme);
    view.renderer.dispose();
  };
}

export default { render };
