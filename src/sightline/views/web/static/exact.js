// Text a person answers for, with nothing in it that cannot be seen: what is drawn as nothing or as a blank has a sign,
// and every line its number, so that one that is wrapped does not pass for two. `visible` is that of text/_visible.py,
// which has the reason; a test holds that they agree.

import { readDiff } from "./difflines.js";
import { make } from "./dom.js";

const BLANKS_AS_DOTS = 16;
const INDENT_AT_MOST = 40;
const BLANK_LETTERS = "\\u034f\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180d\\u180f\\u2800\\u2d7f\\u3164\\ufe00-\\ufe0f\\uffa0\\ufffc"
  + "\\u{1107f}\\u{13441}\\u{13442}\\u{16fe4}\\u{1d159}\\u{e0100}-\\u{e01ef}";
const PILED = "(?<=\\p{M}{4})\\p{M}";
const OF_ANOTHER_SCRIPT = "(?<![^\\u0000-\\u007f])(?![\\u0300-\\u036f\\u1ab0-\\u1aff\\u1dc0-\\u1dff\\u20d0-\\u20ff\\ufe20-\\ufe2f])\\p{M}";
const UNSEEN = new RegExp(`[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Co}\\p{Cn}\\p{Zl}\\p{Zp}\\p{Zs}\\p{Default_Ignorable_Code_Point}${BLANK_LETTERS}]|${PILED}|${OF_ANOTHER_SCRIPT}`, "gu");
const LEFTWARD = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/gu;
const JOINED = /(?<=[\p{So}\p{Sk}\ufe0f])\u200d(?=[\p{So}\p{Sk}])|(?<=[\p{So}\p{Sk}])\ufe0f/gu;
const BLANKS = /\t|^ +| +$| {2,}/g;
const SIGNS = /(⟨[^⟨⟩]{1,20}⟩|[␀-␟␡]+|·+|→ {3})/;
const SIGN_OF = { added: "+", removed: "-", same: " " };

const numbered = (character) => `⟨U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`;

// Whether something in a line is written from left to right, too.
const isMixed = (line) => /[\p{L}\p{N}]/u.test(line.replace(LEFTWARD, ""));

export function visible(text) {
  const emoji = new Set([...text.matchAll(JOINED)].map((match) => match.index));
  const shown = text.replace(UNSEEN, (character, at) => {
    if (character === " " || character === "\n" || character === "\t" || emoji.has(at)) return character;
    const point = character.codePointAt(0);
    if (point < 0x20) return String.fromCodePoint(0x2400 + point);
    return point === 0x7f ? "␡" : numbered(character);
  });
  return shown.split("\n").map((line) => (isMixed(line) ? line.replace(LEFTWARD, numbered) : line)).join("\n");
}

export function markBlanks(line) {
  return line.replace(BLANKS, (run, at) => {
    if (run === "\t") return "→   ";
    if (at === 0 && run.length < line.length && run.length <= INDENT_AT_MOST) return run;
    return run.length <= BLANKS_AS_DOTS ? "·".repeat(run.length) : `⟨${run.length} spaces⟩`;
  });
}

const signed = (line) => markBlanks(line).split(SIGNS).filter(Boolean).map((part) =>
  (SIGNS.test(part) ? make("span", { className: /^[·→]/.test(part) ? "blank" : "unseen", text: part }) : part));

export function exactText(text, className) {
  const lines = visible(text).split("\n");
  const rows = lines.map((line, n) => make("span", { className: "exact-line", "data-n": lines.length > 1 ? n + 1 : undefined }, ...signed(line)));
  return make("pre", { className: `exact ${className}` }, ...rows);
}

// `path`: the file that is named beside it; where the diff is of that one alone, it is not named again.
export function exactDiff(text, path = "") {
  const lines = readDiff(visible(text), { whole: true });
  const names = lines.filter((line) => line.kind === "file").map((line) => line.text);
  const isNamed = names.length === 1 && names[0] && `/${visible(path)}`.endsWith(`/${names[0].replace(/^\//, "")}`);
  const rows = lines.filter((line) => !(isNamed && line.kind === "file")).map(({ kind, number, text: content }) =>
    make("span", { className: `exact-line ${kind}`, "data-n": number, role: kind === "gap" ? "separator" : undefined },
      SIGN_OF[kind] ?? "", ...signed(content)));
  return make("pre", { className: "exact diff" }, ...rows);
}
