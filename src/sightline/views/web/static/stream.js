// The one connection a tab holds. Rules:
// - Everything it brings is idempotent (entries by position, rows by number), so that a new connection may repeat.
// - EventSource's own retry is not used: it gives up on an HTTP error, and it cannot tell "not signed in" from "away".
//   A lost connection is closed and opened again after 0.5 s, 1 s, 2 s, 4 s, then every 5 s.
// - `after` names the last seq seen; a server that cannot go on from there sends everything again.

import { ApiError, SIGN_IN, sessions } from "./api.js";

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 5000;
const KINDS = ["list", "facts", "entries", "rows", "status", "gone"];

export class Stream {
  // handlers: { list, facts, entries, rows, status, gone, connection(state, detail) }
  constructor(handlers) {
    this.handlers = handlers;
    this.session = null;
    this.source = null;
    this.wait = FIRST_WAIT_MS;
    this.timer = 0;
    this.refused = false;
    addEventListener("online", () => this.retryNow());
    document.addEventListener("visibilitychange", () => { if (!document.hidden) this.retryNow(); });
  }

  watch(session) {
    this.session = session;
    this.lastSeq = "";
    this.isOpen = false;
    this.wait = FIRST_WAIT_MS;
    this.open();
  }

  open() {
    this.close();
    const query = new URLSearchParams();
    if (this.session) query.set("session", this.session);
    if (this.session && this.lastSeq) query.set("after", this.lastSeq);
    const source = new EventSource(`/api/page?${query}`);
    this.source = source;
    source.addEventListener("open", () => this.opened());
    source.addEventListener("error", () => this.lost(source));
    for (const kind of KINDS) source.addEventListener(kind, (event) => this.take(kind, event));
  }

  close() {
    clearTimeout(this.timer);
    this.timer = 0;
    this.source?.close();
    this.source = null;
  }

  take(kind, event) {
    if (event.lastEventId) this.lastSeq = event.lastEventId;
    this.handlers[kind](event.data ? JSON.parse(event.data) : {});
  }

  opened() {
    this.wait = FIRST_WAIT_MS;
    this.refused = false;
    this.isOpen = true;
    this.handlers.connection("open");
  }

  async lost(source) {
    if (source !== this.source) return;
    this.close();
    const wait = this.wait;
    this.wait = Math.min(wait * 2, LONGEST_WAIT_MS);
    if (!this.refused) this.handlers.connection("lost", "Connection lost, trying again…");
    this.timer = setTimeout(() => this.open(), wait);
    const hadOpened = this.isOpen;
    this.isOpen = false;
    // EventSource hides the status of what it was answered; one plain request tells why.
    try {
      await sessions();
      if (!hadOpened && this.session && !this.source) this.noSuchSession();
    } catch (error) {
      this.refused = error instanceof ApiError && error.status === 401;
      if (this.refused && !this.source) this.handlers.connection("refused", SIGN_IN);
    }
  }

  // The server answers, but not to this: the address names a session that cannot be. The list is still wanted.
  noSuchSession() {
    this.session = null;
    this.handlers.gone();
    this.open();
  }

  retryNow() {
    if (this.timer) this.open();
  }
}
