// What somebody must answer before an agent can go on: approvals, questions, dialogs of extensions. A card stands as long
// as its request is open: whoever answers it, here or elsewhere, closes it everywhere. The focus is never taken.

import * as api from "./api.js";
import { button, byId, make, setText } from "./dom.js";
import { say } from "./say.js";
import { Shape } from "./shapes.js";

const [ONCE, SESSION, ALWAYS, NO] = ["once", "this session", "always here", "no"];
const LABELS = { [ONCE]: "Yes, this once", [SESSION]: "Yes, for this session", [ALWAYS]: "Yes, always here", [NO]: "No" };

let made = 0;

class Card {
  constructor(session, request) {
    made += 1;
    this.name = `request${made}`;
    this.session = session;
    this.request = request;
    this.details = request.details ?? {};
    this.problem = make("p", { className: "problem", role: "alert", hidden: true });
    const who = request.agent ? `${request.agent} asks` : this.details.extension ? `${this.details.extension} asks` : "";
    this.element = make("article", { className: "card", "data-what": request.what, "aria-labelledby": this.name, tabindex: "-1" },
      make("h3", { id: this.name, text: titleOf(request, this.details) }),
      ...(who ? [make("p", { className: "who", text: who })] : []));
    (BODIES[request.what] ?? BODIES[this.details.ui?.kind] ?? dialog)(this);
    this.element.append(this.problem);
  }

  add(...elements) {
    this.element.append(...elements);
  }

  field(label, value, attributes = {}) {
    const { tag = "input", ...rest } = attributes;
    const id = `${this.name}-${label.toLowerCase().replaceAll(/\W+/g, "-")}`;
    const input = make(tag, { id, ...(tag === "input" ? { type: "text", autocomplete: "off" } : { rows: "6" }), ...rest });
    input.value = value;
    return { input, row: make("p", { className: "field" }, make("label", { for: id, text: label }), input) };
  }

  async answer(value) {
    this.setBusy(true);
    try {
      await api.answer(this.session, this.request.id, value);
    } catch (error) {
      setText(this.problem, error.message);
      this.problem.hidden = false;
      this.setBusy(false);
    }
  }

  setBusy(busy) {
    for (const control of this.element.querySelectorAll("button, input, textarea")) control.disabled = busy;
  }
}

// A command stands below in full; a title that repeats it would only be longer.
function titleOf(request, { tool, access, sandboxed }) {
  if (request.what === "approval" && access === "exec") return `${tool} wants to run a command${sandboxed ? "" : " outside the sandbox"}`;
  return request.text || "Something must be answered";
}

const BODIES = { approval, question, dialog };

const fact = (name, value) => (value ? [make("dt", { text: name }), make("dd", {}, make("span", { text: value }))] : []);

function approval(card) {
  const { tool, what, access, cwd, sandboxed, why, rule, diff, path, args = {} } = card.details;
  if (access === "exec") card.add(make("pre", { className: "command-text", text: args.command ?? what ?? "" }));
  if (diff) card.add(shapeOf(card, { kind: "diff", text: diff, path: path ?? what ?? "" }));
  card.add(make("dl", {}, ...fact("Folder", cwd), ...fact("Tool", tool), ...fact("Why", why),
    ...fact("Sandbox", sandboxed === undefined ? "" : sandboxed ? "it would run inside" : "it would run outside"),
    ...(diff || access === "exec" ? [] : fact("What", what))));
  const { command, content, input, ...others } = args;
  const rest = { ...others, ...(diff || access === "exec" ? {} : { content, input }) };
  if (Object.values(rest).some((value) => value !== undefined)) card.add(shapeOf(card, { kind: "json", value: rest }));
  // A field of one line would make another command of one that has several.
  const lines = (rule ?? "").split("\n").length;
  const ruled = card.field("Rule, for longer than once", rule ?? "",
    { spellcheck: "false", className: "code-field", ...(lines > 1 ? { tag: "textarea", rows: String(Math.min(lines, 8)) } : {}) });
  const offered = ruled.input.value;
  const chosenRule = () => (ruled.input.value === offered ? rule ?? "" : ruled.input.value.trim());
  const reason = card.field("Reason, for no", "", { placeholder: "the agent is told" });
  const choices = card.request.choices?.length ? card.request.choices : [ONCE, NO];
  const answers = {
    [SESSION]: () => ({ choice: SESSION, rule: chosenRule() }),
    [ALWAYS]: () => ({ choice: ALWAYS, rule: chosenRule() }),
    [NO]: () => ({ choice: NO, reason: reason.input.value.trim() }),
  };
  if (rule) card.add(ruled.row);
  card.add(reason.row, choiceButtons(card, choices.map((choice) => [LABELS[choice] ?? choice, answers[choice] ?? (() => ({ choice }))])));
  reason.input.addEventListener("keydown", (event) => { if (event.key === "Enter") card.answer(answers[NO]()); });
}

