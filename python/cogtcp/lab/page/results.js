// What a run comes to in single numbers, and how people read them. Titles, units and states come from `data`
// (cogtcp.metrics and cogtcp.budget, written by cogtcp.lab.site); the sums here are those of cogtcp.metrics.
import { rows } from "./engine.js";

const sum = (column) => (rows) => rows.reduce((total, row) => total + row[column], 0);
const meanOf = (values) => {
  const known = values.filter((value) => !Number.isNaN(value));
  return known.length ? known.reduce((a, b) => a + b, 0) / known.length : NaN;
};
const mean = (column) => (rows) => meanOf(rows.map((row) => row[column]));

// Flows that share a bottleneck, or a cell, share its capacity: their efficiencies add up. Then the mean.
function efficiency(flows) {
  const shares = new Map();
  for (const row of flows) {
    const place = `${row.medium || row.bottleneck}\n${row.bottleneck_direction}`;
    shares.set(place, (shares.get(place) || 0) + row.efficiency);
  }
  return meanOf([...shares.values()]);
}

const OF = {
  goodput_bps: sum("goodput_bps"), efficiency, delivery_ratio: mean("delivery_ratio"), drops: sum("drops"),
  retransmitted: (flows) => sum("retransmitted_segments")(flows) / (sum("sent_segments")(flows) || NaN),
  rtt_mean_s: mean("rtt_mean_s"), rtt_p95_s: mean("rtt_p95_s"), queuing_delay_mean_s: mean("queuing_delay_mean_s"),
  completion_s: mean("completion_s"),
  pu_interfered_share: mean("pu_interfered_share"), pu_exposed_share: mean("pu_exposed_share"), pu_collisions: sum("pu_collisions"),
  vacate_mean_s: mean("vacate_mean_s"), missed_detections: sum("missed_detections"), false_alarms: sum("false_alarms"), handoffs: sum("handoffs"),
};

// Metrics that only TCP's flows have.
const OF_TCP = new Set(["rtos", "spurious_rtos", "fast_retransmits"]);

/** Every metric of a run, in base units; NaN where the run has no such value. */
export function measure(run, metrics) {
  const flows = rows(run.tables.flows), radios = rows(run.tables.radios);
  const ofTcp = run.tables.tcp_flows ? rows(run.tables.tcp_flows) : [];
  const meeting = radios.filter((row) => !Number.isNaN(row.pu_airtime_s));
  return Object.fromEntries(metrics.map((metric) => {
    if (metric.name === "fairness") return [metric.name, run.fairness ?? NaN];
    if (OF_TCP.has(metric.name)) return [metric.name, ofTcp.length ? sum(metric.name)(ofTcp) : NaN];
    if (!metric.radio) return [metric.name, OF[metric.name](flows)];
    const of = metric.any_radio ? radios : meeting;
    return [metric.name, of.length ? OF[metric.name](of) : NaN];
  }));
}

/**
 * What the users of applications notice: [metric, value] of each row of their tables. A name is SUBJECT.METRIC.
 * Datagrams are noticed where they are a call.
 */
export function noticed(run, known) {
  const calls = new Set(run.tables.calls ? rows(run.tables.calls).map((row) => row.source) : []);
  return known.flatMap((of) => (run.tables[of.table] ? rows(run.tables[of.table]) : [])
    .filter((row) => of.table !== "datagrams" || calls.has(row[of.key]))
    .map((row) => [{ ...of, name: `${row[of.key]}.${of.name}`, title: `${row[of.key]}: ${of.title}` }, row[of.column]]));
}

/** The share of each state in the time of a run's bottlenecks; null if no flow was measured. */
export function budget(run, states) {
  const found = rows(run.tables.budget);
  const whole = sum("measured_s")(found);
  return whole > 0 ? Object.fromEntries(states.map((state) => [state.name, sum(`${state.name}_s`)(found) / whole])) : null;
}

/** "36 % delivered, 31 % waiting for timeouts": the delivered share and the four largest losses. */
export function budgetText(shares, states) {
  const percent = (share) => `${(share * 100).toFixed(0)} %`;
  const [delivered] = states.filter((state) => state.name === "delivered");
  const losses = states.filter((state) => state !== delivered && shares[state.name] >= 0.005)
    .sort((a, b) => shares[b.name] - shares[a.name]).slice(0, 4);
  return [delivered, ...losses].map((state) => `${percent(shares[state.name])} ${state.said}`).join(", ");
}

/** A value of a metric as people read it. */
export function text(metric, value, { unit = false, single = false } = {}) {
  if (value === null || Number.isNaN(value)) return "–";
  const digits = single && metric.counts ? 0 : metric.digits;
  let number = (value * metric.scale).toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  if (Number(number.replaceAll(",", "")) === 0) number = number.replace("-", "");
  return unit && metric.unit ? `${number} ${metric.unit}` : number;
}

/** `a, b and c`. */
export const join = (names) => (names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`);

/** Where packets of a run can be captured: a link at each of its ends; of an ad hoc network the air. */
export function points({ tables }) {
  const ends = tables.links?.rows ? rows(tables.links).map(({ link, from, direction }) => ({ link, node: from, outgoing: direction })) : [];
  return !ends.length && tables.nodes?.rows ? [{ link: "air", node: "", outgoing: "" }] : ends;
}

/** A table as CSV: numbers with all digits, nothing for "no value". */
export function csv(table) {
  const columns = Object.values(table.columns);
  const cell = (column, i) => {
    if (column.kind === "text") {
      const value = column.dictionary[column.values[i]];
      return /[",\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
    }
    if (column.kind === "bool") return column.values[i] ? "true" : "false";
    return Number.isNaN(column.values[i]) ? "" : String(column.values[i]);
  };
  const lines = [columns.map((column) => column.name).join(",")];
  for (let i = 0; i < table.rows; i++) lines.push(columns.map((column) => cell(column, i)).join(","));
  return `${lines.join("\n")}\n`;
}

/** The same table of several runs as one, with the transport as the first column. `runs` by transport. */
export function stacked(runs, name) {
  const parts = Object.entries(runs).map(([transport, run]) => [transport, run.tables[name]]).filter(([, table]) => table);
  const [, first] = parts[0], total = parts.reduce((sum, [, table]) => sum + table.rows, 0);
  const columns = { run: { name: "run", unit: "", meaning: "Transport that the run compares.", kind: "text",
    dictionary: parts.map(([transport]) => transport), values: Uint32Array.from(parts.flatMap(([, table], i) => new Array(table.rows).fill(i))) } };
  for (const column of Object.values(first.columns)) {
    const values = new column.values.constructor(total), dictionary = [], codes = new Map();
    let at = 0;
    for (const [, table] of parts) {
      const { values: own, dictionary: words } = table.columns[column.name];
      if (!words) values.set(own, at);
      else {
        const to = words.map((word) => { if (!codes.has(word)) { codes.set(word, dictionary.length); dictionary.push(word); } return codes.get(word); });
        own.forEach((code, i) => { values[at + i] = to[code]; });
      }
      at += own.length;
    }
    columns[column.name] = { ...column, values, ...(column.dictionary ? { dictionary } : {}) };
  }
  return { ...first, rows: total, columns };
}
