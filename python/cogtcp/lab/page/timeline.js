// What the time lines draw of runs: the data that report/static/page.js takes, made of the tables of runs. The rules are
// those of cogtcp.showing.figure.series, reduce and timeline.
import { numbers, texts } from "./engine.js";

const MOST_FLOWS = 6, MOST_VALUES = 220_000, MOST_OF_ONE = 20_000, MOST_EVENTS = 10_000, MOST_SILENCES = 12_000, MOST_AT_FIRST = 6;
const COLORS = 6, KINDS = ["sensing", "switching", "lost"];
const DASHES = [[], [7, 4], [2, 3], [9, 3, 2, 3], [12, 4], [4, 4]];
const STARTS = { sensing_start: "sensing", switching_start: "switching", signal_lost: "lost" };
const ENDS = new Set(["sensing_end", "switching_end", "handoff", "signal_back"]);

/** The rows of a table whose text columns have these values, as columns of doubles. */
function selected(table, equal) {
  const keys = Object.entries(equal).map(([name, text]) => [table.columns[name].values, table.columns[name].dictionary.indexOf(text)]);
  const chosen = [];
  for (let i = 0; i < table.rows; i++) if (keys.every(([codes, code]) => codes[i] === code)) chosen.push(i);
  return Object.fromEntries(Object.values(table.columns).filter((column) => column.kind !== "text")
    .map((column) => { const all = numbers(table, column.name); return [column.name, Float64Array.from(chosen, (i) => all[i])]; }));
}

/** The series of a flow, with the rate that its transport allows itself; NaN where it controls none. */
function withRate(columns, control, flow) {
  const rates = control?.rows ? selected(control, { flow, variable: "allowed_rate_bps" }) : { time_s: [], value: [] };
  const known = new Map(Array.from(rates.time_s, (time, i) => [time, rates.value[i]])); // both series are sampled at the same instants
  return { ...columns, allowed_rate_bps: columns.time_s.map((time) => known.get(time) ?? NaN) };
}

function seriesOf(run) {
  const { flows, links, flow_series, control_series, link_series, events } = run.tables;
  const names = texts(flows, "flow");
  const bottlenecks = names.length ? texts(flows, "bottleneck") : texts(links, "link");
  const counts = new Map();
  for (const name of bottlenecks) counts.set(name, (counts.get(name) || 0) + 1);
  const link = [...counts].reduce((best, entry) => (entry[1] > best[1] ? entry : best), ["", 0])[0];
  const kind = texts(events, "kind"), entity = texts(events, "entity"), detail = texts(events, "detail"), time = numbers(events, "time_s");
  return {
    duration: run.duration_s,
    flows: new Map(names.slice(0, MOST_FLOWS).map((name) => [name, withRate(selected(flow_series, { flow: name }), control_series, name)])),
    link,
    linkSeries: selected(link_series, { link, direction: "forward" }),
    silences: silences(kind, detail, entity, time, run.duration_s),
    events: { kind, entity, detail, time, value: numbers(events, "value") },
  };
}

/** The stretches in which some radio is silent, one after the other: [start, end, kind]. */
function silences(kind, detail, radio, time, end) {
  const found = [], phases = new Map();
  for (let i = 0; i < kind.length; i++) {
    let entered = STARTS[kind[i]] || "";
    if (!entered && ENDS.has(kind[i])) entered = KINDS.includes(detail[i]) ? detail[i] : "transmitting";
    if (!entered) continue;
    const before = phases.get(radio[i]);
    if (before) found.push([before[0], time[i], before[1]]);
    if (entered === "transmitting") phases.delete(radio[i]); else phases.set(radio[i], [time[i], entered]);
  }
  for (const [start, entered] of phases.values()) found.push([start, end, entered]);
  found.sort((a, b) => a[0] - b[0]);
  const apart = [];
  let until = 0;
  for (const [start, stop, entered] of found) {
    const from = Math.max(start, until);
    if (from < stop) { apart.push([from, stop, entered]); until = stop; }
  }
  return apart;
}

