// The state of the page in the address: what follows the # is deflated JSON in base64url. Nothing is sent anywhere.

/** The longest fragment that is looked at, and the longest state in it: what a page writes is a hundredth of them. */
export const MOST_FRAGMENT = 300_000, MOST_STATE = 2_000_000;

/** The files of a preset as the engine takes them: a trace of whole numbers comes as its steps (cogtcp.lab.site). */
export const unpacked = (files) => Object.fromEntries(Object.entries(files).map(([name, file]) => [name, file.steps ? summed(file.steps) : file]));
function summed(steps) {
  let number = 0;
  return steps.match(/\(.+?\)|./g).map((step) => `${number += step[1] ? Number(step.slice(1, -1)) : parseInt(step, 36)}\n`).join("");
}

/** Writes a state as a fragment, without the #: equal states give equal fragments. */
export async function encode(state) {
  const stream = new Blob([JSON.stringify(clean(state))]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  let binary = "";
  for (let i = 0; i < bytes.length; i += 4096) binary += String.fromCharCode(...bytes.subarray(i, i + 4096));
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** Reads a fragment; null where it is none of ours. */
export async function decode(fragment) {
  if (!fragment || fragment.length > MOST_FRAGMENT || !/^[\w-]+$/.test(fragment)) return null;
  try {
    const binary = atob(fragment.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(binary, (c) => c.charCodeAt(0));
    const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
    const parts = [];
    let length = 0;
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      length += value.length;
      if (length > MOST_STATE) { await reader.cancel(); return null; } // a bomb
      parts.push(value);
    }
    return clean(JSON.parse(await new Blob(parts).text()));
  } catch {
    return null;
  }
}

const isText = (value, most) => typeof value === "string" && value.length <= most;
const isSeed = (value) => Number.isSafeInteger(value) && value >= 0;

/** Takes of a state what is of the right type; null if there is no scenario in it. */
function clean(found) {
  if (!found || typeof found !== "object" || !isText(found.text, 512 * 1024)) return null;
  const files = found.files && typeof found.files === "object" && !Array.isArray(found.files) ? Object.entries(found.files) : [];
  const words = (list, most) => (Array.isArray(list) ? list.filter((word) => isText(word, 64)).slice(0, most) : []);
  return {
    text: found.text,
    name: isText(found.name, 128) ? found.name : "scenario",
    files: Object.fromEntries(files.filter(([name, text]) => isText(name, 256) && isText(text, MOST_STATE)).slice(0, 16)),
    transports: words(found.transports, 6),
    seed: isSeed(found.seed) ? found.seed : null,
    seeds: Number.isSafeInteger(found.seeds) && found.seeds >= 1 && found.seeds <= 1000 ? found.seeds : 10,
    sweep: isText(found.sweep, 256) ? found.sweep : "",
  };
}
