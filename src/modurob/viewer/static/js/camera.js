// Where the robot is seen from: fitted into the free part of the stage, never under the floor, never lost.

import * as THREE from "three";
import { OrbitControls } from "three/OrbitControls.js";

const ANGLE = 38; // vertical field of view [degrees]
const NARROW = 2; // so narrow that nothing is seen of perspective
const STANDARD = new THREE.Vector3(0.55, -0.8, 0.75).normalize(); // from the robot to the camera
const MARGIN = 0.82; // part of the free space that a fitted robot takes
const LEAST_FREE = 0.5; // part of the stage that captions leave to the robot, at least
const NEAREST = 1.2; // modules between the camera and the point it turns about
const FURTHEST = 8; // fitted distances

export class Camera {
  /** `changed` is called whenever the view is another. */
  constructor(canvas, changed) {
    this.canvas = canvas;
    this.changed = changed;
    this.lens = new THREE.PerspectiveCamera(ANGLE, 1, 0.005, 200);
    this.lens.up.set(0, 0, 1);
    this.lens.position.copy(STANDARD);
    this.controls = new OrbitControls(this.lens, canvas);
    this.controls.addEventListener("change", () => this.#moved());
    this.controls.addEventListener("start", () => {
      this.fitted = false;
    });
    this.insets = { left: 0, right: 0, top: 0, bottom: 0 };
    this.floor = -Infinity;
    this.fitted = true; // until the user turns or moves the view
  }

  /** Look from the standard direction again: another robot is shown. */
  reset() {
    this.lens.position.copy(this.controls.target).add(STANDARD);
    this.fitted = true;
  }

  /** From a side: (x, y, z) points from the robot to the camera; not quite straight down, where no side would be up. */
  lookFrom([x, y, z]) {
    const away = x || y ? new THREE.Vector3(x, y, z) : new THREE.Vector3(0, -1e-3, z);
    this.lens.position.copy(this.controls.target).add(away.normalize());
  }

  /** What captions cover at the edges of the stage [pixels]. */
  setInsets(insets) {
    this.insets = insets;
    this.#place();
  }

  resize(width, height) {
    [this.width, this.height] = [width, height];
    this.lens.aspect = width / height;
    this.#place();
  }

  /** Whether one of these points (x, y, z, x, ...) is out of sight, or under what is written at the edges. */
  hides(points) {
    const { left, top, width, height } = this.free();
    const p = new THREE.Vector3();
    for (let i = 0; i < points.length; i += 3) {
      p.fromArray(points, i).project(this.lens);
      const [x, y] = [((p.x + 1) / 2) * this.width - left, ((1 - p.y) / 2) * this.height - top];
      if (x < 0 || y < 0 || x > width || y > height || p.z > 1) return true;
    }
    return false;
  }

  /** The part of the stage that is free, as left, top, width and height [pixels]. */
  free() {
    const { left, right, top, bottom } = this.insets;
    const [x, y] = [left + right, top + bottom];
    const width = Math.max(this.width - x, LEAST_FREE * this.width);
    const height = Math.max(this.height - y, LEAST_FREE * this.height);
    const share = (part, whole, rest) => (whole ? (part / whole) * rest : 0);
    return { left: share(left, x, this.width - width), top: share(top, y, this.height - height), width, height };
  }

  /** The middle of the free part is what the camera looks at. */
  #place() {
    if (!this.width) return;
    const { left, top, width, height } = this.free();
    const [dx, dy] = [left + width / 2 - this.width / 2, top + height / 2 - this.height / 2];
    this.lens.setViewOffset(this.width, this.height, -dx, -dy, this.width, this.height);
  }

  /** All points (x, y, z, x, y, z, ...) in the free part, seen from the present side; `module` is the size of one. */
  fit(points, module) {
    if (!this.width || !points.length) return;
    const { width, height } = this.free();
    const slope = this.#slope() * MARGIN;
    const away = this.lens.position.clone().sub(this.controls.target).normalize();
    const right = new THREE.Vector3().crossVectors(this.lens.up, away).normalize();
    const up = new THREE.Vector3().crossVectors(away, right);
    const x = span(points, right, away, (slope * width) / this.height);
    const y = span(points, up, away, (slope * height) / this.height);
    const back = Math.max(x.back, y.back);
    const depth = (x.near + x.far) / 2;
    this.lens.position.copy(right.multiplyScalar(x.middle)).addScaledVector(up, y.middle).addScaledVector(away, back);
    this.controls.target.copy(this.lens.position).addScaledVector(away, depth - back);
    this.#limit(back - depth, module, x.near - x.far);
    this.fitted = true;
    this.controls.update();
    this.#moved();
  }

