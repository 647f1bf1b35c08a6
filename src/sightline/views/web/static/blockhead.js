// The head of a block, one row while it is folded: what was called, how it stands, and on hover or focus what can be done
// with it. A click anywhere in the row opens and closes it.

import { Elapsed } from "./clock.js";
import { button, byId, make, setText } from "./dom.js";
import { bytes, count, seconds, stateOf } from "./format.js";
import { coloured } from "./highlight.js";
import { commandOf, jobName } from "./jobs.js";
import { Menu } from "./menu.js";

const LONG_COMMAND = 400; // characters; above this, or above LONG_LINES, only a part of a command is shown at first
const LONG_LINES = 5;
const WORTH_SHOWING = 1; // seconds, of a call that does not run

let menu = null; // one for all blocks

function blockMenu() {
  menu ??= new Menu(byId("block-menu"));
  return menu;
}

export class BlockHead {
  // actions: { fold, cancel, copyOutput, copyCommand, search, follow, output, args, download }
  constructor(id, actions) {
    this.elapsed = new Elapsed();
    this.label = make("span", { className: "label" });
    this.command = make("code", { className: "command" });
    this.more = button("Show all", () => this.expand(), { className: "quiet", hidden: true });
    this.fold = button("", actions.fold, { className: "fold", "aria-expanded": "true", "aria-controls": `${id}-body` });
    this.sign = make("span", { className: "sign", "aria-hidden": "true" });
    this.state = make("span", { className: "state" });
    this.outside = make("span", { className: "outside", text: "outside the sandbox", hidden: true });
    this.facts = make("span", { className: "facts" });
    this.time = make("span", { className: "time" });
    this.cancel = button("Cancel", actions.cancel, { className: "danger", hidden: true });
    this.follow = button("Follow", actions.follow, { "aria-pressed": "false" });
    this.search = button("Search", actions.search, { "aria-expanded": "false" });
    this.output = button("Output", actions.output, { "aria-pressed": "false", hidden: true });
    this.args = button("Arguments", actions.args, { "aria-pressed": "false", hidden: true });
    this.copy = button("Copy output", actions.copyOutput);
    this.copyCommand = button("Copy command", actions.copyCommand);
    this.download = button("Download", actions.download);
    this.menu = button("⋯", () => this.openMenu(), { className: "actions", "aria-expanded": "false", "aria-controls": "block-menu" });
    this.tools = make("div", { className: "tools", role: "group" },
      this.follow, this.output, this.args, this.search, this.copy, this.copyCommand, this.download);
    this.title = make("h3", { id: `${id}-title` }, this.label, this.command);
    this.standing = make("p", { className: "standing" }, this.state, this.outside, this.facts, this.time);
    this.element = make("header", {}, this.fold, this.sign, this.title, this.more, this.standing, this.cancel, this.menu, this.tools);
    this.element.addEventListener("click", (event) => {
      if (!event.target.closest("button") && !getSelection().toString()) actions.fold();
    });
  }

  update(entry, total, deleted, outputShown) {
    const command = (entry.is_job && commandOf(entry.id)) || entry.command;
    const called = command || [entry.name, entry.arg].filter(Boolean).join(" ");
    if (called !== this.called) this.setCommand(called, entry, Boolean(command));
    this.command.classList.toggle("by-person", entry.by === "person");
    this.command.classList.toggle("private", Boolean(entry.private));
    const { sign, word } = stateOf(entry.waits ? "waiting" : entry.state);
    setText(this.sign, sign);
    setText(this.state, entry.job ? `${word}, ${jobName(entry.job)}` : word);
    if (entry !== this.entry) this.elapsed.set(entry.elapsed, entry.running && !entry.waits); // drawn again, the clock goes on
    this.entry = entry;
    this.tick();
    this.setFacts(entry, total);
    this.outside.hidden = !entry.outside;
    this.cancel.hidden = !entry.running;
    this.follow.hidden = !entry.running;
    if (!entry.running) this.setCancelling(false);
    this.follow.hidden ||= !outputShown;
    this.output.hidden = total === 0 || !entry.shape?.whole;
    this.output.setAttribute("aria-pressed", String(outputShown));
    this.search.hidden = !outputShown;
    this.copy.hidden = total === 0;
    this.copyCommand.hidden = !entry.command;
    const written = entry.bytes || (entry.running && total);
    this.download.hidden = !written || (entry.kept === 0 && !entry.running) || deleted;
    this.showMenu();
  }

  // On a phone, in place of the actions side by side.
  openMenu() {
    const shown = [...this.tools.children].filter((tool) => !tool.hidden);
    blockMenu().open(this.menu, this.tools.getAttribute("aria-label"), shown.map((tool) =>
      button(tool.textContent, () => tool.click(), { "aria-pressed": tool.getAttribute("aria-pressed") ?? undefined })));
  }

  setArgs(known, shown) {
    this.args.hidden = !known;
    this.args.setAttribute("aria-pressed", String(shown));
    this.showMenu();
  }

  showMenu() {
    this.menu.hidden = [...this.tools.children].every((tool) => tool.hidden);
  }

  setFacts(entry, total) {
    const { suffix, added, removed, kind } = entry.shape ?? {};
    const facts = entry.by === "person" ? [entry.private ? "run by you, hidden from the agent" : "run by you"] : [];
    if (entry.is_job) facts.push(jobName(entry.id));
    if (suffix) facts.push(suffix);
    if (kind === "diff" && added !== undefined) facts.push(`+${added} −${removed ?? 0}`);
    if (entry.exit_code !== null && entry.exit_code !== undefined && (entry.own || entry.exit_code)) facts.push(`exit ${entry.exit_code}`);
    if (total && !entry.shape?.whole) facts.push(count(total, "row", "rows"));
    if (entry.bytes && !entry.running && entry.own) facts.push(bytes(entry.bytes)); // not known while it runs
    if (entry.agent) facts.push(entry.agent);
    setText(this.facts, facts.join(" · "));
  }

  tick() {
    const { now, running } = this.elapsed;
    setText(this.time, running || now >= WORTH_SHOWING ? seconds(now) : "");
  }

  setCommand(called, entry, isCommand) {
    this.called = called;
    setText(this.label, isCommand ? "" : `${entry.name}${entry.arg ? " " : ""}`);
    if (isCommand) this.command.replaceChildren(...coloured(called.split("\n"), "bash").flatMap((line, n) => (n ? ["\n", ...line] : line)));
    else setText(this.command, entry.arg ?? "");
    this.command.classList.toggle("typed", isCommand);
    const short = called.length > 60 ? `${called.slice(0, 60)}…` : called;
    for (const each of [this.tools, this.menu]) each.setAttribute("aria-label", `Actions for ${short}`);
    this.long = called.length > LONG_COMMAND || called.split("\n").length > LONG_LINES;
    this.more.hidden = !this.long;
    this.title.classList.toggle("clamped", this.long);
  }

  expand() {
    const clamped = this.title.classList.toggle("clamped");
    setText(this.more, clamped ? "Show all" : "Show less");
  }

  setFolded(folded) {
    this.fold.setAttribute("aria-expanded", String(!folded));
    this.fold.setAttribute("aria-label", `${folded ? "Unfold" : "Fold"}: ${this.called.slice(0, 60)}`);
  }

  setFollowing(on) {
    this.follow.setAttribute("aria-pressed", String(on));
  }

  setCancelling(on) {
    this.cancel.disabled = on;
    setText(this.cancel, on ? "Cancelling…" : "Cancel");
  }
}
