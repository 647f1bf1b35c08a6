// The field that runs a command: in the chosen session while it lives, else in a new one, in the same folder.

import * as api from "./api.js";
import { byId, showProblem } from "./dom.js";

export class StartForm {
  constructor(onStarted) {
    this.onStarted = onStarted;
    this.form = byId("start");
    this.input = byId("command");
    this.same = byId("same-session");
    this.problem = byId("start-problem");
    this.session = null;
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.run();
    });
  }

  setSession(session) {
    const changed = session?.id !== this.session?.id;
    this.session = session;
    const open = session?.kind === "session" && session.state === "running";
    byId("where-label").hidden = !open;
    if (!open) this.same.checked = false;
    else if (changed) this.same.checked = true;
  }

  async run() {
    const typed = this.input.value;
    const command = typed.trim();
    if (!command) return;
    this.input.value = ""; // at once: what is typed while it starts is the next command
    const body = { command };
    if (this.session?.kind === "session" && this.session.cwd) body.cwd = this.session.cwd;
    showProblem(this.problem, "");
    try {
      const started = await api.start(body, this.same.checked ? this.session?.id : undefined);
      this.onStarted(started);
    } catch (error) {
      if (!this.input.value) this.input.value = typed;
      showProblem(this.problem, error.message);
    }
  }

  focus() {
    this.input.focus();
  }
}
