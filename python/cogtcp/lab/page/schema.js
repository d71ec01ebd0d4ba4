// What may stand at a place in a scenario, from its JSON Schema: for the editor's completion.

/**
 * Reads TOML up to `at` and says where that is: `path` of the table, `key` where a value is due, `from` where the word begins.
 * `place` is "key", "value" or "table"; null in a comment or after a whole value.
 */
export function placeIn(text, at) {
  let table = [], stack = [], key = null, from = 0, i = 0, place = "key", word = "";
  const here = () => stack.at(-1)?.path ?? table;
  const afresh = (next, position) => { place = next; from = position; word = ""; };
  while (i < at) {
    const letter = text[i];
    if (letter === "#") {
      const end = text.indexOf("\n", i);
      if (end < 0 || end >= at) return null;
      i = end;
      continue;
    }
    if (letter === "\n") {
      if (!stack.length) { key = null; afresh("key", i + 1); } else if (!word) from = i + 1;
      i++;
    } else if (place === "key" && !stack.length && letter === "[" && !word) {
      const lists = text[i + 1] === "[", end = text.indexOf("]", i), line = text.indexOf("\n", i);
      const begin = i + (lists ? 2 : 1);
      if (end < 0 || end >= at || (line >= 0 && line < end)) return line >= 0 && line < at ? null : { place: "table", path: [], key: null, from: begin };
      table = keysOf(text.slice(begin, end));
      i = end + (lists ? 2 : 1);
      afresh("done", i);
    } else if (place === "key" && letter === "=") {
      key = [...here(), ...keysOf(word)];
      afresh("value", ++i);
    } else if (place === "value" && letter === "{") {
      stack.push({ path: key, closes: "}" });
      afresh("key", ++i);
    } else if (place === "value" && letter === "[") {
      stack.push({ path: key, closes: "]" });
      afresh("value", ++i);
    } else if (letter === "}" || letter === "]") {
      stack.pop();
      afresh("done", ++i);
    } else if (letter === ",") {
      const open = stack.at(-1);
      if (open) { key = open.path; afresh(open.closes === "}" ? "key" : "value", i + 1); }
      i++;
    } else if (place === "value" && (letter === '"' || letter === "'")) {
      let end = i + 1;
      while (end < text.length && text[end] !== letter && text[end] !== "\n") end += text[end] === "\\" && letter === '"' ? 2 : 1;
      if (end >= at) return { place, path: here(), key, from: i, to: text[at] === letter ? at + 1 : at };
      i = end + 1;
      afresh("done", i);
    } else {
      if (/\s/.test(letter)) { if (!word) from = i + 1; } else word += letter;
      i++;
    }
  }
  return place === "done" ? null : { place, path: here(), key, from };
}

const keysOf = (text) => text.split(".").map((key) => key.trim().replace(/^["']|["']$/g, "")).filter(Boolean);

/** Every form that a value of `node` may have: references followed, alternatives and items of lists side by side. */
function formsOf(schema, node, found = []) {
  if (!node || found.includes(node)) return found;
  if (node.$ref) return formsOf(schema, schema.$defs[node.$ref.split("/").at(-1)], found);
  found.push(node);
  for (const each of [...(node.anyOf || []), ...(node.oneOf || []), ...(node.allOf || [])]) formsOf(schema, each, found);
  if (node.items) formsOf(schema, node.items, found);
  return found;
}

function at(schema, path) {
  let forms = formsOf(schema, schema);
  for (const key of path) {
    const next = forms.flatMap((form) => [form.properties?.[key], typeof form.additionalProperties === "object" ? form.additionalProperties : null]).filter(Boolean);
    forms = [...new Set(next.flatMap((node) => formsOf(schema, node)))];
  }
  return forms;
}

/** What a value may be, in few words. */
function kindOf(schema, node) {
  const forms = formsOf(schema, node).filter((form) => form.type !== "null");
  if (forms.some((form) => form.pattern)) return forms.find((form) => form.pattern).description?.match(/for example (".*?")/)?.[1] ?? "text";
  if (forms.some((form) => form.type === "array")) return "list";
  if (forms.some((form) => form.properties)) return "table";
  const type = forms.map((form) => form.type).flat().find((each) => each && each !== "null");
  return type ?? "";
}

function keys(schema, path) {
  const found = new Map();
  for (const form of at(schema, path)) for (const [name, node] of Object.entries(form.properties || {})) if (!found.has(name)) found.set(name, node);
  return found;
}

function values(schema, key) {
  const forms = at(schema, key), found = new Map();
  const add = (label, info) => { if (!found.has(label)) found.set(label, { label, info, type: "constant" }); };
  for (const form of forms) {
    if ("const" in form) add(JSON.stringify(form.const), form.description);
    for (const each of form.enum || []) add(JSON.stringify(each), form.description);
    if (form.type === "boolean") { add("true", form.description); add("false", form.description); }
    if (form.required?.length === 1 && Object.keys(form.properties || {}).length === 1) add(`{ ${form.required[0]} = { } }`, form.description);
    const example = form.pattern && form.description?.match(/for example (".*?")/)?.[1];
    if (example) add(example, form.description);
  }
  return [...found.values()];
}

function tables(schema) {
  const found = [];
  const walk = (path, depth, lists) => {
    if (depth) found.push({ label: path.join("."), detail: lists ? "[[ ]]" : "", type: "namespace" });
    if (depth === 3) return;
    for (const [name, node] of keys(schema, path)) {
      const forms = formsOf(schema, node);
      if (forms.some((form) => form.properties)) walk([...path, name], depth + 1, forms.some((form) => form.type === "array"));
    }
  };
  walk([], 0, false);
  return found;
}

/** Completions at a place of a scenario: `{ from, options }`; null where nothing is due. `transports` are [name, about]. */
export function complete(schema, transports, text, position) {
  const place = placeIn(text, position);
  if (!place) return null;
  const { from, to } = place;
  if (place.place === "table") return { from, options: tables(schema) };
  if (place.place === "key") {
    return { from, options: [...keys(schema, place.path)].map(([name, node]) => ({
      label: name, apply: `${name} = `, detail: kindOf(schema, node), info: node.description, type: "property" })) };
  }
  const known = place.key.at(-1) === "transport" ? transports.map(([name, info]) => ({ label: JSON.stringify(name), info, type: "constant" })) : [];
  return { from, ...(to === undefined ? {} : { to }), options: [...known, ...values(schema, place.key)] };
}
