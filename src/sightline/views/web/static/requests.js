// What an agent waits for: approvals, questions, dialogs of extensions. A card stands as long as its request is open: an
// answer, here or elsewhere, closes it everywhere. The focus is never taken. A yes that has just come, moved or been
// enabled takes no click: that was meant for what stood there before.

import * as api from "./api.js";
import { button, byId, make, setText } from "./dom.js";
import { addedText } from "./difflines.js";
import { exactDiff, exactText } from "./exact.js";
import { announce } from "./announce.js";

const [ONCE, SESSION, ALWAYS, NO] = ["once", "this session", "always here", "no"];
const LABELS = { [ONCE]: "Yes, this once", [SESSION]: "Yes, for this session", [ALWAYS]: "Yes, always in this folder", [NO]: "No" };

const SETTLED_AFTER = 700; // milliseconds

let made = 0;

// Answers that allow, of one card. `aria-disabled` and not `disabled`: a button that is waited for must not lose the focus.
class Settling {
  constructor() {
    this.watched = new Map(); // button → where it was seen last, and since when
    this.frame = 0;
  }

  hold(...buttons) {
    for (const each of buttons) {
      this.watched.set(each, { where: "", since: 0 });
      each.addEventListener("click", (event) => {
        this.look();
        if (event.detail <= 1 && each.ariaDisabled !== "true") return;
        event.preventDefault();
        event.stopImmediatePropagation();
      }, { capture: true });
    }
    this.restart();
  }

  restart() {
    for (const seen of this.watched.values()) seen.where = "";
    if (this.watched.size) this.look();
  }

  look() {
    cancelAnimationFrame(this.frame);
    const now = performance.now();
    for (const [each, seen] of this.watched) {
      const { x, y, width, height } = each.getBoundingClientRect();
      const where = `${x} ${y} ${width} ${height} ${each.disabled} ${document.hidden}`;
      if (where !== seen.where) Object.assign(seen, { where, since: now });
      const waits = String(now - seen.since < SETTLED_AFTER);
      if (each.ariaDisabled !== waits) each.ariaDisabled = waits;
    }
    this.frame = requestAnimationFrame(() => this.look());
  }

  end() {
    cancelAnimationFrame(this.frame);
    this.watched.clear();
  }
}

class Card {
  constructor(session, request) {
    made += 1;
    this.name = `request${made}`;
    this.session = session;
    this.request = request;
    this.details = request.details ?? {};
    this.problem = make("p", { className: "problem", role: "alert", hidden: true });
    const who = this.details.extension ? `From ${this.details.extension}` : request.agent && request.what !== "approval" ? `From ${request.agent}` : "";
    this.element = make("article", { className: "card", "data-what": request.what, "aria-labelledby": this.name, tabindex: "-1" },
      make("h3", { id: this.name, text: titleOf(request, this.details) }),
      ...(who ? [make("p", { className: "who", text: who })] : []));
    this.closed = () => {};
    this.settling = new Settling();
    (BODIES[request.what] ?? BODIES[this.details.ui?.kind] ?? dialog)(this);
    this.element.append(this.problem);
  }

  get title() {
    return titleOf(this.request, this.details);
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
    for (const control of this.element.querySelectorAll("button, input, textarea")) control.disabled = busy || (control.dataset.unseen === "");
  }
}

// As the console writes it. The command or the path stands below in full; a title that repeats it would only be longer.
const DOING = { exec: "run a command", write: "write a file", read: "read a file", network: "connect to a host" };
const OBVIOUS = { exec: "bash", write: "write", read: "read" }; // the tool is what it does

function titleOf(request, { tool, access, sandboxed, what }) {
  const who = request.agent || "The agent";
  if (request.what !== "approval" || !DOING[access] || !what) return request.text || `${who} waits for an answer`;
  const by = tool && tool.toLowerCase() !== OBVIOUS[access] ? ` (${tool})` : "";
  return `${who} wants to ${DOING[access]}${access === "exec" ? placeOf(sandboxed) : ""}${by}`;
}

// An agent of another program has no sandbox of ours, so none is mentioned.
const placeOf = (sandboxed) => (typeof sandboxed === "boolean" ? ` ${sandboxed ? "in" : "outside"} the sandbox` : "");

