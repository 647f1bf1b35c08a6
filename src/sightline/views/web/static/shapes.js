// What a call shows besides its output, by shape. Each maker returns an element for a shape, all of it or a part;
// what is left out is named, with a way to see it.

import * as api from "./api.js";
import { button, make } from "./dom.js";
import { readDiff } from "./difflines.js";
import { seconds, stateOf } from "./format.js";
import { coloured, languageOf } from "./highlight.js";
import { jobName, noteJob } from "./jobs.js";
import { jsonTree } from "./jsontree.js";
import { Markdown, scrolled } from "./markdown.js";
import { findingsOf } from "./findings.js";

const FOLDED_STEPS = 8;
const FOLDED_LINES = 40;
const SIGNS = { running: "◌", pending: "○", ok: "✓", error: "✕" };
const TASKS = {
  completed: { sign: "✓", word: "done" },
  in_progress: { sign: "◌", word: "in progress" },
  pending: { sign: "○", word: "to do" },
  abandoned: { sign: "–", word: "dropped" },
};
const JOBS = { completed: "ok", failed: "failed", cancelled: "cancelled", running: "running" };

const MAKERS = { steps, diff, todo, jobs, code, found, question, image, table, markdown, json, writing, problem, review, finding };

export class Shape {
  // onChange: it is drawn anew because the user opened more.
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

// Numbered lines with their sign, in the colours of the file's language. The head of the block names the only file.
function diff({ text, path, partial, cut }, all) {
  const lines = readDiff(text);
  const files = lines.filter((line) => line.kind === "file").length;
  const listed = files > 1 ? lines : lines.filter((line) => line.kind !== "file");
  const shown = all || partial ? listed : listed.slice(0, FOLDED_LINES);
  const language = files > 1 ? "" : languageOf(path ?? "");
  const texts = coloured(shown.map((line) => line.text), language);
  const rows = shown.map((line, n) => diffLine(line, texts[n]));
  return [...(partial ? [make("p", { className: "shape-head", text: "preparing edit" })] : []), make("pre", { className: "diff" }, ...rows),
    ...(listed.length > shown.length ? [left(listed.length - shown.length, "lines ")] : []), ...tooLong(cut)];
}

const DIFF_SIGNS = { added: "+", removed: "-", same: " " };

// The sign is letters of its own: a screen reader, and what is copied, have it too.
function diffLine({ kind, number }, content) {
  if (kind === "gap") return make("span", { className: "diff-line gap", role: "separator" });
  if (!(kind in DIFF_SIGNS)) return make("span", { className: `diff-line ${kind}` }, ...content);
  return make("span", { className: `diff-line ${kind}`, "data-n": number ?? "" }, make("span", { className: "diff-sign", text: DIFF_SIGNS[kind] }), ...content);
}

const tooLong = (cut) => (cut ? [make("p", { className: "cut", text: "The rest is too long to show here; Output has it." })] : []);

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
  for (const job of listed) noteJob(job.id);
  return [make("ul", { className: "job-list" }, ...listed.map((job) => {
    const { sign, word } = stateOf(JOBS[job.status] ?? job.status);
    return make("li", { "data-state": JOBS[job.status] ?? job.status },
      make("span", { className: "sign", text: sign, "aria-hidden": "true" }), make("a", { href: `#${job.id}`, text: jobName(job.id) }),
      make("code", { text: job.label }), make("span", { className: "soft", text: `${word}, ${seconds(job.seconds)}` }));
  }))];
}

function code({ text, first, path, cut }, all) {
  const lines = text.split("\n");
  const shown = all ? lines : lines.slice(0, FOLDED_LINES);
  const texts = coloured(shown, languageOf(path ?? ""));
  const rows = texts.map((content, n) => make("span", { className: "code-line", "data-n": first + n }, ...(shown[n] ? content : [" "])));
  return [make("pre", { className: "source" }, ...rows),
    ...(lines.length > shown.length ? [left(lines.length - shown.length, "lines ")] : []), ...tooLong(cut)];
}

function found({ text, cut }, all) {
  const lines = text.split("\n");
  const shown = all ? lines : lines.slice(0, FOLDED_LINES);
  return [make("pre", { className: "source found" }, ...shown.map(foundLine)),
    ...(lines.length > shown.length ? [left(lines.length - shown.length, "lines ")] : []), ...tooLong(cut)];
}

// `# file`, and below it `*12│text` where it matches, ` 11│text` beside it.
function foundLine(line) {
  const [, mark, number, text] = /^([* ]?)\s*(\d+)│(.*)$/.exec(line) ?? [];
  if (number) return make("span", { className: `code-line${mark === "*" ? " match" : ""}`, "data-n": number, text: text || " " });
  return make("span", { className: line.startsWith("# ") ? "found-file" : "found-line", text: line.replace(/^# /, "") || " " });
}

function question({ question: asked, said }) {
  return [...(asked ? [make("p", { className: "asked", text: asked })] : []),
    said.length ? make("ul", { className: "said" }, ...said.map((text) => make("li", { text }))) : make("p", { className: "soft", text: "not answered" })];
}

// An image is fetched with the token, so not by the browser itself; and only when it comes into sight.
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

const formatted = (text) => {
  const view = new Markdown();
  view.update(text);
  return view.element;
};

// A finding is closed until it is looked at; the first one is open.
function review({ summary, problem: failure, findings, notes, fix, review: id }, _, session) {
  const bodies = findings.map((each) => findingBody(each));
  return [...(failure ? [make("p", { className: "failure", text: failure })] : []), ...(summary ? [formatted(summary)] : []),
    ...findingsOf({ session, review: id, fix, findings }, bodies), ...notes.map((text) => make("p", { className: "soft", text }))];
}

function findingBody({ body, diff: lines, path }) {
  return [...(body ? [formatted(body)] : []), ...(lines ? diff({ text: lines, path }, true) : [])];
}

function finding({ priority, place, body }) {
  return [make("p", { className: "shape-head", text: [`P${priority}`, place].filter(Boolean).join(" · ") }), ...(body ? [formatted(body)] : [])];
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
  return [make("p", { className: "shape-head", text: "preparing" }), make("pre", { className: "plain", text: shown })];
}
