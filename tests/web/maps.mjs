// Answers requests from stdin (one JSON each) with the map that the page makes of the run, one line each.
// Arguments: the wasm, the folder of the page as a URL, the units of data.json.
import { readFileSync } from "node:fs";

const [wasm, page, units] = process.argv.slice(2);
const { LocalEngine, decode } = await import(`${page}/engine.js`);
const { mapOf } = await import(`${page}/places.js`);
const engine = await LocalEngine.create(new WebAssembly.Module(readFileSync(wasm)));
for (const line of readFileSync(0, "utf8").split("\n").filter(Boolean)) {
  const request = JSON.parse(line);
  const { values } = decode(engine.ask({ ask: "check", scenario: request.scenario }));
  console.log(JSON.stringify(mapOf(decode(engine.ask(request)), values, JSON.parse(units))));
}