/** The share of a run's time in which some radio is silent. */
export function silentShare(run) {
  const { events } = run.tables;
  const found = silences(texts(events, "kind"), texts(events, "detail"), texts(events, "entity"), numbers(events, "time_s"), run.duration_s);
  return found.reduce((sum, [start, end]) => sum + end - start, 0) / Math.max(run.duration_s, 1e-9);
}

// ---- the grid of time that all series share

function gridOver(series, most, end) {
  const longest = series.reduce((best, times) => (times.length > best.length ? times : best), []);
  if (!longest.length) return { start: 0, width: end || 1, cells: 1, pairs: false };
  const known = series.filter((times) => times.length);
  const first = Math.min(...known.map((times) => times[0])), last = Math.max(...known.map((times) => times[times.length - 1]));
  const steps = Array.from({ length: longest.length - 1 }, (_, i) => longest[i + 1] - longest[i]).sort((a, b) => a - b);
  const middle = steps.length >> 1;
  const step = steps.length ? Number((steps.length % 2 ? steps[middle] : (steps[middle - 1] + steps[middle]) / 2).toFixed(9)) : (end - first) || 1;
  const cells = step > 0 ? Math.round((last - first) / step) + 1 : most + 1;
  const fits = (times) => {
    let before = -1;
    for (const time of times) {
      const place = (time - first) / step, near = Math.round(place);
      if (Math.abs(place - near) >= 0.01 || near <= before) return false;
      before = near;
    }
    return true;
  };
  if (cells <= most && known.every(fits)) return { start: first - step / 2, width: step, cells, pairs: false };
  const fewer = Math.max(1, most >> 1), width = (last - first) / fewer;
  const unit = width > 0 ? 10 ** (Math.floor(Math.log10(width)) - 1) : 0;
  return { start: first, width: unit ? Number((Math.ceil(width / unit - 1e-9) * unit).toPrecision(12)) : 1, cells: fewer, pairs: true };
}

function reduce(grid, times, values) {
  const result = new Array(grid.pairs ? 2 * grid.cells : grid.cells).fill(null);
  const low = new Map();
  for (let i = 0; i < times.length; i++) {
    const value = values[i];
    if (Number.isNaN(value)) continue;
    const cell = Math.max(0, Math.min(grid.cells - 1, Math.floor((times[i] - grid.start) / grid.width + 1e-9)));
    if (!grid.pairs) { result[cell] = value; continue; }
    const held = low.get(cell);
    if (!held) low.set(cell, { low: value, high: value, lowAt: i, highAt: i });
    else {
      if (value < held.low) { held.low = value; held.lowAt = i; }
      if (value > held.high) { held.high = value; held.highAt = i; }
    }
  }
  // In the order in which they came: a line that falls is drawn falling.
  for (const [cell, held] of low) {
    const rising = held.lowAt <= held.highAt;
    result[2 * cell] = rising ? held.low : held.high;
    result[2 * cell + 1] = rising ? held.high : held.low;
  }
  return result;
}

const written = (seconds) => {
  for (const [unit, length] of [["s", 1], ["ms", 1e-3], ["µs", 1e-6]]) if (seconds >= length * (1 - 1e-9)) return `${Number((seconds / length).toPrecision(4))} ${unit}`;
  return `${Number((seconds * 1e9).toPrecision(4))} ns`;
};

