// xterm.js without a screen.
//
// The grapheme addon reads its tables from a pooled Buffer at offset 0 and so takes every emoji for one cell; without a
// Buffer in sight it decodes them itself. Writing goes through the core's synchronous door: the public one waits for a
// timer at every write.
export function load(packages) {
  const { Terminal } = packages("@xterm/headless");
  const { Buffer } = globalThis;
  globalThis.Buffer = undefined;
  let UnicodeGraphemesAddon;
  try {
    ({ UnicodeGraphemesAddon } = packages("@xterm/addon-unicode-graphemes"));
  } finally {
    globalThis.Buffer = Buffer;
  }
  return (columns, rows, scrollback) => {
    const terminal = new Terminal({ cols: columns, rows, scrollback, allowProposedApi: true, logLevel: "off" });
    terminal.loadAddon(new UnicodeGraphemesAddon());
    return new Xterm(terminal);
  };
}

class Xterm {
  constructor(terminal) {
    this.terminal = terminal;
    this.answered = "";
    terminal.onData((data) => (this.answered += data));
  }

  get rows() {
    return this.terminal.rows;
  }

  write(bytes) {
    this.terminal._core.writeSync(bytes);
  }

  resize(columns, rows) {
    this.terminal.resize(columns, rows);
  }

  close() {
    this.terminal.dispose();
  }

  scrollback() {
    return this.terminal.buffer.active.baseY;
  }

  cursor() {
    const { cursorX, cursorY } = this.terminal.buffer.active;
    return [cursorX, cursorY];
  }

  read(first, scrollback, last = scrollback + this.terminal.rows) {
    const buffer = this.terminal.buffer.active;
    const rows = [];
    const wrapped = [];
    for (let row = first; row < last; row++) {
      const line = buffer.getLine(row);
      rows.push(line.translateToString(true).replace(/ +$/, ""));
      if (line.isWrapped) wrapped.push(row);
    }
    return { rows, wrapped };
  }

  cells({ row }) {
    const line = this.terminal.buffer.active.getLine(this.scrollback() + row);
    return Array.from({ length: this.terminal.cols }, (_, column) => {
      const cell = line.getCell(column);
      return {
        text: cell.getWidth() === 0 ? "" : cell.getChars() || " ",
        width: cell.getWidth(),
        fg: colour(cell.isFgRGB(), cell.isFgPalette(), cell.getFgColor()),
        bg: colour(cell.isBgRGB(), cell.isBgPalette(), cell.getBgColor()),
        bold: !!cell.isBold(),
        dim: !!cell.isDim(),
        italic: !!cell.isItalic(),
        underline: !!cell.isUnderline(),
        inverse: !!cell.isInverse(),
        strike: !!cell.isStrikethrough(),
      };
    });
  }

  replies() {
    const answered = this.answered;
    this.answered = "";
    return { data: answered };
  }

  modes() {
    const { wraparoundMode, bracketedPasteMode, synchronizedOutputMode } = this.terminal.modes;
    return {
      autowrap: wraparoundMode,
      cursor_visible: !this.terminal._core.coreService.isCursorHidden,
      bracketed_paste: bracketedPasteMode,
      synchronized_output: synchronizedOutputMode ?? null,
    };
  }

  scroll({ lines }) {
    this.terminal.scrollLines(-lines);
    return this.viewport();
  }

  viewport() {
    const first = this.terminal.buffer.active.viewportY;
    const { rows } = this.read(first, first);
    return { first, rows };
  }
}

function colour(isRgb, isPalette, value) {
  if (isRgb) return `#${value.toString(16).padStart(6, "0")}`;
  return isPalette ? value : null;
}
