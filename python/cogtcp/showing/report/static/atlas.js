// The map of the atlas: points are put into cells of two axes; a cell shows who wins there.
"use strict";
const atlas = JSON.parse(document.getElementById("atlas").textContent);
const pick = (id) => document.getElementById(id);
const AXES = atlas.axes.length, LAW = AXES, SILENCE = AXES + 1, FLOWS = AXES + 2;
const at = (axis, share) => atlas.axes[axis].low * (atlas.axes[axis].high / atlas.axes[axis].low) ** share;
const share = (axis, value) =>
  Math.log(value / atlas.axes[axis].low) / Math.log(atlas.axes[axis].high / atlas.axes[axis].low);
const short = (value) => Number(value.toPrecision(2)).toString();

// Mean and half of the 95 % interval; 2 stands for the quantile of Student's t.
function mean(values) {
  const n = values.length, middle = values.reduce((sum, value) => sum + value, 0) / n;
  const squares = values.reduce((sum, value) => sum + (value - middle) ** 2, 0);
  return [middle, n > 1 ? 2 * Math.sqrt(squares / (n - 1) / n) : Infinity];
}

function judge(members) {
  // A transport that was measured at few of the points is put beside the others at those alone.
  const has = (t) => members.filter((p) => atlas.efficiency[p][t] !== null);
  const over = (t, some) => mean(some.map((p) => atlas.efficiency[p][t]))[0];
  const whole = atlas.transports.map((_, t) => t).filter((t) => has(t).length === members.length);
  const means = atlas.transports.map((_, t) => over(t, has(t)));
  const leader = whole.reduce((best, t) => (means[t] > means[best] ? t : best), whole[0]);
  atlas.transports.forEach((_, t) => {
    if (!whole.includes(t)) means[t] = has(t).length ? means[leader] + over(t, has(t)) - over(leader, has(t)) : -1;
  });
  const order = means.map((_, t) => t).sort((a, b) => means[b] - means[a]);
  const [first, second] = order;
  const both = members.filter((p) => atlas.efficiency[p][first] !== null && atlas.efficiency[p][second] !== null);
  const [gap, half] = mean(both.map((p) => atlas.efficiency[p][first] - atlas.efficiency[p][second]));
  return { means, order, gap, sure: both.length > 4 && gap - half > 0 };
}

// Shares of the bottleneck's time by point, transport and state, in half per cents.
const shares = Uint8Array.from(atob(atlas.shares), (c) => c.charCodeAt(0));

// What a transport's time was lost to over some points: the larger causes, in per cent.
function why(t, members) {
  const count = atlas.states.length, means = atlas.states.map((said, state) => {
    const known = members.filter((p) => atlas.efficiency[p][t] !== null);
    const sum = known.reduce((all, p) => all + shares[(p * atlas.transports.length + t) * count + state], 0);
    return [sum / Math.max(1, known.length) / 2, said];
  });
  const large = means.filter(([share]) => share >= 0.5).sort((a, b) => b[0] - a[0]).slice(0, 3);
  return large.map(([share, said]) => `${share.toFixed(0)} % ${said}`).join(", ") || "next to nothing";
}

function colour(t) {
  const rank = atlas.colored.indexOf(atlas.transports[t]);
  return rank < 0 ? "var(--muted)" : `var(--series-${rank + 1})`;
}

const NS = "http://www.w3.org/2000/svg";
function draw(parent, name, attributes, text) {
  const element = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  parent.append(element);
  return element;
}

function show() {
  const [x, y, fine] = [Number(pick("x").value), Number(pick("y").value), Number(pick("fine").value)];
  const [silence, law, flows] = ["silence", "law", "flows"].map((id) => Number(pick(id).value));
  const cells = new Map();
  atlas.points.forEach((point, index) => {
    if (silence >= 0 && point[SILENCE] !== silence) return;
    if (law >= 0 && point[LAW] !== law) return;
    if (flows > 0 && point[FLOWS] !== flows) return;
    const place = (axis) => Math.min(fine - 1, Math.floor((point[axis] / 1000) * fine));
    const key = place(x) + fine * place(y);
    if (!cells.has(key)) cells.set(key, []);
    cells.get(key).push(index);
  });
  const size = 480, left = 70, top = 10, step = size / fine;
  const svg = document.createElementNS(NS, "svg");
  svg.setAttribute("viewBox", `0 0 ${size + left + 20} ${size + top + 50}`);
  svg.setAttribute("width", size + left + 20);
  for (const [key, members] of cells) {
    const found = judge(members), [cx, cy] = [key % fine, Math.floor(key / fine)];
    const cell = draw(svg, "rect", {
      class: "cell", x: left + cx * step, y: top + size - (cy + 1) * step, width: step, height: step, tabindex: 0,
      fill: found.sure ? colour(found.order[0]) : "var(--grid)",
      "fill-opacity": found.sure && found.gap < 50 ? 0.45 : 0.9,
    });
    draw(cell, "title", {}, `${atlas.transports[found.order[0]]}, ${members.length} points`);
    const say = () => tell(found, members, x, y, cx / fine, cy / fine, 1 / fine);
    cell.addEventListener("click", say);
    cell.addEventListener("keydown", (event) => { if (event.key === "Enter") say(); });
  }
  for (let tick = 0; tick <= fine; tick += 2) {
    draw(svg, "text", { x: left + tick * step, y: top + size + 16, "text-anchor": "middle" }, short(at(x, tick / fine)));
    draw(svg, "text", { x: left - 6, y: top + size - tick * step + 4, "text-anchor": "end" }, short(at(y, tick / fine)));
  }
  draw(svg, "text", { x: left + size / 2, y: top + size + 38, "text-anchor": "middle" }, atlas.axes[x].title);
  draw(svg, "text", { x: 14, y: top + size / 2, "text-anchor": "middle",
    transform: `rotate(-90 14 ${top + size / 2})` }, atlas.axes[y].title);
  for (const curve of boundaries(x, y)) {
    const points = curve.filter(([a, b]) => a >= 0 && a <= 1 && b >= 0 && b <= 1)
      .map(([a, b]) => `${left + a * size},${top + size - b * size}`).join(" ");
    draw(svg, "polyline", { points, fill: "none", stroke: "var(--ink)", "stroke-width": 1.5, "stroke-dasharray": "5 4" });
  }
  pick("map").replaceChildren(svg);
}

