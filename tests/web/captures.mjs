// Answers requests from stdin (one JSON each, a run with packets) with the captures that the page makes of the run at every
// point, one line each: { "LINK@NODE": hexadecimal }. Arguments: the wasm, the folder of the page as a URL, the version.
import { readFileSync } from "node:fs";

const [wasm, page, version] = process.argv.slice(2);
const { LocalEngine, decode } = await import(`${page}/engine.js`);
const { capture, points } = await import(`${page}/capture.js`);
const engine = await LocalEngine.create(new WebAssembly.Module(readFileSync(wasm)));
for (const line of readFileSync(0, "utf8").split("\n").filter(Boolean)) {
  const run = decode(engine.ask(JSON.parse(line)));
  console.log(JSON.stringify(Object.fromEntries(points(run).map((point) => [
    point[1] ? `${point[0]}@${point[1]}` : point[0], Buffer.from(capture(run, point, JSON.parse(version))).toString("hex")]))));
}
