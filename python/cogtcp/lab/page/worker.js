// One engine. The first message brings the compiled module; each later one a request.
import { LocalEngine } from "./engine.js";

let ready = null;
let last = 0;
const progress = (seconds) => {
  const now = performance.now();
  if (now - last > 50) { last = now; postMessage({ progress: seconds }); }
};

onmessage = async ({ data }) => {
  if (data.module) { ready = LocalEngine.create(data.module, progress); return; }
  let engine = null;
  try {
    engine = await ready;
    const answer = engine.ask(data.request);
    postMessage({ answer }, [answer]);
  } catch (error) {
    postMessage({ error: error.message, broken: !engine || engine.broken });
  }
};
