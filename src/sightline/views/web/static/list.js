// The list of sessions and their jobs. Items are found by id and changed in place, so that focus and scroll stay.

import { Elapsed, startTicking } from "./clock.js";
import { button, byId, make, setText } from "./dom.js";
import { count, seconds, stateOf, whenShort } from "./format.js";
import { draw } from "./frame.js";

const STEP = 100; // sessions drawn at first, and with each "Show older"

class Item {
  constructor(href) {
    this.sign = make("span", { className: "sign", "aria-hidden": "true" });
    this.title = make("span", { className: "title" });
    this.about = make("span", { className: "about" });
    this.when = make("span", { className: "when" });
    this.meta = make("span", { className: "meta" }, this.about, this.when);
    this.snippet = make("span", { className: "snippet", hidden: true });
    this.link = make("a", { href }, this.sign, this.title, this.meta, this.snippet);
    this.elapsed = new Elapsed();
  }

  // when: not cut where the rest has no room.
  set(title, state, about, when = "") {
    setText(this.sign, stateOf(state).sign);
    setText(this.title, title);
    setText(this.about, about);
    setText(this.when, when && ` · ${when}`);
    this.link.dataset.state = state;
  }

  // parts: the text around what was searched for; every second one is a match.
  setSnippet(parts) {
    const now = parts.join("\u0000");
    if (now === (this.shown ?? "")) return;
    this.shown = now;
    this.snippet.hidden = !now;
    this.snippet.replaceChildren(...parts.map((text, n) => (n % 2 ? make("mark", { text }) : text)));
  }
}

// What a session is called, in the list and above its transcript.
export const titleOf = (session) =>
  session.title || session.jobs?.[0]?.command || (session.agent ? "Untitled" : session.id);

// As people call it: one in a worktree is its workspace.
export const folderOf = (session) => session.folder || session.cwd;

// In the list: a fork has the title of its original.
const listedTitle = (session) => (session.fork_of ? `fork of ${session.fork_of}: ` : "") + titleOf(session);

export class List {
  // onMenu(session, title, button): open the menu of a session.
  constructor(onMenu) {
    this.onMenu = onMenu;
    this.element = byId("sessions");
    this.archived = byId("archived");
    this.showArchived = false;
    this.older = byId("older");
    this.beyond = byId("beyond");
    this.sessions = [];
    this.later = true;
    this.found = null; // [{ session, snippet }] of a search
    this.shown = STEP;
    this.chosen = null;
    this.known = null; // how the agent of the chosen session stands: sooner than the list has it
    this.items = new Map(); // session id → { item, element, jobs }
    this.older.addEventListener("click", () => {
      this.shown += STEP;
      draw(this);
    });
    this.archived.addEventListener("click", () => {
      this.showArchived = !this.showArchived;
      draw(this);
    });
    startTicking(this);
  }

  take({ sessions, more = 0 }) {
    this.sessions = sessions;
    this.folders = shortest(sessions.filter((session) => session.kind !== "recording").map(folderOf));
    this.more = more;
    this.at = performance.now();
    draw(this);
  }

  choose(id) {
    this.chosen = id;
    draw(this);
  }

  // facts: of the chosen session; empty as long as nothing is known of it.
  know({ live, running, requests = [], lost = null }) {
    const before = JSON.stringify(this.known);
    this.known = live === undefined ? null : { busy: running, waiting: requests.length, lost: lost !== null };
    if (JSON.stringify(this.known) !== before) draw(this); // facts come with every step of an agent
  }

  // Those that wait for an answer, in the order of the list.
  get waiting() {
    return this.sessions.filter((session) => this.agentOf(session).waiting);
  }

  get working() {
    return this.sessions.filter((session) => this.agentOf(session).busy && !this.agentOf(session).waiting);
  }

  agentOf(session) {
    return (session.id === this.chosen && this.known) || session;
  }

  find(id) {
    return this.sessions.find((session) => session.id === id) ?? this.found?.find(({ session }) => session.id === id)?.session;
  }

  // found: [{ session, snippet }] to show in place of the list; null: the list again.
  showFound(found) {
    this.found = found;
    this.shown = STEP;
    this.draw();
  }

  // Sessions without a conversation that have all these words in their title or a command.
  matching(words) {
    const needles = words.toLowerCase().split(/\s+/);
    const texts = (session) => [session.title, ...(session.jobs ?? []).map((job) => job.command)].join("\n").toLowerCase();
    const all = this.sessions.filter((session) => !session.agent && needles.every((word) => texts(session).includes(word)));
    return all.map((session) => ({ session, snippet: [] }));
  }

  get first() {
    return this.element.querySelector("a");
  }

  get listed() {
    if (this.found) return this.found.map(({ session }) => this.find(session.id));
    return this.sessions.filter((session) => !session.archived || this.showArchived || session.id === this.chosen);
  }

