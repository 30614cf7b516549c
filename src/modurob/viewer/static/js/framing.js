// What the camera is to see: the bounds of the robot, fitted and followed; ground and light go along.

import * as THREE from "three";
import { corners, tips } from "./bounds.js";
import { ends } from "./cables.js";
import { KNOB } from "./shapes.js";

const FINEST = 6; // cells of the floor in the radius of a robot, at most
const GLIDE = 0.12; // part of the way that the view makes good in a picture
const LOOK = 250; // milliseconds between looks whether the robot is still in view

export class Framing {
  constructor(view) {
    this.view = view;
    this.extent = null; // all that is to be in view, where that is known
    this.centre = null; // of mass, as the view follows it
  }

  /** Another robot; one with another number is fitted anew. */
  reset(another) {
    this.extent = this.centre = null;
    this.pending = another;
    this.unsettled = true;
    if (another) this.view.camera.reset();
  }

  /** The poses have changed. */
  update() {
    if (this.unsettled) this.#settle();
    if (this.view.design.floating) this.#follow();
    if (this.pending) this.fit();
    else this.#lookSoon();
  }

  /** The corners of all shapes and the tips of the free ports, in the world. */
  points() {
    const { meshes, cables, guides, poses, visible, ports, size } = this.view;
    const points = meshes.flatMap(corners).concat(ends(cables, poses), guides.points(poses));
    return visible.ports ? points.concat(tips(ports, 1.5 * KNOB * size)) : points;
  }

  bounds() {
    const box = new THREE.Box3().setFromArray(this.extent ?? this.points());
    return box.isEmpty() ? new THREE.Box3(new THREE.Vector3(-0.1, -0.1, -0.1), new THREE.Vector3(0.1, 0.1, 0.1)) : box;
  }

  /** Everything in view, seen from the present direction. */
  fit() {
    this.pending = false;
    const { camera, ground, size } = this.view;
    const points = this.extent ?? this.points();
    const lowest = points.reduce((low, z, i) => (i % 3 === 2 ? Math.min(low, z) : low), ground.group.position.z);
    // a robot that reaches through the floor must be seen there too
    camera.floor = this.#under(lowest);
    camera.fit(points, size);
  }

  /** Where the robot will be is known: what is fitted is all of it; `refit` looks at it anew. */
  spanOver(many, refit) {
    const { marks, design } = this.view;
    const extent = [];
    const start = marks.centreOfMass(many[0]);
    for (const poses of many) {
      this.view.place(poses);
      const moved = design.floating ? marks.centreOfMass(poses).sub(start).toArray() : [0, 0, 0];
      // the view goes along with a robot that floats
      this.points().forEach((x, i) => extent.push(x - moved[i % 3]));
    }
    this.extent = extent;
    this.unsettled = true;
    this.pending ||= refit;
  }

  /** A robot that was fitted and moves out of view is fitted again; looked at now and then, since it moves often. */
  #lookSoon() {
    if (this.extent) return;
    this.look ||= setTimeout(() => {
      this.look = 0;
      if (this.view.camera.fitted && this.view.posed && this.view.cutOff()) this.fit();
    }, LOOK);
  }

  /** What the camera does not go below. */
  #under(lowest) {
    const { design, floor, ground } = this.view;
    if (design.floating && (!floor || floor.slope)) return -Infinity;
    return Math.min(lowest, ground.group.position.z);
  }

  /** Ground and light follow the robot's size and place; a robot that floats stands on no ground. */
  #settle() {
    this.unsettled = false;
    const { camera, design, floor, ground, light, size } = this.view;
    const box = this.bounds();
    const sphere = box.getBoundingSphere(new THREE.Sphere());
    ground.place(box, Math.max(size, sphere.radius / FINEST));
    ground.group.visible = !design.floating || Boolean(floor);
    ground.lie(floor);
    camera.floor = this.#under(box.min.z);
    light.settle(sphere);
  }

  /** The view goes along with the centre of mass of a robot that floats. */
  #follow() {
    const { camera, floor, ground, light, marks, poses, size } = this.view;
    const centre = marks.centreOfMass(poses);
    this.travelled = centre.clone();
    if (this.centre) {
      const step = centre.clone().sub(this.centre);
      // on the ground the view glides along, and does not shake with every step
      if (floor && step.length() < size) step.multiplyScalar(GLIDE);
      camera.follow(step);
      light.follow(step);
      if (floor) ground.follow(step);
      centre.copy(this.centre).add(step);
    }
    this.centre = centre;
  }
}