function shapeOf(card, shape) {
  const held = new Shape(card.session, () => {});
  held.update(shape);
  return held.element;
}

const choiceButtons = (card, pairs) => make("div", { className: "choices" },
  ...pairs.map(([label, answer], n) => button(label, () => card.answer(answer()), { className: n === 0 ? "main" : "" })));

function question(card) {
  const { choices = [], several = false, free_text: free = true } = card.details;
  const listed = choices.length ? choices : (card.request.choices ?? []).map((label) => ({ label }));
  const boxes = listed.map(({ label, description }, n) => {
    const input = make("input", { type: several ? "checkbox" : "radio", name: card.name, id: `${card.name}-${n}`, value: label });
    const about = description ? [make("span", { className: "about", text: description })] : [];
    return { input, row: make("p", { className: "choice" }, input, make("label", { for: input.id }, make("span", { text: label }), ...about)) };
  });
  if (boxes.length) {
    card.add(make("fieldset", {}, make("legend", { className: "hidden", text: several ? "Choose any" : "Choose one" }), ...boxes.map((box) => box.row)));
  }
  const own = card.field("In your own words", "");
  if (free || !boxes.length) card.add(own.row);
  const send = () => card.answer({ chosen: boxes.filter((box) => box.input.checked).map((box) => box.input.value), text: own.input.value.trim() });
  own.input.addEventListener("keydown", (event) => { if (event.key === "Enter") send(); });
  card.add(make("div", { className: "choices" }, button("Answer", send, { className: "main" }),
    button("Do not answer", () => card.answer(null))));
}

function dialog(card) {
  const { message, text = "", placeholder, ui = {}, name } = card.details;
  const close = () => card.answer({ value: null });
  if (message) card.add(make("p", { className: "message", text: message }));
  if (ui.kind === "confirm") {
    return card.add(make("div", { className: "choices" }, button("Yes", () => card.answer({ value: true }), { className: "main" }),
      button("No", () => card.answer({ value: false })), button("Close", close)));
  }
  if (ui.kind === "select") {
    return card.add(make("div", { className: "choices" },
      ...(card.request.choices ?? []).map((choice) => button(choice, () => card.answer({ value: choice }))), button("Close", close)));
  }
  if (ui.kind !== "input" && ui.kind !== "editor") {
    return card.add(make("p", { className: "message", text: `This page cannot show ${name || "this"}: answer it in the console.` }),
      make("div", { className: "choices" }, button("Close it unanswered", close)));
  }
  const many = ui.kind === "editor";
  const { input, row } = card.field("Answer", text, many ? { tag: "textarea" } : { placeholder });
  if (!many) input.addEventListener("keydown", (event) => { if (event.key === "Enter") card.answer({ value: input.value }); });
  return card.add(row, make("div", { className: "choices" },
    button("Answer", () => card.answer({ value: input.value }), { className: "main" }), button("Close", close)));
}

export class Requests {
  // onLeft: the card that had the focus is gone.
  constructor(onLeft) {
    this.element = byId("requests");
    this.onLeft = onLeft;
    this.cards = new Map(); // request id → Card
  }

  take(session, requests) {
    const open = new Set(requests.map((request) => request.id));
    for (const [id, card] of this.cards) if (!open.has(id) || card.session !== session) this.close(id, card, session);
    for (const request of requests) if (!this.cards.has(request.id)) this.open(session, request);
    this.element.hidden = this.cards.size === 0;
  }

  open(session, request) {
    const card = new Card(session, request);
    this.cards.set(request.id, card);
    this.element.append(card.element);
    say(`An answer is needed: ${(request.text ?? "").slice(0, 120)}`);
  }

  close(id, card, session) {
    const focused = card.element.contains(document.activeElement);
    card.element.remove();
    this.cards.delete(id);
    if (card.session !== session) return; // another session was chosen
    say("The request is closed");
    if (focused) this.onLeft();
  }

  // The card itself, not a button or field of it: whoever comes here by a key must not answer with the next one.
  // False where there is none after the one that has the focus; `around`: then the first again.
  focusNext({ around = false } = {}) {
    const cards = [...this.cards.values()].map((card) => card.element);
    const at = cards.findIndex((card) => card.contains(document.activeElement));
    const next = cards[at + 1] ?? (around ? cards[0] : undefined);
    next?.focus();
    return Boolean(next);
  }
}
