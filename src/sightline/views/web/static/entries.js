// The entries of a session other than calls: words, messages, reasoning, remarks.

import { make, setText } from "./dom.js";
import { Markdown } from "./markdown.js";
import { picture } from "./shapes.js";

const LEVELS = { error: "✕ Error", fatal: "✕ Error", warning: "! Warning", notice: "· Note", info: "· Note" };
const HOW = { steer: " · steering", follow_up: " · queued" };
const AUTOMATIC = { todo: "Automatic todo reminder", job: "Automatic job report", summary: "Summary of the conversation so far" };
const REASONING = "sightline.reasoning";

const MAKERS = { message, words, reasoning, remark };

export function makeSaying(entry) {
  if (entry.kind === "message" && entry.source) return automatic(entry);
  return (MAKERS[entry.kind] ?? words)();
}

function message() {
  const who = make("p", { className: "who" });
  const text = make("div", { className: "text" });
  const attached = make("div", { className: "attached" });
  return {
    element: make("section", { className: "saying message" }, who, text, attached),
    update(entry) {
      setText(who, entry.mail ? `Message ${entry.mail}` : entry.agent ? `To ${entry.agent}` : `You${HOW[entry.how] ?? ""}`);
      setText(text, entry.text ?? "");
      const urls = entry.attachments ?? [];
      if (attached.childElementCount !== urls.length) attached.replaceChildren(...urls.map(attachment));
    },
  };
}

// A reminder, a job that ended: the program's words to the model, never the user's. Folded, but for those of another agent.
function automatic({ mail }) {
  const summary = make("summary");
  const text = make("div", { className: "text" });
  return {
    element: make("details", { className: "saying automatic", open: Boolean(mail) }, summary, text),
    update(entry) {
      setText(summary, entry.mail ? `Message ${entry.mail}` : AUTOMATIC[entry.source] ?? `Automatic message of ${entry.source}`);
      setText(text, entry.text ?? "");
    },
  };
}

function attachment(url) {
  const [session, name = ""] = url.replace("artifact://", "").split("/");
  return /\.(png|jpe?g|gif|webp)$/.test(name) ? picture(session, name, name) : make("code", { text: url });
}

// The group they are in shows whose words they are.
function words() {
  const text = new Markdown();
  return {
    element: make("section", { className: "saying words" }, text.element),
    update: (entry) => text.update(entry.text ?? ""),
  };
}

function reasoning() {
  const summary = make("summary", { text: "Reasoning" });
  const text = make("div", { className: "text" });
  return {
    element: make("details", { className: "saying reasoning", open: reasoningIsShown() }, summary, text),
    update(entry) {
      setText(summary, entry.agent ? `Reasoning of ${entry.agent}` : "Reasoning");
      setText(text, entry.text ?? "");
    },
  };
}

export const reasoningIsShown = () => localStorage.getItem(REASONING) === "on";

export function showReasoning(on) {
  localStorage.setItem(REASONING, on ? "on" : "off");
  for (const element of document.querySelectorAll("details.reasoning")) element.open = on;
}

function remark() {
  const level = make("span", { className: "level" });
  const text = make("span", { className: "text" });
  const hint = make("p", { className: "hint" });
  return {
    element: make("section", { className: "saying remark" }, make("p", {}, level, text), hint),
    update(entry) {
      this.element.dataset.level = entry.level ?? "notice";
      setText(level, LEVELS[entry.level] ?? LEVELS.notice);
      setText(text, entry.text ?? "");
      setText(hint, entry.hint ? `hint: ${entry.hint}` : "");
      hint.hidden = !entry.hint;
    },
  };
}
