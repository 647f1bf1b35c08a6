// The chosen session: entries by place. A patch replaces the entry at its place, so that hearing it twice changes
// nothing; a call that comes with another place moves there (a job that ends does). Many entries at once (opening a long
// session) are made over several frames.
// `following` keeps the newest in sight, whatever grows, shrinks, opens or loads. Only the user's own scrolling ends it;
// reaching the end, sending something and "Jump to latest" begin it again.

import { Agents } from "./agents.js";
import { Block } from "./block.js";
import { byId, setText } from "./dom.js";
import { makeSaying } from "./entries.js";
import { draw } from "./frame.js";
import { Groups } from "./groups.js";
import { noteJob } from "./jobs.js";

const NEAR_END = 48; // px; within this the page counts as being at its end
const HAND_MS = 1000; // what a wheel, a finger or a key scrolls begins within this

export class Transcript {
  constructor(onChange) {
    this.onChange = onChange;
    this.pane = byId("transcript");
    this.list = byId("entries");
    this.held = new Map(); // place → { kind, id, agent, element, update, block }
    this.blocks = new Map(); // call id → Block
    this.waiting = new Map(); // place → entry not drawn yet
    this.early = new Map(); // call id → its last rows, come before its block was made
    this.earlyStatus = new Map(); // call id → its status, likewise
    this.agents = new Agents(this.list, (place, element, container) => this.insert(place, element, container), () => this.session);
    this.groups = new Groups();
    this.session = "";
    this.requested = new Set(); // calls that wait for an answer
    this.latest = byId("latest");
    this.targetCall = this.targetAgent = null;
    this.watcher = new IntersectionObserver((seen) => this.seen(seen), { root: this.pane, rootMargin: "400px 0px" });
    this.pane.addEventListener("scroll", () => this.scrolled(), { passive: true });
    this.watchHands();
    this.list.addEventListener("hold", (event) => { this.opened = event.target; });
    this.latest.addEventListener("click", () => {
      this.follow();
      this.pane.focus({ preventScroll: true }); // the pressed button disappears
    });
    const sizes = new ResizeObserver(() => this.resized());
    sizes.observe(this.list);
    sizes.observe(this.pane); // a card or a longer prompt takes some of its height
    this.setFollowing(true);
  }

  clear(session = "") {
    this.session = session;
    this.targetAgent = null;
    for (const number of [...this.held.keys()]) this.remove(number);
    this.agents.clear();
    this.waiting.clear();
    this.early.clear();
    this.earlyStatus.clear();
    this.opened = null;
    this.setFollowing(true);
    this.onChange();
  }

  take({ reset, entries }) {
    if (reset) this.retain(new Set(entries.map((entry) => entry.n)));
    for (const entry of entries) this.waiting.set(entry.n, entry);
    draw(this);
  }

  retain(numbers) {
    this.waiting.clear();
    for (const number of [...this.held.keys()]) if (!numbers.has(number)) this.remove(number);
  }

  takeRows(message) {
    const block = this.blocks.get(message.id);
    if (block?.element !== this.opened) this.opened = null;
    if (block) block.takeRows(message);
    else this.early.set(message.id, message);
  }

  takeStatus({ id, text }) {
    const block = this.blocks.get(id);
    if (block) block.setStatus(text);
    else this.earlyStatus.set(id, text);
  }

  reconnected() {
    for (const block of this.blocks.values()) block.reconnected();
  }

  draw(end) {
    for (const [number, entry] of this.waiting) {
      this.waiting.delete(number);
      this.put(number, entry);
      if (performance.now() > end) break;
    }
    this.onChange();
    if (this.targetCall) this.reveal(this.targetCall);
    if (this.targetAgent) this.revealAgent(this.targetAgent);
    return this.waiting.size > 0;
  }

  put(number, entry) {
    let held = this.held.get(number);
    if (!held?.element.contains(this.opened)) this.opened = null; // what comes now is what is followed
    if (held && (held.kind !== entry.kind || held.id !== entry.id)) {
      this.remove(number);
      held = undefined;
    }
    if (entry.job) noteJob(entry.job, entry.command);
    if (entry.is_job) noteJob(entry.id);
    if (entry.kind === "call") this.moveAway(entry);
    if (held) held.update(entry);
    else this.add(number, entry);
    this.groups.look(this.held.get(number).element);
    if (entry.agent) this.agents.note(entry.agent, number, entry);
  }

  moveAway({ id, n }) {
    const before = this.blocks.get(id)?.element.dataset.n;
    if (before !== undefined && Number(before) !== n) this.remove(Number(before));
  }

  add(number, entry) {
    const held = entry.kind === "call" ? this.makeBlock(entry) : makeSaying(entry);
    if (entry.kind !== "call") held.update(entry);
    held.kind = entry.kind;
    held.id = entry.id;
    held.agent = entry.agent;
    held.element.dataset.n = number;
    this.held.set(number, held);
    if (!this.following) this.countNew();
    this.insert(number, held.element, this.agents.container(entry.agent, number));
  }

  // Nearly always the last; a late one is put in its place.
  insert(number, element, container) {
    let after = container.lastElementChild;
    while (after && Number(after.dataset.n) > number) after = after.previousElementSibling;
    if (after) after.after(element);
    else container.prepend(element);
  }

  // What is known of the session as a whole, as far as it shows in the entries.
  know({ agents = [], requests = [] }) {
    this.agents.know(agents);
    this.requested = new Set(requests.map((request) => request.details?.call));
    for (const block of this.blocks.values()) block.setWaiting(this.requested.has(block.id));
  }

