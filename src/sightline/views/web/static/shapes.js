// What a call shows besides its output, by shape. Each maker gives an element for a shape and whether all of it is wanted;
// what is left out is said, with a way to see it.

import * as api from "./api.js";
import { button, make } from "./dom.js";
import { seconds, stateOf } from "./format.js";
import { jsonTree } from "./jsontree.js";
import { Markdown, scrolled } from "./markdown.js";

const FOLDED_STEPS = 8;
const FOLDED_LINES = 40;
const SIGNS = { running: "◌", pending: "○", ok: "✓", error: "✕" };
const TASKS = {
  completed: { sign: "☑", word: "done" },
  in_progress: { sign: "▸", word: "in progress" },
  pending: { sign: "☐", word: "to do" },
  abandoned: { sign: "☒", word: "dropped" },
};
const JOBS = { completed: "ok", failed: "failed", cancelled: "cancelled", running: "running" };

const MAKERS = { steps, diff, todo, jobs, code, found, question, image, table, markdown, json, writing, problem };

export class Shape {
  // onChange: it is drawn anew because a person asked for more.
  constructor(session, onChange) {
    this.session = session;
    this.onChange = onChange;
    this.all = false;
    this.drawn = "";
    this.element = make("div", { className: "shape", hidden: true });
  }

  update(shape) {
    const now = shape ? JSON.stringify(shape) : "";
    if (now === this.drawn) return;
    this.drawn = now;
    this.shape = shape;
    this.draw();
  }

  draw() {
    const maker = MAKERS[this.shape?.kind];
    this.element.hidden = !maker;
    if (!maker) return;
    this.element.dataset.kind = this.shape.kind;
    this.element.replaceChildren(...maker(this.shape, this.all, this.session));
    const more = this.element.querySelector(".more");
    if (!more && !this.all) return;
    const text = this.all ? "Show less" : "Show all";
    this.element.append(button(text, () => this.toggle(), { className: "quiet show" }));
  }

  toggle() {
    this.all = !this.all;
    this.draw();
    this.element.querySelector(".show")?.focus({ preventScroll: true });
    this.onChange();
  }
}

const left = (count, what = "") => make("p", { className: "more", text: `… ${count} more ${what}…` });

function steps({ items, total, mode }, all) {
  const shown = items.slice(0, all ? items.length : FOLDED_STEPS);
  const rows = shown.map(({ agent, task, status, preview, active }) =>
    make("li", { className: active ? "active" : undefined, "data-status": status || "planned", "aria-current": active ? "step" : undefined },
      make("span", { className: "step-sign", text: SIGNS[status] ?? "·", title: status || "planned", role: "img", "aria-label": status || "planned" }),
      make("span", { className: "agent-name", text: agent }), make("span", { className: "task", text: task }),
      ...(all && preview ? [make("span", { className: "preview", text: preview })] : [])));
  const hasPreview = items.some((item) => item.preview);
  return [make("ol", { className: "steps", "aria-label": `Steps, ${mode}` }, ...rows),
    ...(total > shown.length ? [left(total - shown.length)] : !all && hasPreview ? [make("p", { className: "more", hidden: true })] : [])];
}

function diff({ text, path, partial, cut }, all) {
  const lines = text.replace(/\n$/, "").split("\n");
  const shown = all || partial ? lines : lines.slice(0, FOLDED_LINES);
  const rows = shown.map((line) => make("span", { className: `diff-line ${kindOf(line)}`, text: line || " " }));
  const named = lines.some((line) => line.startsWith("+++ "));
  const head = [named ? "" : path, partial ? "being written" : ""].filter(Boolean).join(" · ");
  return [...(head ? [make("p", { className: "shape-head", text: head })] : []), make("pre", { className: "diff" }, ...rows),
    ...(lines.length > shown.length ? [left(lines.length - shown.length, "lines ")] : []), ...tooLong(cut)];
}

function kindOf(line) {
  if (/^(\+\+\+|---|diff |index |new file|deleted file|\\)/.test(line)) return "file";
  if (line.startsWith("@@")) return "hunk";
  return line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : "same";
}

const tooLong = (cut) => (cut ? [make("p", { className: "cut", text: "The rest is too long for here; the output has it." })] : []);

