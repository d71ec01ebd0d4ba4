// The lab: sliders and a text change one scenario, workers simulate it, the newest answer is drawn. The address holds the
// state. What is computed is computed by the engine (crates/web); here it is asked for and shown.
import { Pool, RemoteWorker } from "./engine.js";
import { budget, budgetText, csv, join, measure, noticed, points, stacked, text as said } from "./results.js";
import { controlsOf, placeOf, RANGE, shown, uncharged, valueAt, written } from "./controls.js";
import { compared, ofApplications as answerOfApplications, sentence, theory } from "./compare.js";
import { MAP_TABLES, mapOf } from "./places.js";
import { complete } from "./schema.js";
import { silentShare, timelineOf } from "./timeline.js";
import * as address from "./state.js";

const $ = (id) => document.getElementById(id);
const MOST_TRANSPORTS = 6, COLORS = 6;
const SHOWN = ["goodput_bps", "efficiency", "rtos", "fast_retransmits", "drops", "retransmitted", "rtt_mean_s"];
const APPLICATION_TABLES = ["datagrams", "calls", "request_flows", "videos"];
const RUN_TABLES = ["flows", "tcp_flows", "links", "radios", "budget", "flow_series", "control_series", "link_series", "events", "nodes", ...APPLICATION_TABLES, ...MAP_TABLES];
const SUMMARY_TABLES = ["flows", "tcp_flows", "radios", "budget", ...APPLICATION_TABLES];
/** A run that takes longer than this is cancelled by the next change; a shorter one is drawn, so that sliders move smoothly. */
const PATIENCE_MS = 300;

const element = (tag, attributes = {}, ...children) => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
};
const trouble = (text) => { $("trouble").textContent = text || ""; };
/** In place of a transport: each flow has the one that the scenario gives it (cogtcp.lab.presets.AS_IT_IS). */
const AS_IT_IS = "as it is";
const transportOf = (name) => (name === AS_IT_IS || !checked.values.flow?.length ? null : name);
const isAbort = (error) => error.name === "AbortError";

// ---- the engine

const offline = window.cogtcpOffline; // everything, in the page that opens from a disk (offline.js)
async function compile() {
  if (offline) return WebAssembly.compile(offline.wasm);
  const response = await fetch("cogtcp.wasm");
  if (!response.ok) throw new Error(`cogtcp.wasm: the server answers ${response.status}`);
  // A server that does not know the type of WebAssembly sends bytes all the same.
  return response.headers.get("Content-Type") === "application/wasm" ? WebAssembly.compileStreaming(response) : WebAssembly.compile(await response.arrayBuffer());
}
let data, pool, quick;
async function start() {
  data = offline ? JSON.parse(offline.data) : await (await fetch("data.json")).json();
  const module = data.engine === "wasm" ? await compile() : null;
  const worker = () => {
    if (!module) return new RemoteWorker("ask"); // `cogtcp lab` without WebAssembly: the server's own engine
    const made = offline ? new Worker(offline.worker) : new Worker(new URL("worker.js", import.meta.url), { type: "module" });
    made.postMessage({ module });
    return made;
  };
  pool = new Pool(worker, Math.max(1, Math.min(8, navigator.hardwareConcurrency || 2)));
  quick = new Pool(worker, 1); // checks and statistics do not wait for runs
  window.cogtcpLab = { pool, quick, get state() { return state; } }; // for tests
}
const check = (given) => quick.ask({ ask: "check", scenario: given });
const statistics = (of) => quick.ask({ ask: "statistics", of });

// ---- the state

let state = null; // { name, text, files, transports, seed, seeds, sweep }
let checked = null, controls = []; // what the engine says of the text
let results = null; // of the last drawing: { runs, metrics }
let chart = null, plot = null, player = null, silenced = null;
let editor = null; // in place of the text field, once it is opened
const given = (more = {}) => ({ text: state.text, file: `${state.name}.toml`, files: state.files, ...more });
/** What the users of this scenario's applications notice, by name; the first columns of the table. */
let ofApplications = new Map();
const MOST_OF_APPLICATIONS = 6;
const metricOf = (name) => ofApplications.get(name) ?? data.metrics.find((metric) => metric.name === name);
const inTable = () => [...[...ofApplications.keys()].slice(0, MOST_OF_APPLICATIONS), ...SHOWN];
function measured(run) {
  const found = noticed(run, data.noticed);
  for (const [metric] of found) ofApplications.set(metric.name, metric);
  return { ...measure(run, data.metrics), ...Object.fromEntries(found.map(([metric, value]) => [metric.name, value])) };
}

const ofPreset = (preset) => ({ name: preset.name, text: preset.text, files: address.unpacked(preset.files), transports: preset.transports.slice(0, MOST_TRANSPORTS), seed: null, seeds: 10, sweep: "" });

let remembered = 0;
async function remember() {
  const mine = ++remembered;
  const fragment = await address.encode(state);
  if (mine === remembered) history.replaceState(null, "", `#${fragment}`);
}

