// Completes a command while its name is typed: a list above the field, as in the console. The field has the focus and
// names the marked row (aria-activedescendant). Nothing is marked at first, so that Enter runs what was typed.

import { make } from "./dom.js";
import { announce } from "./announce.js";

export class Completion {
  // commands(): [{ name, args, about }]; given(): the same of commands with what follows them; onRun(): what stands in the field is to be run.
  constructor(input, list, { commands, given, onRun }) {
    this.input = input;
    this.list = list;
    this.commands = commands;
    this.given = given;
    this.onRun = onRun;
    this.found = [];
    this.marked = -1;
    input.setAttribute("aria-autocomplete", "list");
    input.setAttribute("aria-controls", list.id);
    input.addEventListener("input", () => this.look());
    input.addEventListener("blur", () => this.close());
    list.addEventListener("pointerdown", (event) => event.preventDefault()); // the focus stays in the field
    list.addEventListener("click", (event) => {
      const row = event.target.closest("[role=option]");
      if (row) this.accept([...list.children].indexOf(row), { run: true });
    });
  }

  look() {
    const [, typed] = /^\/((?:[^\s/]+ )?[^\s/]*)$/.exec(this.input.value) ?? [];
    const before = this.found.length;
    this.found = typed === undefined ? [] : (typed.includes(" ") ? this.given() : this.commands()).filter(({ name }) => name.startsWith(typed));
    if (this.found.length === 1 && this.found[0].name === typed && !this.found[0].args) this.found = [];
    this.list.replaceChildren(...this.found.map(({ name, args, about }, n) =>
      make("li", { role: "option", id: `${this.list.id}-${n}`, "aria-selected": "false" },
        make("span", { className: "name", text: `/${name}${args ? ` ${args}` : ""}` }), make("span", { className: "about", text: about }))));
    this.list.hidden = this.found.length === 0;
    this.mark(-1);
    if (this.found.length && this.found.length !== before) announce(`${this.found.length} commands`);
  }

  mark(at) {
    this.marked = at;
    [...this.list.children].forEach((row, n) => row.setAttribute("aria-selected", String(n === at)));
    const row = this.list.children[at];
    if (row) this.input.setAttribute("aria-activedescendant", row.id);
    else this.input.removeAttribute("aria-activedescendant");
    row?.scrollIntoView({ block: "nearest" });
  }

  // Whether the key was for the list.
  key(event) {
    if (this.list.hidden || event.altKey || event.ctrlKey || event.metaKey || event.isComposing) return false;
    const many = this.found.length;
    switch (event.key) {
      case "ArrowDown": this.mark((this.marked + 1) % many); break;
      case "ArrowUp": this.mark(this.marked > 0 ? this.marked - 1 : many - 1); break;
      case "Escape": this.close(); break;
      case "Tab":
        if (event.shiftKey) return false;
        this.accept(Math.max(this.marked, 0), { run: false });
        break;
      case "Enter":
        if (this.marked < 0 || event.shiftKey) return false;
        this.accept(this.marked, { run: true });
        break;
      default: return false;
    }
    event.preventDefault();
    event.stopPropagation();
    return true;
  }

  // `run`: at once, where nothing can follow its name.
  accept(at, { run }) {
    const { name, args } = this.found[at];
    this.input.value = `/${name}${args ? " " : ""}`;
    this.close();
    if (run && !args) this.onRun();
  }

  close() {
    this.found = [];
    this.list.hidden = true;
    this.mark(-1);
  }
}