/** The data of the time lines of runs, by name. */
export function timelineOf(named) {
  const names = Object.keys(named), runs = Object.values(named).map(seriesOf);
  const end = Math.max(...runs.map((run) => run.duration), 0) || 1;
  const several = runs.length > 1;
  const lines = runs.flatMap((run, number) => [...run.flows.keys()].map((flow, index) => ({
    name: !several ? flow : run.flows.size === 1 ? names[number] : `${names[number]} · ${flow}`, run: number, flow,
    color: `series-${(several ? number : index) % COLORS + 1}`,
    dashes: DASHES[(several ? index + Math.floor(number / COLORS) : Math.floor(index / COLORS)) % DASHES.length],
  })));
  const hasLink = (run) => run.linkSeries.time_s.length > 0;
  const times = runs.flatMap((run) => [...[...run.flows.values()].map((flow) => flow.time_s), ...(hasLink(run) ? [run.linkSeries.time_s] : [])]);
  const count = 4 * lines.length + 2 * runs.length;
  const grid = gridOver(times, Math.min(MOST_OF_ONE, Math.floor(MOST_VALUES / Math.max(1, count))), end);
  let shown = lines.map((_, index) => index);
  if (lines.length > MOST_AT_FIRST) shown = several ? runs.map((_, run) => lines.findIndex((line) => line.run === run)).filter((i) => i >= 0) : shown.slice(0, MOST_AT_FIRST);

  const rates = runs.flatMap((run) => [...run.linkSeries.rate_bps].filter((rate) => !Number.isNaN(rate)));
  const fastest = rates.reduce((a, b) => Math.max(a, b), 0);
  const plot = (title, height, digits, more = {}) => ({ title, unit: title.split(", ")[1], height, digits, limit: null, marks: [], tracks: [], ...more });
  const windows = plot("cwnd, segments", 3, 1, { marks: ["rto", "spurious_rto", "fast_retransmit"] });
  // A transport has a window, or a rate that it allows itself, or both.
  const allowed = plot("Allowed rate, Mbit/s", 3, 3, { marks: ["timeout", "loss"] });
  const rtt = plot("RTT, ms", 2, 1), queue = plot("Queue, packets", 2, 1, { marks: ["drop"] });
  // Not as high as the highest goodput: when a hole is filled, all that waited is delivered at once.
  const goodput = plot("Goodput, Mbit/s", 2, 3, { limit: fastest * 1.1e-6 || null });
  lines.forEach((line, index) => {
    const columns = runs[line.run].flows.get(line.flow);
    const track = (column, factor, steps = false) => ({ line: index, run: line.run, color: line.color, dashes: line.dashes, steps, name: "",
      values: reduce(grid, columns.time_s, columns[column].map((value) => value * factor)) });
    windows.tracks.push(track("cwnd_segments", 1, true));
    allowed.tracks.push(track("allowed_rate_bps", 1e-6));
    rtt.tracks.push(track("srtt_s", 1e3));
    goodput.tracks.push(track("goodput_bps", 1e-6));
  });
  if (lines.length === 1) { // with more, thresholds would cover the windows
    const columns = runs[0].flows.get(lines[0].flow);
    windows.tracks.push({ line: -1, run: 0, color: "muted", dashes: [5, 3], steps: true, name: "ssthresh", values: reduce(grid, columns.time_s, columns.ssthresh_segments) });
  }
  runs.forEach((run, number) => {
    if (!hasLink(run)) return;
    const columns = run.linkSeries, first = lines.find((line) => line.run === number);
    const color = first && (several || run.flows.size === 1) ? first.color : "ink";
    queue.tracks.push({ line: -1, run: number, color, dashes: [], steps: false, name: several ? names[number] : run.link, values: reduce(grid, columns.time_s, columns.queue_packets) });
    const values = reduce(grid, columns.time_s, columns.rate_bps.map((rate) => (rate > 0 ? rate * 1e-6 : NaN)));
    // Common random numbers: mostly the channels, and so the rates, are the same for all.
    if (!goodput.tracks.some((track) => track.line < 0 && track.values.every((value, i) => value === values[i]))) {
      goodput.tracks.push({ line: -1, run: number, color: "muted", dashes: [2, 3], steps: false, name: `rate of ${run.link}${number ? `, ${names[number]}` : ""}`, values });
    }
  });

  for (const each of [windows, allowed]) each.tracks = each.tracks.filter((track) => track.values.some((value) => value !== null));
  const kept = [windows, allowed].filter((each) => each.tracks.length);
  const [silent, merged] = fewSilences(runs[0].silences);
  const key = (run) => JSON.stringify(run.silences);
  const { packed, listed, total } = eventsOf(runs);
  return {
    end, grid, grain: grid.pairs ? `least and greatest value of every ${written(grid.width)}` : `every sample, one each ${written(grid.width)}`,
    zoom: runs.map((run) => zoomOf(run)).find(Boolean) || null,
    lines, shown, runs: names, plots: [...(kept.length ? kept : [windows]), rtt, ...(queue.tracks.length ? [queue] : []), goodput],
    silences: silent, merged: merged ? written(merged) : "", silencesOf: runs.every((run) => key(run) === key(runs[0])) ? "" : names[0],
    events: packed, listed, total, link: runs.map((run) => run.link), address: false,
  };
}