  /** How much of the height is seen at a distance of one, on one side. */
  #slope() {
    return Math.tan((this.lens.fov * Math.PI) / 360);
  }

  /** Without perspective: from so far away that lines stay parallel. */
  setParallel(parallel) {
    const before = this.#slope();
    this.lens.fov = parallel ? NARROW : ANGLE;
    const further = before / this.#slope();
    const { target } = this.controls;
    this.lens.position.sub(target).multiplyScalar(further).add(target);
    this.controls.minDistance *= further;
    this.controls.maxDistance *= further;
    this.#clip();
    this.controls.update();
    this.#moved();
  }

  /** Go near a point, seen from the present side: no nearer than `distance`. */
  focus(point, distance) {
    const offset = this.lens.position.clone().sub(this.controls.target);
    const far = (distance * Math.tan((ANGLE * Math.PI) / 360)) / this.#slope();
    this.controls.target.copy(point);
    this.lens.position.copy(point).add(offset.setLength(Math.min(offset.length(), far)));
    this.#byHand();
  }

  /** How near and how far one can go. */
  #limit(distance, module, deep) {
    const further = Math.tan((ANGLE * Math.PI) / 360) / this.#slope();
    this.deep = deep;
    this.controls.minDistance = Math.min(NEAREST * module * further, distance);
    this.controls.maxDistance = FURTHEST * distance;
    this.#clip();
  }

  /** What is drawn between near and far: where lines are parallel, near is far away too. */
  #clip() {
    const { minDistance, maxDistance } = this.controls;
    this.clear = 0.02 * minDistance;
    this.lens.near = this.lens.fov === NARROW ? 0.3 * minDistance : this.clear;
    this.lens.far = 2.25 * maxDistance + 10 * (this.deep ?? 0);
    this.lens.updateProjectionMatrix();
  }

  /** Go along with something that moves. */
  follow(step) {
    this.lens.position.add(step);
    this.controls.target.add(step);
  }

  orbit(right, up) {
    const offset = this.lens.position.clone().sub(this.controls.target);
    const s = new THREE.Spherical().setFromVector3(new THREE.Vector3(offset.x, offset.z, -offset.y));
    s.theta += right;
    s.phi = Math.min(Math.max(s.phi - up, 0.05), Math.PI - 0.05);
    const turned = new THREE.Vector3().setFromSpherical(s);
    this.lens.position.copy(this.controls.target).add(new THREE.Vector3(turned.x, -turned.z, turned.y));
    this.#byHand();
  }

  zoom(factor) {
    const { minDistance, maxDistance, target } = this.controls;
    const offset = this.lens.position.clone().sub(target);
    offset.setLength(Math.min(Math.max(offset.length() * factor, minDistance), maxDistance));
    this.lens.position.copy(target).add(offset);
    this.#byHand();
  }

  #byHand() {
    this.fitted = false;
    this.controls.update();
    this.#moved();
  }

  /** Neither the camera nor what it looks at goes under the floor. */
  #moved() {
    const lowest = this.floor + 2 * (this.clear ?? 0);
    const { target } = this.controls;
    if (target.z < this.floor) target.z = this.floor;
    if (this.lens.position.z < lowest) this.lens.position.z = lowest;
    this.lens.lookAt(target);
    this.changed();
  }
}

/** How far back along `away` points are seen within a slope on both sides of `axis`, and how deep they are. */
function span(points, axis, away, slope) {
  let [plus, minus, near, far] = [-Infinity, -Infinity, -Infinity, Infinity];
  for (let i = 0; i < points.length; i += 3) {
    const along = points[i] * axis.x + points[i + 1] * axis.y + points[i + 2] * axis.z;
    const out = points[i] * away.x + points[i + 1] * away.y + points[i + 2] * away.z;
    plus = Math.max(plus, along + slope * out);
    minus = Math.max(minus, -along + slope * out);
    near = Math.max(near, out);
    far = Math.min(far, out);
  }
  return { middle: (plus - minus) / 2, back: (plus + minus) / (2 * slope), near, far };
}
