// Syntax in colour, line by line: the console's own highlighter (tty/components/_highlight.py) with its languages. A test
// holds that the two agree.

import { make } from "./dom.js";
import { ALIASES, LANGUAGES } from "./languages.js";

const NUMBER = "\\b(?:0[xX][\\da-fA-F_]+|0[bBoO][\\d_]+|\\d[\\d_]*(?:\\.[\\d_]+)?(?:[eE][+-]?\\d+)?)\\w*";
const WORD = "[^\\W\\d]\\w*";
const LONGEST = 2000; // characters of a line that is coloured

const compiled = new Map();

// The highlighter for what stands behind a fence or a file's last dot; null when the language is unknown.
export function highlighter(language) {
  const name = language.toLowerCase().replace(/^[{.]+|[}]+$/g, "");
  const known = Object.hasOwn(ALIASES, name) ? ALIASES[name] : name;
  if (!compiled.has(known)) compiled.set(known, compile(known));
  return compiled.get(known);
}

export const languageOf = (path) => /\.([^./]+)(?::[\d,-]+)?$/.exec(path)?.[1] ?? "";

function compile(name) {
  if (!Object.hasOwn(LANGUAGES, name)) return null;
  try {
    return new Highlighter(LANGUAGES[name]);
  } catch {
    return null; // a pattern this browser cannot read: the text is plain
  }
}

class Highlighter {
  constructor(language) {
    this.words = new Map(Object.entries(language.words).flatMap(([role, words]) => words.split(/\s+/).filter(Boolean).map((word) => [word, role])));
    this.lower = language.ignore_case;
    this.types = language.types;
    this.roles = {};
    this.ends = {};
    const parts = language.patterns.map(([role, pattern], n) => this.pattern(`p${n}`, role, pattern));
    language.blocks.forEach(([role, begin, end], n) => {
      const inside = role === "syntax_string" ? "(?:\\\\.|[^\\\\])*?" : ".*?";
      parts.push(this.pattern(`b${n}`, role, `${begin}${inside}${end}`), this.pattern(`open${n}`, role, `${begin}.*`));
      this.ends[`open${n}`] = new RegExp(inside + end, "y");
    });
    language.strings.forEach((rule, n) => parts.push(this.pattern(`s${n}`, "syntax_string", rule)));
    if (language.numbers) parts.push(this.pattern("number", "syntax_number", NUMBER));
    if (this.words.size || this.types) {
      const word = language.word || WORD;
      parts.push(this.pattern("call", "syntax_function", `${word}(?=\\()`), this.pattern("word", "", word));
    }
    this.scan = new RegExp(parts.join("|"), "g");
  }

  pattern(name, role, pattern) {
    this.roles[name] = role;
    return `(?<${name}>${pattern})`;
  }

  // The tokens of a line that begins in `state`, each [role, text], and the state it ends in.
  line(text, state) {
    if (text.length > LONGEST) return [[["", text]], ""];
    const tokens = [];
    let at = 0;
    if (state) {
      this.ends[state].lastIndex = 0;
      const end = this.ends[state].exec(text);
      if (!end) return [[[this.roles[state], text]], state];
      at = end[0].length;
      tokens.push([this.roles[state], end[0]]);
    }
    let open = "";
    this.scan.lastIndex = at;
    for (let match = this.scan.exec(text); match; match = this.scan.exec(text)) {
      const found = match[0];
      if (!found) {
        this.scan.lastIndex += 1;
        continue;
      }
      const name = Object.keys(match.groups).find((key) => match.groups[key] !== undefined);
      const role = name === "word" || name === "call" ? this.word(found, this.roles[name]) : this.roles[name];
      if (!role) continue;
      if (match.index > at) tokens.push(["", text.slice(at, match.index)]);
      tokens.push([role, found]);
      at = match.index + found.length;
      if (name in this.ends) open = name;
    }
    if (at < text.length || !tokens.length) tokens.push(["", text.slice(at)]);
    return [tokens, open];
  }

  word(word, role) {
    const known = this.words.get(this.lower ? word.toLowerCase() : word);
    if (known !== undefined) return known;
    const capital = word[0] !== word[0].toLowerCase();
    if (this.types && capital && !(word.length > 1 && word === word.toUpperCase())) return "syntax_type";
    return role;
  }
}

// The lines of a text as nodes: text and coloured spans.
export function coloured(lines, language) {
  const known = language && highlighter(language);
  if (!known) return lines.map((line) => [line]);
  let state = "";
  return lines.map((line) => {
    const [tokens, next] = known.line(line, state);
    state = next;
    return tokens.map(([role, text]) => (role ? make("span", { className: role, text }) : text));
  });
}
