// A block: one call, live. Rules of folding: a call of an agent's that ended well is one row until it is opened; a command
// of the user's own is that when it printed much; one that runs or failed is open, and so are a question with its answer
// and a review. What the user chose wins over all, and a block that is being read stays open. Where a shape has
// everything, the output is shown on request.

import * as api from "./api.js";
import { BlockHead } from "./blockhead.js";
import { startTicking, stopTicking } from "./clock.js";
import { copyText } from "./copy.js";
import { button, make, setText } from "./dom.js";
import { bytes, count, seconds, stateOf } from "./format.js";
import { draw } from "./frame.js";
import { jsonTree } from "./jsontree.js";
import { Rows } from "./rows.js";
import { RowStore } from "./rowstore.js";
import { announce, toast } from "./announce.js";
import { Search } from "./search.js";
import { Shape } from "./shapes.js";

const FOLDS_ABOVE = 12; // rows; less than this is its own best summary
const LONG_BYTES = 1000; // taken for many rows as long as they have not been counted

export const chosenFolds = new Map(); // call id → folded, as a person chose it; outlives changing sessions

let made = 0;

export class Block {
  constructor(entry, session = "") {
    made += 1;
    const name = `block${made}`;
    this.id = entry.id;
    this.store = new RowStore(entry.id, () => this.changed());
    this.inView = false;
    this.head = new BlockHead(name, {
      fold: () => this.choose(!this.folded),
      cancel: () => this.cancel(),
      copyOutput: () => this.copyOutput(),
      copyCommand: () => this.copyCommand(),
      search: () => this.search.toggle(),
      follow: () => this.rows.follow(!this.rows.following),
      output: () => this.toggleOutput(),
      args: () => this.toggleArgs(),
      download: () => this.download(),
    });
    this.shape = new Shape(session, () => this.element.dispatchEvent(new Event("hold", { bubbles: true })));
    this.args = make("div", { className: "args json", role: "group", "aria-label": "Arguments", hidden: true });
    this.outputOpened = this.argsShown = false;
    this.rows = new Rows(this.store, "Output", () => this.moved());
    if (entry.command) this.rows.following = true; // how a command ended stands at its end, which may still be counted
    this.search = new Search(this);
    this.newRows = button("", () => this.followAgain(), { className: "new-rows", hidden: true });
    this.status = make("p", { className: "status", hidden: true });
    this.note = make("p", { className: "note", hidden: true });
    this.body = make("div", { className: "body", id: `${name}-body` },
      this.args, this.shape.element, this.search.element, this.rows.element, this.newRows, this.status, this.note);
    this.element = make("article", { className: "block", "aria-labelledby": `${name}-title` }, this.head.element, this.body);
    this.element.block = this; // how a key press finds its block
    this.update(entry);
  }

  update(entry) {
    const before = this.entry;
    this.entry = entry;
    if (this.waiting) this.setWaiting(true);
    this.store.deleted ||= Boolean(entry.note);
    // Rows may have come before the entry counts them.
    this.store.setTotal(this.store.deleted ? 0 : Math.max(entry.total ?? 0, this.store.total));
    this.head.update(entry, this.store.total, this.store.deleted, this.outputShown);
    if (before?.state !== entry.state) this.stateChanged(before);
    this.changed();
  }

  stateChanged(before) {
    const { state, running } = this.entry;
    this.element.dataset.state = state;
    if (running) startTicking(this);
    else stopTicking(this);
    this.rows.element.setAttribute("aria-label", `Output of ${this.entry.command || this.entry.name}`.slice(0, 120));
    if (running) this.rows.follow(true);
    else this.setStatus("");
    if (before?.running && !running) {
      this.store.settle();
      announce(this.ending());
    }
    this.staysOpen = Boolean(before?.running) && (this.isRead || !this.rows.following);
    this.fold(this.shouldFold);
  }

  get isRead() {
    return this.search.open || this.body.contains(document.activeElement);
  }

  get outputShown() {
    return this.store.total > 0 && (!this.entry.shape?.whole || this.outputOpened);
  }

  toggleOutput() {
    this.outputOpened = !this.outputOpened;
    this.element.dispatchEvent(new Event("hold", { bubbles: true }));
    this.changed();
  }

  // The card of the request, which stands in its place, shows what it asks for.
  setWaiting(waiting) {
    this.waiting = waiting;
    this.element.hidden = waiting && this.entry.running;
  }

  // Made when looked at; what they are by then.
  toggleArgs() {
    this.argsShown = !this.argsShown;
    if (this.argsShown && this.folded) this.choose(false);
    this.element.dispatchEvent(new Event("hold", { bubbles: true }));
    const tree = this.argsShown && this.entry.args ? jsonTree(this.entry.args) : null;
    if (tree?.matches("details")) tree.open = true;
    this.args.replaceChildren(...(tree ? [tree] : []));
    this.changed();
  }

