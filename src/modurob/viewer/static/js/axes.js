// Axes of joints that are pointed at: long thin rods through the joint, over everything.

import * as THREE from "three";
import { matrix } from "./poses.js";

const COLOUR = 0xd97706;
const LONG = 3; // in sizes of a module
const Y = new THREE.Vector3(0, 1, 0);

export class Axes {
  constructor() {
    this.group = new THREE.Group();
    this.joints = [];
  }

  /** For a robot with modules of this size [m]. */
  setRobot(size) {
    this.clear();
    this.size = size;
  }

  clear() {
    for (const rod of this.group.children) {
      rod.geometry.dispose();
      rod.material.dispose();
    }
    this.group.clear();
    this.joints = [];
  }

  /** The axes of these joints, which have a body and an axis there. */
  show(joints) {
    this.clear();
    this.joints = joints.filter(({ axis }) => axis);
    for (const { axis } of this.joints) {
      const rod = new THREE.Mesh(
        new THREE.CylinderGeometry(0.025 * this.size, 0.025 * this.size, LONG * this.size, 8),
        new THREE.MeshBasicMaterial({ color: COLOUR, depthTest: false, transparent: true, opacity: 0.9 }),
      );
      rod.userData.turn = new THREE.Quaternion().setFromUnitVectors(Y, new THREE.Vector3(...axis));
      rod.renderOrder = 3;
      rod.matrixAutoUpdate = false;
      this.group.add(rod);
    }
  }

  setPoses(poses) {
    this.group.children.forEach((rod, i) => {
      const { body } = this.joints[i];
      const own = new THREE.Matrix4().makeRotationFromQuaternion(rod.userData.turn);
      rod.matrix.copy(matrix([...poses.slice(12 * body, 12 * body + 12)])).multiply(own);
      rod.matrixWorldNeedsUpdate = true;
    });
  }
}