// ---- a change of the scenario

let known = []; // names of transports
const edits = new Map(); // values that sliders want, by path
let toSet = []; // fields and values that a link of the documentation sets, once
let drawing = null, comparing = null; // the drawing that is under way, and what ends a comparison or a sweep
let what = "", wanted = false, busy = false, began = 0, running = null, patience = 0;

/** The text with the value at `path` replaced where it stands; null if it stands nowhere. */
async function edited(text, control, value) {
  const place = await quick.ask({ ask: "place", text, path: control.path });
  if (!place.line) return null;
  const lines = text.split("\n"), line = lines[place.line - 1], at = [...line].slice(0, place.column - 1).join("").length;
  const literal = /^("(?:[^"\\]|\\.)*"|'[^']*'|[\w.+-]+)/.exec(line.slice(at));
  if (!literal) return null;
  const now = written(control, value);
  const quoted = control.unit || control.choices.length ? JSON.stringify(now) : now;
  lines[place.line - 1] = line.slice(0, at) + quoted + line.slice(at + literal[0].length);
  return lines.join("\n");
}

const lookUp = (values, path) => path.split(".").reduce((value, key) => value?.[key], values);

async function apply(control, value) {
  const expected = await check(given({ set: [[control.path, written(control, value)]] }));
  const text = await edited(state.text, control, value);
  if (text !== null) {
    try {
      const found = await check(given({ text }));
      const same = JSON.stringify(lookUp(found.values, control.path)) === JSON.stringify(lookUp(expected.values, control.path));
      if (same && found.toml === expected.toml) { state.text = text; return found; }
    } catch (error) { if (isAbort(error)) throw error; }
  }
  state.text = expected.toml; // the value stands nowhere by itself: all of it is written out
  return check(given());
}

/** Asks for a new drawing. One at a time, the newest next; a comparison of what was there before ends. */
function refresh() {
  wanted = true;
  comparing?.abort();
  if (busy) {
    clearTimeout(patience);
    patience = setTimeout(() => wanted && running?.abort(), Math.max(0, PATIENCE_MS - (performance.now() - began)));
    return;
  }
  drawing = loop();
}

async function loop() {
  busy = true;
  document.body.classList.add("busy");
  while (wanted) {
    wanted = false;
    running = new AbortController();
    began = performance.now();
    $("stop").disabled = false;
    try {
      await once(running.signal);
    } catch (error) {
      running.abort(); // the runs of other transports
      if (!isAbort(error)) fault(error);
      else if (!wanted) trouble("Stopped. Move a slider to simulate again.");
    }
  }
  busy = false;
  $("stop").disabled = true;
  progress(null);
  document.body.classList.remove("busy");
  document.body.dataset.answered = Number(document.body.dataset.answered || 0) + 1;
}

async function once(signal) {
  const saying = what;
  let found = null;
  if (toSet.length) {
    const changes = toSet;
    toSet = [];
    state.text = (await check(given({ set: changes }))).toml;
  }
  for (const [path, value] of [...edits]) {
    edits.delete(path);
    const control = controls.find((each) => each.path === path);
    if (control) found = await apply(control, value);
  }
  checked = found || await check(given());
  if (state.seed === null) state.seed = checked.seed;
  showScenario();
  remember();
  const names = state.transports, before = results?.single ? results.metrics : null;
  const share = new Map();
  const told = (name) => (seconds) => {
    share.set(name, seconds / checked.duration_s);
    progress([...share.values()].reduce((a, b) => a + b, 0) / names.length);
  };
  const runs = await Promise.all(names.map((name) => pool.ask(
    { ask: "run", scenario: given({ transport: transportOf(name) }), seed: state.seed, trace: "full", tables: RUN_TABLES },
    { signal, progress: told(name) })));
  if (signal.aborted) return;
  trouble(checked.warnings.length ? `${checked.warnings.join("\n")}` : "");
  await draw(Object.fromEntries(names.map((name, i) => [name, runs[i]])));
  $("changed").textContent = before && saying ? changes(saying, before) : "";
}

function fault(error) {
  const wrong = error.kind === "scenario";
  $("wrong").textContent = wrong ? error.excerpt : "";
  $("text").classList.toggle("wrong", wrong);
  editor?.mark(wrong ? [error, ...(error.more || [])].filter((each) => each.line).map((each) => ({
    line: each.line, column: each.column || 1, length: /\^+/.exec(each.excerpt || "")?.[0].length || 1,
    message: [each.message, each.remedy].filter(Boolean).join("\n") })) : []);
  trouble(wrong ? error.text.split("\n")[0] : error.message);
}

function progress(share) {
  $("progress").hidden = share === null;
  $("progress").value = Math.min(1, share ?? 0);
}

// ---- the scenario as sliders and as text

