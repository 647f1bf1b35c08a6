// The messages between agents as one conversation, and a form to write one. The last ones come by themselves; earlier ones,
// and the whole of a long one, are asked for. A message has an address of its own: #session&mail=m3.

import * as api from "./api.js";
import { addressOfMail } from "./agents.js";
import { announce, toast } from "./announce.js";
import { button, byId, make, setText, showProblem } from "./dom.js";
import { count, digits, whenShort } from "./format.js";

const ALL = "*"; // no path of an agent

class Message {
  constructor(panel, body) {
    this.panel = panel;
    this.from = make("b");
    this.to = make("span", { className: "to" });
    this.link = make("a", { className: "id", text: body.id, href: addressOfMail(panel.session, body.id), "aria-label": `Link to message ${body.id}` });
    this.facts = make("span", { className: "facts" });
    this.when = make("time", { text: whenShort(body.time) });
    this.answer = button("Answer", () => panel.startAnswer(this.body), { className: "quiet", "aria-label": `Answer ${body.id}` });
    this.text = make("p", { className: "text" });
    this.more = button("", () => this.showAll(), { className: "quiet", hidden: true });
    this.element = make("li", { tabindex: "-1", id: `mail-${body.id}` },
      make("p", { className: "head" }, this.when, " ", this.from, " → ", this.to, " ", this.link, " ", this.facts, this.answer), this.text, this.more);
    this.take(body);
  }

  // What was asked for whole stays whole; what became of it may be news.
  take(body) {
    const known = this.body;
    this.body = known?.whole && !body.whole ? { ...body, text: known.text, whole: true } : body;
    const { by_user: byUser, from, to, to_all: toAll, paths, reply_to: about, standing, readers, text, whole, length } = this.body;
    setText(this.from, byUser ? "You" : from);
    const left = toAll ? 0 : Math.max(paths.length - to.length, 0);
    setText(this.to, [...to, ...(left ? [`${left} more`] : [])].join(", "));
    setText(this.facts, [about && `answers ${about}`, standing].filter(Boolean).join(" · "));
    this.facts.title = readers.join("\n");
    setText(this.text, text);
    this.more.hidden = whole;
    if (!whole) setText(this.more, `Show all ${digits(length)} characters`);
    this.answer.hidden = !this.panel.live;
  }

  async showAll() {
    try {
      this.take(await api.oneMail(this.panel.session, this.body.id));
      this.element.focus({ preventScroll: true }); // the button is gone
    } catch (error) {
      toast(error.message);
    }
  }
}

export class Mail {
  constructor() {
    this.panel = byId("mail");
    this.title = byId("mail-title");
    this.list = byId("mail-list");
    this.older = byId("mail-older");
    this.form = byId("mail-form");
    this.to = byId("mail-to");
    this.input = byId("mail-text");
    this.about = byId("mail-about");
    this.problem = byId("mail-problem");
    this.older.addEventListener("click", () => this.loadOlder());
    byId("mail-new").addEventListener("click", () => this.startAnswer(null));
    this.form.addEventListener("submit", (event) => {
      event.preventDefault(); // the page stays
      this.send();
    });
    this.to.addEventListener("change", () => this.showAbout());
    this.panel.addEventListener("toggle", () => this.toEnd());
    this.choose(null);
  }

  choose(session) {
    this.session = session;
    this.held = new Map(); // place → Message
    this.first = 0; // place of the first one that is here
    this.total = 0;
    this.live = false;
    this.answered = null;
    this.wanted = ""; // the id of a message the address names
    this.loading = false; // earlier ones
    this.panel.open = false;
    this.input.value = "";
    this.list.replaceChildren();
    showProblem(this.problem, "");
    this.know({});
  }

