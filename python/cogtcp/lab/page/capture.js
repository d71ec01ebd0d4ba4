// Captures of a run, as Wireshark reads them: what cogtcp.model.capture writes (`cogtcp run --pcap`), of the tables of a run with
// its packets recorded. Section numbers of 802.11 are those of IEEE Std 802.11-2007.

/** Bytes that grow; numbers are little-endian unless the name says `Be`. */
class Bytes {
  constructor(room = 64) { this.bytes = new Uint8Array(room); this.view = new DataView(this.bytes.buffer); this.length = 0; }

  room(more) {
    if (this.length + more > this.bytes.length) {
      const larger = new Uint8Array(Math.max(2 * this.bytes.length, this.length + more));
      larger.set(this.bytes);
      this.bytes = larger;
      this.view = new DataView(larger.buffer);
    }
    const at = this.length;
    this.length += more;
    return at;
  }

  u8(...values) { for (const value of values) { const at = this.room(1); this.bytes[at] = value; } return this; }
  u16(value) { const at = this.room(2); this.view.setUint16(at, value, true); return this; }
  u32(value) { const at = this.room(4); this.view.setUint32(at, value, true); return this; }
  be16(value) { const at = this.room(2); this.view.setUint16(at, value); return this; }
  be32(value) { const at = this.room(4); this.view.setUint32(at, value); return this; }
  put(bytes) { const at = this.room(bytes.length); this.bytes.set(bytes, at); return this; }
  pad() { this.room(-this.length & 3); return this; }
  done() { return this.bytes.subarray(0, this.length); }
}

// ---- pcapng (draft-ietf-opsawg-pcapng)

const RAW_IP = 101, RADIOTAP = 127;
const COMMENT = 1, NAME = 2, DESCRIPTION = 3, APPLICATION = 4, RESOLUTION = 9, FLAGS = 2;

/** A text as an option may have it: at most 65,000 bytes of UTF-8. */
function utf8(text) {
  const bytes = new TextEncoder().encode(text).subarray(0, 65_000);
  return new TextEncoder().encode(new TextDecoder().decode(bytes).replace(/\uFFFD+$/, ""));
}

function block(out, kind, body) {
  out.u32(kind).u32(12 + body.length).put(body).u32(12 + body.length);
}

function options(out, list) {
  for (const [code, value] of list) out.u16(code).u16(value.length).put(value).pad();
  return out.u16(0).u16(0);
}

function begin(out, application, comment) {
  const body = new Bytes().u32(0x1a2b3c4d).u16(1).u16(0).u32(0xffffffff).u32(0xffffffff);
  block(out, 0x0a0d0d0a, options(body, [[COMMENT, utf8(comment)], [APPLICATION, utf8(application)]]).done());
}

function netInterface(out, name, description, longest, type) {
  const body = new Bytes().u16(type).u16(0).u32(longest);
  block(out, 1, options(body, [[NAME, utf8(name)], [DESCRIPTION, utf8(description)], [RESOLUTION, [9]]]).done());
}

function nameAddresses(out, names) {
  const body = new Bytes();
  names.forEach((name, number) => {
    const text = utf8(name.replaceAll("\0", "?"));
    body.u16(1).u16(4 + text.length + 1).put(address(number)).put(text).u8(0).pad();
  });
  block(out, 4, body.u16(0).u16(0).done());
}

/** `flags`: 1 received, 2 sent by whoever captures; null neither. */
function packet(out, time_s, data, length, { flags = null, port = 0, comments = [] }) {
  const time = BigInt(Math.round(time_s * 1e9));
  const body = new Bytes(64 + data.length).u32(port).u32(Number(time >> 32n)).u32(Number(time & 0xffffffffn)).u32(data.length).u32(length).put(data).pad();
  const list = comments.map((comment) => [COMMENT, utf8(comment)]);
  if (flags !== null) list.push([FLAGS, [flags, 0, 0, 0]]);
  block(out, 6, options(body, list).done());
}

// ---- IPv4, TCP, UDP, ICMP (RFC 791, 9293, 768, 792); payloads are zeros that are not written

const ICMP = 1, TCP = 6, UDP = 17, LONGEST = 20 + 60;
const TCP_FLAGS = { F: 1, S: 2, R: 4, P: 8, ".": 16, E: 64, W: 128 };
const FIRST_DYNAMIC = 49_152, DYNAMIC = 16_384, LISTENING = 5201;
const EXPERIMENTAL = 253, EXPERIMENT = 0xc067; // RFC 6994, not registered

