// Where the user talks to the agent. Enter sends; while it works that steers it, and Alt+Enter queues. A line that begins
// with ! is run as a command (!! hides it from the agent), one that begins with / is a command of the page; a space before
// either sends it to the agent. A session that has ended is resumed with a button. What could not be sent stays where it is.

import * as api from "./api.js";
import { commandIn, commandsOf, givenOf, isHosts, run } from "./commands.js";
import { Completion } from "./completion.js";
import { button, byId, make, setText, showProblem } from "./dom.js";
import { when } from "./format.js";
import { announce, toast } from "./announce.js";

const narrow = matchMedia("(max-width: 760px)"); // a longer one would need two lines

export class Talk {
  // actions: { sent(), create(), sessions(), review(), mail() }; sent: something went to the session.
  constructor(actions) {
    this.actions = actions;
    this.form = byId("talk");
    this.input = byId("prompt");
    this.problem = byId("talk-problem");
    this.note = byId("talk-note");
    this.over = byId("talk-over");
    this.queue = byId("queue");
    this.waiting = byId("queued");
    this.drafts = new Map(); // session → text
    this.session = null;
    this.facts = {};
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.send(event.submitter?.id === "send-after" ? "follow_up" : "now");
    });
    this.input.addEventListener("keydown", (event) => this.key(event));
    this.completion = new Completion(this.input, byId("completion"), {
      commands: () => commandsOf(this.facts), given: () => givenOf(this.facts), onRun: () => this.send("now"),
    });
    byId("stop").addEventListener("click", () => this.stop());
    byId("resume").addEventListener("click", () => this.resume());
    byId("unqueue").addEventListener("click", () => this.takeBack());
  }

  choose(session) {
    if (this.session) this.drafts.set(this.session, this.input.value);
    this.session = session;
    this.input.value = this.drafts.get(session) ?? "";
    this.report("");
    this.take({});
  }

  take(facts) {
    this.facts = facts;
    const { talks = false, live = false, running = false, resumable = false, queue = [], lost = null } = facts;
    this.form.hidden = !talks || !live;
    this.over.hidden = !resumable;
    this.over.dataset.state = lost === null ? "ended" : "lost";
    const how = lost === null ? "This session has ended." : `This session ended unexpectedly.${lost ? ` Last activity ${when(lost)}.` : ""}`;
    setText(byId("talk-over-text"), resumable ? how : "");
    setText(byId("talk-over-way"), resumable ? `Resume with: sightline --resume ${this.session}` : "");
    if (!resumable) this.reportResume("");
    byId("stop").hidden = byId("send-after").hidden = !running;
    setText(byId("send"), running ? "Steer" : "Send");
    this.input.placeholder = running ? "Steer the agent, or queue a message" : narrow.matches ? "Ask for something" : "Ask for something, or ! and a command";
    this.focusIfResumed();
    this.queue.hidden = !Array.isArray(queue) || queue.length === 0;
    if (!this.queue.hidden) this.waiting.replaceChildren(...queue.map(queued));
  }

  key(event) {
    if (this.completion.key(event)) return;
    if (event.key === "Escape") this.show("");
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    this.send(event.altKey ? "follow_up" : "now");
  }

  // What is sent while something is on its way waits for it: the order is that of the keys. Enter twice sends once.
  async send(when) {
    const { session, sending: before } = this;
    const written = this.input.value;
    this.completion.close();
    if (!written.trim() || !session || before?.written === written) return;
    const sending = { written, sent: this.sendAfter(before, session, written, when) };
    this.sending = sending;
    await sending.sent;
    if (this.sending === sending) this.sending = null;
  }

  // Whether it was sent. What could not be comes back before what is being written, and nothing overtakes it.
  async sendAfter(before, session, written, when) {
    if (before && !(await before.sent)) return false;
    this.report("");
    try {
      await this.sendTo(session, written, when);
    } catch (error) {
      if (this.session === session && this.input.value !== written) this.restore([written]);
      this.report(error.message);
      return false;
    }
    if (this.session !== session) this.drafts.delete(session);
    else if (this.input.value === written) this.input.value = "";
    return true;
  }

  async sendTo(session, written, when) {
    const command = commandIn(written);
    if (command && !isHosts(command, this.facts)) {
      await this.run(command, session);
      return;
    }
    const shell = written.match(/^(!!?)\s*([\s\S]+)/);
    const how = this.facts.running ? (when === "now" ? "steer" : when) : "prompt";
    if (shell) await api.shell(session, shell[2].trimEnd(), shell[1] === "!!");
    else await api.prompt(session, written.trim(), how);
    this.actions.sent();
  }

  // The field is empty while it is done: what a command gives back stands there alone.
  async run(command, session) {
    const { create, sessions, review, mail } = this.actions;
    const actions = { create, sessions, review, mail, stop: () => this.stop(), unqueue: () => this.takeBack() };
    this.input.value = "";
    this.show(await run(command, { session, facts: this.facts, actions }));
  }

  // The result of a command: a text, or the list of commands.
  show(result) {
    if (result.help) this.note.replaceChildren(...helpFor(result.help, () => this.closeHelp()));
    else setText(this.note, result);
    this.note.hidden = !result;
    if (result) announce(result.help ? `${result.help.length} commands` : result);
  }

  closeHelp() {
    this.show("");
    this.focus();
  }

  async resume() {
    const { session } = this;
    byId("resume").disabled = true;
    this.reportResume("");
    try {
      await api.resume(session);
      this.resumed = session;
      this.focusIfResumed();
    } catch (error) {
      this.reportResume(error.message);
    } finally {
      byId("resume").disabled = false;
    }
  }

  // Whichever is heard first: that it was resumed, or that it is live.
  focusIfResumed() {
    if (this.resumed !== this.session || !this.usable) return;
    this.resumed = null;
    const { activeElement } = document; // the button is hidden by now, or still has it; elsewhere the user is at work
    if (activeElement === document.body || activeElement === byId("resume")) this.focus();
  }

  reportResume(text) {
    showProblem(byId("resume-problem"), text);
  }

  async stop() {
    try {
      const { data } = await api.abort(this.session);
      this.restore(data?.queued);
      toast("Stopped.");
    } catch (error) {
      this.report(error.message);
    }
    this.input.focus();
  }

  async takeBack() {
    try {
      const { data } = await api.unqueue(this.session);
      this.restore(data?.queued);
    } catch (error) {
      this.report(error.message);
    }
    this.input.focus();
  }

  // What was queued comes before what is being written.
  restore(queued) {
    const texts = (Array.isArray(queued) ? queued : []).map((one) => (typeof one === "string" ? one : one?.text)).filter(Boolean);
    if (texts.length) this.input.value = [...texts, this.input.value].filter(Boolean).join("\n\n");
  }

  // A text for the user to read and send, after what is being written.
  add(text) {
    this.input.value = [this.input.value, text].filter(Boolean).join("\n\n");
    this.focus();
  }

  report(text) {
    showProblem(this.problem, text);
    this.show("");
  }

  // What could not be sent when its session began.
  offer(session, text, problem) {
    if (this.session !== session) this.drafts.set(session, text);
    else {
      this.input.value = text;
      this.report(problem);
    }
  }

  get usable() {
    return !this.form.hidden;
  }

  focus() {
    this.input.focus();
  }
}

function helpFor(commands, close) {
  const rows = commands.flatMap(({ name, args, about }) =>
    [make("dt", {}, make("code", { text: `/${name}${args ? ` ${args}` : ""}` })), make("dd", { text: about })]);
  return [make("div", { className: "help", tabindex: "0", role: "region", "aria-label": "Commands on this page" }, make("dl", {}, ...rows),
    make("p", { text: "The console's other commands work there only. Keys: ? outside of a field." })), button("Close", close, { className: "quiet" })];
}

function queued({ text = "", how = "" }) {
  const when = how === "steer" ? "steering" : "queued";
  return make("li", {}, make("span", { className: "when", text: when }), make("span", { text: text.split("\n")[0] }));
}