function showScenario() {
  const found = controlsOf(checked.values, data.controls);
  const same = found.length === controls.length && found.every((control, i) => control.path === controls[i].path);
  // A slider that is held keeps its ends: they would move under the hand.
  if (same) controls.forEach((control, i) => { control.value = found[i].value; }); else controls = found;
  if (same) updateSliders(); else drawSliders();
  if (document.activeElement !== $("text")) $("text").value = state.text;
  if (editor && !editor.focused) editor.text = state.text;
  editor?.mark([]);
  $("wrong").textContent = "";
  $("text").classList.remove("wrong");
  $("seed").value = state.seed;
  $("seeds").value = state.seeds;
  $("files").textContent = Object.keys(state.files).join(", ") || "none";
  $("about").textContent = checked.description || "";
  $("command").textContent = command();
}

const fileName = (text) => text.replace(/[^\w.-]+/g, "-");

/** The command that does the same; a shipped scenario as it is needs no file. */
function command() {
  const shipped = data.presets.find((preset) => preset.group === "Scenarios" && preset.name === state.name && preset.text === state.text);
  const file = shipped ? state.name : `${fileName(state.name)}.toml`;
  const names = state.transports.filter(transportOf), python = names.some((name) => name.includes(":")) || data.controls_in_python.length ? " --allow-python" : "";
  return names.length ? `cogtcp compare ${file} --transport ${names.join(",")} --seeds ${state.seeds} --seed ${state.seed}${python}`
    : `cogtcp run ${file} --seed ${state.seed}${python}`;
}

function change(control, value, input) {
  what = `${control.label} ${shown(control, control.value)} to ${shown(control, value)}`;
  if (input) input.textContent = shown(control, value);
  edits.set(control.path, value);
  refresh();
}

function drawSliders() {
  const first = [], more = [];
  if (silenced || controls.some((control) => control.path.startsWith("radio.0.sensing."))) {
    const box = element("input", { type: "checkbox", id: "sensing" });
    box.checked = !silenced;
    box.addEventListener("change", async () => {
      what = box.checked ? "Sensing on" : "Sensing off";
      if (box.checked) { state.text = silenced; silenced = null; } else {
        const before = state.text;
        try { state.text = (await check(given({ set: [["radio", "[]"]] }))).toml; silenced = before; } catch (error) { fault(error); }
      }
      refresh();
    });
    first.push(element("label", {}, box, " the radio senses"));
  }
  for (const control of controls) {
    const output = element("output", {}, shown(control, control.value));
    const label = element("label", { title: control.path }, control.label, output);
    let input;
    if (control.choices.length) {
      input = element("select", { "data-path": control.path }, ...control.choices.map((text) => element("option", { value: text }, text)));
      input.value = control.value;
      input.addEventListener("change", () => change(control, input.value));
      output.hidden = true;
    } else {
      input = element("input", { type: "range", min: 0, max: RANGE, step: 1, "data-path": control.path, "aria-valuetext": shown(control, control.value) });
      input.value = placeOf(control, control.value);
      input.addEventListener("input", () => {
        const value = valueAt(control, Number(input.value));
        input.setAttribute("aria-valuetext", shown(control, value));
        change(control, value, output);
      });
    }
    label.append(input);
    (control.first ? first : more).push(label);
  }
  const open = $("sliders").querySelector("details")?.open;
  const rest = element("details", {}, element("summary", {}, `all ${controls.length} numbers`), ...more);
  rest.open = Boolean(open);
  $("sliders").replaceChildren(...first, ...(more.length ? [rest] : []));
  const numbers = controls.filter((control) => !control.choices.length);
  $("axis").replaceChildren(...numbers.map((control) => element("option", { value: control.path }, control.label)));
  if (numbers.some((control) => control.path === state.sweep)) $("axis").value = state.sweep;
}

function updateSliders() {
  for (const control of controls) {
    const input = $("sliders").querySelector(`[data-path="${CSS.escape(control.path)}"]`);
    if (!input || edits.has(control.path)) continue;
    if (control.choices.length) { input.value = control.value; continue; }
    if (document.activeElement !== input) input.value = placeOf(control, control.value);
    input.parentElement.querySelector("output").textContent = shown(control, control.value);
  }
}

function drawTransports(transports) {
  $("transports").replaceChildren(element("legend", {}, "Transports"), ...transports.map(([name, about]) => {
    const box = element("input", { type: "checkbox", value: name });
    box.checked = state.transports.includes(name);
    box.addEventListener("change", () => {
      const left = box.checked ? [...state.transports, name] : state.transports.filter((each) => each !== name);
      if (left.length > MOST_TRANSPORTS || !left.length) { box.checked = !box.checked; return; }
      state.transports = left;
      what = "";
      refresh();
    });
    return element("label", { title: about }, box, ` ${name}`);
  }));
}

// ---- what is drawn

/** Shows the answer in words, applications first; returns the transports compared by goodput. */
async function answer(bySeed) {
  const goodput = metricOf("goodput_bps");
  const [found] = await compared(bySeed, statistics, [goodput]);
  const first = await answerOfApplications(bySeed, statistics, [...ofApplications.values()], checked);
  $("answer").textContent = [first, sentence(found, goodput, checked)].filter(Boolean).join(" ");
  return found;
}