  know({ live = false, agents = [], mail = {} }) {
    this.live = live;
    const { messages = 0, unread = 0 } = mail;
    const takers = agents.filter((agent) => agent.talks);
    const wasHidden = this.panel.hidden;
    this.panel.hidden = messages === 0 && takers.length === 0;
    if (wasHidden && !this.panel.hidden) this.toEnd();
    setText(this.title, ["Mail", messages && count(messages, "message", "messages"), unread && `${unread} unread`].filter(Boolean).join(" · "));
    this.form.hidden = !live;
    const choices = [["", "Main"], ...takers.map(({ path }) => [path, path]), ...(takers.length ? [[ALL, "all agents"]] : [])];
    const chosen = this.to.value;
    if ([...this.to.options].map((option) => option.value).join("\n") !== choices.map(([value]) => value).join("\n")) {
      this.to.replaceChildren(...choices.map(([value, text]) => make("option", { value, text })));
      this.to.value = choices.some(([value]) => value === chosen) ? chosen : "";
    }
    for (const message of this.held.values()) message.answer.hidden = !live;
    this.showAbout();
  }

  take({ reset = false, total = 0, messages = [] }) {
    const follows = this.list.scrollTop + this.list.clientHeight >= this.list.scrollHeight - 40;
    if (reset) {
      this.held.clear();
      this.list.replaceChildren();
      this.first = messages[0]?.n ?? total;
    }
    this.total = total;
    for (const body of messages) if (body.n >= this.first) this.put(body);
    this.older.hidden = this.first === 0;
    if (follows) this.toEnd();
    if (this.wanted && this.panel.open && !this.loading) this.reveal(this.wanted);
  }

  put(body) {
    const known = this.held.get(body.n);
    if (known) {
      known.take(body);
      return;
    }
    const message = new Message(this, body);
    this.held.set(body.n, message);
    const after = [...this.list.children].find((element) => Number(element.dataset.n) > body.n) ?? null;
    message.element.dataset.n = body.n;
    if (this.list.lastElementChild && after === null) this.list.append(message.element);
    else this.list.insertBefore(message.element, after);
  }

  toEnd() {
    this.list.scrollTop = this.list.scrollHeight;
  }

  async loadOlder() {
    const { session } = this;
    const before = this.list.scrollHeight - this.list.scrollTop;
    this.loading = true;
    try {
      const { messages, total } = await api.mail(session, this.first);
      if (session !== this.session) return false;
      this.first = messages[0]?.n ?? 0;
      this.take({ total, messages });
      this.list.scrollTop = this.list.scrollHeight - before; // what is in sight stays there
    } catch (error) {
      toast(error.message);
      return false;
    } finally {
      this.loading = false;
    }
    return true;
  }

  // Opens the panel; with an id, at that message, which may have to be asked for.
  async reveal(id) {
    this.panel.open = true;
    this.wanted = id;
    if (!id) return this.toEnd();
    let found;
    while (!(found = [...this.held.values()].find((each) => each.body.id === id))) {
      if (this.first === 0 || !(await this.loadOlder())) return undefined; // it may come yet
    }
    this.wanted = "";
    found.element.scrollIntoView({ block: "nearest" });
    return found.element.focus({ preventScroll: true });
  }

  // An answer goes to the sender; of the user's own message to those it was for. Null: no answer.
  startAnswer(body) {
    this.answered = body;
    if (body) this.to.value = this.recipientOf(body);
    if (this.to.selectedIndex < 0) this.to.value = "";
    this.showAbout();
    this.input.focus();
  }

  recipientOf({ by_user: byUser, to_all: toAll, paths, sender }) {
    if (!byUser) return sender;
    return toAll ? ALL : paths[0] ?? "";
  }

  get replyTo() {
    return this.answered && this.to.value === this.recipientOf(this.answered) ? this.answered.id : "";
  }

  showAbout() {
    const { replyTo } = this;
    setText(this.about, replyTo ? `answers ${replyTo}` : "");
    byId("mail-new").hidden = !replyTo;
  }

  // What could not be sent stays where it is.
  async send() {
    const { session, replyTo } = this;
    const text = this.input.value;
    if (!text.trim() || !session) return;
    const toAll = this.to.value === ALL;
    this.input.value = "";
    showProblem(this.problem, "");
    try {
      const { data } = await api.sendMail(session, { text, agent: toAll ? "" : this.to.value, to_all: toAll, reply_to: replyTo });
      announce(`Sent: ${(data?.receipts ?? []).map(({ to, outcome }) => `${to} ${outcome}`).join(", ")}`);
      this.startAnswer(null);
      this.toEnd();
    } catch (error) {
      this.input.value ||= text;
      showProblem(this.problem, error.message);
    }
  }
}
