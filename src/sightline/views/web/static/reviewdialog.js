// What to review: what is not committed, a branch to compare with, or commits. What there is nothing of cannot be chosen.

import * as api from "./api.js";
import { byId, make, setText, showProblem } from "./dom.js";
import { count } from "./format.js";

export class ReviewDialog {
  constructor() {
    this.dialog = byId("review");
    this.form = byId("review-form");
    this.branch = byId("review-branch");
    this.commit = byId("review-commit");
    this.focusOn = byId("review-focus");
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.begin();
    });
    byId("review-cancel").addEventListener("click", () => this.dialog.close());
    this.branch.addEventListener("input", () => this.choose("branch"));
    this.commit.addEventListener("input", () => this.choose("commit"));
  }

  async open(session, focusOn) {
    const { uncommitted, main = "", ahead = 0, branches = [], commits = [] } = await api.reviewChoices(session);
    this.session = session;
    this.focusOn.value = focusOn;
    showProblem(byId("review-problem"), "");
    setText(byId("review-uncommitted"), uncommitted ? count(uncommitted, "file", "files") : "there are none");
    setText(byId("review-ahead"), branches.length === 0 ? "there is no branch yet" : main ? `${count(ahead, "commit", "commits")} that ${main} has not` : "");
    const names = [...(main ? [main] : []), ...branches.filter((name) => name !== main)];
    this.branch.replaceChildren(...names.map((name) => make("option", { text: name, value: name })));
    byId("review-commits").replaceChildren(...commits.map(({ id, title }) => make("option", { value: id, text: title })));
    this.commit.value = commits[0]?.id ?? "";
    const there = { uncommitted: uncommitted > 0, branch: names.length > 0, commit: commits.length > 0 };
    for (const radio of this.radios) radio.disabled = !there[radio.value];
    this.branch.disabled = !there.branch;
    this.choose(Object.keys(there).find((name) => there[name]) ?? "uncommitted");
    byId("review-begin").disabled = !Object.values(there).some(Boolean);
    this.dialog.showModal();
    this.radios.find((radio) => radio.checked)?.focus();
  }

  get radios() {
    return [...this.form.elements.target];
  }

  choose(name) {
    for (const radio of this.radios) radio.checked = radio.value === name;
  }

  async begin() {
    const target = { uncommitted: "", branch: this.branch.value, commit: this.commit.value.trim() }[this.form.elements.target.value];
    const about = this.focusOn.value.trim();
    try {
      await api.review(this.session, `${target}${about ? ` -- ${about}` : ""}`);
      this.dialog.close();
    } catch (error) {
      showProblem(byId("review-problem"), error.message);
    }
  }
}