async function draw(runs) {
  ofApplications = new Map();
  const metrics = Object.fromEntries(Object.entries(runs).map(([name, run]) => [name, measured(run)]));
  for (const [name, run] of Object.entries(runs)) metrics[name].silent = silentShare(run); // for what a change moved
  results = { single: true, runs, metrics, seeds: { [state.seed]: metrics } };
  const bySeed = Object.fromEntries(Object.keys(runs).map((name) => [name, { [state.seed]: metrics[name] }]));
  const [models] = await Promise.all([theory(checked.values, data.controls, statistics), answer(bySeed)]);
  drawBars(Object.keys(runs).map((name) => ({ name, mean: metrics[name].goodput_bps, low: null, high: null })), models);
  drawBudget(Object.fromEntries(Object.entries(runs).map(([name, run]) => [name, budget(run, data.states)])));
  drawTimes(runs);
  drawMap();
  drawTables();
  drawTable(Object.entries(metrics).map(([name, values]) => [name, inTable().map((metric) => said(metricOf(metric), values[metric] ?? NaN, { single: true }))]));
}

function drawBars(rows, models) {
  const most = Math.max(1, ...rows.map((row) => Math.max(row.mean || 0, row.high || 0)), ...models.map((model) => model.bps));
  const at = (value) => `${100 * Math.max(0, value) / most}%`;
  const goodput = metricOf("goodput_bps");
  $("bars").replaceChildren(...rows.map((row, index) => {
    const bar = element("div", { class: "fill" });
    bar.style.width = at(row.mean || 0);
    bar.style.background = `var(--series-${index % COLORS + 1})`;
    const marks = models.map((model) => {
      const mark = element("div", { class: "model", title: `${model.name}: ${said(goodput, model.bps, { unit: true })}` });
      mark.style.left = at(model.bps);
      return mark;
    });
    if (row.low !== null && row.high !== null) {
      const whisker = element("div", { class: "whisker" });
      whisker.style.left = at(row.low);
      whisker.style.width = `${100 * (row.high - Math.max(0, row.low)) / most}%`;
      marks.push(whisker);
    }
    const ends = row.low === null ? "" : ` (${said(goodput, row.low)} to ${said(goodput, row.high)})`;
    return element("div", { class: "row" }, element("span", {}, row.name), element("div", { class: "track" }, bar, ...marks),
      element("span", {}, `${said(goodput, row.mean, { unit: true })}${ends}`));
  }));
  $("models").textContent = models.length
    ? `Dashed: closed forms for Reno's window. ${models.map((model) => `${model.name}: ${said(goodput, model.bps, { unit: true })}`).join("; ")}.` : "";
}

function drawBudget(shares) {
  // An ad hoc network has no link whose time could be accounted for.
  $("where").hidden = !Object.values(shares).some(Boolean);
  $("budget").replaceChildren(...Object.entries(shares).filter(([, of]) => of).map(([name, of]) => {
    const parts = data.states.filter((state) => of[state.name] > 0).map((state) => {
      const part = element("div", { class: "state", title: `${state.title}: ${(of[state.name] * 100).toFixed(1)} %` });
      part.style.width = `${100 * of[state.name]}%`;
      part.style.background = `var(--${state.color})`;
      part.style.opacity = state.opacity;
      return part;
    });
    return element("div", { class: "row" }, element("span", {}, name), element("div", { class: "track" }, ...parts), element("span", {}, budgetText(of, data.states)));
  }));
}

function drawTimes(runs) {
  const found = timelineOf(runs);
  const kept = chart && { view: chart.state.view, end: chart.end };
  if (chart) { // what was hidden stays hidden
    const hidden = new Set(chart.lines.filter((_, i) => !chart.state.lines.has(i)).map((line) => line.name));
    found.shown = found.shown.filter((i) => !hidden.has(found.lines[i].name));
    chart.destroy();
  }
  chart = window.cogtcp.timeline($("time"), found);
  chart.end = found.end;
  chart.lines = found.lines;
  if (kept && kept.end === found.end) chart.setView(...kept.view);
}

/** The map of one run: of several transports of the one that is chosen. */
function drawMap() {
  const names = Object.keys(results.runs), chosen = $("mapof").value;
  const found = mapOf(results.runs[names.includes(chosen) ? chosen : names[0]], checked.values, data.controls.units);
  player?.destroy();
  player = null;
  $("map").hidden = !found;
  if (!found) return;
  $("mapof").replaceChildren(...names.map((name) => element("option", { value: name }, name)));
  if (names.includes(chosen)) $("mapof").value = chosen;
  $("mapof").parentElement.hidden = names.length < 2;
  $("unmapped").textContent = found.leftOut.join(" ");
  player = window.cogtcp.map($("map"), found);
}

