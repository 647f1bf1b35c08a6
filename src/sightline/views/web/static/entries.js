// What is said in a session, other than calls: words, messages, reasoning, remarks.

import { make, setText } from "./dom.js";

const LEVELS = { error: "✗ Error", warning: "! Warning", notice: "· Note", info: "· Note" };

const MAKERS = {
  message: () => said("message", "You"),
  words: () => said("words", ""),
  reasoning: folded,
  remark,
};

export const makeSaying = (entry) => (MAKERS[entry.kind] ?? said.bind(null, "words", ""))();

function said(kind, speaker) {
  const who = make("p", { className: "who", text: speaker });
  const text = make("div", { className: "text" });
  return {
    element: make("section", { className: `saying ${kind}` }, who, text),
    update(entry) {
      const how = entry.how && entry.how !== "prompt" ? ` (${entry.how})` : "";
      setText(who, kind === "message" ? `${speaker}${how}` : entry.agent ?? "");
      who.hidden = !who.textContent;
      setText(text, entry.text ?? "");
    },
  };
}

function folded() {
  const summary = make("summary", { text: "Reasoning" });
  const text = make("div", { className: "text" });
  return {
    element: make("details", { className: "saying reasoning" }, summary, text),
    update(entry) {
      setText(summary, entry.agent ? `Reasoning of ${entry.agent}` : "Reasoning");
      setText(text, entry.text ?? "");
    },
  };
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