const BODIES = { approval, question, dialog };

const fact = (name, value) => (value ? [make("dt", { text: name }), make("dd", {}, make("span", { text: value }))] : []);

// All of it is there before anything can be allowed: what is too long for the page's own events is requested.
async function approval(card) {
  const place = make("div", { className: "asked-for" });
  card.add(place);
  if (!card.details.stored) return drawApproval(card, place);
  place.append(make("p", { className: "soft", text: "Loading…" }));
  let all = card.details;
  try {
    all = await api.requestDetails(card.session, card.request.id);
  } catch (error) {
    all = { ...card.details, unseen: `only the beginning can be shown: ${error.message}` };
  }
  card.details = all;
  place.replaceChildren();
  return drawApproval(card, place);
}

function drawApproval(card, place) {
  const { cwd, why, passed, rule, about, unseen } = card.details;
  const size = sizeOf(card.details);
  const { box, end } = contentOf(card);
  place.append(...(size ? [make("p", { className: "size", text: size })] : []),
    ...[unseen, about].filter(Boolean).map((text) => make("p", { className: "problem", text: sentence(text) })),
    box, make("dl", {}, ...fact("Folder", cwd), ...fact("Why", why),
      ...fact("Gets", passed?.length ? `${passed.join(", ")} (permissions.pass_env)` : "")));
  // A field of one line would make another command of one that has several.
  const lines = (rule ?? "").split("\n").length;
  const ruled = card.field("Rule to remember", rule ?? "",
    { spellcheck: "false", className: "code-field", ...(lines > 1 ? { tag: "textarea", rows: String(Math.min(lines, 8)) } : {}) });
  const offered = ruled.input.value;
  const chosenRule = () => (ruled.input.value === offered ? rule ?? "" : ruled.input.value.trim());
  const reason = card.field("Reason for refusing", "", { placeholder: "optional, the agent reads it" });
  const choices = card.request.choices?.length ? card.request.choices : [ONCE, NO];
  const answers = {
    [SESSION]: () => ({ choice: SESSION, rule: chosenRule() }),
    [ALWAYS]: () => ({ choice: ALWAYS, rule: chosenRule() }),
    [NO]: () => ({ choice: NO, reason: reason.input.value.trim() }),
  };
  const buttons = choices.map((choice) => button(LABELS[choice] ?? choice, () => card.answer((answers[choice] ?? (() => ({ choice })))()),
    { "data-choice": choice }));
  const answering = make("div", { className: "answering" }, make("div", { className: "choices" }, ...buttons));
  place.append(make("div", { className: "fields" }, ...(rule ? [ruled.row] : []), reason.row));
  place.after(answering);
  reason.input.addEventListener("keydown", (event) => { if (event.key === "Enter") card.answer(answers[NO]()); });
  const allowing = buttons.filter((each) => each.dataset.choice !== NO);
  waitForEnd(card, box, end, allowing, answering);
  card.settling.hold(...allowing);
}

const sentence = (text) => `${text[0].toUpperCase()}${text.slice(1)}.`;

