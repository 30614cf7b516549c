// The light: a sky, a sun that throws shadows, and something from the other side.

import * as THREE from "three";

const FROM = new THREE.Vector3(0.9, -1.3, 2.2); // the sun, in sizes of the robot

const BRIGHT = { low: [2.1, 1.9], room: [0.88, 2.2], plain: [3.1, 2.4] }; // of sky and sun

// panels of the studio that metal and plastic mirror: place, size, brightness
const PANELS = [
  [[0, 0, 6], [7, 7, 0.1], 3.2],
  [[5, -5, 3], [0.1, 5, 4], 2.4],
  [[-6, -1, 2], [0.1, 6, 3], 1.1],
  [[0, 6, 2], [6, 0.1, 3], 0.9],
];

/** What surfaces mirror: a grey room with bright panels. */
export function environment(renderer) {
  const room = new THREE.Scene();
  const box = new THREE.BoxGeometry();
  const add = (at, size, light, side) => {
    const mesh = new THREE.Mesh(box, new THREE.MeshBasicMaterial({ color: new THREE.Color(light, light, light), side }));
    mesh.position.set(...at);
    mesh.scale.set(...size);
    room.add(mesh);
  };
  add([0, 0, 3], [16, 16, 12], 0.62, THREE.BackSide);
  for (const panel of PANELS) add(...panel, THREE.FrontSide);
  const maker = new THREE.PMREMGenerator(renderer);
  const { texture } = maker.fromScene(room, 0.03);
  maker.dispose();
  box.dispose();
  return texture;
}

export class Light {
  constructor() {
    this.sky = new THREE.HemisphereLight(0xffffff, 0xc3ccd6, 2.1);
    this.sun = new THREE.DirectionalLight(0xffffff, 1.9);
    this.sun.shadow.mapSize.set(1024, 1024);
    this.sun.shadow.radius = 6;
    this.sun.shadow.bias = -0.0005;
    this.sun.shadow.normalBias = 0.002;
    const fill = new THREE.DirectionalLight(0xdbe7ff, 0.7);
    fill.position.set(-2, -1, 0.6);
    this.group = new THREE.Group();
    this.group.add(this.sky, this.sun, this.sun.target, fill);
  }

  /** How bright it is, by what is drawn: in `low` detail, surfaces that mirror a `room`, or `plain` ones, which stand in for them. */
  set(drawn, dark) {
    const [sky, sun] = BRIGHT[drawn];
    this.sky.intensity = (dark ? 0.76 : 1) * sky;
    this.sun.intensity = sun;
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
