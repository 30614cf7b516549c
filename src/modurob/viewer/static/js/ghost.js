// The module that a click would dock, shown faintly where it would stand.

import * as THREE from "three";
import { geometryOf } from "./shapes.js";
import { matrix } from "./poses.js";

export class Ghost {
  constructor() {
    this.group = new THREE.Group();
    this.material = new THREE.MeshStandardMaterial({
      color: 0x9fb4c8,
      transparent: true,
      opacity: 0.45,
      depthWrite: false,
    });
  }

  hide() {
    for (const mesh of this.group.children) mesh.geometry.dispose();
    this.group.clear();
  }

  /** A module type docked by port `by`, turned by `roll` degrees, at a port whose pose in the world is the matrix `at`. */
  show(type, by, roll, at) {
    this.hide();
    const port = type.ports.find((p) => p.name === by);
    if (!port) return;
    // the ports look at each other: X_at Rot(z; roll) Rot(x; pi) X_by^-1
    const pose = at
      .clone()
      .multiply(new THREE.Matrix4().makeRotationZ((roll * Math.PI) / 180))
      .multiply(new THREE.Matrix4().makeRotationX(Math.PI))
      .multiply(matrix(port.X).invert());
    for (const shape of type.shapes) {
      const mesh = new THREE.Mesh(geometryOf(shape), this.material);
      mesh.matrixAutoUpdate = false;
      mesh.matrix.multiplyMatrices(pose, matrix(shape.X));
      this.group.add(mesh);
    }
  }
}
