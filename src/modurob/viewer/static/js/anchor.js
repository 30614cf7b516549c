// What holds a robot that does not float: a post from its base down to a plate on the ground, or a plate at a base far above it.

import * as THREE from "three";

const COLOUR = 0x5b6675;
const LONGEST = 2.5; // post, in sizes of a module

export class Anchor {
  constructor() {
    this.group = new THREE.Group();
    this.group.visible = false;
    const material = new THREE.MeshStandardMaterial({ color: COLOUR, roughness: 0.8 });
    this.plate = new THREE.Mesh(new THREE.CylinderGeometry(1, 1.15, 1, 32).rotateX(Math.PI / 2), material);
    this.post = new THREE.Mesh(new THREE.CylinderGeometry(1, 1, 1, 20).rotateX(Math.PI / 2), material);
    this.plate.castShadow = this.post.castShadow = true;
    this.group.add(this.plate, this.post);
  }

  /** Below the point `at` (x, y, z) of a base that stands, on ground of this height [m], for modules of this size; null: none. */
  place(at, height, size) {
    this.group.visible = Boolean(at);
    if (!at) return;
    const [x, y, z] = at;
    const thick = 0.06 * size;
    const long = Math.max(z - height, thick);
    this.post.visible = long < LONGEST * size;
    this.plate.position.set(x, y, this.post.visible ? height + thick / 2 : z);
    this.plate.scale.set(0.62 * size, 0.62 * size, thick);
    this.post.position.set(x, y, height + long / 2);
    this.post.scale.set(0.16 * size, 0.16 * size, long);
  }
}
