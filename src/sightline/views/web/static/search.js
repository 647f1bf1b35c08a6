// Search in a block's output, and going to a row by number. The server finds (it has the whole output); the page keeps
// the numbers of matching rows, up to a cap, and asks for more when one steps past the last it knows.

import * as api from "./api.js";
import { button, make, setText } from "./dom.js";
import { digits } from "./format.js";

const PER_ASK = 500;
const COUNTED = 2000; // matches looked for unasked, so that the count is right for all but floods
const TYPING_MS = 120;

export class Search {
  constructor(block) {
    this.block = block;
    this.open = false;
    this.input = make("input", { type: "search", "aria-label": "Search in output", placeholder: "Search", spellcheck: "false" });
    this.line = make("input", {
      type: "text", inputmode: "numeric", "aria-label": "Go to row", placeholder: "Row", className: "line-number",
    });
    this.status = make("span", { className: "matches", role: "status" });
    this.element = make("div", { className: "find", role: "search", "aria-label": "Search in output", hidden: true },
      this.input,
      button("↑", () => this.step(-1), { "aria-label": "Previous match" }),
      button("↓", () => this.step(1), { "aria-label": "Next match" }),
      this.status,
      this.line,
      button("Close", () => this.hide()));
    this.input.addEventListener("input", () => this.typed());
    this.input.addEventListener("keydown", (event) => this.inputKey(event));
    this.line.addEventListener("keydown", (event) => this.lineKey(event));
    this.reset("");
  }

  reset(text) {
    this.text = text;
    this.found = [];
    this.at = -1;
    this.next = 0;
    this.more = true;
    this.control?.abort();
    this.control = null;
  }

  toggle() {
    if (this.open) this.hide();
    else this.show();
  }

  show(field = this.input) {
    this.open = true;
    if (this.block.folded) this.block.choose(false);
    this.element.hidden = false;
    this.block.head.search.setAttribute("aria-expanded", "true");
    field.focus();
    field.select();
  }

  hide() {
    this.open = false;
    this.stop();
    this.reset("");
    this.input.value = "";
    this.report();
    this.element.hidden = true;
    this.block.head.search.setAttribute("aria-expanded", "false");
    this.block.rows.mark(-1, "");
    this.block.rows.element.focus({ preventScroll: true });
  }

  stop() {
    clearTimeout(this.timer);
    this.control?.abort();
  }

  typed() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.begin(), TYPING_MS);
  }

  inputKey(event) {
    if (event.key !== "Enter") return;
    event.preventDefault();
    clearTimeout(this.timer);
    if (this.input.value !== this.text) this.begin();
    else this.step(event.shiftKey ? -1 : 1);
  }

  lineKey(event) {
    if (event.key !== "Enter") return;
    event.preventDefault();
    const number = Number(this.line.value.replace(/[^0-9]/g, ""));
    if (!number) return;
    const to = Math.min(number, this.block.store.total) - 1;
    this.block.rows.goTo(to);
    this.block.rows.mark(to, this.text);
    this.block.rows.element.focus({ preventScroll: true });
  }

  async begin() {
    const text = this.input.value;
    const here = Math.floor(this.block.rows.top);
    this.reset(text);
    this.block.rows.mark(-1, text);
    if (!text) return this.report();
    await this.ask(COUNTED, () => { if (this.at < 0 && this.found.length) this.showMatch(this.firstFrom(here)); });
  }

  firstFrom(row) {
    const index = this.found.findIndex((number) => number >= row);
    return index < 0 ? 0 : index;
  }

  // Asks until `enough` matches are known or there are no more. The server may answer a stretch without any.
  async ask(enough, onSome) {
    this.control?.abort();
    const control = new AbortController();
    this.control = control;
    try {
      while (this.more && this.found.length < enough) {
        this.report("searching…");
        const answer = await api.find(this.block.id, this.text, this.next, PER_ASK, control.signal);
        this.found.push(...answer.rows.filter((number) => number > (this.found.at(-1) ?? -1)));
        this.more = answer.more;
        this.next = answer.next;
        onSome();
      }
    } catch (error) {
      if (error.name === "AbortError") return;
      return this.report(error.message);
    }
    this.report();
  }

  async step(by) {
    if (!this.text) return this.input.focus();
    const to = this.at + by;
    if (to >= this.found.length) {
      this.more ||= this.block.entry.running; // what was written since may match too
      const known = this.found.length;
      await this.ask(known + 1, () => {});
      return this.showMatch(this.found.length > known ? known : 0);
    }
    this.showMatch(to < 0 ? this.found.length - 1 : to);
  }

  showMatch(index) {
    if (!this.found.length) return this.report();
    this.at = index;
    this.block.rows.goTo(this.found[index]);
    this.block.rows.mark(this.found[index], this.text);
    this.report();
  }

  report(text) {
    if (text) return setText(this.status, text);
    if (!this.text) return setText(this.status, "");
    if (!this.found.length) return setText(this.status, "no match");
    setText(this.status, `${digits(this.at + 1)} of ${digits(this.found.length)}${this.more ? "+" : ""}`);
  }
}
