// Prints the digest and goodput of scenarios that come as lines of JSON: node digests.mjs WASM ENGINE_JS RESULTS_JS METRICS.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [wasm, page, metrics] = process.argv.slice(2);
const { LocalEngine, decode } = await import(`${page}/engine.js`);
const { measure, noticed } = await import(`${page}/results.js`);
const known = JSON.parse(metrics), named = known.metrics;
const module = new WebAssembly.Module(readFileSync(wasm));
let engine = await LocalEngine.create(module);
for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  let said;
  const began = performance.now();
  try {
    const run = decode(engine.ask(request));
    said = { digest: run.digest, metrics: run.tables?.flows ? measure(run, named) : null,
      noticed: run.tables?.flows ? Object.fromEntries(noticed(run, known.noticed).map(([metric, value]) => [metric.name, value])) : null };
  } catch (error) {
    said = { error: error.message, remedy: error.remedy };
    if (engine.broken) engine = await LocalEngine.create(module);
  }
  process.stdout.write(`${JSON.stringify({ ...said, ms: performance.now() - began })}\n`);
}
