// Plays the map of an ad hoc run from the data in the page (report/run_map.py).
(() => {
"use strict";

const SIZE = 640, SECONDS_PER_SECOND = 5, COLORS = 6;

const shape = (tag, attributes, ...children) => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
};
const role = (index) => `var(--series-${index % COLORS + 1})`;

function map(root, data) {
  const [left, bottom, side] = data.bounds;
  const x = (east) => (east - left) / side * SIZE, y = (north) => SIZE - (north - bottom) / side * SIZE;
  const last = data.times.length - 1;
  const ways = data.flows.map((_, flow) => shape("polyline", { fill: "none", stroke: "var(--ink)", "stroke-width": 2,
    "stroke-dasharray": ["", "6 3", "2 3", "8 3 2 3"][flow % 4], opacity: .55 }));
  const nodes = data.nodes.map((name) => shape("circle", { r: 6, stroke: "var(--ink)" }, shape("title", {}, name)));
  const names = data.nodes.map((name) => {
    const text = shape("text", { "font-size": 11, fill: "var(--ink)" });
    text.textContent = data.nodes.length > 60 ? "" : name;
    return text;
  });
  const users = data.users.map(([east, north, reach, title]) => shape("circle", { cx: x(east), cy: y(north),
    r: reach / side * SIZE, fill: "var(--alarm)", opacity: .12 }, shape("title", {}, title)));
  const picture = shape("svg", { viewBox: `-12 -20 ${SIZE + 60} ${SIZE + 32}`, role: "img", "aria-label": "Map of the run",
    "font-family": "var(--font)" }, ...users, ...ways, ...nodes, ...names);
  const button = document.createElement("button");
  const slider = document.createElement("input");
  const clock = document.createElement("output");
  const legend = document.createElement("p");
  button.type = "button";
  Object.assign(slider, { type: "range", min: 0, max: last, step: "any", value: 0 });
  slider.setAttribute("aria-label", "Time");
  legend.className = "note";
  const seen = [...new Set(data.channels.flat())].filter((channel) => channel >= 0).sort((a, b) => a - b);
  for (const channel of seen) {
    const dot = document.createElement("span");
    dot.style.color = role(channel);
    dot.textContent = "● ";
    legend.append(dot, `channel ${channel} `);
  }
  legend.append("○ silent; lines: the way of each flow's data" + (users.length ? "; discs: how far primary users reach" : ""));
  const bar = document.createElement("div");
  bar.className = "bar";
  bar.append(button, slider, clock);
  root.querySelector(".player").replaceChildren(bar, picture, legend);
  root.classList.add("live");

  let playing = null;
  const draw = () => {
    const at = Number(slider.value), low = Math.floor(at), high = Math.min(low + 1, last), share = at - low;
    const time = data.times[low] + share * (data.times[high] - data.times[low]);
    const place = (node) => [0, 1].map((axis) =>
      data.places[low][2 * node + axis] * (1 - share) + data.places[high][2 * node + axis] * share);
    nodes.forEach((circle, node) => {
      const [east, north] = place(node), channel = data.channels[low][node];
      circle.setAttribute("cx", x(east));
      circle.setAttribute("cy", y(north));
      circle.setAttribute("fill", channel < 0 ? "none" : role(channel));
      names[node].setAttribute("x", x(east) + 8);
      names[node].setAttribute("y", y(north) - 6);
    });
    const now = data.flows.map(() => []);
    for (const [start, flow, way] of data.ways) if (start <= time) now[flow] = way;
    ways.forEach((line, flow) => line.setAttribute("points",
      now[flow].map((node) => { const [east, north] = place(node); return `${x(east)},${y(north)}`; }).join(" ")));
    clock.textContent = `${time.toFixed(1)} s`;
    root.dataset.time = time.toFixed(1);
  };
  const stop = () => { cancelAnimationFrame(playing); playing = null; button.textContent = "Play"; };
  const play = () => {
    button.textContent = "Stop";
    if (Number(slider.value) >= last) slider.value = 0;
    const span = (data.times[last] - data.times[0]) / Math.max(last, 1);
    let before = performance.now();
    const step = (now) => {
      slider.value = Math.min(last, Number(slider.value) + (now - before) / 1000 * SECONDS_PER_SECOND / span);
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
}

for (const root of document.querySelectorAll(".map")) {
  const data = root.querySelector("script[type='application/json']");
  if (data) map(root, JSON.parse(data.textContent));
}
})();
