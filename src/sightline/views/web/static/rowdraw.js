// One row of output as an element. A row is a list of runs, [text] or [text, style]; {skipped} stands for bytes passed over.

import { coloursOf } from "./colours.js";
import { make } from "./dom.js";
import { bytes, digits } from "./format.js";

const SHOWN_CHARACTERS = 2000; // laying out one endless line would take longer than a frame
const LOOKS = { o: "bold", i: "italic", u: "underline", s: "strike", e: "from-err" };

export function fillRow(element, number, row, query) {
  element.dataset.n = digits(number + 1);
  element.className = "row";
  element.removeAttribute("title");
  if (row === undefined) {
    element.classList.add("waiting");
    element.replaceChildren();
  } else if (Array.isArray(row)) {
    fillRuns(element, row, query);
  } else {
    element.classList.add("skipped");
    element.replaceChildren(`${bytes(row.skipped ?? 0)} of output skipped`);
  }
}

function fillRuns(element, row, query) {
  const parts = [];
  if (row.some((run) => run[1]?.e)) {
    element.classList.add("err");
    element.title = "stderr";
    // Read out before the row to those who cannot see the mark; its class excludes it from what a selection copies.
    parts.push(make("span", { className: "hidden unselectable", text: "stderr: " }));
  }
  const hits = query ? rangesOf(row, query) : [];
  let position = 0;
  for (const [whole, style] of row) {
    const text = whole.slice(0, SHOWN_CHARACTERS - position);
    if (text) parts.push(styled(text, style, cutHits(hits, position, position + text.length)));
    position += whole.length;
    if (position > SHOWN_CHARACTERS) break;
  }
  if (position > SHOWN_CHARACTERS) parts.push(make("span", { className: "cut", text: " … the row is longer; Download has all of it" }));
  element.replaceChildren(...parts);
}

function styled(text, style, hits) {
  const inner = hits.length ? marked(text, hits) : [text];
  if (!style && inner.length === 1 && typeof inner[0] === "string") return text;
  const span = document.createElement("span");
  span.append(...inner);
  if (style) applyStyle(span, style);
  return span;
}

function applyStyle(span, style) {
  for (const [key, name] of Object.entries(LOOKS)) if (style[key]) span.classList.add(name);
  const colours = coloursOf(style);
  if (colours.className) span.classList.add(colours.className);
  if (colours.color) span.style.color = colours.color;
  if (colours.background) span.style.backgroundColor = colours.background;
}

// Where the query is in the row, runs joined: a match may begin in one colour and end in another.
function rangesOf(row, query) {
  const text = row.map((run) => run[0]).join("").slice(0, SHOWN_CHARACTERS);
  const lower = text.toLowerCase();
  const needle = query.toLowerCase();
  if (lower.length !== text.length || !needle) return []; // a letter whose lower case is longer would shift every mark
  const ranges = [];
  for (let at = lower.indexOf(needle); at >= 0; at = lower.indexOf(needle, at + needle.length)) {
    ranges.push([at, at + needle.length]);
  }
  return ranges;
}

const cutHits = (hits, start, end) => hits
  .filter(([from, to]) => from < end && to > start)
  .map(([from, to]) => [Math.max(from, start) - start, Math.min(to, end) - start]);

function marked(text, hits) {
  const parts = [];
  let done = 0;
  for (const [from, to] of hits) {
    if (from > done) parts.push(text.slice(done, from));
    parts.push(make("mark", { text: text.slice(from, to) }));
    done = to;
  }
  if (done < text.length) parts.push(text.slice(done));
  return parts;
}
