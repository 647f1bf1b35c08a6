// The list of sessions and their jobs. Items are kept by id and changed in place, so that focus and scroll stay.

import { Elapsed, startTicking } from "./clock.js";
import { button, byId, make, setText } from "./dom.js";
import { count, seconds, stateOf, when } from "./format.js";
import { draw } from "./frame.js";

const STEP = 100; // sessions drawn at first, and with each "Show older"

class Item {
  constructor(href) {
    this.sign = make("span", { className: "sign", "aria-hidden": "true" });
    this.title = make("span", { className: "title" });
    this.meta = make("span", { className: "meta" });
    this.link = make("a", { href }, this.sign, this.title, this.meta);
    this.elapsed = new Elapsed();
  }

  set(title, state, meta) {
    setText(this.sign, stateOf(state).sign);
    setText(this.title, title);
    setText(this.meta, meta);
    this.link.dataset.state = state;
  }
}

// What a session is called, in the list and above its transcript.
export const titleOf = (session) =>
  session.title || session.jobs?.[0]?.command || (session.agent ? "New session" : session.id);

export class List {
  // onMenu(session, title, button): the menu of a session is wanted.
  constructor(onMenu) {
    this.onMenu = onMenu;
    this.element = byId("sessions");
    this.archived = byId("archived");
    this.showArchived = false;
    this.older = byId("older");
    this.beyond = byId("beyond");
    this.sessions = [];
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
    this.folders = shortest(sessions.filter((session) => session.kind !== "recording").map((session) => session.cwd));
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
    this.known = live === undefined ? null : { busy: running, waiting: requests.length, lost: lost !== null };
    draw(this);
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
    return this.sessions.find((session) => session.id === id);
  }

  draw() {
    const listed = this.sessions.filter((session) => !session.archived || this.showArchived || session.id === this.chosen);
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
      if (held.element === before) before = before.nextElementSibling;
      else this.element.insertBefore(held.element, before);
    }
    this.older.hidden = listed.length <= this.shown;
    const archived = this.sessions.filter((session) => session.archived).length;
    this.archived.hidden = archived === 0;
    this.archived.setAttribute("aria-expanded", String(this.showArchived));
    setText(this.archived, this.showArchived ? "Hide archived" : `Show archived (${archived})`);
    this.beyond.hidden = !this.older.hidden || !this.more;
    setText(this.beyond, `${count(this.more, "older job is", "older jobs are")} listed by \`sightline jobs\`.`);
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
    const said = session.kind === "recording" ? "recording" : `${session.archived ? "archived, " : ""}${stateOf(state).word}`;
    const many = running && session.agent ? `${count(running, "job", "jobs")} running` : jobs.length > 1 ? count(jobs.length, "job", "jobs") : "";
    held.item.set(titleOf(session), state, [said, many, this.folders.get(session.cwd), when(session.started)].filter(Boolean).join(" · "));
    held.item.link.title = session.cwd ?? "";
    held.menu.hidden = !session.agent && (session.state !== "running" || session.kind === "recording");
    held.menu.setAttribute("aria-label", `Actions for ${titleOf(session)}`);
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
  const time = seconds(item.elapsed.now, { running: item.elapsed.running });
  const exit = job.state === "failed" && job.exit_code !== null ? ` ${job.exit_code}` : "";
  item.set(job.command, job.state, `${stateOf(job.state).word}${exit} · ${time}`);
}

// Folders by as much of their end as tells them apart.
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
  if (session.agent && session.state === "running") return "idle"; // its jobs are said besides
  if (session.agent) return agent.lost || session.state === "lost" ? "lost" : "ended";
  if (jobs.some((job) => job.state === "running")) return "running";
  return jobs.find((job) => job.state !== "ok")?.state ?? jobs.at(-1)?.state ?? session.state;
}
