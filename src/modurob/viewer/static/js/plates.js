// Plates on the free ports: a frame with four bolts and the number of the port, as connectors have them.

import * as THREE from "three";
import { multiply } from "./poses.js";

const CELL = 128; // pixels of one plate
const ACROSS = 8; // plates in a row of the picture
const WIDE = 0.56; // in sizes of a module
const OFF = 0.004; // above the face, in sizes of a module

export class Plates {
  constructor() {
    this.group = new THREE.Group();
    this.ports = [];
  }

  /** For these ports of modules of this size [m]; in low detail there are none. */
  setRobot(ports, size, low) {
    for (const mesh of this.group.children) {
      mesh.geometry.dispose();
      mesh.material.map.dispose();
      mesh.material.dispose();
      mesh.dispose();
    }
    this.group.clear();
    this.ports = low ? [] : ports.filter((port) => port.holds === null);
    if (!this.ports.length) return;
    const names = [...new Set(this.ports.map(nameOf))];
    const rows = Math.ceil(names.length / ACROSS);
    const square = new THREE.PlaneGeometry(WIDE * size, WIDE * size).rotateZ(-Math.PI / 2).translate(0, 0, OFF * size);
    const cells = this.ports.flatMap((port) => {
      const k = names.indexOf(nameOf(port));
      return [(k % ACROSS) / ACROSS, 1 - (Math.floor(k / ACROSS) + 1) / rows];
    });
    square.setAttribute("cell", new THREE.InstancedBufferAttribute(new Float32Array(cells), 2));
    this.mesh = new THREE.InstancedMesh(square, material(picture(names, rows), rows), this.ports.length);
    this.mesh.frustumCulled = false;
    this.mesh.receiveShadow = true;
    this.group.add(this.mesh);
  }

  setPoses(poses) {
    this.ports.forEach(({ body, X }, i) => multiply(this.mesh.instanceMatrix.array, 16 * i, poses, 12 * body, X, 0));
    if (this.ports.length) this.mesh.instanceMatrix.needsUpdate = true;
  }
}

const nameOf = ({ ref }) => ref.slice(ref.lastIndexOf("/") + 1);

/** Each instance shows its own cell of the picture. */
function material(map, rows) {
  const made = new THREE.MeshStandardMaterial({ map, transparent: true, roughness: 0.55, metalness: 0.25 });
  made.polygonOffset = true;
  made.polygonOffsetFactor = -2;
  made.onBeforeCompile = (shader) => {
    shader.vertexShader = shader.vertexShader
      .replace("#include <common>", "#include <common>\nattribute vec2 cell;")
      .replace("#include <uv_vertex>", `#include <uv_vertex>\nvMapUv = cell + uv * vec2(${1 / ACROSS}, ${(1 / rows).toFixed(6)});`);
  };
  return made;
}

/** All plates, one for each name. */
function picture(names, rows) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [CELL * ACROSS, CELL * rows];
  const ink = canvas.getContext("2d");
  names.forEach((name, k) => drawPlate(ink, name, CELL * (k % ACROSS), CELL * Math.floor(k / ACROSS)));
  const map = new THREE.CanvasTexture(canvas);
  map.colorSpace = THREE.SRGBColorSpace;
  map.anisotropy = 4;
  return map;
}

function drawPlate(ink, name, x, y) {
  const round = (inset, radius) => {
    ink.beginPath();
    ink.roundRect(x + inset, y + inset, CELL - 2 * inset, CELL - 2 * inset, radius);
  };
  ink.fillStyle = "#39434f";
  round(6, 18);
  ink.fill();
  ink.strokeStyle = "#8d99a6";
  ink.lineWidth = 3;
  round(14, 12);
  ink.stroke();
  ink.fillStyle = "#aeb8c2";
  for (const [i, j] of [[26, 26], [102, 26], [26, 102], [102, 102]]) {
    ink.beginPath();
    ink.arc(x + i, y + j, 6, 0, 2 * Math.PI);
    ink.fill();
  }
  ink.fillStyle = "#f2f5f8";
  ink.textAlign = "center";
  ink.textBaseline = "middle";
  ink.font = `700 ${name.length > 2 ? 30 : 56}px system-ui, sans-serif`;
  ink.fillText(name, x + CELL / 2, y + CELL / 2 + 3, 84);
}
