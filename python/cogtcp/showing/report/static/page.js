// Time lines that zoom and pan together, drawn by uPlot from the data in the page (figure/timeline.py).
(() => {
"use strict";

const KINDS = ["sensing", "switching", "lost"];
const SILENT = { sensing: "sensing", switching: "switching", lost: "no signal" };
const MOST_ROWS = 200; // of the list of events
const UNITS = { // what the number of an event is, see `cogtcp schema --results`
  rto: (v) => `cwnd ${v}`, spurious_rto: (v) => `cwnd ${v}`, fast_retransmit: (v) => `cwnd ${v}`,
  recovery_exit: (v) => `cwnd ${v}`, unreachable: (v) => `cwnd ${v}`, drop: (v) => `${v} B`,
  handoff: (v) => `${+(v * 1e-6).toPrecision(4)} Mbit/s`, trigger_down: (v) => `${v} s ahead`,
  pu_on: (v) => `band ${v}`, pu_off: (v) => `band ${v}`,
};

let palette = new Map();
const color = (role) => {
  if (!palette.has(role)) {
    palette.set(role, getComputedStyle(document.documentElement).getPropertyValue(`--${role}`).trim());
  }
  return palette.get(role);
};

const element = (tag, attributes = {}, ...children) => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
};

// 32-bit floats in base64, or a list as it is; uPlot takes null, not NaN, for a gap.
const unpack = (text) => {
  if (typeof text !== "string") return text;
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  return Array.from(new Float32Array(bytes.buffer), (v) => (Number.isNaN(v) ? null : v));
};

const written = (value, digits) => {
  if (value === null || value === undefined) return "–";
  if (Math.abs(value) >= 1e7) return value.toPrecision(4);
  return value.toLocaleString("en", { maximumFractionDigits: digits }).replace("-", "−");
};

// The same rule as report/scale.py: an axis shows what is usual, and says what it leaves out.
const robustLimit = (values) => {
  const known = values.filter((v) => v !== null).sort((a, b) => a - b);
  const greatest = known.length ? known[known.length - 1] : 0;
  if (greatest <= 0) return [1, null];
  const usual = known[Math.max(0, Math.min(known.length - 2, Math.ceil(0.995 * known.length) - 1))];
  return usual > 0 && known.length > 2 && greatest > 8 * usual ? [1.25 * usual, greatest] : [greatest, null];
};

const firstNot = (length, test) => { // of a sorted list: where `test` is true no more
  let low = 0, high = length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (test(middle)) low = middle + 1; else high = middle;
  }
  return low;
};

