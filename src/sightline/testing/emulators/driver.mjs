// Hosts terminals for Python: requests on stdin, one answer each on stdout, all synchronous.
//
// Request: u32 header length, u32 payload length (both little endian), JSON header, payload (the bytes to show).
// Answer: u32 length, JSON: the result, or {"error": …}.
// Reads and writes block on purpose: no event loop turn stands between a request and its answer.
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

const packages = createRequire(pathToFileURL(path.join(process.argv[2], "package.json")));
const kinds = {};
const terminals = new Map();

async function create({ kind, columns, rows, scrollback }) {
  kinds[kind] ??= (await import(`./${kind}.mjs`)).load(packages);
  return kinds[kind](columns, rows, scrollback);
}

async function answer(request, payload) {
  if (request.do === "open") {
    terminals.set(request.id, await create(request));
    return {};
  }
  const terminal = terminals.get(request.id);
  if (payload.length) terminal.write(payload);
  switch (request.do) {
    case "write":
      return {};
    case "tape":
      return tape(terminal, request.first);
    case "resize":
      terminal.resize(request.columns, request.rows);
      return {};
    case "close":
      terminal.close();
      terminals.delete(request.id);
      return {};
    default:
      return terminal[request.do](request);
  }
}

function tape(terminal, wanted) {
  const scrollback = terminal.scrollback();
  const first = wanted < 0 ? Math.max(0, scrollback + wanted) : Math.min(wanted, scrollback + terminal.rows);
  const { rows, wrapped } = terminal.read(first, scrollback);
  return { first, scrollback, rows, wrapped, cursor: terminal.cursor() };
}

function readExactly(length) {
  const bytes = new Uint8Array(length);
  for (let have = 0; have < length; ) {
    const got = fs.readSync(0, bytes, have, length - have, null);
    if (got === 0) process.exit(0);
    have += got;
  }
  return bytes;
}

function writeAll(bytes) {
  for (let done = 0; done < bytes.length; ) done += fs.writeSync(1, bytes, done);
}

const decoder = new TextDecoder();
for (;;) {
  const lengths = new DataView(readExactly(8).buffer);
  const request = JSON.parse(decoder.decode(readExactly(lengths.getUint32(0, true))));
  const payload = readExactly(lengths.getUint32(4, true));
  let result;
  try {
    result = await answer(request, payload);
  } catch (error) {
    result = { error: String(error?.stack ?? error) };
  }
  const body = Buffer.from(JSON.stringify(result));
  const head = Buffer.alloc(4);
  head.writeUInt32LE(body.length);
  writeAll(Buffer.concat([head, body]));
}