/** The address of node `number`, from 0: 10.0.0.1 and on (RFC 1918). */
const address = (number) => new Bytes(4).be32((10 << 24) + number + 1).done();

function checksum(...parts) {
  let total = 0;
  for (const bytes of parts) for (let i = 0; i < bytes.length; i += 2) total += (bytes[i] << 8) | (bytes[i + 1] ?? 0);
  while (total > 0xffff) total = (total & 0xffff) + Math.floor(total / 0x10000);
  return ~total & 0xffff;
}

function ports(stream) {
  const flow = Math.floor(stream / 2), pair = [FIRST_DYNAMIC + flow % DYNAMIC, LISTENING + Math.floor(flow / DYNAMIC)];
  return stream % 2 ? pair.reverse() : pair;
}

function ipv4(length, ttl, ecn, protocol, source, target) {
  const head = new Bytes(20).u8(0x45, ecn).be16(length <= 0xffff ? length : 0).be16(0).be16(0x4000).u8(ttl, protocol).be16(0).put(source).put(target);
  head.view.setUint16(10, checksum(head.done()));
  return head;
}

function tcpOptions(row) {
  const out = new Bytes(), stamped = !Number.isNaN(row.tsval);
  if (!Number.isNaN(row.mss)) out.u8(2, 4).be16(row.mss);
  if (stamped) out.u8(...(row.sack_permitted ? [4, 2] : [1, 1]), 8, 10).be32(row.tsval).be32(row.tsecr);
  else if (row.sack_permitted) out.u8(1, 1, 4, 2);
  if (!Number.isNaN(row.window_scale)) out.u8(1, 3, 3, row.window_scale);
  if (!Number.isNaN(row.experimental)) out.u8(EXPERIMENTAL, 8).be16(EXPERIMENT).be32(row.experimental);
  if (row.sack) {
    const edges = row.sack.split(" ").flatMap((part) => part.split("-")).map(Number);
    out.u8(1, 1, 5, 2 + 4 * edges.length);
    for (const edge of edges) out.be32(edge);
  }
  return out.done();
}

const pseudo = (source, target, protocol, length) => new Bytes(12).put(source).put(target).be32(protocol).be32(length).done();

function tcp(row, source, target) {
  const added = tcpOptions(row), length = 20 + added.length, [from, to] = ports(row.stream);
  const flags = [...row.flags].reduce((sum, flag) => sum | TCP_FLAGS[flag], 0);
  const head = new Bytes(60).be16(from).be16(to).be32(row.seq).be32(row.ack).u8(length << 2, flags).be16(row.window).be16(0).be16(0).put(added);
  head.view.setUint16(16, checksum(pseudo(source, target, TCP, length + row.payload_bytes), head.done()));
  return head.done();
}

/** A UDP header between the ports `ends` with what is written of its payload; the rest of `length` bytes is zeros. */
function udp(ends, length, payload, source, target) {
  const head = new Bytes(8 + payload.length).be16(ends[0]).be16(ends[1]).be16(length).be16(0).put(payload);
  head.view.setUint16(6, checksum(pseudo(source, target, UDP, length), head.done()) || 0xffff); // zero is sent as all ones
  return head.done();
}

/** Host unreachable, with the IP header and the first 8 bytes of a packet without payload. */
function unreachable(row, { stream, source, target }) {
  const [from, to] = ports(stream);
  const inner = ipv4(40, 64, 0, TCP, source, target).be16(from).be16(to).be32(row.seq).done();
  const head = new Bytes(36).u8(3, 1).be16(0).be32(0).put(inner);
  head.view.setUint16(2, checksum(head.done()));
  return head.done();
}

function headers(row, of, flows) {
  const source = of(row.from), target = of(row.to);
  const [number, content] = row.protocol === "tcp" ? [TCP, tcp(row, source, target)]
    : row.protocol === "icmp" ? [ICMP, unreachable(row, flows.get(row.flow))]
      : [UDP, udp(ports(row.stream), 8 + row.payload_bytes, [], source, target)];
  return ipv4(row.wire_bytes, row.ttl, row.ecn, number, source, target).put(content).done();
}

// ---- a link as one of its ends sees it

