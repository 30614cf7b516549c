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

  /** Of all that moves, in the world. */
  centreOfMass(poses) {
    const total = new THREE.Vector3();
    let mass = 0;
    for (const { index, centre, mass: own } of this.bodies) {
      if (index === 0) continue; // what stands in the world does not count
      const at = [0, 1, 2].map((row) => {
        const o = 12 * index + 4 * row;
        return poses[o] * centre[0] + poses[o + 1] * centre[1] + poses[o + 2] * centre[2] + poses[o + 3];
      });
      total.addScaledVector(new THREE.Vector3(...at), own);
      mass += own;
    }
    return mass ? total.divideScalar(mass) : total;
  }

  #placeBodies(poses) {
    this.bodies.forEach((body, i) => {
      const [x, y, z] = body.centre;
      const a = body.axes;
      const [p, q, r] = body.half;
      const at = [1, 0, 0, x, 0, 1, 0, y, 0, 0, 1, z];
      const X = [a[0] * p, a[1] * q, a[2] * r, x, a[3] * p, a[4] * q, a[5] * r, y, a[6] * p, a[7] * q, a[8] * r, z];
      multiply(this.centres.instanceMatrix.array, 16 * i, poses, 12 * body.index, at, 0);
      multiply(this.ellipsoids.instanceMatrix.array, 16 * i, poses, 12 * body.index, X, 0);
    });
    this.centre.setMatrixAt(0, new THREE.Matrix4().setPosition(this.centreOfMass(poses)));
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
