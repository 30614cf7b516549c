// The module that a click would dock, shown where it would stand: in its own colours, or red where it would be in the way.

import * as THREE from "three";
import { reach } from "./bounds.js";
import { box, overlap } from "./overlap.js";
import { matrix } from "./poses.js";
import { geometryOf } from "./shapes.js";

const RED = 0xdc2626;

export class Ghost {
  constructor() {
    this.group = new THREE.Group();
    this.clashes = false;
  }

  hide() {
    this.clashes = false;
    for (const mesh of this.group.children) {
      mesh.geometry.dispose();
      mesh.material.dispose();
    }
    this.group.clear();
  }

  /** A module type docked by port `by`, turned by `roll` degrees, at a port whose pose in the world is the matrix `at`; `others` are
   * the boxes of what is there. */
  show(type, by, roll, at, others = []) {
    this.hide();
    const port = type.ports.find((p) => p.name === by);
    if (!port) return;
    // the ports look at each other: X_at Rot(z; roll) Rot(x; pi) X_by^-1
    const pose = at
      .clone()
      .multiply(new THREE.Matrix4().makeRotationZ((roll * Math.PI) / 180))
      .multiply(new THREE.Matrix4().makeRotationX(Math.PI))
      .multiply(matrix(port.X).invert());
    const placed = type.shapes.map((shape) => pose.clone().multiply(matrix(shape.X)));
    const own = type.shapes.map((shape, i) => box(reach(shape), placed[i]));
    this.clashes = own.some((one) => others.some((other) => overlap(one, other)));
    type.shapes.forEach((shape, i) => {
      const mesh = new THREE.Mesh(geometryOf(shape), faint(this.clashes ? RED : shape.colour));
      mesh.matrixAutoUpdate = false;
      mesh.matrix.copy(placed[i]);
      this.group.add(mesh);
    });
  }
}

const faint = (color) =>
  new THREE.MeshStandardMaterial({ color, transparent: true, opacity: 0.55, depthWrite: false, roughness: 0.6 });
