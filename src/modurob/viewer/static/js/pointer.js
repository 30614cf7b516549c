// What the pointer is over, and what its clicks mean; and where things appear on the screen.

import * as THREE from "three";
import { KNOB } from "./shapes.js";

const CLICK = 4; // pixels that a click may travel

export class Pointer {
  constructor(view) {
    this.view = view;
    this.hovered = null; // the name of the port that it is over
    this.#listen();
  }

  #listen() {
    let down = null;
    this.view.canvas.addEventListener("pointerdown", (e) => {
      down = [e.clientX, e.clientY];
    });
    this.view.canvas.addEventListener("pointerup", (e) => {
      const travelled = down && Math.hypot(e.clientX - down[0], e.clientY - down[1]);
      down = null;
      if (travelled === null || travelled > CLICK || e.button !== 0) return;
      const hit = this.#hit(e);
      if (hit?.port) this.view.on.port(hit.port.ref);
      else if (hit?.module) this.view.on.module(hit.module);
      else this.view.on.empty();
    });
    this.view.canvas.addEventListener("dblclick", (e) => {
      const hit = this.#hit(e);
      if (!hit?.module) return;
      this.view.on.module(hit.module); // both clicks chose it, and gave it up
      this.view.camera.focus(hit.at, 5 * this.view.size);
    });
    let moved = null;
    this.view.canvas.addEventListener("pointermove", (e) => {
      if (e.buttons || e.pointerType === "touch") return;
      if (!moved)
        requestAnimationFrame(() => {
          const hit = this.#hit(moved);
          this.hover(hit?.port ?? null);
          this.over(hit?.module ? hit : null);
          moved = null;
        });
      moved = e;
    });
    this.view.canvas.addEventListener("pointerleave", () => this.leave());
  }

  /** Nothing is pointed at. */
  leave() {
    this.hover(null);
    this.over(null);
  }

  /** A shape is pointed at, or none: the axes of the joints of its module, and of the one that moves its body, are shown. */
  over(hit) {
    const joints = hit
      ? (this.view.design.joints ?? []).filter(({ name, body }) => body === hit.body || name.startsWith(`${hit.module}/`))
      : [];
    const names = joints.map(({ name }) => name).join();
    if (names === (this.pointed ?? "")) return;
    this.pointed = names;
    this.view.showAxes(joints);
    this.view.on.over?.(joints);
  }

  /** Another port is pointed at, or none. */
  hover(port) {
    if (this.hovered === (port?.ref ?? null)) return;
    this.hovered = port?.ref ?? null;
    this.view.canvas.style.cursor = port ? "pointer" : "";
    this.view.on.hover(port);
    this.view.paint();
  }

  /** What is under the pointer: ports and bodies together, so that a hidden port cannot be hit. */
  #hit(event) {
    const { left, top, width, height } = this.view.canvas.getBoundingClientRect();
    const at = new THREE.Vector2((2 * (event.clientX - left)) / width - 1, 1 - (2 * (event.clientY - top)) / height);
    const ray = new THREE.Raycaster();
    ray.setFromCamera(at, this.view.camera.lens);
    const things = this.view.visible.ports && this.view.free.length ? [...this.view.meshes, this.view.ports] : this.view.meshes;
    const hit = ray.intersectObjects(things, false)[0];
    if (!hit) return null;
    if (hit.object === this.view.ports) return { port: this.view.free[hit.instanceId] };
    const { module, body } = hit.object.userData.shapes[hit.instanceId];
    return { module: this.view.design.modules[module].name, body, at: hit.point };
  }

  /** Where something at twelve numbers X on a body appears, in pixels of the canvas. */
  pixel(body, X) {
    const out = this.view.inWorld(body, X);
    const p = new THREE.Vector3(out[12], out[13], out[14]).project(this.view.camera.lens);
    const { clientWidth, clientHeight } = this.view.canvas;
    return { x: ((p.x + 1) / 2) * clientWidth, y: ((1 - p.y) / 2) * clientHeight, behind: p.z > 1 };
  }

  /** Where the ball of a port appears. */
  portPixel(ref) {
    const port = this.view.design.ports.find((p) => p.ref === ref);
    if (!port) return null;
    const X = port.X.slice();
    for (let row = 0; row < 3; row++) X[4 * row + 3] += KNOB * this.view.size * X[4 * row + 2];
    return this.pixel(port.body, X);
  }

  /** Where a port can be clicked: null if something else is in front of it. */
  clickable(ref) {
    const at = this.portPixel(ref);
    if (!at) return null;
    const { left, top } = this.view.canvas.getBoundingClientRect();
    const point = { clientX: left + at.x, clientY: top + at.y };
    return this.#hit(point)?.port?.ref === ref ? { x: point.clientX, y: point.clientY } : null;
  }
}
