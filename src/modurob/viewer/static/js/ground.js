// The ground: a fading grid, one cell as wide as a module, and the robot's shadow.

import * as THREE from "three";

const VERTEX = `
varying vec2 at;
void main() {
  vec4 world = modelMatrix * vec4(position, 1.0);
  at = world.xy;
  gl_Position = projectionMatrix * viewMatrix * world;
}`;
const FRAGMENT = `
varying vec2 at;
uniform vec2 centre;
uniform float cell, reach, strength;
uniform vec3 colour;
float lines(float width) {
  vec2 x = at / width;
  vec2 d = abs(fract(x - 0.5) - 0.5) / fwidth(x);
  return 1.0 - min(min(d.x, d.y), 1.0);
}
void main() {
  float fade = 1.0 - smoothstep(0.15, 1.0, length(at - centre) / reach);
  if (fade < 0.01) discard;
#ifdef LOW
  float a = 0.6 * lines(cell) * strength * fade;
#else
  float a = max(0.45 * lines(cell), lines(5.0 * cell)) * strength * fade;
#endif
  gl_FragColor = vec4(colour, a);
}`;

export class Ground {
  constructor() {
    this.wide = 2.6; // in sizes of the robot
    this.slope = 0; // rise along x
    this.uniforms = {
      centre: { value: new THREE.Vector2() },
      cell: { value: 0.1 },
      reach: { value: 1 },
      strength: { value: 0.3 },
      colour: { value: new THREE.Color() },
    };
    const square = new THREE.PlaneGeometry(1, 1);
    const material = new THREE.ShaderMaterial({
      vertexShader: VERTEX,
      fragmentShader: FRAGMENT,
      uniforms: this.uniforms,
      transparent: true,
      depthWrite: false,
      side: THREE.DoubleSide,
    });
    this.material = material;
    this.shadow = new THREE.Mesh(square, new THREE.ShadowMaterial({ opacity: 0.22, depthWrite: false }));
    this.shadow.receiveShadow = true;
    this.shadow.position.z = 1e-4;
    this.group = new THREE.Group();
    this.group.add(new THREE.Mesh(square, material), this.shadow);
  }

  /** Under a robot in this box. */
  place(box, cell) {
    const centre = box.getCenter(new THREE.Vector3());
    const size = box.getSize(new THREE.Vector3());
    const reach = this.wide * Math.max(size.x, size.y, 3 * cell);
    this.group.position.set(centre.x, centre.y, box.min.z - 0.02 * cell);
    this.group.scale.set(2 * reach, 2 * reach, 1);
    this.uniforms.centre.value.set(centre.x, centre.y);
    this.uniforms.reach.value = reach;
    this.uniforms.cell.value = cell;
  }

  /** As high and as steep as the ground of a run is; where it is under the robot if that says nothing. */
  lie(floor) {
    const { slope = 0, height } = floor ?? {};
    this.slope = Math.tan(slope);
    this.group.rotation.y = -slope;
    if (height !== undefined) this.group.position.z = height + this.slope * this.group.position.x;
  }

  /** Go along with a robot that walks. */
  follow({ x, y }) {
    const at = this.group.position;
    at.set(at.x + x, at.y + y, at.z + this.slope * x);
    this.uniforms.centre.value.set(at.x, at.y);
  }

  setColour(hex, strength) {
    this.uniforms.colour.value.set(hex);
    this.uniforms.strength.value = strength;
  }

  /** In low detail the ground is smaller and plainer, and has no shadow on it. */
  setLow(low) {
    this.shadow.visible = !low;
    this.wide = low ? 1.4 : 2.6;
    this.material.defines = low ? { LOW: 1 } : {};
    this.material.needsUpdate = true;
  }
}
