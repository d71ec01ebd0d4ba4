// Transports over several seeds: intervals, which differences are significant, and the sentence. The engine has the
// statistics (crates/statistics).
import { quantity } from "./controls.js";
import { join, text } from "./results.js";

const known = (value) => (value === null || Number.isNaN(value) ? null : value);

/**
 * Compares transports in some metrics. `runs` maps a transport to its runs by seed: { seed: metrics }. `statistics` asks the engine.
 * Returns for each metric `rows`, the mean of each transport with its interval, best first, and `isApart`, true of two transports
 * whose difference is significant by paired t-tests and Holm's procedure over all pairs and all of the metrics (95 %).
 */
export async function compared(runs, statistics, metrics) {
  const names = Object.keys(runs);
  const values = (name, metric) => Object.values(runs[name]).map((each) => known(each[metric] ?? null));
  const pairs = names.flatMap((one, i) => names.slice(i + 1).map((other) => [one, other]));
  const difference = (metric, [one, other]) => Object.keys(runs[one]).filter((seed) => seed in runs[other])
    .map((seed) => runs[one][seed][metric] - runs[other][seed][metric]).filter(Number.isFinite);
  const mean = (values) => ({ what: "mean", values, confidence: 0.95 });
  const means = await statistics(names.flatMap((name) => ["efficiency", ...metrics.map((metric) => metric.name)].map((metric) => mean(values(name, metric)))));
  const tests = metrics.flatMap((metric) => pairs.map((pair) => ({ what: "p_value", differences: difference(metric.name, pair) })));
  const [rejected] = tests.length ? await statistics([{ what: "holm", p_values: await statistics(tests), confidence: 0.95 }]) : [[]];
  return metrics.map(({ better }, k) => {
    const rows = names.map((name, i) => { const own = means.slice(i * (metrics.length + 1)); return { name, interval: own[k + 1], efficiency: own[0].mean }; })
      .filter((row) => row.interval.mean !== null).sort((a, b) => better * (b.interval.mean - a.interval.mean));
    const apart = new Set(pairs.filter((_, i) => rejected[k * pairs.length + i]).map((pair) => pair.toSorted().join("\n")));
    return { rows, isApart: (one, other) => apart.has([one, other].toSorted().join("\n")) };
  });
}

/** The mean with its interval, if there is one. */
function withInterval(metric, { mean, low, high }) {
  const ends = low === null || low === high ? "" : ` (95 %: ${text(metric, low)} to ${text(metric, high)})`;
  return `${text(metric, mean, { unit: true })}${ends}`;
}

const MOST_SUBJECTS = 3;

/**
 * What the users of applications notice most, a sentence for each application: "The delay at the 95th percentile of call is ...".
 * `metrics` are those of the scenario's applications (`noticed` of results.js); `random` as for `sentence`.
 */
export async function ofApplications(runs, statistics, metrics, { random }) {
  if (!metrics.length) return "";
  const bySubject = new Map();
  for (const metric of metrics) {
    const subject = metric.name.slice(0, metric.name.lastIndexOf("."));
    if (!bySubject.has(subject) || metric.most) bySubject.set(subject, metric);
  }
  const sentences = [], all = await compared(runs, statistics, metrics);
  for (const [subject, metric] of [...bySubject].slice(0, MOST_SUBJECTS)) {
    const { rows: [best, ...others], isApart } = all[metrics.indexOf(metric)];
    if (!best) continue;
    const value = (row) => text(metric, row.interval.mean, { unit: true });
    const sure = !random || best.interval.n < 2;
    const even = sure ? [] : others.filter((row) => !isApart(best.name, row.name)), behind = others.filter((row) => !even.includes(row));
    const parts = [`${withInterval(metric, best.interval)} with ${best.name}`];
    if (behind.length) parts.push(join(behind.map((row) => `${value(row)} with ${row.name}`)));
    if (even.length) parts.push(`${join(even.map((row) => `${row.name} (${value(row)})`))} ${even.length > 1 ? "are" : "is"} not significantly different`);
    sentences.push(`The ${metric.said} of ${subject} is ${parts.join("; ")}.`);
  }
  return sentences.join(" ");
}

const share = (efficiency) => (efficiency === null ? ""
  : efficiency > 1 ? "; above 100 % of the link: includes data sent during warm-up" : `, ${(efficiency * 100).toFixed(0)} % of the link`);

