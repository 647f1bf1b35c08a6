// The list of sessions and their jobs. Items are kept by id and changed in place, so that focus and scroll stay.

import { Elapsed, startTicking } from "./clock.js";
import { byId, make, setText } from "./dom.js";
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

export class List {
  constructor() {
    this.element = byId("sessions");
    this.older = byId("older");
    this.beyond = byId("beyond");
    this.sessions = [];
    this.shown = STEP;
    this.chosen = null;
    this.items = new Map(); // session id → { item, element, jobs }
    this.older.addEventListener("click", () => {
      this.shown += STEP;
      draw(this);
    });
    startTicking(this);
  }

  take({ sessions, more = 0 }) {
    this.sessions = sessions;
    this.more = more;
    this.at = performance.now();
    draw(this);
  }

  choose(id) {
    this.chosen = id;
    draw(this);
  }

  find(id) {
    return this.sessions.find((session) => session.id === id);
  }

  draw() {
    const shown = this.sessions.slice(0, this.shown);
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
    this.older.hidden = this.sessions.length <= this.shown;
    this.beyond.hidden = !this.older.hidden || !this.more;
    setText(this.beyond, `${count(this.more, "older job is", "older jobs are")} listed by \`sightline jobs\`.`);
  }

  make(id) {
    const item = new Item(`#${id}`);
    const jobs = make("ol", { className: "jobs" });
    const held = { item, jobs, element: make("li", {}, item.link, jobs), jobItems: new Map() };
    this.items.set(id, held);
    return held;
  }

  update(held, session) {
    const jobs = session.jobs ?? [];
    const state = standing(session, jobs);
    const title = session.title || jobs[0]?.command || (session.agent ? "New conversation" : session.id);
    const running = jobs.filter((job) => job.state === "running").length;
    const said = session.kind === "recording" ? "recording" : running ? `${running} running` : stateOf(state).word;
    const many = jobs.length > 1 ? count(jobs.length, "job", "jobs") : "";
    held.item.set(title, state, [said, many, when(session.started)].filter(Boolean).join(" · "));
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

// A session stands as its worst: something running, else something failed, else how its last job ended.
function standing(session, jobs) {
  if (session.kind === "recording") return "ended";
  if (jobs.some((job) => job.state === "running")) return "running";
  if (session.agent) return session.state === "running" ? "open" : "ended";
  return jobs.find((job) => job.state !== "ok")?.state ?? jobs.at(-1)?.state ?? session.state;
}
