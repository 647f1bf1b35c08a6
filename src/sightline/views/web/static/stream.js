// The one connection a tab holds. Rules:
// - Everything it brings is idempotent (entries by position, rows by number), so that a new connection may repeat.
// - It is read with fetch: an EventSource can send no token, and hides why it was refused.
//   A lost connection is opened again after 0.5 s, 1 s, 2 s, 4 s, then every 5 s.
// - `after` names the last seq seen; a server that cannot go on from there sends everything again.

import { ApiError, page, SIGN_IN } from "./api.js";

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 5000;
const FAILED_BEFORE_HINT = 3;
const LOST = "Connection lost, trying again…";
const RESTARTED = "If sightline serve was started again, open the new address that it printed.";

export class Stream {
  // handlers: { list, facts, entries, rows, status, gone, connection(state, detail) }
  constructor(handlers) {
    this.handlers = handlers;
    this.session = null;
    this.source = null; // what aborts the connection there is
    this.wait = FIRST_WAIT_MS;
    this.timer = 0;
    this.failed = 0; // times in a row that it could not be opened
    addEventListener("online", () => this.retryNow());
    document.addEventListener("visibilitychange", () => { if (!document.hidden) this.retryNow(); });
  }

  watch(session) {
    this.session = session;
    this.lastSeq = "";
    this.wait = FIRST_WAIT_MS;
    this.open();
  }

  async open() {
    this.close();
    const source = new AbortController();
    this.source = source;
    let problem = null;
    try {
      const response = await page(this.session, this.lastSeq, source.signal);
      if (source === this.source) this.opened();
      await this.read(response.body, source);
    } catch (error) {
      problem = error;
    }
    if (source === this.source) this.lost(problem);
  }

  close() {
    clearTimeout(this.timer);
    this.timer = 0;
    this.source?.abort();
    this.source = null;
  }

  async read(body, source) {
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    let pending = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done || source !== this.source) return;
      const searched = Math.max(pending.length - 1, 0); // a long event comes in many pieces, each looked at once
      pending += value;
      let end = pending.indexOf("\n\n", searched);
      let start = 0;
      for (; end >= 0 && source === this.source; end = pending.indexOf("\n\n", start)) {
        this.take(pending.slice(start, end));
        start = end + 2;
      }
      pending = pending.slice(start);
    }
  }

  take(text) {
    const { id, event, data } = fieldsOf(text);
    if (!event) return; // a comment: still here
    if (id) this.lastSeq = id;
    try {
      this.handlers[event]?.(data ? JSON.parse(data) : {});
    } catch (error) {
      reportError(error); // what one event breaks must not end the connection
    }
  }

  opened() {
    this.wait = FIRST_WAIT_MS;
    this.failed = 0;
    this.handlers.connection("open");
  }

  lost(problem) {
    this.close();
    const status = problem instanceof ApiError ? problem.status : 0;
    if (this.session && status >= 400 && status < 500 && status !== 401) {
      this.noSuchSession();
      return;
    }
    if (status === 401) this.handlers.connection("refused", SIGN_IN);
    else this.handlers.connection("lost", (this.failed += 1) > FAILED_BEFORE_HINT ? `${LOST} ${RESTARTED}` : LOST);
    this.timer = setTimeout(() => this.open(), this.wait);
    this.wait = Math.min(this.wait * 2, LONGEST_WAIT_MS);
  }

  // The server answers, but not to this: the address names a session that cannot be. The list is still shown.
  noSuchSession() {
    this.session = null;
    this.handlers.gone();
    this.open();
  }

  retryNow() {
    if (this.timer) this.open();
  }
}

function fieldsOf(text) {
  const fields = {};
  for (const line of text.split("\n")) {
    const colon = line.indexOf(":");
    if (colon > 0) fields[line.slice(0, colon)] = line.slice(colon + 1).replace(/^ /, "");
  }
  return fields;
}
