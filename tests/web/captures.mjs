// Answers requests from stdin (one JSON each: scenario and seed) with the captures of the run at every point, one line each:
// { "LINK@NODE": hexadecimal }. Arguments: the wasm, the folder of the page as a URL.
import { readFileSync } from "node:fs";

const [wasm, page] = process.argv.slice(2);
const { LocalEngine, decode } = await import(`${page}/engine.js`);
const { points } = await import(`${page}/results.js`);
const engine = await LocalEngine.create(new WebAssembly.Module(readFileSync(wasm)));
for (const line of readFileSync(0, "utf8").split("\n").filter(Boolean)) {
  const { scenario, seed } = JSON.parse(line);
  const run = decode(engine.ask({ ask: "run", scenario, seed, tables: ["links", "nodes"] }));
  console.log(JSON.stringify(Object.fromEntries(points(run).map((point) => {
    const { capture } = decode(engine.ask({ ask: "capture", scenario, seed, point }));
    return [point.node ? `${point.link}@${point.node}` : point.link, Buffer.from(capture).toString("hex")];
  }))));
}