function zoomOf(run) {
  const starts = run.silences.filter(([start], i) => start > (i ? run.silences[i - 1][1] : 0)).map(([start]) => start);
  let span;
  if (starts.length) {
    const gap = starts.length > 1 ? starts[1] - starts[0] : run.duration / 8;
    span = [starts[0] - 0.5 * gap, starts[0] + 1.5 * gap];
  } else {
    const at = run.events.kind.findIndex((kind, i) => ["rto", "fast_retransmit", "timeout", "loss"].includes(kind) && run.flows.has(run.events.entity[i]));
    if (at < 0) return null;
    span = [run.events.time[at] - run.duration / 20, run.events.time[at] + run.duration / 10];
  }
  span = [Math.max(0, span[0]), Math.min(run.duration, span[1])];
  return span[1] - span[0] < 0.6 * run.duration ? span : null;
}

function fewSilences(found) {
  let gap = 0, chosen = found;
  while (chosen.length > MOST_SILENCES) {
    gap = gap ? 2 * gap : Math.max(...found.slice(-1).map((s) => s[1])) / MOST_SILENCES;
    const merged = [];
    for (const [start, end, kind] of chosen) {
      const last = merged.at(-1);
      if (last && last[2] === kind && start - last[1] < gap) last[1] = end; else merged.push([start, end, kind]);
    }
    chosen = gap > chosen.at(-1)[1] ? merged.slice(0, MOST_SILENCES) : merged;
  }
  const packed = [];
  let before = 0;
  for (const [start, end, kind] of chosen) {
    const first = Math.round(start * 1e6), last = Math.round(end * 1e6);
    packed.push(first - before, last - first, KINDS.indexOf(kind));
    before = last;
  }
  return [packed, gap];
}

function eventsOf(runs) {
  const counts = runs.map((run) => { const by = new Map(); for (const kind of run.events.kind) by.set(kind, (by.get(kind) || 0) + 1); return by; });
  const total = runs.reduce((sum, run) => sum + run.events.kind.length, 0);
  let quota = MOST_EVENTS;
  const listedWith = (most) => counts.reduce((sum, by) => sum + [...by.values()].reduce((a, n) => a + Math.min(n, most), 0), 0);
  while (quota > 1 && listedWith(quota) > MOST_EVENTS) quota = Math.max(1, Math.floor(quota * 0.8));
  const found = [];
  runs.forEach((run, number) => {
    const seen = new Map();
    run.events.kind.forEach((kind, i) => {
      const n = counts[number].get(kind), at = seen.get(kind) || 0;
      seen.set(kind, at + 1);
      // Evenly chosen: the event of a kind whose share of the quota begins at it.
      if (n <= quota || Math.floor(at * quota / n) !== Math.floor((at - 1) * quota / n)) found.push([run.events.time[i], kind, number, run.events.entity[i], run.events.detail[i], run.events.value[i]]);
    });
  });
  found.sort((a, b) => a[0] - b[0]);
  const index = (column) => { const all = [...new Set(found.map((row) => row[column]))].sort(); return [all, new Map(all.map((text, i) => [text, i]))]; };
  const [kinds, kindAt] = index(1), [entities, entityAt] = index(3), [details, detailAt] = index(4);
  let before = 0;
  return {
    packed: {
      kinds, entities, details,
      time: found.map((row) => { const now = Math.round(row[0] * 1e6), step = now - before; before = now; return step; }),
      kind: found.map((row) => kindAt.get(row[1])), run: runs.length > 1 ? found.map((row) => row[2]) : [],
      entity: found.map((row) => entityAt.get(row[3])), detail: found.map((row) => detailAt.get(row[4])),
      value: found.map((row) => (Number.isNaN(row[5]) ? null : Number(row[5].toPrecision(5)))),
    },
    listed: found.length, total,
  };
}
