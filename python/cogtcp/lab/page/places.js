// The map of an ad hoc run from the tables of a run: what figure/run_map.py gives the same player (report/static/map.js).
import { numbers, rows, texts } from "./engine.js";
import { quantity } from "./controls.js";

const MOST_NODES = 200, MOST_MOMENTS = 600, MOST_USERS = 200, MOST_CHANGES = 20_000;
/** A primary user that reaches farther, m, is everywhere. */
const FARTHEST = 1e7;
/** Streams that are a flow's own route; acknowledgements and requests go back. */
const STREAMS = new Set(["data", "datagrams"]);

/** The tables that a map is made of. */
export const MAP_TABLES = ["positions", "streams", "routes", "primary_users"];

/** What the player plays, and sentences about what is left out; null where the run has no map. */
export function mapOf(run, values, units) {
  const { positions: places, streams, routes, primary_users: pus, events } = run.tables;
  if (!places?.rows) return null;
  const flows = new Map(rows(streams).filter((row) => STREAMS.has(row.stream)).map((row) => [row.flow, [row.from, row.to]]));
  const steps = rows(routes).filter((step) => STREAMS.has(step.stream)).map((step) => ({ ...step, nodes: step.route.split(" ") }));
  const names = texts(places, "node"), everybody = [...new Set(names)];
  const nodes = shownOf(everybody, flows, steps);
  const index = new Map(nodes.map((name, i) => [name, i]));
  const moments = new Map();
  const [time, x, y, channel, silent] = ["time_s", "x_m", "y_m", "channel", "silent"].map((name) => numbers(places, name));
  for (let i = 0; i < names.length; i++) {
    const node = index.get(names[i]);
    if (node === undefined) continue;
    if (!moments.has(time[i])) moments.set(time[i], new Array(nodes.length));
    moments.get(time[i])[node] = [x[i], y[i], silent[i] ? -1 : channel[i]];
  }
  const every = Math.ceil(moments.size / MOST_MOMENTS);
  const times = [...moments.keys()].filter((at) => !moments.get(at).includes(undefined)).sort((a, b) => a - b).filter((_, i) => i % every === 0);
  if (!times.length) return null;
  const frames = times.map((at) => moments.get(at));
  const order = [...flows.keys()];
  const found = steps.sort((a, b) => a.time_s - b.time_s)
    .map((step) => [step.time_s, order.indexOf(step.flow), step.nodes.every((node) => index.has(node)) ? step.nodes.map((node) => index.get(node)) : []]);
  const begin = found.length ? times.findIndex((at) => at >= found[0][0]) : 0;
  const kinds = pus ? texts(events, "kind") : [];
  const changes = kinds.filter((kind) => kind === "pu_on" || kind === "pu_off").length;
  const on = changes <= MOST_CHANGES ? intervals(kinds, events, times.at(-1)) : new Map();
  const area = areaOf(values.area, units);
  return {
    nodes, times, begin: begin < 0 ? times.length - 1 : begin,
    places: frames.map((frame) => frame.flatMap(([east, north]) => [Math.round(east), Math.round(north)])),
    channels: frames.map((frame) => frame.map(([, , heard]) => heard)),
    flows: order.map((name) => [name, ...flows.get(name)]), routes: found,
    users: (pus ? rows(pus) : []).slice(0, MOST_USERS).filter((user) => user.range_m < FARTHEST).map((user) => [
      Math.round(user.x_m), Math.round(user.y_m), Math.round(user.range_m), `primary user ${user.user}, band ${user.band}`, user.user,
      (on.get(`pu${user.user}`) || []).flat()]),
    bounds: boundsOf(frames, area), area,
    leftOut: [
      ...(everybody.length > MOST_NODES ? [`Of ${everybody.length} nodes ${MOST_NODES} are shown: the ends of flows, then nodes of their routes, then the first.`] : []),
      ...(pus?.rows > MOST_USERS ? [`Of ${pus.rows} primary users the first ${MOST_USERS} are shown.`] : []),
      ...(changes > MOST_CHANGES ? [`Primary users come and go more than ${MOST_CHANGES} times: when they are ON is not shown.`] : []),
    ],
  };
}

function shownOf(nodes, flows, steps) {
  if (nodes.length <= MOST_NODES) return nodes;
  const chosen = new Set([...new Set([...[...flows.values()].flat(), ...steps.flatMap((step) => step.nodes), ...nodes])].slice(0, MOST_NODES));
  return nodes.filter((node) => chosen.has(node));
}

function intervals(kinds, events, end) {
  const found = new Map(), since = new Map(), entity = texts(events, "entity"), time = numbers(events, "time_s");
  const close = (user, stop) => {
    if (!found.has(user)) found.set(user, []);
    found.get(user).push([since.get(user), stop]);
    since.delete(user);
  };
  kinds.forEach((kind, i) => {
    if (kind === "pu_on" && !since.has(entity[i])) since.set(entity[i], time[i]);
    else if (kind === "pu_off" && since.has(entity[i])) close(entity[i], time[i]);
  });
  for (const user of [...since.keys()]) close(user, end);
  return found;
}

function areaOf(area, units) {
  if (!area) return null;
  const sides = [quantity(area.width, units)[0], quantity(area.height, units)[0]];
  return sides.includes(null) ? null : sides;
}

/** West, south, width and height of what is shown: the area and every place, with a margin. */
function boundsOf(frames, area) {
  let [left, bottom, right, top] = area ? [0, 0, ...area] : [Infinity, Infinity, -Infinity, -Infinity];
  for (const frame of frames) for (const [x, y] of frame) {
    left = Math.min(left, x); right = Math.max(right, x); bottom = Math.min(bottom, y); top = Math.max(top, y);
  }
  const margin = 0.05 * Math.max(right - left, top - bottom, 1), least = 0.3 * Math.max(right - left, top - bottom, 1);
  const wide = Math.max(right - left, least) + 2 * margin, high = Math.max(top - bottom, least) + 2 * margin;
  return [(left + right - wide) / 2, (bottom + top - high) / 2, wide, high];
}