/** What the transports deliver, in a sentence or two; `metric` is the goodput. */
export function sentence({ rows, isApart }, metric, { random }) {
  if (!rows.length) return "No run finished.";
  const [best, ...others] = rows;
  const { mean, n } = best.interval;
  if (others.length && !(mean > 0)) return "No transport delivers anything.";
  const first = others.length ? `${best.name} is fastest: ` : `${best.name} delivers `;
  const parts = [`${first}${withInterval(metric, best.interval)}${share(best.efficiency)}.`];
  const gap = (row) => `${row.name} is ${(100 * (1 - row.interval.mean / mean)).toFixed(1)} % slower`;
  if (n < 2) {
    if (others.length) parts.push(`${join(others.map(gap))}.`);
    parts.push(random ? "One seed: no confidence interval." : "Nothing in this scenario is random: every seed gives the same.");
    return parts.join(" ");
  }
  const slower = others.filter((row) => isApart(best.name, row.name)), even = others.filter((row) => !slower.includes(row));
  if (slower.length) parts.push(`${join(slower.map(gap))}.`);
  if (even.length) parts.push(`${join(even.map((row) => row.name))} ${even.length > 1 ? "are" : "is"} not significantly different.`);
  if (others.length) parts.push(`(Paired, ${n} seeds, Holm, 95 %.)`);
  else parts.push(`(${n} seeds.)`);
  return parts.join(" ");
}

/** What closed forms say of one flow over links of constant rate, one of which may fall silent in equal cycles, in bit/s. */
export async function theory(values, about, statistics) {
  if (values.flow?.length !== 1 || (values.flow[0].count ?? 1) !== 1) return [];
  const of = (value) => quantity(value, about.units)[0];
  const path = pathOf(values);
  const links = path.map((link) => ({ rate: of(link.rate), delay: of(link.delay ?? 0), loss: of(link.loss ?? 0) }));
  if (!links.length || links.some(({ rate, delay, loss }) => rate === null || delay === null || loss === null || rate <= 0)) return [];
  const bandwidth_bps = Math.min(...links.map((link) => link.rate)) * 1e6;
  const rtt_s = 2 * links.reduce((sum, link) => sum + link.delay, 0);
  const loss_probability = 1 - links.reduce((kept, link) => kept * (1 - link.loss), 1);
  if (rtt_s <= 0) return [];
  const tcp = { ...values.tcp, ...values.flow[0].tcp };
  const segment_size_bytes = of(tcp.segment_size) || 1000, header_bytes = tcp.timestamps ? 52 : 40;
  const rto_s = Math.max(of(tcp.min_rto ?? "1 s") || 1, rtt_s); // without a setting that of RFC 6298
  const asked = [];
  const cycle = cycleOf(values, path.map((link) => link.name ?? "link"), of);
  if (cycle) asked.push(["AIMD over cognitive cycles (Zhou et al.)", Infinity, { what: "sawtooth", bandwidth_bps, rtt_s, ...cycle, rto_s, segment_size_bytes, header_bytes }]);
  if (loss_probability > 0) asked.push(["loss alone (Padhye et al.)", bandwidth_bps, { what: "pftk", segment_size_bytes, rtt_s, rto_s, loss_probability }]);
  if (!asked.length) return [];
  const answers = await statistics(asked.map(([, , question]) => question));
  return asked.map(([name, most], i) => ({ name, bps: typeof answers[i] === "number" ? Math.min(most, answers[i]) : NaN }))
    .filter((entry) => Number.isFinite(entry.bps) && entry.bps > 0);
}

/** The links of the only flow, of a single hop or a graph that is a chain; none for others. */
function pathOf(values) {
  const [[kind, topology]] = Object.entries(values.topology);
  if (kind === "single_hop") return [topology.link];
  if (kind !== "graph") return [];
  const { from, to } = values.flow[0], path = [];
  let at = from, left = [...topology.links];
  while (at !== to) {
    const following = left.filter((link) => link.from === at || link.to === at);
    if (following.length !== 1) return [];
    const [link] = following;
    left = left.filter((other) => other !== link);
    path.push(link);
    at = link.from === at ? link.to : link.from;
  }
  return path;
}

/** Silence and time between silences of the only radio on the path, if they are constant. */
function cycleOf(values, links, of) {
  const radios = (values.radio ?? []).filter((radio) => radio.links?.some((link) => links.includes(link)));
  const [radio] = radios;
  if (radios.length !== 1 || radio.silence !== "drop" || !radio.sensing || typeof radio.sensing !== "object") return null;
  const [off_s, on_s] = [of(radio.sensing.off), of(radio.sensing.on)];
  return off_s === null || on_s === null ? null : { off_s, on_s };
}
