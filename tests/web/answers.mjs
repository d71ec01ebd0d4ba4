// Compares transports as the page does, and prints the sentence about applications.
// Arguments: the engine, the folder of the page, the metrics that the page knows. Each line of input is
// { scenarios: { transport: scenario }, seeds, random }.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [, , wasm, page, known] = process.argv;
const { LocalEngine, decode } = await import(`${page}/engine.js`);
const { ofApplications } = await import(`${page}/compare.js`);
const { measure, noticed } = await import(`${page}/results.js`);
const data = JSON.parse(known);
const engine = await LocalEngine.create(new WebAssembly.Module(readFileSync(wasm)));
const statistics = async (of) => decode(engine.ask({ ask: "statistics", of }));

for await (const line of createInterface({ input: process.stdin })) {
  const { scenarios, seeds, random } = JSON.parse(line);
  const metrics = new Map(), runs = {};
  for (const [name, scenario] of Object.entries(scenarios)) {
    runs[name] = {};
    for (const seed of seeds) {
      const run = decode(engine.ask({ ask: "run", trace: "full", scenario, seed }));
      const found = noticed(run, data.noticed);
      for (const [metric] of found) metrics.set(metric.name, metric);
      runs[name][seed] = { ...measure(run, data.metrics), ...Object.fromEntries(found.map(([metric, value]) => [metric.name, value])) };
    }
  }
  console.log(JSON.stringify({ sentence: await ofApplications(runs, statistics, [...metrics.values()], { random }) }));
}
