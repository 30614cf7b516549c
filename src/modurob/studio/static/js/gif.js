// Animated GIF files (GIF89a): pictures that share the colours which occur most often.

const MOST = 256; // colours
const CLEAR = 256;
const END = 257;
const LONGEST = 12; // bits of a code

/** Five bits of red, green and blue of a pixel. */
const bin = (data, i) => ((data[i] >> 3) << 10) | ((data[i + 1] >> 3) << 5) | (data[i + 2] >> 3);

/** A file of pictures (ImageData of one size), each shown for so many hundredths of a second, again and again. */
export function gif(pictures, hundredths) {
  const { width, height } = pictures[0];
  const { colours, indexOf } = palette(pictures);
  const out = [...text("GIF89a"), ...word(width), ...word(height), 0xf7, 0, 0, ...colours];
  const parts = [new Uint8Array([...out, 0x21, 0xff, 11, ...text("NETSCAPE2.0"), 3, 1, 0, 0, 0])];
  for (const { data } of pictures) {
    parts.push(new Uint8Array([0x21, 0xf9, 4, 0, ...word(hundredths), 0, 0]));
    parts.push(new Uint8Array([0x2c, 0, 0, 0, 0, ...word(width), ...word(height), 0, 8]));
    const indices = new Uint8Array(width * height);
    for (let i = 0; i < indices.length; i++) indices[i] = indexOf[bin(data, 4 * i)];
    parts.push(blocks(compressed(indices)));
  }
  return new Blob([...parts, new Uint8Array([0x3b])], { type: "image/gif" });
}

const text = (letters) => [...letters].map((c) => c.charCodeAt(0));
const word = (x) => [x & 255, x >> 8];

/** The colours that occur most, three bytes each, and for each bin the nearest of them. */
function palette(pictures) {
  const counts = new Uint32Array(32768);
  const every = Math.max(1, Math.floor(pictures.length / 8));
  for (let k = 0; k < pictures.length; k += every)
    for (let i = 0; i < pictures[k].data.length; i += 4) counts[bin(pictures[k].data, i)]++;
  const bins = [...counts.keys()].filter((b) => counts[b]).sort((a, b) => counts[b] - counts[a]).slice(0, MOST);
  const rgb = (b) => [b >> 10, (b >> 5) & 31, b & 31].map((x) => (x << 3) | (x >> 2));
  const chosen = bins.map(rgb);
  const indexOf = new Uint8Array(32768);
  const far = ([r, g, b], [x, y, z]) => (r - x) ** 2 + (g - y) ** 2 + (b - z) ** 2;
  for (let b = 0; b < 32768; b++) {
    const own = rgb(b);
    let best = 0;
    for (let k = 1; k < chosen.length; k++) if (far(chosen[k], own) < far(chosen[best], own)) best = k;
    indexOf[b] = best;
  }
  return { colours: [...chosen.flat(), ...new Array(3 * (MOST - chosen.length)).fill(0)], indexOf };
}

/** Lempel, Ziv and Welch's code of bytes. */
function compressed(indices) {
  const out = [];
  let [bits, held, size, next] = [0, 0, 9, END + 1];
  let known = new Map();
  const write = (code) => {
    bits |= code << held;
    for (held += size; held >= 8; held -= 8, bits >>>= 8) out.push(bits & 255);
  };
  write(CLEAR);
  let before = indices[0];
  for (let i = 1; i < indices.length; i++) {
    const key = (before << 8) | indices[i];
    if (known.has(key)) {
      before = known.get(key);
      continue;
    }
    write(before);
    known.set(key, next);
    if (next === 1 << size) size++;
    if (++next > (1 << LONGEST) - 1) {
      write(CLEAR);
      [size, next, known] = [9, END + 1, new Map()];
    }
    before = indices[i];
  }
  write(before);
  write(END);
  if (held) out.push(bits & 255);
  return out;
}

/** Bytes in blocks of at most 255, each with its length before it. */
function blocks(bytes) {
  const parts = [];
  for (let i = 0; i < bytes.length; i += 255) parts.push(Math.min(255, bytes.length - i), ...bytes.slice(i, i + 255));
  return new Uint8Array([...parts, 0]);
}
