// The engine: a request in JSON, an answer of JSON and columns (crates/web/src/answer.rs), in this thread or in workers.

/** Reads an answer. Columns are typed arrays over its bytes; text has codes and a dictionary. Throws an EngineError. */
export function decode(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const said = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  if (said.error) throw new EngineError(said.error);
  const start = Math.ceil((4 + length) / 8) * 8;
  for (const name of ["capture", "file"]) if (said[name]) said[name] = new Uint8Array(buffer, start + said[name].at, said[name].length);
  if (said.tables) {
    said.tables = Object.fromEntries(said.tables.map((table) => [table.name, readTable(table, buffer, start)]));
  }
  return said;
}

/** An error that the engine answered: `text` is the whole of it, `excerpt` the line with carets. */
export class EngineError extends Error {
  constructor(error) {
    super(error.text || error.message);
    Object.assign(this, error);
  }
}

const ARRAYS = { u64: BigUint64Array, i64: BigInt64Array, f64: Float64Array, bool: Uint8Array, text: Uint32Array };

function readTable(table, buffer, start) {
  const columns = {};
  for (const column of table.columns) {
    const values = new ARRAYS[column.kind](buffer, start + column.at, table.rows);
    columns[column.name] = { ...column, values };
  }
  return { name: table.name, meaning: table.meaning, rows: table.rows, columns };
}

/** A numeric column as doubles; 2^53 and more lose digits. */
export function numbers(table, name) {
  const { values } = table.columns[name];
  return values instanceof Float64Array ? values : Float64Array.from(values, Number);
}

/** A text column as strings. */
export function texts(table, name) {
  const { values, dictionary } = table.columns[name];
  return Array.from(values, (code) => dictionary[code]);
}

/** The rows of a table as objects. */
export function rows(table) {
  const columns = Object.values(table.columns).map((column) => [column.name,
    column.kind === "text" ? texts(table, column.name) : column.kind === "bool" ? Array.from(column.values, Boolean)
      : numbers(table, column.name)]);
  return Array.from({ length: table.rows }, (_, i) => Object.fromEntries(columns.map(([name, values]) => [name, values[i]])));
}

/** The engine in this thread. */
export class LocalEngine {
  /** `module` is a compiled WebAssembly.Module; `progress` hears how far a run is, in simulated seconds. */
  static async create(module, progress = () => {}) {
    const engine = new LocalEngine();
    engine.progress = progress;
    const imports = { cogtcp: {
      progress: (seconds) => engine.progress(seconds),
      panicked: (text, length) => { engine.panic = engine.text(text, length); },
    } };
    engine.exports = (await WebAssembly.instantiate(module, imports)).exports;
    return engine;
  }

  text(at, length) {
    return new TextDecoder().decode(new Uint8Array(this.exports.memory.buffer, at >>> 0, length >>> 0));
  }

  /** Answers with the bytes of the answer, a copy of their own. */
  ask(request) {
    const bytes = new TextEncoder().encode(JSON.stringify(request));
    const { exports } = this;
    try {
      const at = exports.cogtcp_request(bytes.length) >>> 0;
      new Uint8Array(exports.memory.buffer, at, bytes.length).set(bytes);
      exports.cogtcp_ask();
      const answer = exports.cogtcp_answer() >>> 0;
      return exports.memory.buffer.slice(answer, answer + (exports.cogtcp_answer_length() >>> 0));
    } catch (error) {
      throw this.trapped(error);
    }
  }

  /** What to say of a trap. The memory is in no known state after it: whoever holds this engine makes a new one. */
  trapped(error) {
    this.broken = true;
    if (this.panic) return new Error(`The simulator has a defect, please report it: ${this.panic}`);
    // A panic tells why before it traps. An allocation that fails traps at once.
    return new Error(error instanceof WebAssembly.RuntimeError && /unreachable/.test(error.message)
      ? "This scenario needs more than the 4 GB of memory that WebAssembly has; run it with cogtcp on your machine."
      : `The engine stopped: ${error.message}`);
  }
}

/** An engine on the server that serves this page, with the interface of a worker. */
export class RemoteWorker {
  constructor(address) { this.address = address; }

  async postMessage({ request }) {
    this.stop = new AbortController();
    try {
      const response = await fetch(this.address, { method: "POST", signal: this.stop.signal,
        headers: { "Content-Type": "application/json" }, body: JSON.stringify(request) });
      if (response.ok) this.onmessage({ data: { answer: await response.arrayBuffer() } });
      else this.onmessage({ data: { error: (await response.text()).trim() || `the server answers ${response.status}` } });
    } catch (error) {
      if (error.name !== "AbortError") this.onmessage({ data: { error: "The server is gone. Start `cogtcp lab` again; the address holds what you set." } });
    }
  }

  terminate() { this.stop?.abort(); }
}

/** Engines in workers. Each answers one request at a time; a cancelled run ends its worker, and another takes the place. */
export class Pool {
  /** `start` makes a worker that is ready for requests. */
  constructor(start, size) {
    this.start = start;
    this.idle = [];
    this.waiting = [];
    this.running = new Set();
    this.size = size;
  }

  /** Asks; `signal` (an AbortSignal) ends it at once, `progress` hears simulated seconds. */
  ask(request, { signal, progress } = {}) {
    return new Promise((resolve, reject) => {
      const job = { request, resolve, reject, signal, progress };
      if (signal?.aborted) { reject(cancelled()); return; }
      job.abort = () => this.cancel(job);
      signal?.addEventListener("abort", job.abort, { once: true });
      this.waiting.push(job);
      this.next();
    });
  }

  next() {
    while (this.waiting.length && this.running.size < this.size) {
      const job = this.waiting.shift();
      job.worker = this.idle.pop() || this.start();
      this.running.add(job);
      const { worker } = job;
      worker.onmessage = ({ data }) => {
        if (data.progress !== undefined) { job.progress?.(data.progress); return; }
        if (data.broken) worker.terminate(); else this.idle.push(worker);
        if (data.error) this.done(job, () => job.reject(new Error(data.error)));
        else this.done(job, () => { try { job.resolve(decode(data.answer)); } catch (error) { job.reject(error); } });
      };
      worker.onerror = (event) => {
        worker.terminate();
        this.done(job, () => job.reject(new Error(`The engine's worker stopped: ${event.message || "it was ended"}`)));
      };
      worker.postMessage({ request: job.request });
    }
  }

  done(job, act) {
    this.running.delete(job);
    job.signal?.removeEventListener("abort", job.abort);
    act();
    this.next();
  }

  cancel(job) {
    if (this.running.has(job)) {
      job.worker.terminate(); // nothing else stops a run: it hears nothing while it computes
      this.done(job, () => job.reject(cancelled()));
    } else {
      this.waiting = this.waiting.filter((other) => other !== job);
      job.reject(cancelled());
    }
  }
}

const cancelled = () => new DOMException("cancelled", "AbortError");
