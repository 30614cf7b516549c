// The robot in 3D: instanced shapes moved by the poses of their bodies, ports to click, drawn only when something changed.

import * as THREE from "three";
import { Anchor } from "./anchor.js";
import { Axes } from "./axes.js";
import { breadth, reach } from "./bounds.js";
import { Cables } from "./cables.js";
import { Camera } from "./camera.js";
import { Contacts } from "./contacts.js";
import { Framing } from "./framing.js";
import { Ghost } from "./ghost.js";
import { Ground } from "./ground.js";
import { Guides } from "./guides.js";
import { Light, environment } from "./light.js";
import { Marks } from "./marks.js";
import { box as boxOf } from "./overlap.js";
import { Plates } from "./plates.js";
import { Pointer } from "./pointer.js";
import { IDENTITY, multiply } from "./poses.js";
import { Torques } from "./torques.js";
import { Trails } from "./trails.js";
import { alike, discard, instanced, placeAll, rings } from "./pieces.js";
import { makeRenderer } from "./renderer.js";

const COLOURS = {
  light: { port: 0x0d9488, unfit: 0x9aa5b1, hover: 0xf59e0b, lit: 0xc026d3, grid: 0x5b6b7d, selected: 0x0b6e69 },
  dark: { port: 0x2dd4bf, unfit: 0x56616f, hover: 0xfbbf24, lit: 0xe879f9, grid: 0x8a99a9, selected: 0x5ad1c6 },
};

export class View {
  /**
   * `on` has port(ref), module(name), empty() and hover(port or null) for what the pointer does, slow() for when pictures take
   * too long, and resize(); `low` is the detail to begin with.
   */
  constructor(canvas, on, low) {
    this.canvas = canvas;
    this.on = on;
    this.low = low;
    this.renderer = makeRenderer(canvas, low);
    this.renderer.shadowMap.type = THREE.PCFShadowMap;
    this.scene = new THREE.Scene();
    this.camera = new Camera(canvas, () => this.draw());
    this.robot = new THREE.Group();
    this.ground = new Ground();
    this.marks = new Marks();
    this.ghost = new Ghost();
    this.light = new Light();
    this.cables = new Cables();
    this.guides = new Guides();
    this.contacts = new Contacts();
    this.plates = new Plates();
    this.torques = new Torques();
    this.axes = new Axes();
    this.anchor = new Anchor();
    this.trails = new Trails();
    const robot = [this.cables, this.guides, this.plates, this.marks, this.ghost, this.axes, this.torques, this.contacts];
    const drawn = [...robot, this.anchor, this.ground, this.light, this.trails];
    this.scene.add(this.robot, ...drawn.map(({ group }) => group));
    this.framing = new Framing(this);
    this.meshes = [];
    this.poses = new Float32Array(IDENTITY);
    this.design = null;
    this.ports = null;
    this.visible = { ports: true, frames: false, centres: false, ellipsoids: false, contacts: true, tensions: true, torques: false };
    this.theme = "light";
    this.frames = 0;
    this.selected = null;
    this.lit = new Set(); // bodies
    this.fits = () => true;
    this.ground.setLow(low);
    this.pointer = new Pointer(this);
    new ResizeObserver(() => this.#resize()).observe(canvas.parentElement);
    this.#resize();
  }

  /** A view that keeps its size and the pixels it was given: for pictures. */
  fix() {
    const { clientWidth, clientHeight } = this.canvas.parentElement;
    this.fixed = true;
    this.renderer.setSize(clientWidth, clientHeight, false);
    this.camera.resize(clientWidth, clientHeight);
  }

  // ---- what is shown ----

  /** A new robot: one instanced mesh for each kind and size of shape. */
  setRobot(design) {
    const another = this.design?.number !== design.number;
    if (this.design) this.pointer.leave();
    this.framing.reset(another);
    this.design = design;
    this.floor = design.floor ?? null;
    this.posed = false;
    this.meshes.forEach(discard);
    this.robot.clear();
    this.meshes = alike(design.shapes).map((shapes) => instanced(shapes, design.meshes, this.low));
    this.#makePorts(design.ports);
    this.base = this.#heldFrame(design);
    this.marks.setRobot(design);
    this.cables.setRobot(design.cables, this.size);
    this.guides.setRobot(design.guides ?? [], this.size);
    this.plates.setRobot(design.ports, this.size, this.low);
    this.torques.setRobot(design.joints, this.size);
    this.axes.setRobot(this.size);
    this.trails.set([]);
    this.contacts.setRobot(this.size, 9.81 * design.bodies.reduce((sum, { mass }) => sum + mass, 0));
    if (this.meshes.length) this.robot.add(...this.meshes);
    this.paint();
  }

  #makePorts(ports) {
    this.free = ports.filter((port) => port.holds === null);
    this.size = this.#moduleSize();
    if (this.ports) {
      discard(this.ports);
      this.scene.remove(this.ports);
    }
    this.ports = rings(this.free, this.size, this.low);
    this.scene.add(this.ports);
  }