/** The tables that can be saved. */
function drawTables() {
  const chosen = $("table").value, [first] = Object.values(results.runs);
  // A transport may have tables that another has not.
  const found = new Map(Object.values(results.runs).flatMap(({ tables }) => Object.values(tables)).filter((table) => table.rows).map((table) => [table.name, table]));
  const names = [...found.keys()];
  $("table").replaceChildren(...names.map((name) => element("option", { value: name, title: found.get(name).meaning }, name)));
  $("table").value = names.includes(chosen) ? chosen : names.includes("flow_series") ? "flow_series" : names[0];
  const places = points(first).map(pointName), place = $("point").value;
  $("point").replaceChildren(...places.map((each) => element("option", { value: each }, each)));
  if (places.includes(place)) $("point").value = place;
}

const pointName = ({ link, node }) => (node ? `${link}@${node}` : link);

function drawTable(all) {
  // What no run has a value of is left out: a transport that is not TCP has no RTOs.
  const kept = inTable().map((_, i) => all.some(([, cells]) => cells[i] !== "–"));
  const rows = all.map(([name, cells]) => [name, cells.filter((_, i) => kept[i])]);
  const headings = inTable().filter((_, i) => kept[i]).map((name) => [metricOf(name).title, metricOf(name).unit].filter(Boolean).join(", "));
  const table = $("numbers");
  table.tHead.replaceChildren(element("tr", {}, element("th", { class: "text" }, "Transport"), ...headings.map((text) => element("th", {}, text))));
  table.tBodies[0].replaceChildren(...rows.map(([name, cells]) => element("tr", {}, element("th", { class: "text", scope: "row" }, name),
    ...cells.map((cell, i) => element("td", { "data-label": headings[i] }, cell)))));
}

const percent = (share) => `${Number((share * 100).toPrecision(2))} %`;

/** Which numbers a change moved: said of each transport's goodput, with the two numbers that moved most. */
function changes(saying, before) {
  const goodput = metricOf("goodput_bps");
  const lines = Object.entries(results.metrics).filter(([name]) => before[name]).map(([name, now]) => {
    const [old, value] = [before[name].goodput_bps || 0, now.goodput_bps || 0];
    if (Math.abs(value - old) < 0.005 * Math.max(old, value, 1)) return `${name} delivers as much as before`;
    const moved = [["silent", "silence"], ["rtos", "timeouts"], ["fast_retransmits", "fast retransmits"], ["drops", "drops"], ["rtt_mean_s", "mean RTT"]]
      .map(([metric, label]) => ({ label, metric, a: before[name][metric], b: now[metric] }))
      .filter(({ a, b }) => Number.isFinite(a) && Number.isFinite(b) && Math.abs(b - a) > 0.03 * Math.max(Math.abs(a), Math.abs(b)))
      .sort((x, y) => Math.abs(y.b - y.a) / Math.max(Math.abs(y.a), Math.abs(y.b)) - Math.abs(x.b - x.a) / Math.max(Math.abs(x.a), Math.abs(x.b)))
      .slice(0, 2).map(({ label, metric, a, b }) => (metric === "silent" ? `${label} ${percent(a)} to ${percent(b)}`
        : `${label} ${said(metricOf(metric), a, { single: true })} to ${said(metricOf(metric), b, { single: true, unit: true })}`));
    const share = old > 0 ? `, ${(100 * Math.abs(value - old) / old).toFixed(0)} % ${value < old ? "less" : "more"} than before` : "";
    return `${name} delivers ${said(goodput, value, { unit: true })}${share}${moved.length ? ` (${join(moved)})` : ""}`;
  });
  return lines.length ? `${saying}: ${lines.join("; ")}.` : "";
}

// ---- many seeds, and along a slider

/** Runs jobs over the workers, with progress; `act` gets each job and its run. */
async function many(jobs, act) {
  const stopped = new AbortController();
  comparing?.abort();
  running = comparing = stopped;
  $("stop").disabled = false;
  document.body.classList.add("busy");
  let done = 0;
  progress(0);
  try {
    await Promise.all(jobs.map(async (job) => {
      const run = await pool.ask({ ask: "run", trace: "summary", tables: SUMMARY_TABLES, ...job.request }, { signal: stopped.signal });
      act(job, run);
      progress(++done / jobs.length);
    }));
    return true;
  } catch (error) {
    stopped.abort();
    if (!isAbort(error)) fault(error); else if (!busy) trouble("Stopped.");
    return false;
  } finally {
    if (comparing === stopped) comparing = null;
    if (!busy && !comparing) {
      $("stop").disabled = true;
      progress(null);
      document.body.classList.remove("busy");
    }
  }
}