  draw() {
    const { listed } = this;
    const snippets = new Map((this.found ?? []).map(({ session, snippet }) => [session.id, snippet]));
    const shown = listed.slice(0, this.shown);
    const ids = new Set(shown.map((session) => session.id));
    for (const [id, held] of this.items) {
      if (ids.has(id)) continue;
      held.element.remove();
      this.items.delete(id);
    }
    let before = this.element.firstElementChild;
    for (const session of shown) {
      const held = this.items.get(session.id) ?? this.make(session.id);
      this.update(held, session);
      held.item.setSnippet(snippets.get(session.id) ?? []);
      if (held.element === before) before = before.nextElementSibling;
      else this.element.insertBefore(held.element, before);
    }
    this.older.hidden = listed.length <= this.shown;
    const archived = this.sessions.filter((session) => session.archived).length;
    this.archived.hidden = archived === 0 || this.found !== null;
    this.archived.setAttribute("aria-expanded", String(this.showArchived));
    setText(this.archived, this.showArchived ? "Hide archived" : `Show archived (${archived})`);
    this.beyond.hidden = !this.older.hidden || !this.more || this.found !== null;
    setText(this.beyond, `${count(this.more, "older job is", "older jobs are")} listed by: sightline jobs`);
  }

  make(id) {
    const item = new Item(`#${id}`);
    const jobs = make("ol", { className: "jobs" });
    const menu = button("⋯", () => this.onMenu(this.find(id), titleOf(this.find(id)), menu),
      { className: "more-actions", "aria-expanded": "false", "aria-controls": "session-menu" });
    const held = { item, jobs, menu, element: make("li", {}, make("div", { className: "entry" }, item.link, menu), jobs), jobItems: new Map() };
    this.items.set(id, held);
    return held;
  }

  update(held, session) {
    const jobs = session.jobs ?? [];
    const state = standing(session, jobs, this.agentOf(session));
    const running = jobs.filter((job) => job.state === "running").length;
    const shown = session.kind === "recording" ? "recording" : `${session.archived ? "archived, " : ""}${stateOf(state).word}`;
    const many = running && session.agent ? `${count(running, "job", "jobs")} running` : jobs.length > 1 ? count(jobs.length, "job", "jobs") : "";
    held.item.set(listedTitle(session), state, [shown, session.provider, many, this.folders.get(folderOf(session))].filter(Boolean).join(" · "),
      whenShort(session.changed || session.started));
    held.item.link.title = session.cwd ?? "";
    held.menu.hidden = !session.agent && (session.state !== "running" || session.kind === "recording");
    held.menu.setAttribute("aria-label", `Actions for ${listedTitle(session)}`);
    held.element.classList.toggle("archived", Boolean(session.archived));
    const chosen = session.id === this.chosen;
    held.element.classList.toggle("chosen", chosen);
    if (chosen) held.item.link.setAttribute("aria-current", "true");
    else held.item.link.removeAttribute("aria-current");
    this.updateJobs(held, chosen && jobs.length > 1 ? jobs : []);
  }

  updateJobs(held, jobs) {
    held.jobs.hidden = jobs.length === 0;
    const ids = new Set(jobs.map((job) => job.id));
    for (const [id, item] of held.jobItems) {
      if (ids.has(id)) continue;
      item.element.remove();
      held.jobItems.delete(id);
    }
    for (const job of jobs) {
      let item = held.jobItems.get(job.id);
      if (!item) {
        item = new Item(`#${job.id}`);
        item.element = make("li", {}, item.link);
        held.jobItems.set(job.id, item);
        held.jobs.append(item.element);
      }
      item.elapsed.set(job.elapsed, job.state === "running");
      item.elapsed.at = this.at;
      item.job = job;
      showJob(item);
    }
  }

  tick() {
    const held = this.items.get(this.chosen);
    for (const item of held?.jobItems.values() ?? []) if (item.elapsed.running) showJob(item);
  }
}

function showJob(item) {
  const { job } = item;
  const time = seconds(item.elapsed.now);
  const exit = job.state === "failed" && job.exit_code !== null ? ` ${job.exit_code}` : "";
  item.set(job.command, job.state, `${stateOf(job.state).word}${exit} · ${time}`);
}

// Folders by as much of their end as distinguishes them.
function shortest(paths) {
  const names = new Map();
  let left = [...new Set(paths.filter(Boolean))];
  for (let parts = 1; left.length; parts += 1) {
    const ends = new Map(left.map((path) => [path, path.split("/").filter(Boolean).slice(-parts).join("/") || path]));
    const times = new Map();
    for (const end of ends.values()) times.set(end, (times.get(end) ?? 0) + 1);
    const done = (path) => times.get(ends.get(path)) === 1 || parts >= path.split("/").length;
    for (const path of left.filter(done)) names.set(path, ends.get(path));
    left = left.filter((path) => !done(path));
  }
  return names;
}

// A session stands as its agent does, or as its worst: something running, else something failed, else how its last job ended.
function standing(session, jobs, agent) {
  if (session.kind === "recording") return "ended";
  if (agent.waiting) return "waiting";
  if (agent.busy) return "working";
  if (session.agent && session.state === "running") return "idle"; // its jobs are shown besides
  if (session.agent) return agent.lost || session.state === "lost" ? "lost" : session.ending || "ended";
  if (jobs.some((job) => job.state === "running")) return "running";
  return jobs.find((job) => job.state !== "ok")?.state ?? jobs.at(-1)?.state ?? session.state;
}
