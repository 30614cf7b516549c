// How much is drawn.

/** Whether the address asks for a page that draws nothing in 3D. */
export const undrawn = () => new URLSearchParams(location.search).get("detail") === "none";

/** Whether pictures are drawn without a graphics card. */
export function drawnInSoftware() {
  const gl = document.createElement("canvas").getContext("webgl");
  const info = gl?.getExtension("WEBGL_debug_renderer_info");
  return info ? /swiftshader|llvmpipe|software/i.test(gl.getParameter(info.UNMASKED_RENDERER_WEBGL)) : false;
}
