// Calls that only looked at something, one after the other, are one row ("Read 2 files") until it is opened. The calls
// stay where they are in the page; a group is a row before the first of them that hides and shows them.

import { button, make, setText } from "./dom.js";

const SHOWN_NAMES = 200; // characters

export class Groups {
  constructor() {
    this.heads = new Map(); // first element of a group → Head
    this.opened = new Set(); // ids of calls whose group was opened; outlives changing sessions
  }

  // Something at or beside an element changed: the groups on both sides are drawn anew.
  look(element) {
    for (const each of new Set([element, neighbour(element, "previousElementSibling"), neighbour(element, "nextElementSibling")])) {
      if (each?.isConnected) this.lookAt(each);
    }
  }

  // The group of the element before one that was taken away, and of the one after it, may be one now.
  forget(before, after) {
    for (const each of [before, after]) if (each?.isConnected) this.look(each);
    for (const [first, head] of this.heads) if (!first.isConnected) this.drop(first, head);
  }

  lookAt(element) {
    const run = runAround(element);
    for (const each of run) if (each !== run[0] && this.heads.has(each)) this.drop(each, this.heads.get(each));
    if (run.length < 2) {
      if (this.heads.has(element)) this.drop(element, this.heads.get(element));
      element.classList.remove("grouped");
      return;
    }
    const held = this.heads.get(run[0]) ?? this.add(run[0]);
    held.show(run);
  }

  add(first) {
    const head = new Head(this.opened);
    head.element.dataset.n = Number(first.dataset.n) - 0.5;
    first.before(head.element);
    this.heads.set(first, head);
    return head;
  }

  drop(first, head) {
    head.element.remove();
    this.heads.delete(first);
    for (const each of head.run) each.classList.remove("grouped");
  }

  // So that a call in it can be seen.
  open(element) {
    this.heads.get(runAround(element)[0])?.setOpen(true);
  }
}

class Head {
  constructor(opened) {
    this.opened = opened;
    this.run = [];
    this.fold = button("", () => this.setOpen(!this.isOpen), { className: "fold" });
    this.what = make("span", { className: "what" });
    this.names = make("span", { className: "names" });
    this.element = make("div", { className: "group" }, this.fold, make("span", { className: "sign", text: "✓", "aria-hidden": "true" }),
      make("p", {}, this.what, this.names));
    this.element.addEventListener("click", (event) => { if (!event.target.closest("button")) this.setOpen(!this.isOpen); });
  }

  get isOpen() {
    return this.opened.has(this.run[0].block.id);
  }

  show(run) {
    for (const each of this.run) if (!run.includes(each)) each.classList.remove("grouped");
    this.run = run;
    setText(this.what, wordsFor(run.map((each) => each.block.entry.shape.read)));
    setText(this.names, run.map((each) => each.block.entry.shape.path || each.block.entry.arg).join(", ").slice(0, SHOWN_NAMES));
    this.draw();
  }

  setOpen(open) {
    if (open) this.opened.add(this.run[0].block.id);
    else this.opened.delete(this.run[0].block.id);
    this.element.dispatchEvent(new Event("hold", { bubbles: true }));
    this.draw();
  }

  draw() {
    const open = this.isOpen;
    this.element.classList.toggle("open", open);
    for (const each of this.run) each.classList.toggle("grouped", !open);
    this.fold.setAttribute("aria-expanded", String(open));
    this.fold.setAttribute("aria-label", `${open ? "Fold" : "Unfold"}: ${this.what.textContent}`);
  }
}

function wordsFor(kinds) {
  const folders = kinds.filter((kind) => kind === "listing").length;
  if (folders === 0) return `Read ${kinds.length} files`;
  return folders === kinds.length ? `Listed ${kinds.length} folders` : `Read ${kinds.length} files and folders`;
}

const isRead = (element) => Boolean(element?.block?.entry.shape?.read) && element.block.entry.state === "ok";

function neighbour(element, side) {
  let other = element[side];
  while (other?.matches(".group")) other = other[side];
  return other;
}

function runAround(element) {
  if (!isRead(element)) return [element];
  const run = [element];
  for (let other = neighbour(element, "previousElementSibling"); isRead(other); other = neighbour(other, "previousElementSibling")) run.unshift(other);
  for (let other = neighbour(element, "nextElementSibling"); isRead(other); other = neighbour(other, "nextElementSibling")) run.push(other);
  return run;
}
