// The form that starts a session with an agent: folder, agent, model, approval level, and the first prompt. What is left
// as it is follows the settings of the folder. What could not be sent stays in the form.

import * as api from "./api.js";
import { commandIn } from "./commands.js";
import { byId, make, setText, showProblem } from "./dom.js";

export class NewSession {
  // onStarted(session, prompt): it can be shown, and takes the prompt.
  constructor(onStarted) {
    this.onStarted = onStarted;
    this.form = byId("new");
    this.prompt = byId("new-prompt");
    this.folder = byId("new-folder");
    this.agent = byId("new-agent");
    this.model = byId("new-model");
    this.level = byId("new-level");
    this.choices = null;
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.start();
    });
    this.prompt.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.form.requestSubmit();
    });
    this.folder.addEventListener("change", () => this.look(this.folder.value));
    this.folder.addEventListener("blur", () => this.fillFolder());
    this.agent.addEventListener("change", () => this.showAgent());
    this.model.addEventListener("input", () => this.showNoModel());
  }

  // `cwd`: the folder of the session that was shown before.
  show(shown, cwd = "") {
    if (this.form.hidden === !shown) return;
    this.form.hidden = !shown;
    if (shown) this.look(this.folder.value || cwd);
  }

  // Something is written in it, or about to be.
  get used() {
    return this.shown && (this.prompt.value !== "" || this.form.contains(document.activeElement));
  }

  get shown() {
    return !this.form.hidden;
  }

  async look(cwd) {
    this.asking?.abort();
    this.asking = new AbortController();
    this.report("");
    try {
      this.choices = await api.agentChoices(cwd.trim(), this.asking.signal);
    } catch (error) {
      if (error.name !== "AbortError") this.report(error.message);
      return;
    }
    const { folders, agents } = this.choices;
    this.asked = cwd;
    this.fillFolder();
    byId("new-folders").replaceChildren(...folders.map((value) => make("option", { value })));
    const chosen = this.agent.value;
    this.agent.replaceChildren(make("option", { value: "", text: "Sightline" }),
      ...agents.map(({ name, title }) => make("option", { value: name, text: title })));
    this.agent.value = agents.some(({ name }) => name === chosen) ? chosen : "";
    this.showAgent();
  }

  // Not while the user is in the field: what they type would go behind it.
  fillFolder() {
    if (!this.choices || document.activeElement === this.folder) return;
    if (!this.folder.value || this.folder.value === this.asked) this.folder.value = this.choices.cwd;
  }

  // Models are suggested for our own agent; another program names its own.
  showAgent() {
    const { agents, models, level, levels } = this.choices;
    const other = agents.find(({ name }) => name === this.agent.value);
    byId("new-models").replaceChildren(...(other ? [] : models).map((value) => make("option", { value })));
    const chosen = this.level.value;
    const about = other ? other.levels : levels;
    const names = Object.keys(about);
    const first = other ? "as its own settings say" : `as the settings say (${level})`;
    this.level.replaceChildren(make("option", { value: "", text: first }), ...names.map((name) => make("option", { value: name, text: `${name}: ${about[name]}` })));
    this.level.value = names.includes(chosen) ? chosen : "";
    this.showNoModel();
  }

  // Of our own agent, when no model is named and there is none to take.
  get lacksModel() {
    return Boolean(this.choices?.no_model) && !this.agent.value && !this.model.value.trim();
  }

  showNoModel() {
    const place = byId("new-no-model");
    place.hidden = !this.lacksModel;
    if (place.hidden) return;
    const { no_model: why, agents } = this.choices;
    const other = agents.length ? `, or choose ${agents.map(({ title }) => title).join(" or ")} as the agent` : "";
    place.replaceChildren(`Sightline cannot answer: ${why}. Run `, make("code", { text: "sightline" }),
      " in a terminal on the machine that serves this page, where ", make("code", { text: "/setup" }), ` adds one${other}. Then start the session here.`);
  }

  async start() {
    if (this.starting) return;
    if (commandIn(this.prompt.value)) {
      this.report("Commands work in a session: start it without a prompt first. Begin with a space to send this to the agent.");
      return;
    }
    this.setStarting(true);
    this.report("");
    if (this.lacksModel) await this.look(this.folder.value); // there may be one by now
    if (this.lacksModel) {
      this.setStarting(false);
      this.report("Not started: there is no model.");
      return;
    }
    try {
      const { session } = await api.startAgent({
        cwd: this.folder.value.trim(), provider: this.agent.value, model: this.model.value.trim(), level: this.level.value,
      });
      const text = this.prompt.value.trim();
      this.prompt.value = "";
      this.onStarted(session, text);
    } catch (error) {
      this.report(error.message);
    } finally {
      this.setStarting(false);
    }
  }

  setStarting(starting) {
    this.starting = starting;
    byId("new-start").disabled = starting;
    setText(byId("new-start"), starting ? "Starting…" : "Start session");
  }

  report(text) {
    showProblem(byId("new-problem"), text);
  }

  focus() {
    this.prompt.focus();
  }
}