// The command or the change, and the other arguments of the call; `end`: what is seen when all of it was.
function contentOf(card) {
  const { what = "", shown, access, diff, args = {}, cwd } = card.details;
  const asked = shown ?? what;
  const known = new Set([what, shown, ...(diff ? [args.path, args.content, args.input] : [])]);
  const others = Object.entries(args).filter(([name, value]) => !known.has(value) && !(name === "cwd" && cwd) && !(name === "sandbox" && access === "exec"));
  const rest = others.map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`).join("\n");
  const end = make("span", { className: "end", "aria-hidden": "true" });
  const box = make("div", { className: "content", tabindex: "0", role: "region", "aria-label": "What is asked for" },
    ...(asked ? [exactText(asked, access === "exec" ? "command-text" : "path-text")] : []),
    ...(diff ? [exactDiff(diff, asked)] : []), ...(rest ? [exactText(rest, "args-text")] : []), end);
  return { box, end };
}

// Where it does not all fit, there is no yes before the end was in sight.
function waitForEnd(card, box, end, allowing, answering) {
  const hint = make("p", { className: "to-end", role: "status" }, make("span", { text: "Scroll to the end to allow. " }),
    button("Go to the end", () => { box.scrollTop = box.scrollHeight; end.scrollIntoView({ block: "nearest" }); }, { className: "quiet" }));
  const set = (unseen) => {
    hint.hidden = !unseen;
    for (const each of allowing) {
      each.disabled = unseen;
      if (unseen) each.dataset.unseen = "";
      else delete each.dataset.unseen;
    }
  };
  set(true);
  answering.prepend(hint);
  const watch = new IntersectionObserver((entries) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    watch.disconnect();
    set(false);
  });
  watch.observe(end);
  card.closed = () => watch.disconnect();
}

const number = (count) => count.toLocaleString("en");
const linesOf = (count) => `${number(count)} line${count === 1 ? "" : "s"}`;

function sizeOf({ diff, added, removed, access, what = "", shown }) {
  const text = diff || (access === "exec" ? shown ?? what : "");
  if (!text || (!diff && !text.includes("\n") && text.length <= 200)) return "";
  const bytes = new TextEncoder().encode(diff ? addedText(diff) : text).length;
  const weight = bytes < 1024 ? `${number(bytes)} bytes` : `${number(Math.round(bytes / 1024))} KB`;
  if (!diff) return `Command, ${linesOf(text.replace(/\n$/, "").split("\n").length)}, ${weight}`;
  if (added === undefined) return `${linesOf(text.replace(/\n$/, "").split("\n").length)}, ${weight}`;
  return diff.startsWith("--- /dev/null\n") && !removed
    ? `New file, ${linesOf(added)}, ${weight}` : `${linesOf(added)} added, ${number(removed)} removed, ${weight}`;
}

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
  const own = card.field(boxes.length ? "Something else…" : "Answer", "");
  if (free || !boxes.length) card.add(own.row);
  const send = () => card.answer({ chosen: boxes.filter((box) => box.input.checked).map((box) => box.input.value), text: own.input.value.trim() });
  own.input.addEventListener("keydown", (event) => { if (event.key === "Enter") send(); });
  card.add(make("div", { className: "choices" }, button("Answer", send, { className: "main" }),
    button("Skip", () => card.answer(null))));
}

function dialog(card) {
  const { message, text = "", placeholder, ui = {}, name } = card.details;
  const close = () => card.answer({ value: null });
  if (message) card.add(make("p", { className: "message", text: message }));
  if (ui.kind === "confirm") {
    const yes = button("Yes", () => card.answer({ value: true }));
    card.settling.hold(yes);
    return card.add(make("div", { className: "choices" }, yes, button("No", () => card.answer({ value: false })), button("Close", close)));
  }
  if (ui.kind === "select") {
    const choices = (card.request.choices ?? []).map((choice) => button(choice, () => card.answer({ value: choice })));
    card.settling.hold(...choices);
    return card.add(make("div", { className: "choices" }, ...choices, button("Close", close)));
  }
  if (ui.kind !== "input" && ui.kind !== "editor") {
    return card.add(make("p", { className: "message", text: `This page cannot show ${name || "this dialog"}: answer it in the console.` }),
      make("div", { className: "choices" }, button("Close", close)));
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
    if (this.cards.size === 1) this.element.scrollTop = 0;
    announce(card.title.slice(0, 160));
  }

  close(id, card, session) {
    const focused = card.element.contains(document.activeElement);
    card.closed();
    card.settling.end();
    card.element.remove();
    this.cards.delete(id);
    this.element.scrollTop = 0; // the next one is read from its beginning
    for (const other of this.cards.values()) other.settling.restart();
    if (card.session !== session) return; // another session was chosen
    announce("The request is closed");
    if (focused) this.onLeft();
  }

  // What the first of them is about.
  get title() {
    return this.cards.values().next().value?.title ?? "";
  }

  // The card itself, not a button or field of it: a user who comes here by a key must not answer with the next one.
  // False where there is none after the one that has the focus; `around`: then the first again.
  focusNext({ around = false } = {}) {
    const cards = [...this.cards.values()].map((card) => card.element);
    const at = cards.findIndex((card) => card.contains(document.activeElement));
    const next = cards[at + 1] ?? (around ? cards[0] : undefined);
    next?.focus();
    return Boolean(next);
  }
}