async function compareSeeds() {
  while (busy) await drawing; // a field that has just been left changes the scenario first
  const count = checked.random ? state.seeds : 1, names = [...state.transports];
  const bySeed = Object.fromEntries(names.map((name) => [name, {}])), shares = Object.fromEntries(names.map((name) => [name, []]));
  const jobs = names.flatMap((name) => Array.from({ length: count }, (_, i) => ({ name, seed: state.seed + i,
    request: { scenario: given({ transport: transportOf(name) }), seed: state.seed + i } })));
  const whole = await many(jobs, ({ name, seed }, run) => {
    bySeed[name][seed] = measured(run);
    const share = budget(run, data.states);
    if (share) shares[name].push(share);
  });
  if (!whole) return;
  trouble("");
  const found = await answer(bySeed);
  $("changed").textContent = "";
  const of = new Map(found.rows.map((row) => [row.name, row.interval]));
  drawBars(names.filter((name) => of.has(name)).map((name) => ({ name, ...of.get(name) })), await theory(checked.values, data.controls, statistics));
  const mean = (list) => Object.fromEntries(data.states.map((state) => [state.name, list.reduce((sum, share) => sum + share[state.name], 0) / list.length]));
  drawBudget(Object.fromEntries(names.map((name) => [name, shares[name].length ? mean(shares[name]) : null])));
  const answers = await statistics(names.flatMap((name) => inTable().map((metric) => ({ what: "mean", confidence: 0.95,
    values: Object.values(bySeed[name]).map((values) => (Number.isNaN(values[metric] ?? NaN) ? null : values[metric])) }))));
  drawTable(names.map((name, i) => [name, inTable().map((metric, j) => {
    const interval = answers[i * inTable().length + j], of = metricOf(metric);
    return interval.low === null || interval.low === interval.high ? said(of, interval.mean)
      : `${said(of, interval.mean)} (${said(of, interval.low)} to ${said(of, interval.high)})`;
  })]));
  results = { ...results, single: false, seeds: Object.fromEntries(jobs.map(({ seed }) => [seed, Object.fromEntries(names.map((name) => [name, bySeed[name][seed]]))])) };
  document.body.dataset.compared = Number(document.body.dataset.compared || 0) + 1;
}

const SWEEP_POINTS = 9, SWEEP_SEEDS = 5;
async function sweep() {
  while (busy) await drawing;
  const control = controls.find((each) => each.path === $("axis").value);
  if (!control) return;
  state.sweep = control.path;
  remember();
  const places = [...new Set(Array.from({ length: SWEEP_POINTS }, (_, i) => valueAt(control, RANGE * i / (SWEEP_POINTS - 1))))];
  const names = [...state.transports], count = checked.random ? Math.min(SWEEP_SEEDS, state.seeds) : 1;
  const goodputs = new Map(names.map((name) => [name, places.map(() => [])]));
  const jobs = places.flatMap((value, place) => names.flatMap((name) => Array.from({ length: count }, (_, i) => ({ name, place,
    request: { scenario: given({ transport: transportOf(name), set: [[control.path, written(control, value)]] }), seed: state.seed + i } }))));
  if (!await many(jobs, ({ name, place }, run) => goodputs.get(name)[place].push(measure(run, data.metrics).goodput_bps))) return;
  trouble("");
  const answers = await statistics(names.flatMap((name) => goodputs.get(name).map((values) => ({ what: "mean", values, confidence: 0.95 }))));
  drawSweep(control, places, names, answers);
  document.body.dataset.swept = Number(document.body.dataset.swept || 0) + 1;
}

const colorOf = (role) => getComputedStyle(document.documentElement).getPropertyValue(`--${role}`).trim();

function drawSweep(control, places, names, answers) {
  plot?.destroy();
  const of = (i, end) => places.map((_, j) => { const value = answers[i * places.length + j][end]; return value === null ? null : value / 1e6; });
  const series = [{ label: [control.label, control.unit].filter(Boolean).join(", ") }], columns = [places], bands = [];
  names.forEach((name, i) => {
    const color = colorOf(`series-${i % COLORS + 1}`);
    columns.push(of(i, "mean"), of(i, "high"), of(i, "low"));
    series.push({ label: name, stroke: color, width: 1.6, points: { show: true, size: 5 }, value: (_, value) => (value === null ? "–" : `${value.toFixed(3)} Mbit/s`) },
      { label: `${name}, upper end`, width: 0, points: { show: false } }, { label: `${name}, lower end`, width: 0, points: { show: false } });
    bands.push({ series: [3 * i + 2, 3 * i + 3], fill: `color-mix(in srgb, ${color} 22%, transparent)` });
  });
  const axis = { stroke: colorOf("muted"), grid: { stroke: colorOf("grid"), width: 1 }, font: "12px system-ui, sans-serif" };
  const width = () => Math.max(280, $("sweepchart").clientWidth);
  plot = new uPlot({
    width: width(), height: 260, series, bands, legend: { markers: {} },
    scales: { x: { time: false, ...(control.log ? { distr: 3 } : {}) }, y: { range: (_, low, high) => [0, (high || 1) * 1.06] } },
    axes: [{ ...axis, label: series[0].label }, { ...axis, label: "Goodput, Mbit/s" }],
  }, columns, $("sweepchart"));
  new ResizeObserver(() => plot.setSize({ width: width(), height: 260 })).observe($("sweepchart"));
  // The ends of intervals are drawn as a band; in the legend they would be two thirds of it.
  for (const [i, row] of [...$("sweepchart").querySelectorAll(".u-legend .u-series")].entries()) row.hidden = i > 0 && i % 3 !== 1;
  const best = places.map((value, j) => { const found = names.map((name, i) => [name, answers[i * places.length + j].mean]).sort((a, b) => b[1] - a[1])[0]; return [value, found[0]]; });
  const same = best.every(([, name]) => name === best[0][1]);
  $("swept").textContent = `Mean goodput with its 95 % interval over ${answers[0].n} seed${answers[0].n > 1 ? "s" : ""} at ${places.length} values of ${control.label}. `
    + (same ? `${best[0][1]} has the highest mean at each.` : `Highest mean: ${best.map(([value, name]) => `${name} at ${shown(control, value)}`).join(", ")}.`);
  const note = uncharged(control.path, checked.values, data.controls);
  if (note) $("swept").textContent += ` Note: ${note}`;
}

