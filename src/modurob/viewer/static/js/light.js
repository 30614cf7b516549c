// The light: a sky, a sun that throws shadows, and something from the other side.

import * as THREE from "three";

const FROM = new THREE.Vector3(0.9, -1.3, 2.2); // the sun, in sizes of the robot

export class Light {
  constructor() {
    this.sky = new THREE.HemisphereLight(0xffffff, 0xc3ccd6, 2.1);
    this.sun = new THREE.DirectionalLight(0xffffff, 1.9);
    this.sun.shadow.mapSize.set(1024, 1024);
    this.sun.shadow.radius = 4;
    this.sun.shadow.bias = -0.0005;
    this.sun.shadow.normalBias = 0.002;
    const fill = new THREE.DirectionalLight(0xdbe7ff, 0.7);
    fill.position.set(-2, -1, 0.6);
    this.group = new THREE.Group();
    this.group.add(this.sky, this.sun, this.sun.target, fill);
  }

  /** On a robot within a sphere. */
  settle({ center, radius }) {
    this.sun.position.copy(center).addScaledVector(FROM, 2 * radius);
    this.sun.target.position.copy(center);
    const reach = 2.2 * radius;
    const camera = this.sun.shadow.camera;
    Object.assign(camera, { left: -reach, right: reach, top: reach, bottom: -reach, near: 0.01, far: 12 * radius });
    camera.updateProjectionMatrix();
  }

  follow(step) {
    this.sun.position.add(step);
    this.sun.target.position.add(step);
  }
}