export function todo({ phases }) {
  return phases.map(({ name, tasks }) => make("div", { className: "phase" },
    ...(name ? [make("p", { className: "phase-name", text: name })] : []),
    make("ul", { className: "tasks" }, ...tasks.map(task))));
}

function task({ text, status, notes = [] }) {
  const { sign, word } = TASKS[status] ?? { sign: "·", word: status };
  const shown = status === "in_progress" ? notes : [];
  return make("li", { "data-status": status },
    make("span", { className: "task-sign", text: sign, role: "img", "aria-label": word }), make("span", { className: "task-text", text }),
    ...(notes.length && !shown.length ? [make("span", { className: "notes-count", text: ` (${notes.length} notes)` })] : []),
    ...shown.map((note) => make("p", { className: "task-note", text: note })));
}

function jobs({ jobs: listed }) {
  return [make("ul", { className: "job-list" }, ...listed.map((job) => {
    const { sign, word } = stateOf(JOBS[job.status] ?? job.status);
    return make("li", { "data-state": JOBS[job.status] ?? job.status },
      make("span", { className: "sign", text: sign, "aria-hidden": "true" }), make("a", { href: `#${job.id}`, text: job.id }),
      make("code", { text: job.label }), make("span", { className: "soft", text: `${word}, ${seconds(job.seconds)}` }));
  }))];
}

function code({ text, first, path, cut }, all) {
  const lines = text.split("\n");
  const shown = all ? lines : lines.slice(0, FOLDED_LINES);
  const rows = shown.map((line, n) => make("span", { className: "code-line", "data-n": first + n, text: line || " " }));
  return [...(path ? [make("p", { className: "shape-head", text: path })] : []), make("pre", { className: "source" }, ...rows),
    ...(lines.length > shown.length ? [left(lines.length - shown.length, "lines ")] : []), ...tooLong(cut)];
}

function found({ text, cut }, all) {
  const lines = text.split("\n");
  const shown = all ? lines : lines.slice(0, FOLDED_LINES);
  return [make("pre", { className: "plain", text: shown.join("\n") }),
    ...(lines.length > shown.length ? [left(lines.length - shown.length, "lines ")] : []), ...tooLong(cut)];
}

function question({ question: asked, said }) {
  return [make("p", { className: "asked", text: asked }),
    said.length ? make("ul", { className: "said" }, ...said.map((text) => make("li", { text }))) : make("p", { className: "soft", text: "Not answered." })];
}

// An image is asked for with the token, so not by the browser itself; and only when it comes into sight.
const toShow = new WeakMap();
const inSight = new IntersectionObserver((seen) => {
  for (const { target, isIntersecting } of seen) {
    if (!isIntersecting) continue;
    inSight.unobserve(target);
    toShow.get(target)();
  }
}, { rootMargin: "400px" });

export function picture(session, name, alt) {
  const element = make("img", { alt: alt || "image" });
  const show = async () => {
    const address = URL.createObjectURL(await api.image(session, name));
    element.addEventListener("load", () => URL.revokeObjectURL(address), { once: true });
    element.src = address;
  };
  // An image is stored a moment after its call has ended.
  toShow.set(element, () => show().catch(() => setTimeout(() => show().catch(() => {}), 1000)));
  inSight.observe(element);
  return element;
}

function image({ name, alt }, _, session) {
  return [picture(session, name, alt)];
}

function table({ columns, rows, cut }) {
  return [scrolled(make("table", {}, make("thead", {}, make("tr", {}, ...columns.map((text) => make("th", { text })))),
    make("tbody", {}, ...rows.map((row) => make("tr", {}, ...row.map((text) => make("td", { text }))))))), ...tooLong(cut)];
}

function markdown({ text, cut }) {
  const view = new Markdown();
  view.update(text);
  return [view.element, ...tooLong(cut)];
}

function json({ value }) {
  const tree = jsonTree(value);
  if (tree.matches("details")) tree.open = true;
  return [make("div", { className: "json" }, tree)];
}

function problem({ text }) {
  return [make("pre", { className: "plain", text })];
}

// Arguments on their way: JSON that is not complete. Of a text in it, its lines are shown as lines.
function writing({ text }) {
  const shown = text.replaceAll("\\n", "\n").replaceAll("\\t", "  ").replaceAll('\\"', '"');
  return [make("p", { className: "shape-head", text: "arguments are being written" }), make("pre", { className: "plain", text: shown })];
}
