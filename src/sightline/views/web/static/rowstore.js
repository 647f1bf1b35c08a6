// The rows of one call that the page knows: at most 5,000, the rest is fetched when it is to be seen. Rules:
// - The server's newest word wins. Live rows (`take`) replace; fetched rows only fill gaps, since a fetch that was under
//   way while live rows came is older than they are.
// - A live message holds every row that changed since the one before it, or, when these are more than a window, the
//   newest window of rows. In the second case rows that could still change and are no longer in it are forgotten.

import * as api from "./api.js";

const KEPT_ROWS = 5000;
const KEPT_UNSEEN = 200; // of a block that is not on screen
const WINDOW = 200; // rows in a full live message
const UNSETTLED = 50; // rows from the end that a command may still rewrite
const MOST_PER_FETCH = 500;
const AHEAD = 120; // rows fetched beyond what is visible, on both sides
const STALE_FETCH_MS = 150; // a fetch for a place that was scrolled past is given up after this long
const RETRY_MS = 600;

export class RowStore {
  constructor(id, onChange) {
    this.id = id;
    this.onChange = onChange;
    this.total = 0;
    this.deleted = false; // the server has the output no more
    this.rows = new Map(); // in order of use, oldest first
    this.seen = false;
    this.fetching = null; // { first, last, at, control }
    this.pausedUntil = 0;
  }

  get(number) {
    const row = this.rows.get(number);
    if (row !== undefined) {
      this.rows.delete(number);
      this.rows.set(number, row);
    }
    return row;
  }

  take({ total, first, rows }) {
    const missed = rows.length >= WINDOW || first > this.total;
    const doubtful = missed ? Math.min(this.total, total) - UNSETTLED : first;
    if (doubtful < first || total < this.total) {
      for (const n of this.rows.keys()) if ((n >= doubtful && n < first) || n >= total) this.rows.delete(n);
    }
    this.total = total;
    rows.forEach((row, index) => this.put(first + index, row));
    this.trim();
    this.onChange();
  }

  setTotal(total) {
    if (total === this.total) return;
    this.total = total;
    this.onChange();
  }

  // Rows from one on are fetched again: after a reconnect it is unknown what was rewritten meanwhile, and after the end no
  // update follows. A response that is under way may be from before.
  forgetFrom(first) {
    this.fetching?.control.abort();
    this.fetching = null;
    for (const number of this.rows.keys()) if (number >= first) this.rows.delete(number);
    this.onChange();
  }

  settle() {
    this.forgetFrom(this.total - UNSETTLED);
  }

  put(number, row) {
    this.rows.delete(number);
    this.rows.set(number, row);
  }

  setSeen(seen) {
    this.seen = seen;
    this.trim();
  }

  trim() {
    const most = this.seen ? KEPT_ROWS : KEPT_UNSEEN;
    for (const number of this.rows.keys()) {
      if (this.rows.size <= most) break;
      this.rows.delete(number);
    }
  }

  // Asks for what is missing of the rows on screen; then, when the line is free, for what is around them.
  want(first, last) {
    const gap = this.gapIn(first, last);
    const wide = gap ?? this.gapIn(Math.max(0, first - AHEAD), Math.min(this.total, last + AHEAD));
    if (!wide || performance.now() < this.pausedUntil) return;
    if (this.fetching) {
      const covered = !gap || (this.fetching.first <= gap[0] && this.fetching.last >= gap[1]);
      if (covered || performance.now() - this.fetching.at < STALE_FETCH_MS) return;
      this.fetching.control.abort();
    }
    let from = wide[0];
    while (gap && from > 0 && from > gap[0] - AHEAD && !this.rows.has(from - 1)) from -= 1;
    this.fetch(from, Math.min(this.total, from + MOST_PER_FETCH, (gap ?? wide)[1] + AHEAD));
  }

  gapIn(first, last) {
    let from = first;
    while (from < last && this.rows.has(from)) from += 1;
    let to = last;
    while (to > from && this.rows.has(to - 1)) to -= 1;
    return from < to ? [from, to] : null;
  }

  async fetch(first, last) {
    const fetching = { first, last, at: performance.now(), control: new AbortController() };
    this.fetching = fetching;
    try {
      const answer = await api.rows(this.id, first, last - first, fetching.control.signal);
      if (answer.deleted) this.lose();
      else if (this.fill(answer) === 0) this.pause();
    } catch (error) {
      if (error.name !== "AbortError") this.pause();
    } finally {
      if (this.fetching === fetching) {
        this.fetching = null;
        this.onChange();
      }
    }
  }

  lose() {
    this.deleted = true;
    this.total = 0;
    this.rows.clear();
  }

  fill({ total, first, rows }) {
    const grown = this.total > total;
    let filled = 0;
    rows.forEach((row, index) => {
      const number = first + index;
      const mayHaveChanged = grown && number >= total - UNSETTLED;
      if (this.rows.has(number) || mayHaveChanged) return;
      this.rows.set(number, row);
      filled += 1;
    });
    this.trim();
    return filled;
  }

  // An answer without news must not be fetched again at once, or it becomes a busy loop.
  pause() {
    this.pausedUntil = performance.now() + RETRY_MS;
    setTimeout(() => this.onChange(), RETRY_MS + 10);
  }
}
