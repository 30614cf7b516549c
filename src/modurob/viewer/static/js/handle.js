// A ball at a frame of the robot that can be dragged in the plane of the screen.

import * as THREE from "three";
import { multiply } from "./poses.js";

export class Handle {
  /** `pulled(x, y, z)` is told where the ball is dragged to, in the world. */
  constructor(view, pulled) {
    this.view = view;
    this.frame = null;
    this.ball = new THREE.Mesh(
      new THREE.SphereGeometry(1, 24, 16),
      new THREE.MeshBasicMaterial({ color: 0xf59e0b, transparent: true, opacity: 0.85, depthTest: false }),
    );
    this.ball.renderOrder = 5;
    this.ball.visible = false;
    view.scene.add(this.ball);
    const { canvas } = view;
    canvas.addEventListener("pointerdown", (e) => this.#take(e), { capture: true });
    canvas.addEventListener("pointermove", (e) => this.#drag(e, pulled));
    for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, () => this.#drop(), { capture: true });
  }

  /** The frame that it is at; none hides it. */
  setFrame(frame) {
    this.frame = frame;
    this.place();
    this.view.draw();
  }

  /** To where the frame is; where it is dragged to while it is. */
  place() {
    this.ball.visible = Boolean(this.frame);
    if (!this.frame || this.plane) return;
    const X = new Float32Array(16);
    multiply(X, 0, this.view.poses, 12 * this.frame.body, this.frame.X, 0);
    this.ball.position.set(X[12], X[13], X[14]);
    this.ball.scale.setScalar(0.16 * this.view.size);
  }

  #ray(event) {
    const { left, top, width, height } = this.view.canvas.getBoundingClientRect();
    const at = new THREE.Vector2((2 * (event.clientX - left)) / width - 1, 1 - (2 * (event.clientY - top)) / height);
    const ray = new THREE.Raycaster();
    ray.setFromCamera(at, this.view.camera.lens);
    return ray;
  }

  #take(event) {
    if (event.button !== 0 || !this.ball.visible || !this.#ray(event).intersectObject(this.ball).length) return;
    const towards = this.view.camera.lens.getWorldDirection(new THREE.Vector3());
    this.plane = new THREE.Plane().setFromNormalAndCoplanarPoint(towards, this.ball.position);
    this.view.camera.controls.enabled = false;
    this.view.canvas.setPointerCapture(event.pointerId);
  }

  #drag(event, pulled) {
    if (!this.plane) return;
    const to = this.#ray(event).ray.intersectPlane(this.plane, new THREE.Vector3());
    if (!to) return;
    this.ball.position.copy(to);
    pulled(...to.toArray());
    this.view.draw();
  }

  #drop() {
    if (!this.plane) return;
    this.plane = null;
    this.view.camera.controls.enabled = true;
    this.place();
    this.view.draw();
  }
}
