// What of a scenario can be changed by a slider: its numbers, and a few choices. Names, ranges and units come from `data`
// (cogtcp.lab.controls).

const QUANTITY = /^(-?\d+(?:\.\d+)?(?:e-?\d+)?) ?([A-Za-z/%]+)$/;

function* leaves(value, path) {
  if (Array.isArray(value)) {
    // Numbers that name nothing, as a list of positions, make no sliders.
    for (const [index, part] of value.entries()) if (part && typeof part === "object") yield* leaves(part, `${path}.${index}`);
  } else if (value && typeof value === "object") {
    for (const [key, part] of Object.entries(value)) yield* leaves(part, path ? `${path}.${key}` : key);
  } else if (value !== null && value !== undefined) {
    yield [path, path.split(".").at(-1), value];
  }
}

/** Number and unit of what a scenario holds, in the unit of its slider; null for no number. */
export function quantity(value, units) {
  if (typeof value === "number") return [value, ""];
  const match = typeof value === "string" && QUANTITY.exec(value);
  if (!match) return [null, ""];
  for (const [unit, factors] of Object.entries(units)) if (match[2] in factors) return [Number(match[1]) * factors[match[2]], unit];
  return [null, ""];
}

function control(path, key, value, about) {
  if (about.left_out.includes(key) || typeof value === "boolean" || !path.includes(".")) return null;
  if (key in about.choices) {
    const [label, choices] = about.choices[key];
    return choices.includes(value) ? { path, label, value, unit: "", choices, first: true } : null;
  }
  const [found, unit] = quantity(value, about.units);
  if (found === null || !Number.isFinite(found)) return null;
  const known = about.known[key];
  let [label, low, high, log] = known || [key.replaceAll("_", " "),
    ...(found > 0 ? [found / 10, found * 10] : [Math.min(2 * found, -1), Math.max(-found, 1)]), found > 0];
  if (!known && found === 0 && about.unsigned.includes(unit)) low = 0;
  label = Object.entries(about.by_path).find(([pattern]) => new RegExp(pattern).test(path))?.[1] ?? label;
  low = Math.min(low, found); // a value beyond the usual stays within reach
  high = Math.max(high, found);
  log = log && low > 0;
  const first = Boolean(known) && !/^(topology\.dumbbell\.access|tcp\.)/.test(path) && !/^topology\..*\.links\.\d+\./.test(path);
  const where = /^(?:radio|flow|topology\.\w+\.links)\.(\d+)\./.exec(path);
  if (where && where[1] !== "0") label = `${label} (${path.split(".")[0]} ${Number(where[1]) + 1})`;
  return { path, label, value: found, unit, low, high, log, whole: key === "count" || unit === "packets", choices: [], first };
}

/** What can be changed of a scenario, the most telling first. */
export function controlsOf(values, about) {
  const order = Object.keys(about.known);
  const place = (path) => { const found = order.indexOf(path.split(".").at(-1)); return found < 0 ? order.length : found; };
  return [...leaves(values, "")].map(([path, key, value]) => control(path, key, value, about)).filter(Boolean)
    .sort((a, b) => place(a.path) - place(b.path));
}

/** What the goodput charges nothing for when this field is varied; empty: nothing to say. */
export function uncharged(path, values, about) {
  const hasUsers = (values.spectrum?.pu ?? "none") !== "none";
  const found = about.uncharged.find((each) => new RegExp(each.pattern).test(path) && (hasUsers || !each.needs_users));
  return found ? `${found.said} (cogtcp tune --vary ${path}=...).` : "";
}

const rounded = (value, digits) => String(Number(value.toPrecision(digits)));

/** A value of a control as a scenario takes it. */
export function written(control, value) {
  if (control.choices.length) return value;
  return `${control.whole ? Math.round(value) : rounded(value, 6)} ${control.unit}`.trim();
}

/** A value of a control as people read it. */
export function shown(control, value) {
  if (control.choices.length) return value;
  if (/(^|\.)loss$/.test(control.path)) return `${rounded(value * 100, 3)} %`;
  const [unit, factor] = control.unit !== "s" || value >= 1 || value <= 0 ? [control.unit, 1] : value >= 1e-3 ? ["ms", 1e3] : ["us", 1e6];
  return `${rounded(value * factor, 3)} ${unit}`.trim();
}

/** Steps of a slider. */
export const RANGE = 1000;

export const placeOf = (control, value) => Math.round(RANGE * (control.log
  ? Math.log(value / control.low) / Math.log(control.high / control.low)
  : (value - control.low) / (control.high - control.low)));

export function valueAt(control, at) {
  const share = at / RANGE;
  const value = control.log ? control.low * (control.high / control.low) ** share : control.low + share * (control.high - control.low);
  return Math.min(control.high, Math.max(control.low, control.whole ? Math.round(value) : Number(value.toPrecision(3))));
}
