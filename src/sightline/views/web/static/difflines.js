// A unified diff, read as the console reads one (tty/components/_diff_lines.py): lines with their numbers. Of a hunk's
// header only the numbers are shown; between two hunks is a gap. The counts of a header are believed where they are
// given, so that a removed line `-- x` is not taken for a file's.

const HUNK = /^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@/;
const REDUNDANT = /^(diff |index |new file mode|deleted file mode|similarity index|rename (from|to)|--- )/;
const NONE = "/dev/null";
const KINDS = { "+": "added", "-": "removed", " ": "same" };

function nameOf(before, after, whole) {
  if (after === NONE) return whole ? `${before} (deleted)` : before;
  return whole && before !== NONE && before !== after ? `${before} → ${after}` : after;
}

// What a diff brings, without its signs.
export function addedText(text) {
  const lines = readDiff(text);
  const added = lines.filter((line) => line.kind === "added").map((line) => line.text).join("\n");
  const last = lines.findLastIndex((line) => line.kind === "added");
  return last >= 0 && lines[last + 1]?.kind !== "note" ? `${added}\n` : added; // "No newline at end of file"
}

// `whole`: all there is to know, also of a file's name and mode.
export function readDiff(text, { whole = false } = {}) {
  const lines = [];
  let [old, now, oldLeft, nowLeft] = [0, 0, 0, 0];
  let numbered = false;
  const source = text.replace(/\n$/, "").split("\n");
  for (const [at, line] of source.entries()) {
    const hunk = HUNK.exec(line);
    const inside = oldLeft > 0 || nowLeft > 0;
    if (hunk && !inside) {
      [old, now] = [Number(hunk[1]), Number(hunk[3])];
      [oldLeft, nowLeft] = [Number(hunk[2] ?? 1), Number(hunk[4] ?? 1)];
      numbered = true;
      if (lines.length && lines.at(-1).kind !== "file") lines.push({ kind: "gap", text: "" });
    } else if (!inside && line.startsWith("@@")) {
      if (lines.length && lines.at(-1).kind !== "file") lines.push({ kind: "gap", text: "" });
    } else if (!inside && line.startsWith("--- ") && source[at + 1]?.startsWith("+++ ")) {
      const [before, after] = [line, source[at + 1]].map((one) => one.slice(4).replace(/^[ab]\//, "").split("\t")[0]);
      lines.push({ kind: "file", text: nameOf(before, after, whole) });
      numbered = false;
    } else if (!inside && ((line.startsWith("+++ ") && source[at - 1]?.startsWith("--- ")) || (!whole && REDUNDANT.test(line)))) {
      // shown in the file's line
    } else if (line.startsWith("\\")) {
      lines.push({ kind: "note", text: line.slice(2) });
    } else {
      const kind = KINDS[line[0]] ?? (inside && line === "" ? "same" : "note");
      const number = !numbered || kind === "note" ? undefined : kind === "removed" ? old : now;
      if (kind === "removed" || kind === "same") [old, oldLeft] = [old + 1, oldLeft - 1];
      if (kind === "added" || kind === "same") [now, nowLeft] = [now + 1, nowLeft - 1];
      lines.push({ kind, number, text: kind === "note" ? line : line.slice(1) });
    }
  }
  return lines;
}
