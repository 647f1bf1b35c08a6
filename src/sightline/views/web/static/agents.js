// Subagents: everything one of them does is in one group, where its first entry stands. Folded, a group shows the last
// things it did; what a person chose stays. Each has an address of its own, and one that takes messages a field for them.

import * as api from "./api.js";
import { Elapsed, startTicking, stopTicking } from "./clock.js";
import { button, make, setText, showProblem } from "./dom.js";
import { count, seconds, stateOf } from "./format.js";

const SHOWN_FOLDED = 3;
const LASTING = new Set(["idle", "parked", "aborted"]); // states of an agent that takes, or took, one prompt after the other

let made = 0;

// The address of an agent on this page, and the other way round.
export const addressOf = (session, path) => `#${encodeURIComponent(session)}&agent=${encodeURIComponent(path)}`;

// That of a message between agents; without an id, of all of them.
export const addressOfMail = (session, id = "") => `#${encodeURIComponent(session)}&mail${id && `=${encodeURIComponent(id)}`}`;

// `mail`: the id of a message, empty for all of them; null where the address is about something else.
export function namedIn(hash) {
  const [named, agent = ""] = hash.slice(1).split("&agent=");
  const [session, mail = null] = named.split(/&mail(?:=|$)/);
  return { named: decodeURIComponent(session), agent: decodeURIComponent(agent), mail: mail && decodeURIComponent(mail) };
}

class Group {
  constructor(path, session) {
    made += 1;
    this.path = path;
    this.session = session;
    this.lines = new Map(); // place of an entry → its text in one line
    this.calls = new Set();
    this.elapsed = new Elapsed();
    this.fold = button("", () => this.setFolded(!this.folded), { className: "fold", "aria-controls": `agent${made}` });
    this.name = make("span", { className: "agent-name", text: path });
    this.task = make("span", { className: "task" });
    this.sign = make("span", { className: "sign", "aria-hidden": "true" });
    this.facts = make("span", { className: "facts" });
    this.activity = make("ol", { className: "activity", "aria-label": `What ${path} did last` });
    this.entries = make("div", { className: "entries", id: `agent${made}` });
    this.link = make("a", { className: "link-to", text: "#", href: addressOf(session, path), "aria-label": `Link to ${path}` });
    this.message = make("input", { type: "text", "aria-label": `Message to ${path}`, placeholder: `Message to ${path}`, autocomplete: "off" });
    this.form = make("form", { className: "to-agent", hidden: true }, this.message, make("button", { type: "submit", text: "Send" }));
    this.form.addEventListener("submit", (event) => {
      event.preventDefault(); // the page stays
      this.send();
    });
    this.stop = button("Stop", () => this.stopIt(), { className: "stop-agent", hidden: true, "aria-label": `Stop ${path}` });
    this.problem = make("p", { className: "problem", role: "alert", hidden: true });
    const title = make("h3", { id: `agent${made}-title` }, this.name, this.task);
    this.element = make("section", { className: "agent", "aria-labelledby": `agent${made}-title` },
      make("header", {}, this.fold, title, this.link, this.form, this.stop, make("p", { className: "standing" }, this.sign, this.facts)),
      this.problem, this.activity, this.entries);
    this.setFolded(true);
  }

  setFolded(folded) {
    this.folded = folded;
    this.entries.hidden = folded;
    this.activity.hidden = !folded;
    this.element.classList.toggle("folded", folded);
    this.fold.setAttribute("aria-expanded", String(!folded));
    this.fold.setAttribute("aria-label", `${folded ? "Unfold" : "Fold"}: ${this.path}`);
  }

  // Steers it while it works, and wakes it when it rests. What could not be sent stays where it is.
  async send() {
    const text = this.message.value;
    if (!text.trim()) return;
    this.message.value = "";
    showProblem(this.problem, "");
    try {
      await api.prompt(this.session, text, "prompt", this.path);
    } catch (error) {
      this.message.value ||= text;
      showProblem(this.problem, error.message);
    }
  }

  // With those it started; it stays, and takes messages.
  async stopIt() {
    showProblem(this.problem, "");
    try {
      await api.abort(this.session, this.path);
    } catch (error) {
      showProblem(this.problem, error.message);
    }
  }

