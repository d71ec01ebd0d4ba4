// Answers groups of answers of the engine from stdin (one JSON each: file by name) with the time lines that the page makes
// of them, one line each. Argument: the folder of the page as a URL.
import { readFileSync } from "node:fs";

const page = process.argv[2];
const { decode } = await import(`${page}/engine.js`);
const { timelineOf } = await import(`${page}/timeline.js`);
const answer = (file) => decode(Uint8Array.from(readFileSync(file)).buffer);
for (const line of readFileSync(0, "utf8").split("\n").filter(Boolean)) {
  const runs = Object.entries(JSON.parse(line)).map(([name, file]) => [name, answer(file)]);
  console.log(JSON.stringify(timelineOf(Object.fromEntries(runs))));
}
