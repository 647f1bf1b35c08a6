// The state of the chosen session in one line, and what should stay visible: the todo list, and what extensions show.

import * as api from "./api.js";
import { byId, make, setText } from "./dom.js";
import { count, dollars, tokens } from "./format.js";
import { toast } from "./announce.js";
import { todo } from "./shapes.js";

const DONE = new Set(["completed", "abandoned", "done", "cancelled"]);

export class Status {
  constructor() {
    this.line = byId("status");
    this.state = byId("status-state");
    this.facts = byId("status-facts");
    this.todo = byId("todo");
    this.todoTitle = byId("todo-title");
    this.todoList = byId("todo-list");
    this.widgets = byId("widgets");
    this.drawnTodo = "";
    this.level = byId("approval");
    this.session = null;
    this.inForce = "";
    this.level.addEventListener("change", () => this.setLevel(this.level.value));
  }

  choose(session) {
    this.session = session;
  }

  // The level is the one the host reports, never the one that was chosen here.
  takeLevel(level, { live, levels = {}, level_choices: choices = [] }) {
    this.inForce = level;
    this.level.parentElement.hidden = !level;
    const names = [...choices, ...(choices.includes(level) ? [] : [level])];
    if ([...this.level.options].map((option) => option.value).join() !== names.join()) {
      this.level.replaceChildren(...names.map((name) => make("option", { value: name, text: name })));
    }
    this.level.value = level;
    this.level.disabled = !live;
    this.level.dataset.level = level;
    this.level.title = levels[level] ? `${level}: ${levels[level]}` : level;
  }

  async setLevel(level) {
    this.level.value = this.inForce;
    try {
      const { data } = await api.setApproval(this.session, level);
      if (data?.next) toast(`Approval level ${level}, from the next prompt on.`);
    } catch (error) {
      toast(error.message);
    }
  }

  take(facts) {
    this.line.hidden = !facts.talks;
    const { state, word } = standing(facts);
    this.line.dataset.state = state;
    setText(this.state, word);
    this.state.hidden = !word;
    setText(this.facts, factsText(facts).join(" · "));
    this.takeLevel(facts.approval?.level ?? "", facts);
    this.takeTodo(facts.todo ?? []);
    this.takeWidgets(facts.ui_widgets ?? {});
  }

  takeTodo(phases) {
    const tasks = phases.flatMap((phase) => phase.tasks);
    const open = tasks.filter((task) => !DONE.has(task.status));
    this.todo.hidden = open.length === 0;
    const now = JSON.stringify(phases);
    if (this.todo.hidden || now === this.drawnTodo) return;
    this.drawnTodo = now;
    const current = open.find((task) => task.status === "in_progress") ?? open[0];
    setText(this.todoTitle, `Todo ${tasks.length - open.length}/${tasks.length}: ${current.text}`);
    this.todoList.replaceChildren(...todo({ phases }));
  }

  takeWidgets(widgets) {
    const shown = Object.values(widgets).filter((widget) => Array.isArray(widget?.lines));
    this.widgets.hidden = shown.length === 0;
    this.widgets.replaceChildren(...shown.map((widget) => make("pre", { text: widget.lines.join("\n") })));
  }
}

function standing({ live, running, requests = [], retry, compaction, lost = null, lacks_model: noModel = false }) {
  if (!live) return lost === null ? { state: "ended", word: "· ended" } : { state: "lost", word: "? lost" };
  if (requests.length) return { state: "waiting", word: "" }; // the card shows it
  if (compaction?.running) return { state: "running", word: "◌ compacting the conversation" };
  if (retry) return { state: "running", word: "◌ retrying" };
  if (running) return { state: "running", word: "◌ working" };
  return noModel ? { state: "failed", word: "✕ no model" } : { state: "ok", word: "✓ ready" };
}

function factsText({ model, thinking, context, totals = {}, agents = [], jobs = [], queue = [], ui_status: shown = {} }) {
  const parts = [];
  if (model) parts.push(thinking && thinking !== "off" ? `${model} (${thinking})` : model);
  if (context?.used) parts.push(context.of ? `${Math.round((100 * context.used) / context.of)}% of ${tokens(context.of)}` : `${tokens(context.used)} in context`);
  parts.push(...spent(Object.values(totals)));
  const working = agents.filter((agent) => agent.running).length;
  if (working) parts.push(count(working, "agent", "agents"));
  const running = jobs.filter?.((job) => job.status === "running").length;
  if (running) parts.push(count(running, "job", "jobs"));
  if (queue.length) parts.push(`${queue.length} waiting`);
  return [...parts, ...Object.values(shown).map(String)];
}

function spent(totals) {
  const sum = (...names) => totals.reduce((all, total) => all + names.reduce((one, name) => one + (total[name] ?? 0), 0), 0);
  const read = sum("input_tokens", "cache_read_tokens", "cache_write_tokens");
  const written = sum("output_tokens");
  const cost = sum("cost");
  return [...(read || written ? [`↑${tokens(read)} ↓${tokens(written)}`] : []), ...(cost ? [dollars(cost)] : [])];
}
