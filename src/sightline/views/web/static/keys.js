// The keyboard. Single letters act only outside fields, and can be turned off (WCAG 2.1.4): speech input types them.

import { byId, make } from "./dom.js";

const STORED = "sightline.single-keys";

const SHOWN = [
  ["j / k", "next / previous call"],
  ["o", "open or close the call"],
  ["/ or Ctrl+F", "search in its output"],
  ["Enter / Shift+Enter", "next / previous match"],
  ["g", "go to a row by number"],
  ["f", "follow the end, or stop following"],
  ["y", "copy its output"],
  ["Home End PageUp PageDown ↑ ↓", "move in the output that has the focus"],
  ["s", "sessions"],
  ["n", "write a prompt, or run a command"],
  ["c", "new session"],
  ["r", "next request, in any session"],
  ["Esc", "close what is open"],
  ["?", "this list"],
];

// A dialog or a menu is open.
const isOver = () => document.querySelector("dialog[open], :popover-open") !== null;

export class Keys {
  // actions: { neighbour(by), sessions(), start(), create(), requests(), escape() }
  constructor(actions) {
    this.actions = actions;
    this.dialog = byId("keys");
    this.single = byId("single-keys");
    this.single.checked = localStorage.getItem(STORED) !== "off";
    this.single.addEventListener("change", () => localStorage.setItem(STORED, this.single.checked ? "on" : "off"));
    byId("keys-list").append(...SHOWN.flatMap(([key, does]) => [make("dt", {}, make("kbd", { text: key })), make("dd", { text: does })]));
    byId("show-keys").addEventListener("click", () => this.dialog.showModal());
    document.addEventListener("keydown", (event) => this.pressed(event));
  }

  pressed(event) {
    const block = event.target.closest?.(".block")?.block;
    if (event.key === "Escape") return this.escape(event, block);
    // The browser's own search cannot see rows that are not elements, so inside a block ours takes its place.
    if (block && (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "f") {
      event.preventDefault();
      return block.search.show();
    }
    if (event.ctrlKey || event.metaKey || event.altKey || !this.single.checked || isOver()) return;
    if (event.target.matches?.("input:not([type=checkbox], [type=radio]), textarea, select")) return;
    const act = this.actionFor(event.key, block);
    if (!act) return;
    event.preventDefault();
    act();
  }

  actionFor(key, focused) {
    const block = focused ?? this.actions.neighbour(0);
    switch (key) {
      case "j": return () => this.actions.neighbour(1)?.focus();
      case "k": return () => this.actions.neighbour(-1)?.focus();
      case "s": return this.actions.sessions;
      case "n": return this.actions.start;
      case "c": return this.actions.create;
      case "r": return this.actions.requests;
      case "?": return () => this.dialog.showModal();
      case "o": return block && (() => block.choose(!block.folded));
      case "/": return block && (() => block.search.show());
      case "g": return block && (() => block.search.show(block.search.line));
      case "f": return block?.entry.running && (() => block.rows.follow(!block.rows.following));
      case "y": return block && (() => block.copyOutput());
      default: return undefined;
    }
  }

  escape(event, block) {
    if (isOver()) return; // it closes itself
    if (block?.search.open) {
      event.preventDefault();
      return block.search.hide();
    }
    this.actions.escape();
  }
}
