// The findings of a review: each with its place, what is wrong, and the lines there; to be fixed, by a prompt that is
// written into the field for the user to send, or dismissed. What is dismissed is the session's: every view has it.

import * as api from "./api.js";
import { toast } from "./announce.js";
import { button, make, setText } from "./dom.js";

let dismissed = new Map(); // id of the review's call → numbers

const isDismissed = ({ dataset: { review, finding } }) => Boolean(dismissed.get(review)?.has(Number(finding)));

// What the session says of them.
export function takeDismissed(byReview = {}) {
  dismissed = new Map(Object.entries(byReview).map(([review, numbers]) => [review, new Set(numbers)]));
  for (const element of document.querySelectorAll(".finding")) mark(element);
}

function mark(element) {
  const off = isDismissed(element);
  element.classList.toggle("dismissed", off);
  setText(element.querySelector(".dismissed-word"), off ? "dismissed" : "");
  setText(element.querySelector(".dismiss"), off ? "Restore" : "Dismiss");
}

const write = (element, text) => element.dispatchEvent(new CustomEvent("write", { bubbles: true, detail: text }));

// bodies: what is shown of each finding when it is open.
export function findingsOf({ session, review, fix, findings }, bodies) {
  if (findings.length === 0) return [];
  const rows = findings.map((each, at) => finding(each, { session, review, fix }, bodies[at], at === 0));
  const list = make("ol", { className: "findings", "aria-label": "Findings" }, ...rows);
  const all = button("Fix all", () => {
    const open = findings.filter((each, at) => !isDismissed(rows[at].firstChild));
    if (open.length === 1) write(list, `${fix.one}\n\n${open[0].fix}`);
    else if (open.length) write(list, [fix.all, ...open.map((each, at) => `${at + 1}. ${each.fix}`)].join("\n\n"));
  }, { className: "fix-all" });
  return [list, ...(findings.length > 1 ? [all] : [])];
}

function finding({ number, priority, title, place, fix: text }, { session, review, fix }, body, open) {
  const element = make("details", { className: "finding", "data-review": review, "data-finding": number, open },
    make("summary", {}, make("span", { className: "priority", "data-priority": priority, text: `P${priority}` }),
      ...(place ? [make("code", { text: place })] : []), make("span", { className: "finding-title", text: title }),
      make("span", { className: "dismissed-word" })),
    ...body);
  const dismiss = button("Dismiss", async () => {
    try {
      await api.dismissFinding(session, review, number, !isDismissed(element));
    } catch (error) {
      toast(error.message);
    }
  }, { className: "dismiss" });
  element.append(make("p", { className: "choices" }, button("Fix this", () => write(element, `${fix.one}\n\n${text}`)), dismiss));
  element.addEventListener("toggle", () => element.dispatchEvent(new Event("hold", { bubbles: true })));
  mark(element);
  return make("li", {}, element);
}
