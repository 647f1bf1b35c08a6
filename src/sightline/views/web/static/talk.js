// Where the user talks to the agent. Enter sends; while it works that steers it, and Alt+Enter queues. A line that begins
// with ! is run as a command (!! keeps it from the agent). A session that has ended is resumed with a button. What could not be sent stays where it is.

import * as api from "./api.js";
import { byId, make, setText } from "./dom.js";
import { toast } from "./say.js";

const narrow = matchMedia("(max-width: 760px)"); // a longer one would need two lines

export class Talk {
  constructor() {
    this.form = byId("talk");
    this.input = byId("prompt");
    this.problem = byId("talk-problem");
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
    byId("stop").addEventListener("click", () => this.stop());
    byId("resume").addEventListener("click", () => this.resume());
    byId("unqueue").addEventListener("click", () => this.takeBack());
  }

  choose(session) {
    if (this.session) this.drafts.set(this.session, this.input.value);
    this.session = session;
    this.input.value = this.drafts.get(session) ?? "";
    this.tell("");
    this.take({});
  }

  take(facts) {
    this.facts = facts;
    const { talks = false, live = false, running = false, resumable = false, queue = [] } = facts;
    this.form.hidden = !talks || !live;
    this.over.hidden = !resumable;
    setText(byId("talk-over-text"), resumable ? `This session has ended. In a terminal: sightline --resume ${this.session}` : "");
    if (!resumable) this.tellResume("");
    byId("stop").hidden = byId("send-after").hidden = !running;
    setText(byId("send"), running ? "Steer" : "Send");
    this.input.placeholder = running ? "Steer the agent, or queue a message" : narrow.matches ? "Ask for something" : "Ask for something, or ! and a command";
    if (this.wantsFocus && live) {
      this.wantsFocus = false;
      this.input.focus();
    }
    this.queue.hidden = !Array.isArray(queue) || queue.length === 0;
    if (!this.queue.hidden) this.waiting.replaceChildren(...queue.map(queued));
  }

  key(event) {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    this.send(event.altKey ? "follow_up" : "now");
  }

  async send(when) {
    const { session } = this;
    const text = this.input.value.trim();
    if (!text || !session || this.sending) return;
    const how = this.facts.running ? (when === "now" ? "steer" : when) : "prompt";
    this.sending = true;
    this.tell("");
    try {
      const command = text.match(/^(!!?)\s*([\s\S]+)/);
      if (command) await api.shell(session, command[2], command[1] === "!!");
      else await api.prompt(session, text, how);
      if (this.session !== session) this.drafts.delete(session);
      else if (this.input.value.trim() === text) this.input.value = "";
    } catch (error) {
      this.tell(error.message);
    } finally {
      this.sending = false;
    }
  }

  async resume() {
    const { session } = this;
    byId("resume").disabled = true;
    this.tellResume("");
    try {
      await api.resume(session);
      if (this.session === session) this.wantsFocus = true;
    } catch (error) {
      this.tellResume(error.message);
    } finally {
      byId("resume").disabled = false;
    }
  }

  tellResume(text) {
    setText(byId("resume-problem"), text);
    byId("resume-problem").hidden = !text;
  }

  async stop() {
    try {
      const { data } = await api.abort(this.session);
      this.giveBack(data?.queued);
      toast("Stopped.");
    } catch (error) {
      this.tell(error.message);
    }
    this.input.focus();
  }

  async takeBack() {
    try {
      const { data } = await api.unqueue(this.session);
      this.giveBack(data?.queued);
    } catch (error) {
      this.tell(error.message);
    }
    this.input.focus();
  }

  // What was queued comes before what is being written.
  giveBack(queued) {
    const texts = (Array.isArray(queued) ? queued : []).map((one) => (typeof one === "string" ? one : one?.text)).filter(Boolean);
    if (texts.length) this.input.value = [...texts, this.input.value].filter(Boolean).join("\n\n");
  }

  tell(text) {
    setText(this.problem, text);
    this.problem.hidden = !text;
  }

  // What could not be sent when its session began.
  offer(session, text, problem) {
    if (this.session !== session) this.drafts.set(session, text);
    else {
      this.input.value = text;
      this.tell(problem);
    }
  }

  get usable() {
    return !this.form.hidden;
  }

  focus() {
    this.input.focus();
  }
}

function queued({ text = "", how = "" }) {
  const when = how === "steer" ? "steering" : "queued";
  return make("li", {}, make("span", { className: "when", text: when }), make("span", { text: text.split("\n")[0] }));
}