// What closed forms predict: pairs of shares along both axes.
function boundaries(x, y) {
  const names = [atlas.axes[x].name, atlas.axes[y].name], curves = [];
  const add = (one, other, of) => {
    if (!(names.includes(one) && names.includes(other)) || names[0] === names[1]) return;
    const [a, b] = names[0] === one ? [x, y] : [y, x], curve = [];
    for (let s = 0; s <= 1; s += 0.01) {
      const pair = [s, share(b, of(at(a, s)))];
      curve.push(names[0] === one ? pair : pair.reverse());
    }
    curves.push(curve);
  };
  add("rtt_s", "silence_rtt", (rtt) => 1 + 0.2 / rtt);
  add("rtt_s", "silence_rtt", (rtt) => 1 + 1 / rtt);
  add("bdp", "period_rtt", (bdp) => bdp / 2);
  return curves;
}

function tell(found, members, x, y, sx, sy, width) {
  const names = found.order.slice(0, 3)
    .map((t) => `${atlas.transports[t]} ${(found.means[t] / 10).toFixed(0)} %`).join(", ");
  const sure = found.sure ? `ahead by ${(found.gap / 10).toFixed(1)} % of the capacity` : "the order of the first two is inconclusive";
  const said = pick("said");
  const causes = found.order.slice(0, 2).map((t) => `${atlas.transports[t]} ${why(t, members)}`).join("; ");
  said.textContent = `${names}: ${sure} (${members.length} points). The link's time is lost to: ${causes}. `;
  // The point nearest to the middle of the cell.
  const off = (p) => Math.abs(atlas.points[p][x] / 1000 - sx - width / 2) + Math.abs(atlas.points[p][y] / 1000 - sy - width / 2);
  const nearest = members.reduce((best, p) => (off(p) < off(best) ? p : best));
  const value = (name) => {
    const axis = atlas.axes.findIndex((each) => each.name === name);
    return at(axis, atlas.points[nearest][axis] / 1000);
  };
  if (!atlas.lab) return;
  const rtt = value("rtt_s"), rate = (value("bdp") * 1512 * 8) / rtt;
  const ms = (seconds) => `${(seconds * 1000).toPrecision(4)} ms`;
  const loss = value("loss") < 1e-5 ? 0 : Number(value("loss").toPrecision(3));
  const queue = Math.max(2, Math.round(value("queue_bdp") * value("bdp")));
  const lasts = (seconds, drawn) => (drawn ? `{ exponential = "${ms(seconds)}" }` : `"${ms(seconds)}"`);
  const law = atlas.laws[atlas.points[nearest][LAW]], silent = value("silence_rtt") * rtt;
  const open = Math.max(value("period_rtt") * rtt - silent, 0.001);
  const link = new URLSearchParams({ start: "sensed-link",
    transports: found.order.slice(0, 2).map((t) => atlas.transports[t]).join(",") });
  link.append("set", `topology.single_hop.link={ rate = "${Math.round(rate)} bit/s", delay = "${ms(rtt / 2)}", queue = "${queue} packets", loss = ${loss} }`);
  link.append("set", `radio.0.silence=${atlas.silences[atlas.points[nearest][SILENCE]]}`);
  link.append("set", `radio.0.sensing={ off = ${lasts(silent, law === "on-off")}, on = ${lasts(open, law !== "periodic")} }`);
  link.append("set", `flow.0.count=${atlas.points[nearest][FLOWS]}`);
  const anchor = document.createElement("a");
  anchor.href = `${atlas.lab}#${link}`;
  anchor.textContent = "Run the point nearest to the middle in the lab";
  said.append(anchor);
}

for (const id of ["x", "y", "silence", "law", "flows", "fine"]) pick(id).addEventListener("change", show);
show();
