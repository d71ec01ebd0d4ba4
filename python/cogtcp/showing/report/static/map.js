// Plays the map of an ad hoc run from the data in the page (figure/run_map.py).
(() => {
"use strict";

const SIZE = 640, COLORS = 6, SPEEDS = [1, 2, 5, 10, 50], USUAL = 5;
const DASHES = ["", "6 3", "2 3", "8 3 2 3"];

const shape = (tag, attributes, ...children) => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
};
const element = (tag, properties, ...children) => {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
};
const role = (channel) => `var(--series-${channel % COLORS + 1})`;
const halo = { stroke: "var(--paper)", "stroke-width": 3, "paint-order": "stroke" };
const line = (dashes) => shape("svg", { width: 26, height: 10, "aria-hidden": true },
  shape("path", { d: "M0 5H26", stroke: "var(--ink)", "stroke-width": 2, "stroke-dasharray": dashes }));

// A round length of about a fifth of what is shown, m.
function barLength(wide) {
  const power = 10 ** Math.floor(Math.log10(wide / 5));
  return [5, 2, 1].find((step) => step * power <= wide / 5) * power;
}
const metres = (length) => (length >= 1000 ? `${length / 1000} km` : `${length} m`);

function map(root, data) {
  const [left, bottom, wide, high] = data.bounds;
  const scale = SIZE / Math.max(wide, high), width = wide * scale, height = high * scale;
  const x = (east) => (east - left) * scale, y = (north) => height - (north - bottom) * scale;
  const last = data.times.length - 1;
  const channels = [...new Set(data.channels.flat())].filter((channel) => channel >= 0).sort((a, b) => a - b);
  const numbered = channels.some((channel) => channel >= COLORS), named = data.nodes.length <= 60;
  const radius = numbered ? 8 : 6;

  const discs = data.users.map(([east, north, reach, title]) => shape("circle", { cx: x(east), cy: y(north), r: reach * scale,
    fill: "var(--alarm)", "fill-opacity": 0, stroke: "var(--alarm)", "stroke-dasharray": "3 3", "stroke-opacity": .5 },
    shape("title", {}, title)));
  const crosses = data.users.map(([east, north, , title]) => shape("path", { stroke: "var(--alarm)", "stroke-width": 1.6,
    d: `M${x(east) - 4} ${y(north) - 4}l8 8m0 -8l-8 8` }, shape("title", {}, title)));
  const users = data.users.map(([east, north, , , number]) => shape("text", { "font-size": 10, fill: "var(--alarm)", ...halo,
    x: x(east) + 6, y: y(north) + 11 }, `PU ${number}`));
  const lines = data.flows.map((_, flow) => shape("path", { fill: "none", stroke: "var(--ink)", "stroke-width": 1.8,
    "stroke-dasharray": DASHES[flow % 4], opacity: .75 }));
  const heads = data.flows.map(() => shape("path", { fill: "var(--ink)", opacity: .85 }));
  const titles = data.flows.map(([name]) => shape("text", { "font-size": 11, "font-weight": 650, fill: "var(--ink)", ...halo,
    "text-anchor": "middle", "dominant-baseline": "central" }, name));
  const nodes = data.nodes.map((name) => shape("circle", { r: radius, stroke: "var(--ink)" }, shape("title", {}, name)));
  const names = data.nodes.map((name) => shape("text", { "font-size": 11, fill: "var(--ink)", ...halo }, named ? name : ""));
  const numbers = numbered ? data.nodes.map(() => shape("text", { "font-size": 9, fill: "var(--paper)", "text-anchor": "middle",
    "dominant-baseline": "central", "pointer-events": "none" })) : [];
  const area = data.area ? [shape("rect", { class: "area", x: x(0), y: y(data.area[1]), width: data.area[0] * scale,
    height: data.area[1] * scale, fill: "none", stroke: "var(--muted)", "stroke-width": 1.2 })] : [];
  const length = barLength(wide), from = 2, to = from + length * scale, ground = height + 14;
  const ruler = shape("g", { class: "ruler" },
    shape("path", { d: `M${from} ${ground - 4}v8m0 -4H${to}m0 -4v8`, stroke: "var(--ink)", "stroke-width": 1.4, fill: "none" }),
    shape("text", { x: to + 7, y: ground, "font-size": 11, fill: "var(--ink)", "dominant-baseline": "central" }, metres(length)));
  const said = data.area ? `area ${metres(data.area[0])} x ${metres(data.area[1])}, north is up` : "north is up";
  const about = shape("text", { x: width, y: ground, "font-size": 11, fill: "var(--muted)", "text-anchor": "end",
    "dominant-baseline": "central" }, said);
  // What reaches beyond the map is cut off at its edge.
  const inside = shape("svg", { width, height }, ...discs, ...area, ...crosses, ...users, ...lines, ...nodes, ...numbers, ...names,
    ...heads, ...titles);
  const picture = shape("svg", { viewBox: `-2 -2 ${width + 4} ${height + 28}`, role: "img", "aria-label": "Map of the run",
    "font-family": "var(--font)" }, inside, ruler, about);
  picture.style.maxWidth = `${46 * width / SIZE}rem`;

  const button = element("button", { type: "button" });
  const slider = element("input", { type: "range", min: 0, max: last, step: "any", value: data.begin });
  slider.setAttribute("aria-label", "Time");
  const clock = element("output", {});
  const speed = element("select", {}, ...SPEEDS.map((factor) =>
    element("option", { value: factor, selected: factor === USUAL }, `${factor} x`)));
  const bar = element("div", { className: "bar" }, button, slider, clock, element("label", {}, "speed ", speed));
  const dot = (color, text) => element("li", {}, Object.assign(element("span", {}, "● "), { style: `color: ${color}` }), text);
  const silent = data.channels.some((frame) => frame.includes(-1)), several = channels.length > 1 || silent;
  const key = element("ul", { className: "key" },
    ...channels.map((channel) => dot(role(channel), several ? `listens on channel ${channel}` : "node")));
  if (silent) key.append(element("li", {}, "○ silent: senses or switches"));
  if (users.length) key.append(element("li", {}, "✕ primary user and how far it reaches, filled while it is ON"));
  const states = data.flows.map(() => element("span", {}));
  const flows = element("ul", { className: "key flows" }, ...data.flows.map(([name, source, destination], flow) =>
    element("li", {}, line(DASHES[flow % 4]), `${name}: ${source} → ${destination}, `, states[flow])));
  const note = element("p", { className: "note" }, "Each line is the route of the flow's last packet.");
  root.querySelector(".player").replaceChildren(bar, picture, key, flows, note);
  root.classList.add("live");

  // A name stands right above its node, or at another corner if something is there; it stays where it is while it can.
  const corners = [[1, -1], [-1, -1], [1, 1], [-1, 1]], chosen = data.nodes.map(() => 0);
  const setNames = (spots) => {
    const taken = spots.map(([px, py]) => [px - radius, py - radius, px + radius, py + radius]);
    const hits = (box) => taken.some((other) => box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3]);
    names.forEach((text, node) => {
      const [px, py] = spots[node], long = data.nodes[node].length * 6.2;
      const box = ([across, down]) => {
        const begin = across > 0 ? px + radius + 1 : px - radius - 1 - long, base = down > 0 ? py + radius + 9 : py - radius;
        return [begin, base - 9, begin + long, base + 1];
      };
      const fits = (corner) => {
        const found = box(corners[corner]);
        return found[0] > 0 && found[2] < width && found[1] > 0 && found[3] < height && !hits(found);
      };
      const next = [chosen[node], 0, 1, 2, 3].find(fits);
      chosen[node] = next ?? chosen[node];
      const placed = box(corners[chosen[node]]);
      taken.push(placed);
      text.setAttribute("x", placed[0]);
      text.setAttribute("y", placed[3] - 1);
    });
  };
  const stateOf = (route) => {
    if (route === null) return "nothing has arrived";
    return route.length ? `${route.length - 1} hop${route.length === 2 ? "" : "s"}` : "its route is not shown";
  };
  const setRoute = (flow, route, spots) => {
    states[flow].textContent = stateOf(route);
    route ??= [];
    // Routes that share hops lie beside each other.
    const aside = (flow - (data.flows.length - 1) / 2) * 2.5;
    const points = route.map((node) => [spots[node][0] + aside, spots[node][1] - aside]);
    // Names of flows that share their longest hop stand one after the other on it.
    const share = .3 + .4 * (data.flows.length > 1 ? flow / (data.flows.length - 1) : .5);
    let longest = 0, at = null, head = "";
    for (let hop = 1; hop < points.length; hop++) {
      const [a, b] = [points[hop - 1], points[hop]], long = Math.hypot(b[0] - a[0], b[1] - a[1]);
      if (long >= longest) [longest, at] = [long, [a[0] + (b[0] - a[0]) * share, a[1] + (b[1] - a[1]) * share]];
      if (hop === points.length - 1 && long > 2 * radius) {
        const [ux, uy] = [(b[0] - a[0]) / long, (b[1] - a[1]) / long];
        const [tx, ty] = [b[0] - ux * (radius + 1), b[1] - uy * (radius + 1)];
        head = `M${tx} ${ty}L${tx - 9 * ux - 4 * uy} ${ty - 9 * uy + 4 * ux}L${tx - 9 * ux + 4 * uy} ${ty - 9 * uy - 4 * ux}Z`;
      }
    }
    lines[flow].setAttribute("d", points.length > 1 ? `M${points.map((point) => point.join(" ")).join("L")}` : "");
    heads[flow].setAttribute("d", head);
    titles[flow].setAttribute("visibility", at ? "visible" : "hidden");
    if (at) for (const axis of [0, 1]) titles[flow].setAttribute("xy"[axis], at[axis]);
  };

  let playing = null;
  const draw = () => {
    const at = Number(slider.value), low = Math.floor(at), high = Math.min(low + 1, last), share = at - low;
    const time = data.times[low] + share * (data.times[high] - data.times[low]);
    const between = (place) => data.places[low][place] * (1 - share) + data.places[high][place] * share;
    const spots = data.nodes.map((_, node) => [x(between(2 * node)), y(between(2 * node + 1))]);
    nodes.forEach((circle, node) => {
      const channel = data.channels[low][node];
      circle.setAttribute("cx", spots[node][0]);
      circle.setAttribute("cy", spots[node][1]);
      circle.setAttribute("fill", channel < 0 ? "var(--paper)" : role(channel));
      if (!numbered) return;
      numbers[node].setAttribute("x", spots[node][0]);
      numbers[node].setAttribute("y", spots[node][1]);
      numbers[node].textContent = channel < 0 ? "" : channel;
    });
    if (named) setNames(spots);
    data.users.forEach(([, , , , , times], user) => {
      const passed = times.filter((change) => change <= time).length;
      discs[user].setAttribute("fill-opacity", passed % 2 ? .16 : 0);
    });
    const now = data.flows.map(() => null);
    for (const [start, flow, route] of data.routes) if (start <= time) now[flow] = route;
    now.forEach((route, flow) => setRoute(flow, route, spots));
    clock.textContent = `${time.toFixed(1)} s of ${data.times[last]} s`;
    root.dataset.time = time.toFixed(1);
  };
  const stop = () => { cancelAnimationFrame(playing); playing = null; button.textContent = "Play"; };
  const play = () => {
    button.textContent = "Pause";
    if (Number(slider.value) >= last) slider.value = 0;
    const span = (data.times[last] - data.times[0]) / Math.max(last, 1);
    let before = performance.now();
    const step = (now) => {
      slider.value = Math.min(last, Number(slider.value) + (now - before) / 1000 * Number(speed.value) / span);
      before = now;
      draw();
      if (Number(slider.value) >= last) stop(); else playing = requestAnimationFrame(step);
    };
    playing = requestAnimationFrame(step);
  };
  button.addEventListener("click", () => (playing === null ? play() : stop()));
  slider.addEventListener("input", () => { stop(); draw(); });
  stop();
  draw();
  return { destroy: stop };
}

(window.cogtcp ||= {}).map = map;
for (const root of document.querySelectorAll(".map")) {
  const data = root.querySelector("script[type='application/json']");
  if (data) map(root, JSON.parse(data.textContent));
}
})();
