// Searches stored sessions, as `sightline sessions WORDS` does: conversations are searched by the server; sessions of
// commands and recordings, which it does not search, by title and command here. The last search counts.

import * as api from "./api.js";
import { byId, setText } from "./dom.js";
import { count } from "./format.js";

const PAUSE_MS = 150; // in typing

export class SessionSearch {
  constructor(list) {
    this.list = list;
    this.input = byId("search-sessions");
    this.result = byId("search-result");
    this.input.addEventListener("input", () => this.later());
    this.input.addEventListener("keydown", (event) => this.key(event));
  }

  // Empty words end the search.
  search(words) {
    this.input.value = words;
    this.now();
  }

  focus() {
    this.input.focus();
    this.input.select();
  }

  later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.now(), PAUSE_MS);
  }

  async now() {
    clearTimeout(this.timer);
    this.asking?.abort();
    const words = this.input.value.trim();
    if (!words) return this.show(null, "");
    this.asking = new AbortController();
    try {
      const { hits } = await api.search(words, this.asking.signal);
      const found = [...hits, ...this.list.matching(words)];
      return this.show(found, found.length ? `${count(found.length, "session", "sessions")} found` : `No session found for: ${words}`);
    } catch (error) {
      return error.name === "AbortError" ? undefined : this.show([], error.message);
    }
  }

  show(found, result) {
    this.list.showFound(found);
    setText(this.result, result);
    this.result.hidden = !result;
  }

  async key(event) {
    if (event.key === "Escape" && this.input.value) {
      event.preventDefault();
      event.stopPropagation(); // the list stays open
      this.search("");
    } else if (event.key === "Enter" && !event.isComposing) {
      event.preventDefault();
      await this.now();
      this.list.first?.focus();
    }
  }
}
