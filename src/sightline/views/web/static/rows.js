// The virtual scroller: of any number of rows only those in sight (and a few around them) are elements. Rules:
// - `top`, the first visible row (with fraction), is the truth; the scrollbar follows it. Browsers cap an element's
//   height (about 17 to 33 million px), so above TALLEST the bar is a scale: dragging moves in proportion, while wheel
//   and keys still move by rows.
// - On a phone the rows of an output that is not long are wrapped, and then all of them are elements: only rows of one
//   height have a place that is known without drawing those before it.
// - `following` keeps the end in sight. Scrolling up ends it at once; reaching the end begins it again.

import { make } from "./dom.js";
import { digits } from "./format.js";
import { draw } from "./frame.js";
import { fillRow } from "./rowdraw.js";

const TALLEST = 6_000_000;
const AROUND = 12; // rows drawn beyond the edges, so that a small scroll shows no gap
const WRAPPED_MOST = 1000; // rows
const BAR = 12; // px kept free below the rows for a horizontal scrollbar

const narrow = matchMedia("(max-width: 760px)");
let rowHeight = 0;

function measureRow() {
  const probe = make("div", { className: "row probe", text: "x" });
  document.body.append(probe);
  rowHeight = probe.getBoundingClientRect().height || 18;
  probe.remove();
}