// ---- the editor

let typing = 0;
function typed(text) {
  clearTimeout(typing);
  typing = setTimeout(() => { what = ""; silenced = null; state.text = text; refresh(); }, 250);
}

let opening = null;
/** Loads the editor when it is first opened; where the page has none the text field stays. */
function openEditor(about) {
  if (!data.bundles.includes("editor")) return Promise.resolve();
  return (opening ??= (async () => {
    const [{ createEditor }, schema] = await Promise.all([import("./editor.bundle.js"), quick.ask({ ask: "schema" })]);
    const field = $("text"), host = element("div", { id: "code" });
    field.after(host);
    editor = createEditor(host, { text: field.value, label: "Scenario in TOML",
      complete: (text, at) => complete(schema, about.transports, text, at),
      changed: (text) => { field.value = text; typed(text); } });
    field.hidden = true;
    window.cogtcpLab.editor = editor;
  })().catch((error) => { opening = null; throw error; }));
}

// ---- files

function save(name, text, type) {
  const link = element("a", { href: URL.createObjectURL(new Blob([text], { type })), download: fileName(name) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

function numbersCsv() {
  const names = [...ofApplications.keys(), ...data.metrics.map((metric) => metric.name)];
  const value = (number) => (Number.isFinite(number) ? String(number) : "");
  const lines = Object.entries(results.seeds).flatMap(([seed, by]) => Object.entries(by).map(([name, of]) => [name, seed, ...names.map((metric) => value(of[metric]))].join(",")));
  return `${["transport", "seed", ...names].join(",")}\n${lines.join("\n")}\n`;
}

/** Makes runs again, and hands over what a request wants of them. */
async function again(request, act) {
  const stopped = new AbortController();
  running = stopped;
  $("stop").disabled = false;
  try {
    act(await pool.ask({ ...request, seed: state.seed },
      { signal: stopped.signal, progress: (seconds) => progress(seconds / checked.duration_s) }));
  } catch (error) { if (!isAbort(error)) fault(error); } finally { $("stop").disabled = true; progress(null); }
}

const scenarioOf = (name) => given({ transport: transportOf(name) });

function saveParquet() {
  const table = $("table").value;
  const metadata = Object.entries({ cogtcp_version: data.version, scenario: state.text, seed: String(state.seed) });
  return again({ ask: "parquet", runs: Object.keys(results.runs).map((name) => [name, scenarioOf(name)]), table, metadata },
    ({ file }) => save(`${state.name}-${table}.parquet`, file, "application/vnd.apache.parquet"));
}

// What TCP's headers say is in a file of its own: its column `packet` counts the rows of the other.
const packetsCsv = () => again({ ask: "run", scenario: scenarioOf(state.transports[0]), trace: "packets", tables: ["packets", "tcp_segments"] }, (run) => {
  for (const table of Object.values(run.tables)) save(`${state.name}-${state.transports[0]}-${table.name}.csv`, csv(table), "text/csv");
});

function saveCapture() {
  const [name] = state.transports, chosen = $("point").value;
  const point = points(Object.values(results.runs)[0]).find((each) => pointName(each) === chosen);
  return again({ ask: "capture", scenario: scenarioOf(name), point }, ({ capture }) => save(`${state.name}-${name}-${chosen}.pcapng`, capture, "application/vnd.tcpdump.pcap"));
}

// ---- the beginning

function choose(preset, transports = [], changes = []) {
  silenced = null;
  controls = [];
  results = null;
  what = "";
  edits.clear();
  state = ofPreset(preset);
  if (transports.length) state.transports = transports;
  toSet = changes.map((change) => [change.slice(0, change.indexOf("=")), change.slice(change.indexOf("=") + 1)]).slice(0, 16);
  arrive(preset);
}

function arrive(preset) {
  running?.abort();
  for (const box of $("transports").querySelectorAll("input")) box.checked = state.transports.includes(box.value);
  $("claims").hidden = !preset?.claims.length;
  $("claims").querySelector("dl").replaceChildren(...(preset?.claims || []).flatMap(([id, text]) => [element("dt", {}, id), element("dd", {}, text)]));
  refresh();
}

async function recall() {
  const fragment = location.hash.slice(1), found = await address.decode(fragment);
  // Links of the documentation name a preset: #start=NAME&transports=a,b&set=PATH=VALUE, or the name alone.
  const named = new URLSearchParams(fragment);
  const name = found?.name ?? named.get("start") ?? decodeURIComponentSafe(fragment);
  const preset = data.presets.find((each) => each.name === name) || null;
  if (!found) {
    const transports = (named.get("transports") ?? "").split(",").filter((each) => known.includes(each)).slice(0, MOST_TRANSPORTS);
    choose(preset || data.presets[0], preset ? transports : [], preset ? named.getAll("set") : []);
    $("preset").value = state.name;
    return;
  }
  silenced = null;
  controls = [];
  results = null;
  edits.clear();
  state = found;
  state.transports = state.transports.filter((each) => known.includes(each));
  if (!state.transports.length) state.transports = preset?.transports || ["linux-cubic"];
  $("preset").value = preset ? preset.name : "";
  arrive(preset);
}

const decodeURIComponentSafe = (text) => { try { return decodeURIComponent(text); } catch { return ""; } };

async function main() {
  await start();
  const about = await quick.ask({ ask: "about" });
  const groups = Map.groupBy(data.presets, (preset) => preset.group);
  $("preset").append(...[...groups].map(([group, presets]) =>
    element("optgroup", { label: group }, ...presets.map(({ name }) => element("option", { value: name }, name)))));
  state = ofPreset(data.presets[0]);
  const transports = [[AS_IT_IS, "each flow with the transport that the scenario gives it"], ...about.transports,
    ...data.controls_in_python.map((name) => [name, "congestion control in Python, in the process that serves this page"])];
  known = transports.map(([name]) => name);
  drawTransports(transports);
  $("preset").addEventListener("change", () => choose(data.presets.find((preset) => preset.name === $("preset").value)));
  $("reset").addEventListener("click", () => choose(data.presets.find((preset) => preset.name === state.name) || data.presets[0]));
  $("seed").addEventListener("change", () => {
    const seed = Number($("seed").value);
    if (!Number.isSafeInteger(seed) || seed < 0) { $("seed").value = state.seed; return; }
    what = `Seed ${state.seed} to ${seed}`;
    state.seed = seed;
    refresh();
  });
  $("seeds").addEventListener("change", () => {
    state.seeds = Math.max(2, Math.min(1000, Math.round(Number($("seeds").value)) || 10));
    showScenario();
    remember();
  });
  $("text").addEventListener("input", () => typed($("text").value));
  $("editor").addEventListener("toggle", () => $("editor").open && openEditor(about).catch(fault));
  $("add").addEventListener("change", async () => {
    for (const file of $("add").files) await addFile(file);
    refresh();
  });
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", async (event) => {
    event.preventDefault();
    for (const file of event.dataTransfer.files) await addFile(file);
    refresh();
  });
  $("stop").addEventListener("click", () => { wanted = false; running?.abort(); });
  $("compare").addEventListener("click", compareSeeds);
  $("sweep").addEventListener("click", sweep);
  $("save").addEventListener("click", () => save(`${state.name}.toml`, state.text, "application/toml"));
  $("csv").addEventListener("click", () => results && save(`${state.name}-numbers.csv`, numbersCsv(), "text/csv"));
  $("csvtable").addEventListener("click", () => results?.runs && save(`${state.name}-${$("table").value}.csv`, csv(stacked(results.runs, $("table").value)), "text/csv"));
  $("parquet").addEventListener("click", () => results?.runs && saveParquet());
  $("mapof").addEventListener("change", () => results?.runs && drawMap());
  $("packets").addEventListener("click", packetsCsv);
  $("pcap").addEventListener("click", saveCapture);
  $("link").addEventListener("click", async () => {
    await remember();
    await navigator.clipboard?.writeText(location.href).catch(() => {});
    trouble("The address of this page holds what you set; it is copied.");
  });
  addEventListener("hashchange", recall);
  await recall();
}

/** A scenario replaces the text; any other file is one that the scenario names, under the name that it is looked for by. */
async function addFile(file) {
  if (file.size > address.MOST_STATE) { trouble(`${file.name} is larger than 2 MB, which a link cannot hold; run it with cogtcp on your machine.`); return; }
  const content = await file.text();
  if (file.name.endsWith(".toml") && /^\s*\[?\[?(topology|run|flow)\b|^\s*run\s*=/m.test(content)) {
    state = { ...state, name: file.name.replace(/\.toml$/, ""), text: content };
    controls = [];
    return;
  }
  // The scenario may look for it in a folder: the name that ends with this one.
  const asked = [...state.text.matchAll(/"([^"\n]+)"/g)].map((match) => match[1]).find((name) => name.split("/").at(-1) === file.name);
  state.files = { ...state.files, [asked || file.name]: content };
}

main().catch((error) => {
  $("answer").textContent = "The lab cannot begin.";
  trouble(error.message);
});