/** Reads rows of a table one at a time; the object is the same for all. */
function reader(table) {
  const columns = Object.values(table.columns).map(({ name, kind, values, dictionary }) => [name,
    kind === "text" ? (i) => dictionary[values[i]] : kind === "bool" ? (i) => Boolean(values[i]) : (i) => Number(values[i])]);
  const row = {};
  return (i) => { for (const [name, at] of columns) row[name] = at(i); return row; };
}

const NOT_TCP = { flags: "", seq: 0, ack: 0, window: 0, sack_blocks: 0, sack: "", sack_permitted: false,
  mss: NaN, window_scale: NaN, tsval: NaN, tsecr: NaN, experimental: NaN };

/** Reads packets one at a time, with what TCP's header says in those of TCP. */
function packetReader({ packets, tcp_segments: segments }) {
  const read = reader(packets), readTcp = segments && reader(segments), rowOf = new Map();
  segments?.columns.packet.values.forEach((packet, i) => rowOf.set(Number(packet), i));
  return (i) => Object.assign(read(i), rowOf.has(i) ? readTcp(rowOf.get(i)) : NOT_TCP);
}

const IDENTITY = ["stream", "protocol", "flags", "seq", "payload_bytes", "ack", "window", "sack", "tsval", "tsecr", "experimental"];

/** Why packets that the node saw are dropped, by the row in which it sees them. */
function deathsOf(rows, read, sends) {
  const deaths = new Map(), underWay = new Map();
  for (const i of rows) {
    const row = read(i), outgoing = row.direction === sends;
    const key = outgoing ? IDENTITY.map((name) => row[name]).join() : "";
    if (outgoing && !underWay.has(key)) underWay.set(key, []);
    const waiting = outgoing ? underWay.get(key) : null;
    const death = () => `dropped at ${row.time_s.toFixed(9)} s: ${row.cause}`;
    if (row.event === "queued") waiting?.push(i);
    else if (row.event === "received") waiting?.shift();
    else if (row.refused) deaths.set(i, death());
    else if (waiting?.length) deaths.set(waiting.shift(), death());
  }
  return deaths;
}

const quoted = (run, of) => new Map(Array.from({ length: run.tables.flows.rows }, (_, number) => {
  const row = reader(run.tables.flows)(number);
  return [row.flow, { stream: 2 * number, source: of(row.from), target: of(row.to) }];
}));

/** Where packets can be captured: `[link, node, direction in which the node sends]`; of an ad hoc network the air. */
export function points(run) {
  const read = run.tables.links && reader(run.tables.links);
  const found = read ? Array.from({ length: run.tables.links.rows }, (_, i) => { const row = read(i); return [row.link, row.from, row.direction]; }) : [];
  return !found.length && run.tables.nodes?.rows ? [["air", "", ""]] : found;
}

/** The capture of a run at a point, as bytes of a pcapng file. */
export function capture(run, [link, node, sends], version) {
  const out = new Bytes(1 << 20);
  begin(out, `cogtcp ${version}`, `scenario ${run.name}, seed ${run.seed}, digest ${run.digest}`);
  if (!node) return air(out, run);
  const { packets } = run.tables, names = packets.columns.from.dictionary;
  const number = new Map(names.map((name, i) => [name, i])), of = (name) => address(number.get(name));
  const flows = quoted(run, of), read = packetReader(run.tables);
  const wanted = packets.columns.link.dictionary.indexOf(link), rows = [];
  packets.columns.link.values.forEach((code, i) => { if (code === wanted) rows.push(i); });
  netInterface(out, `${link} at ${node}`, "simulated; headers only, checksums assume a payload of zeros", LONGEST, RAW_IP);
  nameAddresses(out, names);
  const deaths = deathsOf(rows, read, sends);
  for (const i of rows) {
    const row = read(i), outgoing = row.direction === sends;
    if (row.event !== (outgoing ? "queued" : "received") && !(outgoing && row.refused)) continue;
    packet(out, row.time_s, headers(row, of, flows), row.wire_bytes, { flags: outgoing ? 2 : 1, comments: deaths.has(i) ? [deaths.get(i)] : [] });
  }
  return out.done();
}

// ---- the air of an ad hoc network: 802.11 behind a radiotap header, an interface for each channel