export class Rows {
  constructor(store, label, onMove) {
    if (!rowHeight) measureRow();
    this.store = store;
    this.onMove = onMove;
    this.top = 0;
    this.following = false;
    this.query = "";
    this.marked = -1;
    this.drawn = new Map(); // row number → { element, row, query, marked }
    this.scrolledTo = 0;
    this.lines = make("div", { className: "lines" });
    this.spacer = make("div", { className: "spacer" });
    this.element = make("div", { className: "screen", tabindex: "0", role: "log", "aria-live": "off", "aria-label": label },
      this.spacer, this.lines);
    this.height = 0;
    this.element.addEventListener("scroll", () => this.scrolled());
    this.element.addEventListener("wheel", (event) => this.wheeled(event), { passive: false });
    this.element.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.resized()).observe(this.element);
  }

  get total() { return this.store.total; }
  get visible() { return this.height / rowHeight; }
  get lastTop() { return Math.max(0, this.total - Math.floor(this.visible)); }
  get scaled() { return this.total * rowHeight > TALLEST; }

  // As high as its rows, up to most of the window; known without drawing, so that nothing jumps when it is drawn.
  fit() {
    this.setWrapped(narrow.matches && this.total <= WRAPPED_MOST);
    if (this.wrapped) return;
    const most = Math.max(6, Math.floor((innerHeight * 0.62) / rowHeight));
    const height = Math.min(Math.max(this.total, 1), most) * rowHeight;
    if (height === this.contentHeight) return;
    this.contentHeight = height;
    this.height = height;
    this.element.style.height = `${height + BAR}px`;
  }

  setWrapped(on) {
    if (on === this.wrapped) return;
    this.wrapped = on;
    this.element.classList.toggle("wrapped", on);
    this.contentHeight = this.spacerHeight = this.gutter = undefined;
    for (const element of [this.element, this.spacer]) element.style.height = "";
    this.lines.style.transform = "";
  }

  resized() {
    if (this.wrapped) return this.toWrappedEnd();
    const height = this.element.clientHeight - (this.element.offsetHeight === this.element.clientHeight ? BAR : 0);
    if (height <= 0 || Math.abs(height - this.height) < 1) return;
    this.height = height;
    return draw(this);
  }

  follow(on) {
    if (this.following === on) return;
    this.following = on;
    this.releasedAt = this.total;
    this.onMove();
    draw(this);
  }

  goTo(number, { centre = true } = {}) {
    this.follow(false);
    this.goal = number;
    const above = centre ? Math.floor(this.visible / 2) : 0;
    this.top = Math.min(Math.max(0, number - above), this.lastTop);
    draw(this);
  }

  mark(number, query) {
    this.marked = number;
    this.query = query;
    draw(this);
  }

  redrawAll() {
    for (const held of this.drawn.values()) held.row = null;
    draw(this);
  }

  scrolled() {
    const now = this.element.scrollTop;
    if (Math.abs(now - this.scrolledTo) < 1) return; // our own setting, or sideways
    this.scrolledTo = now;
    if (this.wrapped) return this.scrolledWrapped();
    const range = this.spacerHeight + BAR - this.element.clientHeight;
    this.top = this.scaled ? Math.min(1, now / Math.max(1, range)) * this.lastTop : Math.min(now / rowHeight, this.lastTop);
    this.follow(this.top >= this.lastTop - 0.5);
    return draw(this);
  }

  scrolledWrapped() {
    const { scrollTop, scrollHeight, clientHeight } = this.element;
    this.top = (scrollTop / scrollHeight) * this.total;
    this.follow(scrollTop + clientHeight >= scrollHeight - rowHeight / 2);
  }

  wheeled(event) {
    const isLonger = this.wrapped ? this.element.scrollHeight > this.element.clientHeight : this.total > this.visible;
    if (event.deltaY < 0 && isLonger) this.follow(false); // before the browser animates the scroll
    if (this.wrapped || !this.scaled || event.ctrlKey || !event.deltaY) return;
    const by = event.deltaMode === WheelEvent.DOM_DELTA_PIXEL ? event.deltaY / rowHeight : event.deltaY * 3;
    if (this.moveBy(by)) event.preventDefault();
  }

  moveBy(rows) {
    if (this.wrapped) return this.scrollBy(rows * rowHeight);
    const to = Math.min(Math.max(0, this.top + rows), this.lastTop);
    if (to === this.top) return false;
    this.top = to;
    this.follow(to >= this.lastTop);
    draw(this);
    return true;
  }

  scrollBy(pixels) {
    const { scrollTop, scrollHeight, clientHeight } = this.element;
    this.element.scrollTop = Math.min(Math.max(0, scrollTop + pixels), scrollHeight - clientHeight);
    this.scrolled();
    return this.element.scrollTop !== scrollTop;
  }

  key(event) {
    if (event.target !== this.element || event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(this.wrapped ? this.element.clientHeight / rowHeight : this.visible) - 2);
    const moves = {
      ArrowUp: -1, ArrowDown: 1, PageUp: -page, PageDown: page, Home: -Infinity, End: Infinity,
      " ": event.shiftKey ? -page : page,
    };
    const by = moves[event.key];
    if (by === undefined) return;
    if (by < 0) this.follow(false);
    this.moveBy(by);
    if (event.key === "End") this.follow(true);
    event.preventDefault();
  }

  draw() {
    this.fit();
    if (this.wrapped) return this.drawWrapped();
    if (this.following) this.top = this.lastTop;
    this.top = Math.min(this.top, this.lastTop);
    this.place();
    const first = Math.max(0, Math.floor(this.top) - AROUND);
    const last = Math.min(this.total, Math.ceil(this.top + this.visible) + AROUND);
    this.fillBetween(first, last);
    this.lines.style.transform = `translateY(${this.scrolledTo - (this.top - first) * rowHeight}px)`;
    this.store.want(Math.max(first, Math.floor(this.top)), Math.min(last, Math.ceil(this.top + this.visible)));
    return this.onMove();
  }

  drawWrapped() {
    this.fillBetween(0, this.total);
    this.setGutter(Math.max(16, 4 + digits(this.total).length * 7));
    const goal = this.drawn.get(this.goal)?.element;
    if (goal && !this.following) this.element.scrollTop = goal.offsetTop - (this.element.clientHeight - goal.offsetHeight) / 2;
    this.goal = undefined;
    this.toWrappedEnd();
    this.store.want(0, this.total);
    this.onMove();
  }

  toWrappedEnd() {
    if (this.following) this.element.scrollTop = this.element.scrollHeight;
    this.scrolledTo = this.element.scrollTop;
  }

  setGutter(gutter) {
    if (gutter === this.gutter) return;
    this.gutter = gutter;
    this.element.style.setProperty("--gutter", `${gutter}px`);
  }

  place() {
    const height = Math.min(this.total * rowHeight, TALLEST);
    if (height !== this.spacerHeight) {
      this.spacerHeight = height;
      this.spacer.style.height = `${height + BAR}px`;
    }
    this.setGutter(Math.max(40, 16 + digits(this.total).length * 7));
    const range = height - this.height;
    const to = this.scaled ? (this.top / Math.max(1, this.lastTop)) * range : this.top * rowHeight;
    if (Math.abs(to - this.scrolledTo) < 1) return;
    this.element.scrollTop = to;
    this.scrolledTo = this.element.scrollTop; // the browser may have rounded it
  }

  fillBetween(first, last) {
    for (const [number, held] of this.drawn) {
      if (number >= first && number < last) continue;
      held.element.remove();
      this.drawn.delete(number);
    }
    let before = this.lines.firstChild;
    for (let number = first; number < last; number += 1) {
      const held = this.drawn.get(number) ?? this.hold(number);
      this.refresh(number, held);
      if (held.element === before) before = before.nextSibling;
      else this.lines.insertBefore(held.element, before);
    }
  }

  hold(number) {
    const held = { element: document.createElement("div"), row: null, query: "", marked: false };
    this.drawn.set(number, held);
    return held;
  }

  refresh(number, held) {
    const row = this.store.get(number);
    const marked = number === this.marked;
    if (held.row === row && held.query === this.query && held.marked === marked) return;
    // A row that is being fetched again still shows its old text: an empty flash helps no reader.
    if (row === undefined && held.row) return;
    fillRow(held.element, number, row, this.query);
    held.element.classList.toggle("found", marked);
    Object.assign(held, { row, query: this.query, marked });
  }
}
