// Small live figures in the documentation: a slider changes one number of a scenario, and the lines of a still picture move.
// The picture, its scales and the sentence come with the page (docs/site/site_live.py); the engine comes with the first touch.
import { numbers, Pool } from "./engine.js";

const folder = new URL(".", import.meta.url);
let pool = null;
function engine() {
  return (pool ??= (async () => {
    const response = await fetch(new URL("cogtcp.wasm", folder));
    if (!response.ok) throw new Error(`cogtcp.wasm: the server answers ${response.status}`);
    const module = await WebAssembly.compile(await response.arrayBuffer());
    return new Pool(() => {
      const worker = new Worker(new URL("worker.js", folder), { type: "module" });
      worker.postMessage({ module });
      return worker;
    }, 1);
  })().catch((error) => { pool = null; throw error; }));
}

/** Lines as pairs of x and y, and what the sentence says, from the engine's answer. */
const KINDS = {
  async window(ask, { text, path }, value) {
    const run = await ask({ ask: "run", scenario: { text, set: [[path, value]] }, trace: "series", tables: ["flow_series", "flows", "tcp_flows"] });
    const [time, cwnd] = ["time_s", "cwnd_segments"].map((name) => numbers(run.tables.flow_series, name));
    const of = (name) => numbers(run.tables.flows, name)[0];
    const rtos = numbers(run.tables.tcp_flows, "rtos")[0];
    const settled = cwnd.filter((_, i) => time[i] > time.at(-1) / 3);
    return { lines: [[time, cwnd]], says: { goodput: of("goodput_bps") / 1e6, share: 100 * of("efficiency"), rtos,
      low: Math.min(...settled), high: Math.max(...settled) } };
  },
  async detection(ask, { detector, field, sensing_s, at }, value) {
    const [name] = Object.keys(detector), of = { [name]: { ...detector[name], [field]: value } };
    const [found] = await ask({ ask: "statistics", of: [{ what: "detection", detector: of, sensing_s: [...sensing_s, at] }] });
    const [detected, alarmed] = [found.detection, found.false_alarm].map((values) => values.slice(0, -1));
    return { lines: [[sensing_s, detected], [sensing_s, alarmed]], says: { detection: 100 * found.detection.at(-1), alarm: 100 * found.false_alarm.at(-1) } };
  },
};

const valueAt = ({ low, high, log, whole }, place) => {
  const share = place / 100, value = log ? low * (high / low) ** share : low + share * (high - low);
  return whole ? Math.round(value) : Number(value.toPrecision(2));
};

function live(figure) {
  const about = JSON.parse(figure.dataset.live), label = figure.querySelector("label"), input = label.querySelector("input");
  const inner = figure.querySelector("svg svg"), paths = inner.querySelectorAll("path"), caption = figure.querySelector("figcaption");
  const [width, height] = ["width", "height"].map((name) => Number(inner.getAttribute(name)));
  const draw = ([xs, ys], path) => {
    const [[left, right], [bottom, top]] = [about.x, about.y];
    path.setAttribute("d", Array.from(xs, (x, i) => `${i ? "L" : "M"}${((x - left) / (right - left) * width).toFixed(1)} ${((top - ys[i]) / (top - bottom) * height).toFixed(1)}`).join(""));
  };
  let wanted = null, busy = false;
  const next = async () => {
    if (busy) return;
    busy = true;
    while (wanted !== null) {
      const value = wanted;
      wanted = null;
      try {
        const workers = await engine();
        const { lines, says } = await KINDS[about.kind]((request) => workers.ask(request), about, `${value} ${about.slider.unit}`.trim());
        lines.forEach((line, i) => draw(line, paths[i]));
        caption.textContent = about.says.replace(/\{(\w+)(?::(\d))?\}/g, (_, name, digits) => (name === "value" ? `${value} ${about.slider.unit}`.trim() : says[name].toFixed(digits ?? 0)));
        figure.dataset.drawn = value;
      } catch (error) { caption.textContent = error.message; }
    }
    busy = false;
  };
  label.hidden = false;
  input.addEventListener("input", () => {
    wanted = valueAt(about.slider, Number(input.value));
    const text = `${wanted} ${about.slider.unit}`.trim();
    label.querySelector("output").textContent = text;
    input.setAttribute("aria-valuetext", text);
    next();
  });
}

for (const figure of document.querySelectorAll("figure[data-live]")) live(figure);