  note(place, entry) {
    if (entry.kind === "call") this.calls.add(entry.id);
    this.lines.set(place, lineOf(entry));
    this.drawActivity();
    this.drawFacts();
  }

  forget(place) {
    this.lines.delete(place);
    this.drawActivity();
  }

  drawActivity() {
    const last = [...this.lines].sort(([a], [b]) => a - b).slice(-SHOWN_FOLDED);
    this.activity.replaceChildren(...last.map(([, text]) => make("li", { text })));
  }

  know(agent) {
    if (this.agent?.running && !agent.running) stopTicking(this);
    if (!this.agent?.running && agent.running) startTicking(this);
    if (agent.aside && !this.agent) this.setFolded(false); // a user waits for the answer
    this.agent = agent;
    if (agent.aside) setText(this.name, `Side question ${this.path}`);
    else if (agent.name && agent.name !== this.path) setText(this.name, `${agent.name} (${this.path})`);
    setText(this.task, agent.task);
    this.form.hidden = !agent.talks;
    this.stop.hidden = !agent.running || !(agent.talks || agent.aside);
    const began = agent.started ? (agent.ended || Date.now() / 1000) - agent.started : 0;
    if (began) this.elapsed.set(Math.max(0, began), agent.running);
    this.drawFacts();
  }

  drawFacts() {
    const { running, is_error: failed, stopped, state = "", model = "", unread = 0, copy = "" } = this.agent ?? {};
    const isFailed = failed && (state === "idle" || !LASTING.has(state)); // what it did last; it may take more
    const ended = isFailed ? "failed" : stopped ? "stopped" : LASTING.has(state) ? state : "ok";
    this.element.dataset.state = running === false ? ended : "running";
    const { sign, word } = stateOf(this.element.dataset.state);
    setText(this.sign, sign);
    const time = this.elapsed.value ? seconds(this.elapsed.now) : "";
    const messages = unread ? `${unread} unread` : "";
    const rests = (isFailed || stopped) && running === false && LASTING.has(state) ? state : "";
    const facts = [word, rests, count(this.calls.size, "call", "calls"), time, model, copy, messages];
    setText(this.facts, facts.filter(Boolean).join(" · "));
  }

  tick() {
    this.drawFacts();
  }
}

function lineOf(entry) {
  if (entry.kind === "call") return `${stateOf(entry.state).sign} ${entry.name} ${entry.command || entry.arg || ""}`.slice(0, 160);
  return (entry.text ?? "").trim().split("\n").at(-1).slice(0, 160);
}

export class Agents {
  constructor(root, insert, session) {
    this.root = root;
    this.session = session; // () → the id of the session that is shown
    this.insert = insert; // (place, element, container)
    this.groups = new Map(); // path → Group
    this.known = new Map(); // path → what is known of the agent
  }

  // Where entries of an agent go. One at another's call is in that one's group.
  container(path, place) {
    if (!path) return this.root;
    const held = this.groups.get(path);
    if (held) return held.entries;
    const group = new Group(path, this.session());
    this.groups.set(path, group);
    group.element.dataset.n = place;
    if (this.known.has(path)) group.know(this.known.get(path));
    this.insert(place, group.element, this.container(path.split("/").slice(0, -1).join("/"), place));
    return group.entries;
  }

  note(path, place, entry) {
    this.groups.get(path)?.note(place, entry);
  }

  forget(path, place) {
    this.groups.get(path)?.forget(place);
  }

  know(agents) {
    for (const agent of agents) {
      this.known.set(agent.path, agent);
      this.groups.get(agent.path)?.know(agent);
    }
  }

  // What an element is in is opened, so that it can be seen.
  open(element) {
    for (const group of this.groups.values()) if (group.entries.contains(element)) group.setFolded(false);
  }

  // Opens the group of an agent, and what that is in. Its group, when there is one.
  unfold(path) {
    const group = this.groups.get(path);
    if (!group) return null;
    this.open(group.element);
    group.setFolded(false);
    return group;
  }

  clear() {
    for (const group of this.groups.values()) {
      stopTicking(group);
      group.element.remove();
    }
    this.groups.clear();
    this.known.clear();
  }
}
