// Two kinds of messages: `announce` is for a screen reader (politely, state changes only), `toast` also shows it briefly.

import { byId, setText } from "./dom.js";

let hide = 0;
let pending = [];

export function announce(text) {
  // Several jobs may end in one frame; a live region that is overwritten would speak only the last.
  if (pending.length === 0) setTimeout(() => {
    setText(byId("announcer"), pending.slice(-5).join(". "));
    pending = [];
  }, 150);
  pending.push(text);
}

export function toast(text) {
  const element = byId("toast");
  setText(element, text);
  element.hidden = false;
  clearTimeout(hide);
  hide = setTimeout(() => { element.hidden = true; }, 4000);
  announce(text);
}
