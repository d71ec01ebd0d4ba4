// Starts the lab from one file (cogtcp.lab.offline): its modules become addresses of the page's own. In the page of a web
// server this file is not loaded.
(async () => {
"use strict";
const files = JSON.parse(document.getElementById("offline").textContent);
document.getElementById("offline").remove();
const addresses = new Map();
const put = (text) => URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
/** The address of a module whose imports lead to addresses, too. */
const address = (name) => {
  if (!addresses.has(name)) addresses.set(name, put(files.modules[name].replace(/"\.\/([\w.]+\.js)"/g, (whole, of) => (of in files.modules ? JSON.stringify(address(of)) : whole))));
  return addresses.get(name);
};
const unpack = async (text) => {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"))).arrayBuffer();
};
// A worker cannot import from addresses of a page from a disk: its modules are joined.
const plain = (name) => files.modules[name].replace(/^import .*$/gm, "").replace(/^export /gm, "");
window.cogtcpOffline = { data: files.data, wasm: await unpack(files.wasm), worker: put(`"use strict";\n${plain("engine.js")}\n${plain("worker.js")}`) };
const load = (source, type) => new Promise((done, failed) => {
  const script = Object.assign(document.createElement("script"), { src: source, type, onload: done, onerror: failed });
  document.head.append(script);
});
await load(address("charts.js"), "text/javascript");
await load(address("lab.js"), "module");
})();