  makeBlock(entry) {
    const block = new Block(entry, this.session);
    this.blocks.set(entry.id, block);
    block.setWaiting(this.requested.has(entry.id));
    const early = this.early.get(entry.id);
    if (early) block.takeRows(early);
    this.early.delete(entry.id);
    if (entry.running) block.setStatus(this.earlyStatus.get(entry.id) ?? "");
    this.earlyStatus.delete(entry.id);
    this.watcher.observe(block.element);
    return { element: block.element, block, update: (next) => block.update(next) };
  }

  remove(number) {
    const held = this.held.get(number);
    this.held.delete(number);
    const [before, after] = [held.element.previousElementSibling, held.element.nextElementSibling];
    held.element.remove();
    this.groups.forget(before, after);
    if (held.agent) this.agents.forget(held.agent, number);
    if (!held.block) return;
    this.watcher.unobserve(held.element);
    held.block.close();
    this.blocks.delete(held.block.id);
  }

  seen(changes) {
    for (const { target, isIntersecting } of changes) target.block.setInView(isIntersecting);
  }

  // What a hand does to scroll up. A scroll that comes of neither a hand nor an unchanged layout is the browser's: it
  // moves what is shown when something above it, or the pane itself, gets another size.
  watchHands() {
    let over = 0;
    const begin = () => {
      this.byHand = true;
      clearTimeout(over);
      over = setTimeout(() => { this.byHand = false; }, HAND_MS);
    };
    this.pane.addEventListener("wheel", (event) => { if (event.deltaY < 0) begin(); }, { passive: true });
    this.pane.addEventListener("touchmove", begin, { passive: true });
    this.pane.addEventListener("pointerdown", (event) => { if (event.target === this.pane) begin(); }, { passive: true }); // the bar
    document.addEventListener("keydown", (event) => { if (!event.target.matches?.("input, textarea, select")) begin(); });
  }

  scrolled() {
    const { scrollTop, scrollHeight, clientHeight } = this.pane;
    const isUp = scrollTop < this.top - 1;
    const isSame = scrollHeight === this.height && clientHeight === this.client;
    const isEnd = scrollTop + clientHeight >= scrollHeight - NEAR_END;
    this.measure();
    if (isEnd) this.setFollowing(true);
    else if (isUp && (isSame || this.byHand)) this.setFollowing(false);
  }

  measure() {
    this.top = this.pane.scrollTop;
    this.height = this.pane.scrollHeight;
    this.client = this.pane.clientHeight;
  }

  // What the user opened keeps its head in sight; where it is longer than the pane, that is what is looked at now.
  resized() {
    const { opened } = this;
    if (this.following && opened?.isConnected && this.aboveEnd(opened)) {
      this.opened = null;
      this.setFollowing(false);
      this.pane.scrollTop += opened.getBoundingClientRect().top - this.pane.getBoundingClientRect().top;
    }
    if (this.following) this.toEnd();
    else this.measure();
  }

  // Whether its head would be above the pane if the end were in sight.
  aboveEnd(element) {
    const below = this.pane.scrollHeight - this.pane.scrollTop - this.pane.clientHeight;
    return element.getBoundingClientRect().top - below < this.pane.getBoundingClientRect().top;
  }

  setFollowing(on) {
    this.following = on;
    if (on) this.unseen = 0;
    this.latest.hidden = on;
    if (!on) this.showLatest();
  }

  countNew() {
    this.unseen += 1;
    this.showLatest();
  }

  showLatest() {
    setText(this.latest, this.unseen ? `↓ Jump to latest (${this.unseen} new)` : "↓ Jump to latest");
  }

  follow() {
    this.setFollowing(true);
    this.toEnd();
  }

  toEnd() {
    this.pane.scrollTop = this.pane.scrollHeight;
    this.measure();
  }

  // Shows a call as soon as it is there; it may have been named in the address before the session was loaded.
  reveal(id) {
    this.targetCall = id;
    const block = this.blocks.get(id);
    if (!block) return;
    this.targetCall = null;
    this.agents.open(block.element);
    this.groups.open(block.element);
    if (block.element === this.list.lastElementChild) this.follow(); // it will grow, and shall stay in sight
    else {
      this.setFollowing(false);
      block.element.scrollIntoView({ block: "start" });
    }
    block.head.fold.focus({ preventScroll: true });
  }

  // The same for the group of an agent, which is there with its first entry.
  revealAgent(path) {
    this.targetAgent = path;
    const group = this.agents.unfold(path);
    if (!group) return;
    this.targetAgent = null;
    this.setFollowing(false);
    group.element.scrollIntoView({ block: "start" });
    group.fold.focus({ preventScroll: true });
  }

  // The block `by` steps from the one that has the focus, or from the first one in sight.
  neighbour(by) {
    const all = [...this.list.querySelectorAll(".block")].filter((element) => !element.closest(".entries[hidden]") && !element.matches(".grouped, [hidden]"));
    const focused = document.activeElement?.closest?.(".block");
    if (focused) return all[all.indexOf(focused) + by]?.block;
    const top = this.pane.getBoundingClientRect().top;
    return (all.find((element) => element.getBoundingClientRect().bottom > top + 20) ?? all.at(-1))?.block;
  }

  get size() {
    return this.held.size + this.waiting.size;
  }
}