  /** Show where a module would stand, or nothing. */
  preview(port, type, by, roll) {
    if (port) this.ghost.show(type, by, roll, new THREE.Matrix4().fromArray(this.inWorld(port.body, port.X)), this.#boxes());
    else this.ghost.hide();
    this.draw();
  }

  /** The boxes around all shapes, in the world. */
  #boxes() {
    return this.meshes.flatMap((mesh) => {
      const half = reach(mesh.userData.shapes[0]);
      const placed = new THREE.Matrix4();
      return mesh.userData.shapes.map((_, i) => (mesh.getMatrixAt(i, placed), boxOf(half, placed)));
    });
  }

  #moduleSize() {
    const sizes = this.design.shapes.map(breadth).sort((a, b) => a - b);
    return sizes.length ? sizes[Math.floor(sizes.length / 2)] : 0.1;
  }

  /** What the lines pull with [N]. */
  setTensions(tensions) {
    this.cables.setTensions(tensions);
    if (this.posed) this.cables.setPoses(this.poses);
    this.draw();
  }

  /** The ground that a floating robot stands on: its `slope` along x [rad] and its `height` [m], under the robot if none is given;
   * null: there is none. */
  setFloor(floor) {
    if (JSON.stringify(floor) === JSON.stringify(this.floor)) return;
    this.floor = floor;
    this.contacts.clear();
    this.framing.unsettled = true;
    if (this.posed) this.setPoses(this.poses);
  }

  /** Where the robot touches the ground, seven numbers for each point. */
  setContacts(touching) {
    this.contacts.set(touching, this.floor?.slope ?? 0);
    this.draw();
  }

  /** What the drives give, by rate [N m or N]; drawn with the poses that come next. */
  setTorques(tau) {
    this.tau = tau;
  }

  /** Poses of the bodies, twelve numbers each. */
  setPoses(poses) {
    this.posed = true;
    this.place(poses);
    placeAll(this.ports, this.free, poses);
    this.marks.setPoses(poses, this.visible);
    this.cables.setPoses(poses);
    this.guides.setPoses(poses);
    this.plates.setPoses(poses);
    this.axes.setPoses(poses);
    this.torques.set(poses, this.visible.torques ? this.tau : null);
    this.framing.update();
    this.#hold();
    this.draw();
  }

  /** The shapes alone, where these poses have them. */
  place(poses) {
    this.poses = poses;
    for (const mesh of this.meshes) placeAll(mesh, mesh.userData.shapes, poses);
  }

  /** What holds the base of a robot that stands. */
  #hold() {
    const at = this.base && [...this.inWorld(this.base.body, this.base.X).slice(12, 15)];
    this.anchor.place(at, this.ground.group.position.z, this.size);
  }

  /** The frame that is held in the world: none of robots that float, nor of a base that is all around it, as that of cables. */
  #heldFrame({ floating, base, frames, modules, shapes }) {
    const held = floating ? undefined : frames.find(({ name }) => name === base);
    if (!held) return null;
    const own = shapes.filter((shape) => shape.body === held.body && modules[shape.module].name === base);
    const far = ({ X }) => Math.hypot(...[3, 7, 11].map((i) => X[i] - held.X[i]));
    return !own.length || own.some((shape) => far(shape) < 2 * this.size) ? held : null;
  }

  /** Where the robot will be is known: what is fitted is all of it; `refit` looks at it anew. */
  spanOver(many, refit) {
    this.framing.spanOver(many, refit);
  }

  /** Light these bodies, and show the axes of the joints that move them. */
  setLit(bodies) {
    this.lit = new Set(bodies);
    this.showAxes((this.design?.joints ?? []).filter(({ body }) => this.lit.has(body)));
    if (this.design) this.paint();
  }

  /** The axes of joints that something pointed at has. */
  showAxes(joints) {
    this.axes.show(joints);
    this.axes.setPoses(this.poses);
    this.draw();
  }

  /** The paths of frames in the run that is shown, and the time that it is shown at [s]. */
  setTrails(paths) {
    this.trails.set(paths);
    this.draw();
  }

  /** Colours of shapes and ports, after the selection, the hover or the theme changed. */
  paint() {
    const palette = COLOURS[this.theme];
    const colour = new THREE.Color();
    const [glow, lit] = [palette.selected, palette.lit].map((hex) => new THREE.Color(hex));
    for (const mesh of this.meshes) {
      mesh.userData.shapes.forEach((shape, i) => {
        colour.set(shape.colour);
        if (this.design.modules[shape.module].name === this.selected) colour.lerp(glow, 0.55);
        if (this.lit.has(shape.body)) colour.lerp(lit, 0.75);
        mesh.setColorAt(i, colour);
      });
      mesh.instanceColor.needsUpdate = true;
    }
    this.free?.forEach((port, i) => {
      const hex = port.ref === this.pointer.hovered ? palette.hover : this.fits(port) ? palette.port : palette.unfit;
      this.ports.setColorAt(i, colour.set(hex));
    });
    if (this.ports?.instanceColor) this.ports.instanceColor.needsUpdate = true;
    if (this.ports) this.ports.visible = this.visible.ports;
    this.draw();
  }

  setTheme(theme) {
    this.theme = theme;
    this.#mirror();
    this.ground.setColour(COLOURS[theme].grid, theme === "dark" ? 0.5 : 0.3);
    if (this.design) this.paint();
  }

  /** In high detail surfaces mirror a room, unless the view is `plain`, and bright spots keep their colour. */
  #mirror() {
    const mirrored = !this.low && !this.plain && !this.renderer.blind;
    if (mirrored) this.room ??= environment(this.renderer);
    this.scene.environment = mirrored ? this.room : null;
    this.scene.environmentIntensity = this.theme === "dark" ? 0.45 : 0.6;
    this.renderer.toneMapping = this.low ? THREE.NoToneMapping : THREE.NeutralToneMapping;
    this.light.set(this.low ? "low" : this.plain ? "plain" : "room", this.theme === "dark");
  }

  setSelected(name) {
    this.selected = name;
    if (this.design) this.paint();
  }

  setFits(fits) {
    this.fits = fits;
    if (this.design) this.paint();
  }

  setVisible(what, visible) {
    this.visible[what] = visible;
    if (!this.ports) return;
    this.ports.visible = this.visible.ports;
    this.contacts.group.visible = this.visible.contacts;
    this.cables.pulls.group.visible = this.visible.tensions;
    this.marks.setPoses(this.poses, this.visible);
    this.torques.set(this.poses, this.visible.torques ? this.tau : null);
    this.draw();
  }

  /** Fewer pixels, no shadows: for machines without a graphics card. */
  setLow(low) {
    this.low = low;
    this.ground.setLow(low);
    this.#mirror();
    this.#resize();
    if (!this.design) return;
    this.setRobot(this.design);
    this.setPoses(this.poses);
  }

  // ---- the camera ----

  /** The corners of all shapes and the tips of the free ports, in the world. */
  points() {
    return this.framing.points();
  }

  /** Everything in view, seen from the present direction. */
  fit() {
    this.framing.fit();
  }

  /** Whether something is out of sight, or under what is written at the edges. */
  cutOff() {
    return this.camera.hides(this.points());
  }

  /** Another stage, or other captions on it: a view that was fitted still is, one that was turned by hand stays. */
  setInsets(insets) {
    this.camera.setInsets(insets);
    const stage = JSON.stringify(this.camera.free());
    if (this.camera.fitted && this.posed && stage !== this.stage) this.fit();
    this.stage = stage;
    this.draw();
  }

  /** All of it, seen from a side: (x, y, z) points to the camera. */
  lookFrom(direction) {
    this.camera.lookFrom(direction);
    this.fit();
  }

  /** Without perspective, or with it; what is looked at stays as large. */
  setParallel(parallel) {
    this.camera.setParallel(parallel);
  }

  orbit(right, up) {
    this.camera.orbit(right, up);
  }

  zoom(factor) {
    this.camera.zoom(factor);
  }

  // ---- drawing ----

  draw() {
    if (!this.waiting && !this.onDemand) this.waiting = requestAnimationFrame(() => this.#render());
  }

  #render() {
    this.waiting = 0;
    this.frames++;
    this.#watch(performance.now());
    const shadows = !this.low;
    if (this.renderer.shadowMap.enabled !== shadows) {
      this.renderer.shadowMap.enabled = this.light.sun.castShadow = shadows;
      for (const mesh of this.meshes) mesh.material.needsUpdate = true;
    }
    this.renderer.render(this.scene, this.camera.lens);
    this.afterDraw?.();
  }

  /** Tell when pictures that follow each other take too long, a second at a stretch. */
  #watch(now) {
    const took = now - (this.before ?? 0);
    this.before = now;
    this.slow = took > 50 && took < 1000 ? (this.slow ?? 0) + took : 0;
    if (this.slow > 1000 && !this.low) this.on.slow();
  }

  #resize() {
    const { clientWidth, clientHeight } = this.canvas.parentElement;
    if (!clientWidth || !clientHeight || this.fixed) return;
    this.renderer.setPixelRatio(this.low ? 0.5 : Math.min(devicePixelRatio, 2));
    this.renderer.setSize(clientWidth, clientHeight, false);
    this.camera.resize(clientWidth, clientHeight);
    this.on.resize?.();
    this.draw();
  }

  /** The present picture as a PNG, `scale` times as fine as on the screen. */
  picture(scale = 1) {
    const ratio = this.renderer.getPixelRatio();
    this.renderer.setPixelRatio(scale * Math.max(ratio, 1));
    this.#render();
    const made = new Promise((done) => this.canvas.toBlob(done, "image/png"));
    return made.finally(() => {
      this.renderer.setPixelRatio(ratio);
      this.draw();
    });
  }

  /** A colour behind the robot, for films; null: what the page has there. */
  setBackdrop(colour) {
    this.scene.background = colour ? new THREE.Color(colour) : null;
    this.draw();
  }

  /** The present picture as the address of a PNG, drawn now; `onDemand` draws no others. */
  still() {
    this.#render();
    return this.canvas.toDataURL("image/png");
  }

  /** Something at twelve numbers X on a body, as a matrix in the world. */
  inWorld(body, X) {
    const out = new Float32Array(16);
    multiply(out, 0, this.poses, 12 * body, X, 0);
    return out;
  }

  /** Where something at twelve numbers X on a body appears, in pixels of the canvas. */
  pixel(body, X) {
    return this.pointer.pixel(body, X);
  }

  /** Where the ball of a port appears. */
  portPixel(ref) {
    return this.pointer.portPixel(ref);
  }

  /** Where a port can be clicked: null if something else is in front of it. */
  clickable(ref) {
    return this.pointer.clickable(ref);
  }
}
