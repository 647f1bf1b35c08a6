// JSON as a tree that opens where it is looked at. What is inside is made only then.

import { make } from "./dom.js";

const MOST = 200; // entries of one level
const LONG = 2000; // characters of one text

export function jsonTree(value, name = "") {
  if (value === null || typeof value !== "object") return make("div", { className: "leaf" }, ...label(name), leaf(value));
  const entries = Array.isArray(value) ? value.map((one, n) => [String(n), one]) : Object.entries(value);
  const about = Array.isArray(value) ? `[${entries.length}]` : `{${entries.length}}`;
  const summary = make("summary", {}, ...label(name), make("span", { className: "about", text: about }));
  const details = make("details", { className: "branch" }, summary);
  const open = () => {
    details.append(...entries.slice(0, MOST).map(([key, one]) => jsonTree(one, key)));
    if (entries.length > MOST) details.append(make("div", { className: "about", text: `… ${entries.length - MOST} more …` }));
  };
  details.addEventListener("toggle", open, { once: true });
  return details;
}

const label = (name) => (name === "" ? [] : [make("span", { className: "key", text: `${name}: ` })]);

function leaf(value) {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  const shown = text.length > LONG ? `${text.slice(0, LONG)}… (${text.length - LONG} more characters)` : text;
  return make("span", { className: typeof value === "string" ? "string" : "plain", text: shown });
}