  // Asked again while the rows of an ended command are still being counted.
  get shouldFold() {
    if (chosenFolds.has(this.id)) return chosenFolds.get(this.id);
    const { state, binary, bytes: size = 0, own, shape } = this.entry;
    if (shape?.kind === "question" || shape?.kind === "review") return false; // the answer is what one looks for
    if (!own) return (state === "ok" || state === "job") && !this.staysOpen && !this.isRead;
    const long = this.store.total > FOLDS_ABOVE || (this.store.total === 0 && size > LONG_BYTES && !binary);
    return state === "ok" && long && !this.staysOpen && !this.isRead;
  }

  ending() {
    const { command, name, exit_code: code, state, elapsed } = this.entry;
    const exit = code === null || code === undefined ? "" : `, exit ${code}`;
    return `${(command || name).slice(0, 60)}: ${stateOf(state).word}${exit}, ${seconds(elapsed ?? 0)}`;
  }

  choose(folded) {
    chosenFolds.set(this.id, folded);
    this.element.dispatchEvent(new Event("hold", { bubbles: true })); // what is being looked at must not scroll away
    this.fold(folded);
  }

  fold(folded) {
    this.folded = folded;
    this.body.hidden = folded;
    this.element.classList.toggle("folded", folded);
    this.head.setFolded(folded);
    if (!folded && this.entry.running) this.rows.follow(true);
    this.store.setSeen(this.inView && !folded);
    this.changed();
  }

  setInView(inView) {
    this.inView = inView;
    this.store.setSeen(inView && !this.folded);
    if (inView) this.changed();
  }

  takeRows(message) {
    this.setStatus("");
    this.store.take(message);
  }

  setStatus(text) {
    setText(this.status, text);
    this.status.hidden = !text;
  }

  // Data changed; drawing waits for the frame, and for being looked at.
  changed() {
    if (this.head) draw(this);
  }

  draw() {
    if (!this.folded && this.shouldFold) this.fold(true);
    if (!this.inView) return;
    this.head.update(this.entry, this.store.total, this.store.deleted, this.outputShown);
    this.drawNotes();
    this.shape.update(this.entry.shape);
    this.args.hidden = !this.argsShown || !this.entry.args;
    this.head.setArgs(Boolean(this.entry.args), this.argsShown);
    this.rows.element.hidden = !this.outputShown;
    this.rows.fit();
    if (!this.folded && this.outputShown) this.rows.draw();
  }

  drawNotes() {
    const { state, said, note, binary, running, bytes: size = 0, kept, network } = this.entry;
    const notes = [said, note || (this.store.deleted && "output was deleted")].filter(Boolean);
    if (binary) notes.push(`Binary output, ${bytes(size)}: not shown; use Download.`);
    if (kept !== undefined && kept !== null && kept < size) notes.push(`${bytes(kept)} of ${bytes(size)} stored.`);
    if (!running && state !== "refused" && size === 0 && this.store.total === 0 && !this.entry.shape && notes.length === 0) notes.push("No output.");
    if (network) notes.push(network);
    setText(this.note, notes.join(" "));
    this.note.hidden = notes.length === 0;
  }

  moved() {
    this.head.setFollowing(this.rows.following);
    const unseen = this.store.total - this.rows.releasedAt;
    const show = this.entry.running && !this.rows.following;
    this.newRows.hidden = !show;
    if (show) setText(this.newRows, unseen > 0 ? `${count(unseen, "new row", "new rows")} ↓ Follow` : "↓ Follow");
  }

  followAgain() {
    this.rows.follow(true);
    this.rows.element.focus({ preventScroll: true }); // the pressed button disappears
  }

  tick() {
    if (this.inView) this.head.tick();
  }

  async cancel() {
    this.head.setCancelling(true);
    try {
      await api.cancel(this.id);
      announce("Cancelling");
    } catch (error) {
      this.head.setCancelling(false);
      toast(`Could not cancel: ${error.message}`);
    }
  }

  async copyOutput() {
    try {
      const { text, cut } = await api.text(this.id);
      const copied = await copyText(text);
      const whole = cut ? `Copied the last part; ${bytes(cut)} before it left out.` : "Output copied.";
      toast(copied ? whole : "The browser did not allow copying.");
    } catch (error) {
      toast(`Could not copy: ${error.message}`);
    }
  }

  async copyCommand() {
    toast(await copyText(this.entry.command) ? "Command copied." : "The browser did not allow copying.");
  }

  async download() {
    try {
      await api.download(this.id);
    } catch (error) {
      toast(error.message);
    }
  }

  reconnected() {
    if (this.entry.running) this.store.forgetFrom(0);
  }

  focus() {
    this.head.fold.focus();
    this.element.scrollIntoView({ block: "nearest" });
  }

  close() {
    stopTicking(this);
    this.search.stop();
  }
}
