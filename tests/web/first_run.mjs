// Prints the processor time of one long run in a fresh engine, and of the same run again: node first_run.mjs WASM PAGE, the request on stdin.
import { readFileSync } from "node:fs";

const [wasm, page] = process.argv.slice(2);
const { LocalEngine } = await import(`${page}/engine.js`);
const engine = await LocalEngine.create(new WebAssembly.Module(readFileSync(wasm)));
const request = JSON.parse(readFileSync(0));
const seconds = [0, 1].map(() => {
  const before = process.cpuUsage();
  engine.ask(request);
  const used = process.cpuUsage(before);
  return (used.user + used.system) / 1e6;
});
console.log(JSON.stringify(seconds));
