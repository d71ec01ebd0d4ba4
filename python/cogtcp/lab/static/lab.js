// The lab: sliders ask the server, the newest answer is drawn. The address holds the state, so that it comes back.
(() => {
"use strict";
const $ = (id) => document.getElementById(id);
const start = JSON.parse($("lab").textContent);
const token = new URLSearchParams(location.search).get("token") || "";
const client = crypto.getRandomValues(new Uint32Array(4)).join("-"); // each tab is its own
const RANGE = 1000; // steps of a slider
const COLORS = 6;
let preset = null; // what the server says of the chosen one
let state = { preset: start.first, set: {}, transports: [], seed: null };
let last = null, chart = null, asking = null, wanted = false, what = "", serial = 0;

const element = (tag, attributes = {}, ...children) => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
};
const short = (value) => (typeof value === "number" ? String(+value.toPrecision(3)) : value);

async function post(path, body, signal) {
  const response = await fetch(path, {
    method: "POST", signal, headers: { "Content-Type": "application/json", "X-Token": token }, body: JSON.stringify(body),
  });
  if (response.status === 409) return { stale: true };
  if (path === "/scenario" && response.ok) return { text: await response.text() };
  let found;
  try { found = await response.json(); } catch { found = { error: `the server answers ${response.status}` }; }
  return found;
}

const trouble = (text) => { $("trouble").textContent = text || ""; };

// ---- the state in the address

function remember() {
  history.replaceState(null, "", `${location.pathname}${location.search}#${encodeURIComponent(JSON.stringify(state))}`);
}
function recall() {
  try {
    const found = JSON.parse(decodeURIComponent(location.hash.slice(1)));
    const names = Object.values(start.presets).flat();
    if (names.includes(found.preset)) {
      state = {
        preset: found.preset,
        set: found.set && typeof found.set === "object" && !Array.isArray(found.set) ? found.set : {},
        transports: Array.isArray(found.transports) ? found.transports.filter((t) => start.transports.some(([name]) => name === t)).slice(0, start.most) : [],
        seed: Number.isSafeInteger(found.seed) && found.seed >= 0 ? found.seed : null,
      };
    }
  } catch { /* no state, or none of ours: the first preset */ }
}

// ---- controls

const place = (control, value) => Math.round(RANGE * (control.log
  ? Math.log(value / control.low) / Math.log(control.high / control.low) : (value - control.low) / (control.high - control.low)));
const valueAt = (control, at) => {
  const share = at / RANGE;
  const value = control.log ? control.low * (control.high / control.low) ** share : control.low + share * (control.high - control.low);
  const rounded = control.whole ? Math.round(value) : +value.toPrecision(3);
  return Math.min(control.high, Math.max(control.low, rounded));
};
const show = (control, value) => (typeof value === "string" ? value
  : /(^|\.)loss$/.test(control.path) ? `${short(value * 100)} %` : `${short(value)} ${control.unit}`.trim());

function change(control, value, before) {
  what = `${control.label} ${show(control, before)} to ${show(control, value)}`;
  if (value === control.value) delete state.set[control.path]; else state.set[control.path] = value;
  remember();
  ask();
}

function drawControls() {
  const first = [], more = [];
  if (preset.controls.some((c) => c.path.startsWith("radio.0.sensing."))) {
    const box = element("input", { type: "checkbox", id: "sensing" });
    box.checked = !("radio" in state.set);
    box.addEventListener("change", () => {
      what = box.checked ? "Sensing on" : "Sensing off";
      if (box.checked) delete state.set.radio; else state.set.radio = [];
      remember();
      ask();
    });
    first.push(element("label", {}, box, " the radio senses"));
  }
  for (const control of preset.controls) {
    const value = state.set[control.path] ?? control.value;
    const output = element("output", {}, show(control, value));
    const label = element("label", { title: control.path }, control.label, output);
    let input;
    if (control.choices.length) {
      input = element("select", { "data-path": control.path }, ...control.choices.map((text) => element("option", { value: text }, text)));
      input.value = value;
      input.addEventListener("change", () => change(control, input.value, state.set[control.path] ?? control.value));
      output.hidden = true;
    } else {
      input = element("input", { type: "range", min: 0, max: RANGE, step: 1, "data-path": control.path, "aria-valuetext": show(control, value) });
      input.value = place(control, value);
      input.addEventListener("input", () => {
        const now = valueAt(control, +input.value), before = state.set[control.path] ?? control.value;
        output.textContent = show(control, now);
        input.setAttribute("aria-valuetext", show(control, now));
        output.classList.toggle("changed", now !== control.value);
        if (now !== before) change(control, now, before);
      });
    }
    output.classList.toggle("changed", value !== control.value);
    label.append(input);
    (control.first ? first : more).push(label);
  }
  const rest = element("details", {}, element("summary", {}, `all ${preset.controls.length} numbers`), ...more);
  $("sliders").replaceChildren(...first, ...(more.length ? [rest] : []));
  $("transports").replaceChildren(element("legend", {}, "Transports"), ...start.transports.map(([name, text]) => {
    const box = element("input", { type: "checkbox", value: name });
    box.checked = state.transports.includes(name);
    box.addEventListener("change", () => {
      if (box.checked && state.transports.length >= start.most) { box.checked = false; return; }
      const left = box.checked ? [...state.transports, name] : state.transports.filter((t) => t !== name);
      if (!left.length) { box.checked = true; return; }
      state.transports = left;
      what = "";
      remember();
      ask();
    });
    return element("label", { title: text }, box, ` ${name}`);
  }));
  $("seed").value = state.seed;
  $("about").textContent = preset.description;
  $("claims").hidden = !preset.claims.length;
  $("claims").querySelector("dl").replaceChildren(...preset.claims.flatMap(([id, text]) => [element("dt", {}, id), element("dd", {}, text)]));
}

async function choose(name, keep) {
  let found;
  try { found = await post("/preset", { preset: name }); } catch { gone(); return; }
  if (found.error) { trouble(found.error); return; }
  preset = found;
  const paths = new Map(preset.controls.map((c) => [c.path, c]));
  const valid = ([path, value]) => (path === "radio" && Array.isArray(value) && !value.length)
    || (paths.has(path) && (paths.get(path).choices.length ? paths.get(path).choices.includes(value)
      : typeof value === "number" && value >= paths.get(path).low && value <= paths.get(path).high));
  state = {
    preset: name,
    set: keep ? Object.fromEntries(Object.entries(state.set).filter(valid)) : {},
    transports: keep && state.transports.length ? state.transports : preset.transports.slice(0, start.most),
    seed: keep && state.seed !== null ? state.seed : preset.seed,
  };
  last = null;
  what = "";
  drawControls();
  remember();
  ask();
}

// ---- asking and drawing

const gone = () => trouble("The server is gone. Start `cogtcp lab` again; the address holds what you set.");

// One question at a time, the newest next: while a slider moves every answer is drawn, and none queues up.
async function ask() {
  wanted = true;
  if (asking) return;
  asking = true;
  document.body.classList.add("busy");
  while (wanted) {
    wanted = false;
    const said = what, mine = ++serial;
    try {
      const before = last && Object.fromEntries(last.rows.map((row) => [row.name, row]));
      const found = await post("/simulate", { ...state, client, what: said, before });
      if (found.stale) continue;
      if (found.error) trouble(found.error);
      else { trouble(""); draw(found); document.body.dataset.answered = mine; }
    } catch { gone(); }
  }
  asking = false;
  document.body.classList.remove("busy");
}

function draw(found) {
  last = found;
  $("answer").textContent = found.answer;
  $("changed").textContent = found.changed;
  const most = Math.max(...found.rows.map((row) => row.goodput_bps || 0), ...found.models.map((m) => m.bps), 1);
  $("bars").replaceChildren(...found.rows.map((row, index) => {
    const bar = element("div", { class: "bar" });
    bar.style.width = `${100 * (row.goodput_bps || 0) / most}%`;
    bar.style.background = `var(--series-${index % COLORS + 1})`;
    const marks = found.models.map((model) => {
      const mark = element("div", { class: "model", title: `${model.name}: ${short(model.bps / 1e6)} Mbit/s` });
      mark.style.left = `${100 * model.bps / most}%`;
      return mark;
    });
    return element("div", { class: "row" }, element("span", {}, row.name), element("div", { class: "track" }, bar, ...marks),
      element("span", {}, `${row.texts.goodput_bps} Mbit/s`));
  }));
  $("models").textContent = found.models.length
    ? `Dashed: what closed forms for Reno's window say. ${found.models.map((m) => `${m.name}: ${short(m.bps / 1e6)} Mbit/s`).join("; ")}.` : "";
  const kept = chart ? { view: chart.state.view, end: chart.end } : null;
  if (chart) { // what was hidden stays hidden
    const hidden = new Set(chart.lines.filter((_, i) => !chart.state.lines.has(i)).map((line) => line.name));
    found.time.shown = found.time.shown.filter((i) => !hidden.has(found.time.lines[i].name));
  }
  if (chart) chart.destroy();
  chart = window.cogtcp.timeline($("time"), found.time);
  chart.end = found.time.end;
  chart.lines = found.time.lines;
  if (kept && kept.end === found.time.end) chart.setView(...kept.view);
  const table = $("numbers");
  table.tHead.replaceChildren(element("tr", {}, element("th", { class: "text" }, "Transport"),
    ...found.headings.map(([title, unit]) => element("th", {}, unit ? `${title}, ${unit}` : title))));
  table.tBodies[0].replaceChildren(...found.rows.map((row) => element("tr", {}, element("th", { class: "text", scope: "row" }, row.name),
    ...Object.values(row.texts).map((text, i) => element("td", { "data-label": found.headings[i].filter(Boolean).join(", ") }, text)))));
}

// ---- the rest

$("preset").append(...Object.entries(start.presets).map(([group, names]) =>
  element("optgroup", { label: group }, ...names.map((name) => element("option", { value: name }, name)))));
$("preset").addEventListener("change", () => choose($("preset").value, false));
$("seed").addEventListener("change", () => {
  const seed = +$("seed").value;
  if (!Number.isSafeInteger(seed) || seed < 0) { $("seed").value = state.seed; return; }
  what = `Seed ${state.seed} to ${seed}`;
  state.seed = seed;
  remember();
  ask();
});
$("reset").addEventListener("click", () => choose(state.preset, false));
$("save").addEventListener("click", async () => {
  try {
    const found = await post("/scenario", state);
    if (found.error) { trouble(found.error); return; }
    const link = element("a", { href: URL.createObjectURL(new Blob([found.text], { type: "application/toml" })), download: `${state.preset.replace(/[^\w.-]+/g, "-")}.toml` });
    link.click();
    URL.revokeObjectURL(link.href);
  } catch { gone(); }
});
window.addEventListener("hashchange", () => { recall(); $("preset").value = state.preset; choose(state.preset, true); });
recall();
$("preset").value = state.preset;
choose(state.preset, true);
})();