function timeline(root, data) {
  const grid = data.grid;
  const count = grid.pairs ? 2 * grid.cells : grid.cells;
  const xs = Array.from({ length: count }, (_, i) => grid.start + grid.width * (grid.pairs ? i / 2 + 0.25 : i + 0.5));
  const events = readEvents(data.events);
  const silences = readSilences(data.silences);
  const state = { view: [0, data.end], lines: new Set(data.shown), full: new Set(), picked: null, kinds: new Set(), time: null };
  const inAddress = data.address !== false; // a page may keep other things there
  const fromAddress = inAddress && /^#t=([\d.]+)-([\d.]+)$/.exec(location.hash);
  if (fromAddress && +fromAddress[1] < +fromAddress[2]) state.view = [+fromAddress[1], +fromAddress[2]];

  const charts = root.querySelector(".charts");
  charts.replaceChildren();
  const status = element("span", { class: "status", "aria-live": "polite" });
  const reading = element("span", { class: "reading" });
  const panels = [];
  let waiting = false;

  const shownRuns = () => new Set([...state.lines].map((i) => data.lines[i].run));
  const visible = (track) => (track.line >= 0 ? state.lines.has(track.line) : shownRuns().has(track.run));

  // ---- what the reader does

  const setView = (start, end) => {
    const least = Math.min(data.end, 4 * grid.width);
    const length = Math.min(data.end, Math.max(least, end - start));
    const middle = (start + end) / 2;
    const first = Math.max(0, Math.min(data.end - length, middle - length / 2));
    state.view = [first, first + length];
    for (const panel of panels) panel.chart.setScale("x", { min: first, max: first + length });
    later();
  };
  const zoom = (factor, at = (state.view[0] + state.view[1]) / 2) => {
    const [a, b] = state.view;
    const share = (at - a) / (b - a), length = (b - a) * factor;
    setView(at - share * length, at + (1 - share) * length);
  };
  const pan = (share) => {
    const [a, b] = state.view, by = share * (b - a);
    setView(a + by, b + by);
  };
  const whole = () => setView(0, data.end);
  const pick = (index, move) => {
    state.picked = index;
    if (move) {
      const length = Math.min(state.view[1] - state.view[0], Math.max(60 * grid.width, data.end / 50));
      setView(events.time[index] - length / 2, events.time[index] + length / 2);
      charts.scrollIntoView({ block: "nearest" });
    }
    for (const panel of panels) panel.chart.redraw(false, false);
    list();
  };
  const toggle = (index, button) => {
    if (state.lines.has(index)) state.lines.delete(index); else state.lines.add(index);
    button.setAttribute("aria-pressed", String(state.lines.has(index)));
    for (const panel of panels) {
      panel.plot.tracks.forEach((track, i) => panel.chart.setSeries(i + 1, { show: visible(track) }));
      panel.read();
    }
    later();
  };
  // What need not keep pace with the hand.
  const later = () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      const [a, b] = state.view;
      const part = b - a < data.end * (1 - 1e-9);
      const digits = Math.max(0, Math.min(6, 3 - Math.floor(Math.log10(b - a))));
      status.textContent = `${written(a, digits)} s to ${written(b, digits)} s${part ? ` of ${written(data.end, 3)} s` : ""}; ${data.grain}`;
      for (const panel of panels) panel.beyond();
      list();
      if (inAddress) try {
        history.replaceState(null, "", part ? `#t=${+a.toFixed(6)}-${+b.toFixed(6)}` : location.pathname + location.search);
      } catch { /* a page that was opened in a frame or from a mail: its address stays */ }
    });
  };

  // ---- the parts

  const button = (text, title, act) => element("button", { type: "button", title, onclick: act }, text);
  const bar = element("div", { class: "bar" },
    button("whole run", "The whole run (0, or double-click)", whole),
    ...(data.zoom ? [button("closer look", "The first silences, or the first loss", () => setView(...data.zoom))] : []),
    button("−", "Zoom out (−)", () => zoom(2)), button("+", "Zoom in (+, or drag over a stretch)", () => zoom(0.5)),
    button("◀", "Earlier (left arrow)", () => pan(-0.4)), button("▶", "Later (right arrow)", () => pan(0.4)), status, reading);
  charts.append(bar);
  if (data.lines.length > 1) {
    charts.append(element("div", { class: "chips" }, ...data.lines.map((line, index) => {
      const swatch = element("span", { class: "swatch" });
      swatch.style.borderTopColor = `var(--${line.color})`;
      swatch.style.borderTopStyle = line.dashes.length ? "dashed" : "solid";
      const chip = element("button", { type: "button", "aria-pressed": String(state.lines.has(index)), title: "Show or hide" }, swatch, line.name);
      chip.addEventListener("click", () => toggle(index, chip));
      return chip;
    })));
  }
  const box = element("div", { class: "panels", tabindex: "0", role: "group",
    "aria-label": "Time lines. Drag to zoom, double-click for the whole run; arrow keys move, plus and minus zoom." });
  charts.append(box);
  box.addEventListener("keydown", (event) => {
    const act = { ArrowLeft: () => pan(-0.2), ArrowRight: () => pan(0.2), "+": () => zoom(0.5), "=": () => zoom(0.5),
      "-": () => zoom(2), 0: whole, Escape: whole }[event.key];
    if (act && !event.ctrlKey && !event.metaKey) { act(); event.preventDefault(); }
  });
  const sync = `time-${Math.random()}`;
  data.plots.forEach((plot, index) => panels.push(makePanel(plot, index === data.plots.length - 1)));
  const notes = [];
  if (data.merged) notes.push(`Silences less than ${data.merged} apart are shaded as one.`);
  if (data.silencesOf) notes.push(`Silences are those with ${data.silencesOf}; with other transports they differ.`);
  charts.append(element("p", { class: "note" }, `Drag to zoom all, double-click for the whole run. ${notes.join(" ")}`));
  const lists = makeList();
  new ResizeObserver(() => {
    for (const panel of panels) panel.chart.setSize({ width: box.clientWidth, height: panel.height() });
  }).observe(box);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const repaint = () => { palette = new Map(); for (const panel of panels) panel.chart.redraw(); };
  dark.addEventListener("change", repaint);
  root.classList.add("live");
  for (const panel of panels) panel.chart.setSize({ width: box.clientWidth, height: panel.height() });
  later();
  return { setView, state, charts: panels.map((panel) => panel.chart), destroy() { dark.removeEventListener("change", repaint); for (const p of panels) p.chart.destroy(); } };

  function makePanel(plot, last) {
    for (const track of plot.tracks) track.data = unpack(track.values);
    const values = element("span", { class: "values" }), past = element("button", { type: "button", class: "past", hidden: "" });
    const head = element("div", { class: "head" }, element("strong", {}, plot.title), values, past);
    const mount = element("div");
    box.append(head, mount);
    const panel = { plot, out: null };
    panel.height = () => Math.round((box.clientWidth < 500 ? 42 : 54) * plot.height + (last ? 44 : 12));
    const readings = plot.tracks.map((track) => {
      const number = element("b", {}), swatch = element("span", { class: "swatch" });
      swatch.style.borderTopColor = `var(--${track.color})`;
      swatch.style.borderTopStyle = track.dashes.length ? "dashed" : "solid";
      const name = track.name || (track.line >= 0 && data.lines.length > 1 ? data.lines[track.line].name : "");
      const shown = element("span", {}, swatch, name ? `${name} ` : "", number);
      values.append(shown);
      return { shown, number, name };
    });
    panel.read = () => {
      const at = panel.chart.cursor.idx;
      plot.tracks.forEach((track, i) => {
        readings[i].shown.hidden = !visible(track);
        if (at === null || at === undefined) {
          readings[i].number.textContent = "";
          readings[i].shown.hidden ||= !readings[i].name; // a key needs a name or a value
          return;
        }
        let text = written(track.data[at], plot.digits);
        if (grid.pairs) {
          const pair = [track.data[at & ~1], track.data[at | 1]].filter((v) => v !== null).sort((a, b) => a - b);
          const ends = pair.map((v) => written(v, plot.digits));
          text = !ends.length ? "–" : ends[0] === ends[ends.length - 1] ? ends[0] : `${ends[0]} to ${ends[1]}`;
        }
        readings[i].number.textContent = text;
      });
    };
    panel.beyond = () => {
      past.hidden = panel.out === null;
      if (panel.out !== null) past.textContent = state.full.has(plot) ? "show usual values only" : `show all values, up to ${written(+panel.out.toPrecision(3), 3)} ${plot.unit}`;
    };
    past.addEventListener("click", () => {
      if (state.full.has(plot)) state.full.delete(plot); else state.full.add(plot);
      panel.chart.setScale("x", { min: state.view[0], max: state.view[1] });
      panel.beyond();
    });
    const yRange = () => {
      const first = firstNot(count, (i) => xs[i] < state.view[0]), end = firstNot(count, (i) => xs[i] <= state.view[1]);
      const seen = [];
      for (const track of plot.tracks) if (visible(track)) for (let i = first; i < end; i++) seen.push(track.data[i]);
      let limit, greatest = 0, least = 0;
      for (const v of seen) if (v > greatest) greatest = v; else if (v < least) least = v;
      if (least < 0) { // levels in dBm, say: around what is there, not from 0 on
        panel.out = null;
        const known = seen.filter((v) => v !== null), top = Math.max(...known), room = 0.06 * (top - least || 1);
        return [least - room, top + room];
      }
      if (plot.limit !== null) { limit = plot.limit; panel.out = greatest > limit ? greatest : null; }
      else [limit, panel.out] = robustLimit(seen);
      if (state.full.has(plot)) limit = greatest || limit;
      return [0, limit * (plot.marks.length ? 1.18 : 1.06)];
    };
    const font = "12px system-ui, sans-serif";
    const axis = { font, stroke: () => color("muted"), grid: { stroke: () => color("grid"), width: 1 }, ticks: { show: false } };
    panel.chart = new uPlot({
      width: box.clientWidth || 600,
      height: panel.height(),
      padding: [6, 18, 0, 0],
      legend: { show: false },
      cursor: { y: false, sync: { key: sync, setSeries: false }, drag: { x: true, y: false, setScale: false, dist: 4 }, points: { size: 6 } },
      scales: { x: { time: false, range: () => state.view.slice() }, y: { range: yRange } },
      axes: [
        { ...axis, size: last ? 28 : 10, space: 70, label: last ? "Simulated time, s" : undefined, labelFont: font, labelSize: 18, labelGap: 0,
          values: (_, splits) => splits.map((v) => (last ? written(v, 6) : "")) },
        { ...axis, size: 54, space: 28, values: (_, splits) => splits.map((v) => written(v, 4)) },
      ],
      series: [{}, ...plot.tracks.map((track) => ({
        show: visible(track), stroke: () => color(track.color), width: 1.4, dash: track.dashes.length ? track.dashes : undefined,
        paths: track.steps ? uPlot.paths.stepped({ align: 1 }) : undefined, points: { show: false }, spanGaps: false,
      }))],
      hooks: {
        drawClear: [(u) => drawSilences(u)],
        draw: [(u) => drawMarks(u, plot)],
        setSelect: [(u) => {
          if (u.select.width > 4) {
            const a = u.posToVal(u.select.left, "x"), b = u.posToVal(u.select.left + u.select.width, "x");
            if (!panels.busy) {
              panels.busy = true; // the others are told of the selection too
              setView(a, b);
              panels.busy = false;
            }
          }
          u.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
        }],
        setCursor: [(u) => {
          panel.read();
          if (u === panels[0].chart) tell(u.cursor.left >= 0 ? u.posToVal(u.cursor.left, "x") : null);
        }],
      },
    }, [xs, ...plot.tracks.map((track) => track.data)], mount);
    const over = panel.chart.over;
    over.addEventListener("dblclick", whole);
    over.addEventListener("wheel", (event) => {
      if (event.ctrlKey) {
        event.preventDefault();
        zoom(event.deltaY > 0 ? 1.25 : 0.8, panel.chart.posToVal(event.offsetX, "x"));
      } else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        event.preventDefault();
        pan(event.deltaX / over.clientWidth);
      }
    }, { passive: false });
    over.addEventListener("click", (event) => {
      const near = nearest(panel.chart, event.offsetX, plot);
      if (near !== null) pick(near, false);
    });
    return panel;
  }

  function tell(time) {
    state.time = time;
    if (time === null) { reading.textContent = ""; return; }
    const at = firstNot(silences.length, (i) => silences[i].end <= time);
    const silent = at < silences.length && silences[at].start <= time ? `, ${SILENT[silences[at].kind]}` : "";
    reading.textContent = `at ${written(time, Math.max(0, Math.min(6, 4 - Math.floor(Math.log10(state.view[1] - state.view[0])))))} s${silent}`;
  }

  function drawSilences(u) {
    const { ctx } = u, { left, top, width, height } = u.bbox;
    const [a, b] = state.view, scale = width / (b - a);
    const first = firstNot(silences.length, (i) => silences[i].end <= a), end = firstNot(silences.length, (i) => silences[i].start < b);
    ctx.save();
    if (end - first > width / 3) {
      // More than can be told apart: how much of each column is silent.
      for (const kind of KINDS) {
        const covered = new Float32Array(Math.ceil(width) + 1);
        for (let i = first; i < end; i++) {
          if (silences[i].kind !== kind) continue;
          const from = Math.max(0, (silences[i].start - a) * scale), to = Math.min(width, (silences[i].end - a) * scale);
          for (let column = Math.floor(from); column < to; column++) covered[column] += Math.min(to, column + 1) - Math.max(from, column);
        }
        ctx.fillStyle = color(kind);
        covered.forEach((share, column) => {
          if (share > 0) { ctx.globalAlpha = 0.12 + 0.43 * Math.min(1, share); ctx.fillRect(left + column, top, 1, height); }
        });
      }
    } else {
      ctx.globalAlpha = 0.5;
      for (let i = first; i < end; i++) {
        const from = Math.max(0, (silences[i].start - a) * scale), to = Math.min(width, (silences[i].end - a) * scale);
        ctx.fillStyle = color(silences[i].kind);
        ctx.fillRect(left + from, top, Math.max(1, to - from), height);
      }
    }
    ctx.restore();
  }

  function concerns(index, plot) {
    const kind = events.kind[index];
    if (!plot.marks.includes(kind)) return false;
    if (kind === "drop") return shownRuns().has(events.run[index]) && events.entity[index] === data.link[events.run[index]];
    return [...state.lines].some((i) => data.lines[i].run === events.run[index] && data.lines[i].flow === events.entity[index]);
  }

  function lineOf(index) {
    return data.lines.findIndex((line) => line.run === events.run[index] && line.flow === events.entity[index]);
  }

  function drawMarks(u, plot) {
    const several = data.lines.length > 1; // each marks its own timeouts in its colour; of one line they stand out
    const { ctx } = u, { left, top, width, height } = u.bbox, ratio = devicePixelRatio || 1;
    const [a, b] = state.view;
    ctx.save();
    ctx.setLineDash([]); // what a dashed line left behind
    if (plot.marks.length) {
      const first = firstNot(events.length, (i) => events.time[i] < a), end = firstNot(events.length, (i) => events.time[i] <= b);
      const before = {};
      for (let i = first; i < end; i++) {
        const x = left + (events.time[i] - a) / (b - a) * width, kind = events.kind[i];
        const line = several && kind !== "drop" ? lineOf(i) : -1, like = `${kind} ${line}`;
        if (before[like] !== undefined && x - before[like] < 1.5 * ratio) continue;
        if (!concerns(i, plot)) continue;
        before[like] = x;
        const own = line >= 0 ? data.lines[line].color : "";
        ctx.beginPath();
        if (kind === "drop") {
          ctx.strokeStyle = color("alarm");
          ctx.lineWidth = ratio;
          ctx.moveTo(x, top);
          ctx.lineTo(x, top + 8 * ratio);
          ctx.stroke();
        } else if (kind === "fast_retransmit" || kind === "loss") {
          ctx.fillStyle = color(own || "series-2");
          ctx.arc(x, top + 14 * ratio, 3 * ratio, 0, 7);
          ctx.fill();
        } else {
          const s = 4 * ratio, y = top + 5 * ratio;
          ctx.fillStyle = ctx.strokeStyle = color(own || "alarm");
          ctx.lineWidth = ratio;
          ctx.moveTo(x - s, y - s); ctx.lineTo(x + s, y - s); ctx.lineTo(x, y + s); ctx.closePath();
          if (kind === "spurious_rto") ctx.stroke(); else ctx.fill();
        }
      }
    }
    if (state.picked !== null && events.time[state.picked] >= a && events.time[state.picked] <= b) {
      const x = left + (events.time[state.picked] - a) / (b - a) * width;
      ctx.strokeStyle = color("accent");
      ctx.lineWidth = 1.5 * ratio;
      ctx.beginPath();
      ctx.moveTo(x, top);
      ctx.lineTo(x, top + height);
      ctx.stroke();
    }
    ctx.restore();
  }

  function nearest(u, x, plot) {
    const reach = 7;
    const a = u.posToVal(x - reach, "x"), b = u.posToVal(x + reach, "x"), middle = u.posToVal(x, "x");
    let best = null;
    for (let i = firstNot(events.length, (j) => events.time[j] < a); i < events.length && events.time[i] <= b; i++) {
      if (concerns(i, plot) && (best === null || Math.abs(events.time[i] - middle) < Math.abs(events.time[best] - middle))) best = i;
    }
    return best;
  }

  // ---- the list of events

  function makeList() {
    const counts = new Map();
    for (const kind of events.kind) counts.set(kind, (counts.get(kind) || 0) + 1);
    const few = [...counts].filter(([, n]) => n <= 1000).map(([kind]) => kind);
    state.kinds = new Set(few.length ? few : counts.keys());
    const said = element("p", { class: "note" });
    const body = element("tbody");
    const chips = element("div", { class: "chips" }, ...[...counts].sort().map(([kind, n]) => {
      const chip = element("button", { type: "button", "aria-pressed": String(state.kinds.has(kind)) }, `${kind.replaceAll("_", " ")} ${n.toLocaleString("en")}`);
      chip.addEventListener("click", () => {
        if (state.kinds.has(kind)) state.kinds.delete(kind); else state.kinds.add(kind);
        chip.setAttribute("aria-pressed", String(state.kinds.has(kind)));
        list();
      });
      return chip;
    }));
    const several = data.runs.length > 1;
    const head = element("tr", {}, ...["Time, s", "Event", "At", ...(several ? ["Run"] : []), "Detail"].map((text, i) => element("th", i ? { class: "text" } : {}, text)));
    const details = element("details", { class: "events" }, element("summary", {}, `Events (${data.total.toLocaleString("en")})`),
      ...(data.listed < data.total ? [element("p", { class: "note" }, `${data.listed.toLocaleString("en")} of them are in this page, evenly chosen of the most frequent kinds; all are in events.parquet.`)] : []),
      chips, said, element("div", { class: "list", tabindex: "0" }, element("table", {}, element("thead", {}, head), body)));
    details.addEventListener("toggle", () => list());
    charts.append(details);
    return { details, body, said };
  }

  function list() {
    if (!lists || !lists.details.open) return;
    const [a, b] = state.view;
    const rows = [];
    let found = 0;
    for (let i = firstNot(events.length, (j) => events.time[j] < a); i < events.length && events.time[i] <= b; i++) {
      if (!state.kinds.has(events.kind[i])) continue;
      found += 1;
      if (rows.length < MOST_ROWS) rows.push(i);
    }
    lists.said.textContent = found > rows.length
      ? `The first ${rows.length} of ${found.toLocaleString("en")} between ${written(a, 3)} s and ${written(b, 3)} s; zoom in to see the others.`
      : `${found.toLocaleString("en")} between ${written(a, 3)} s and ${written(b, 3)} s. A click moves the time lines there.`;
    lists.body.replaceChildren(...rows.map((i) => {
      const value = events.value[i] === null ? "" : (UNITS[events.kind[i]] || String)(events.value[i]);
      return element("tr", i === state.picked ? { class: "picked" } : {},
        element("td", {}, element("button", { type: "button", class: "jump", onclick: () => pick(i, true) }, events.time[i].toFixed(6))),
        ...[events.kind[i].replaceAll("_", " "), events.entity[i], ...(data.runs.length > 1 ? [data.runs[events.run[i]]] : []),
          [events.detail[i], value].filter(Boolean).join(", ")].map((text) => element("td", { class: "text" }, text)));
    }));
    lists.body.querySelector(".picked")?.scrollIntoView({ block: "nearest" });
  }
}

function readEvents(packed) {
  let now = 0;
  const time = packed.time.map((step) => (now += step) / 1e6);
  return {
    length: time.length,
    time,
    kind: packed.kind.map((i) => packed.kinds[i]),
    run: packed.run.length ? packed.run : packed.kind.map(() => 0),
    entity: packed.entity.map((i) => packed.entities[i]),
    detail: packed.detail.map((i) => packed.details[i]),
    value: packed.value,
  };
}

function readSilences(packed) {
  const found = [];
  let now = 0;
  for (let i = 0; i < packed.length; i += 3) {
    const start = now + packed[i], end = start + packed[i + 1];
    found.push({ start: start / 1e6, end: end / 1e6, kind: KINDS[packed[i + 2]] });
    now = end;
  }
  return found;
}

window.cogtcp = { timeline, made: [] };
for (const root of document.querySelectorAll(".time")) {
  const data = root.querySelector("script[type='application/json']");
  if (data) window.cogtcp.made.push(timeline(root, JSON.parse(data.textContent)));
}
})();
