// What can be laid over the robot: module frames, centres of mass, inertia ellipsoids.

import * as THREE from "three";
import { multiply } from "./poses.js";

export class Marks {
  constructor() {
    this.group = new THREE.Group();
  }

  setRobot(design) {
    for (const child of this.group.children) {
      child.geometry.dispose();
      child.material.dispose();
    }
    this.group.clear();
    this.size = 0.1;
    if (design.shapes.length) this.size = Math.max(...design.shapes[0].size);
    this.bodies = design.bodies.map((body, index) => ({ ...body, index })).filter((body) => body.mass > 0);
    this.modules = design.frames;
    this.frames = this.#axes(this.modules.length);
    this.centres = instances(new THREE.SphereGeometry(0.11 * this.size, 20, 12), 0xd946ef, this.bodies.length, 1);
    this.ellipsoids = instances(new THREE.SphereGeometry(1, 28, 18), 0x7c3aed, this.bodies.length, 0.32);
    this.centre = instances(new THREE.OctahedronGeometry(0.2 * this.size), 0xf97316, 1, 1);
    for (const mesh of [this.centres, this.centre]) mesh.material.depthTest = false;
    this.group.add(this.frames, this.centres, this.ellipsoids, this.centre);
  }

  /** Three lines for each module: x red, y green, z blue. */
  #axes(count) {
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(18 * count), 3));
    const rgb = [0.86, 0.15, 0.15, 0.13, 0.6, 0.25, 0.15, 0.4, 0.95];
    const colours = Array.from({ length: count }, () =>
      [0, 0, 1, 1, 2, 2].flatMap((k) => rgb.slice(3 * k, 3 * k + 3)),
    ).flat();
    geometry.setAttribute("color", new THREE.BufferAttribute(new Float32Array(colours), 3));
    const lines = new THREE.LineSegments(
      geometry,
      new THREE.LineBasicMaterial({ vertexColors: true, depthTest: false }),
    );
    lines.frustumCulled = false;
    return lines;
  }

  setPoses(poses, visible) {
    this.frames.visible = visible.frames;
    this.centres.visible = this.centre.visible = visible.centres;
    this.ellipsoids.visible = visible.ellipsoids;
    if (visible.frames) this.#placeFrames(poses);
    if (visible.centres || visible.ellipsoids) this.#placeBodies(poses);
  }

  #placeFrames(poses) {
    const position = this.frames.geometry.attributes.position;
    const X = new Float32Array(16);
    this.modules.forEach((frame, i) => {
      multiply(X, 0, poses, 12 * frame.body, frame.X, 0);
      for (let axis = 0; axis < 3; axis++) {
        for (let k = 0; k < 3; k++) {
          position.array[18 * i + 6 * axis + k] = X[12 + k];
          position.array[18 * i + 6 * axis + 3 + k] = X[12 + k] + 0.75 * this.size * X[4 * axis + k];
        }
      }
    });
    position.needsUpdate = true;
  }

  #placeBodies(poses) {
    const total = new THREE.Vector3();
    let mass = 0;
    this.bodies.forEach((body, i) => {
      const [x, y, z] = body.centre;
      multiply(
        this.centres.instanceMatrix.array,
        16 * i,
        poses,
        12 * body.index,
        [1, 0, 0, x, 0, 1, 0, y, 0, 0, 1, z],
        0,
      );
      const a = body.axes;
      const [p, q, r] = body.half;
      const X = [a[0] * p, a[1] * q, a[2] * r, x, a[3] * p, a[4] * q, a[5] * r, y, a[6] * p, a[7] * q, a[8] * r, z];
      multiply(this.ellipsoids.instanceMatrix.array, 16 * i, poses, 12 * body.index, X, 0);
      if (body.index === 0) return; // what stands in the world does not count
      const at = this.centres.instanceMatrix.array.subarray(16 * i + 12, 16 * i + 15);
      total.addScaledVector(new THREE.Vector3(...at), body.mass);
      mass += body.mass;
    });
    if (mass) total.divideScalar(mass);
    this.centre.setMatrixAt(0, new THREE.Matrix4().setPosition(total));
    for (const mesh of [this.centres, this.ellipsoids, this.centre]) mesh.instanceMatrix.needsUpdate = true;
  }
}

function instances(geometry, colour, count, opacity) {
  const material = new THREE.MeshStandardMaterial({ color: colour, roughness: 0.5, transparent: true, opacity });
  material.depthWrite = opacity === 1;
  const mesh = new THREE.InstancedMesh(geometry, material, Math.max(1, count));
  mesh.count = count;
  mesh.frustumCulled = false;
  return mesh;
}