const CONTROL = { rts: 0xb4, cts: 0xc4, ack: 0xd4, data: 0x08 }; // 7.1.3.1
const EVERYBODY = [255, 255, 255, 255, 255, 255], BSSID = [2, ...new TextEncoder().encode("cogtc")];
const LONGEST_DURATION = 32_767, LLC = [0xaa, 0xaa, 3, 0, 0, 0], TYPE_IP = 0x0800, TYPE_ARP = 0x0806;
const AODV = 654, OTHERS = 49_151; // RFC 3561 section 1; the last port that can be registered

function air(out, run) {
  const { frames, nodes } = run.tables, read = reader(frames);
  const names = Array.from({ length: nodes.rows }, (_, i) => nodes.columns.node.dictionary[nodes.columns.node.values[i]]);
  const numbers = new Map(names.map((name, i) => [name, i])), of = (name) => address(numbers.get(name));
  const flows = quoted(run, of), channels = [...new Set(Array.from(frames.columns.channel.values, Number))].sort((a, b) => a - b);
  for (const channel of channels) {
    netInterface(out, `channel ${channel}`, "simulated; each frame at its beginning; headers only, no frame check sequence", 10 + 24 + 8 + LONGEST, RADIOTAP);
  }
  nameAddresses(out, names);
  for (let i = 0; i < frames.rows; i++) {
    const row = read(i), frame = new Bytes(128);
    radiotap(frame, row.rate_bps);
    mac(frame, row, numbers);
    const [body, length] = content(row, numbers, of, flows), head = frame.length;
    const comments = row.failed ? [`the exchange failed: ${row.failed}`] : [];
    if (row.protocol === "channel") comments.push("announcement of a channel, content not included");
    else if (row.protocol === "routing" && !row.octets) comments.push(`${row.message} of routing, content not included`);
    packet(out, row.time_s, frame.put(body).done(), head + length, { port: channels.indexOf(row.channel), comments });
  }
  return out.done();
}

function radiotap(out, rate_bps) {
  const units = rate_bps / 500_000;
  if (Number.isInteger(units) && units >= 1 && units <= 255) out.u8(0, 0).u16(10).u32(0b110).u8(0, units);
  else out.u8(0, 0).u16(9).u32(0b010).u8(0);
}

const macAddress = (node, radio) => new Bytes(6).u8(2, radio).be32(node + 1).done();

function mac(out, row, numbers) {
  const duration = Math.min(Math.ceil(Math.round(row.reserves_s * 1e9) / 1000), LONGEST_DURATION);
  out.u8(CONTROL[row.frame], row.retry ? 0x08 : 0).u16(duration).put(row.receiver ? macAddress(numbers.get(row.receiver), row.receiver_radio) : EVERYBODY);
  if (row.frame === "cts" || row.frame === "ack") return;
  out.put(macAddress(numbers.get(row.transmitter), row.transmitter_radio));
  if (row.frame !== "rts") out.put(BSSID).u16(row.sequence % 4096 << 4);
}

/** What is captured of a frame behind its MAC header, and how long that is. */
function content(row, numbers, of, flows) {
  if (!row.protocol) return [[], 0];
  const out = new Bytes(128).put(LLC);
  if (row.protocol === "arp") {
    const reply = row.message === "reply";
    out.be16(TYPE_ARP).be16(1).be16(TYPE_IP).u8(6, 4).be16(reply ? 2 : 1).put(macAddress(numbers.get(row.from), row.transmitter_radio)).put(of(row.from))
      .put(reply ? macAddress(numbers.get(row.to), row.receiver_radio) : new Uint8Array(6)).put(of(row.to));
    return [out.done(), out.length];
  }
  out.be16(TYPE_IP);
  if (["tcp", "udp", "icmp"].includes(row.protocol)) return [out.put(headers(row, of, flows)).done(), 8 + row.wire_bytes];
  const source = of(row.from), target = numbers.has(row.to) ? of(row.to) : Uint8Array.of(255, 255, 255, 255);
  const octets = Uint8Array.from(row.octets.match(/[0-9a-f]{2}/gi) ?? [], (pair) => parseInt(pair, 16));
  // A message that no RFC describes: its length alone is known.
  const length = octets.length ? 28 + octets.length : row.wire_bytes;
  const datagram = octets.length ? udp([AODV, AODV], 8 + octets.length, octets, source, target)
    : udp([OTHERS, OTHERS], length - 20, [], source, target);
  return [out.put(ipv4(length, row.ttl, 0, UDP, source, target).done()).put(datagram).done(), 8 + length];
}
