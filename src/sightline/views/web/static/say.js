// Two ways of telling: `say` speaks to a screen reader (politely, state changes only), `toast` also shows it briefly.

import { byId, setText } from "./dom.js";

let hide = 0;
let spoken = [];

export function say(text) {
  // Several jobs may end in one frame; a live region that is overwritten would speak only the last.
  if (spoken.length === 0) setTimeout(() => {
    setText(byId("say"), spoken.slice(-5).join(". "));
    spoken = [];
  }, 150);
  spoken.push(text);
}

export function toast(text) {
  const element = byId("toast");
  setText(element, text);
  element.hidden = false;
  clearTimeout(hide);
  hide = setTimeout(() => { element.hidden = true; }, 4000);
  say(text);
}
