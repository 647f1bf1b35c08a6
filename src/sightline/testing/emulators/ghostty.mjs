// Ghostty's terminal core, straight from its wasm: the package's own loader needs fetch.
//
// Every terminal gets an instance of its own: freed pages keep their bytes, and a later terminal of the same instance
// shows them as text on rows nobody wrote to.
// Scrollback is left unlimited: the core counts it in bytes, not rows.
import fs from "node:fs";
import path from "node:path";

const CELL = 16; // bytes: u32 codepoint, fg rgb, bg rgb, flags, width, u16 link, u8 further codepoints, padding
const BOLD = 1, ITALIC = 2, UNDERLINE = 4, STRIKE = 8, INVERSE = 16, DIM = 128;
const CONFIG = 80; // bytes: u32 scrollback, foreground, background, cursor, 16 colours
const CODEPOINTS = 64;
// Colours nobody asks for, so that "default" and "the third colour" can be told from the same colour given as RGB.
const FOREGROUND = 0xfdfcfb, BACKGROUND = 0x020304, PALETTE = 0x0a0b00;

export function load(packages) {
  const folder = path.dirname(path.dirname(packages.resolve("ghostty-web")));
  const module = new WebAssembly.Module(fs.readFileSync(path.join(folder, "ghostty-vt.wasm")));
  return (columns, rows) => new Ghostty(new WebAssembly.Instance(module, { env: { log() {} } }).exports, columns, rows);
}

class Ghostty {
  constructor(core, columns, rows) {
    this.core = core;
    const config = core.ghostty_wasm_alloc_u8_array(CONFIG);
    const words = new Uint32Array(core.memory.buffer, config, CONFIG / 4);
    words.set([0, FOREGROUND, BACKGROUND, 0, ...Array.from({ length: 16 }, (_, index) => PALETTE + index + 1)]);
    this.handle = core.ghostty_terminal_new_with_config(columns, rows, config);
    this.input = { at: 0, size: 0 };
    this.output = { at: 0, size: 0 };
    this.codepoints = core.ghostty_wasm_alloc_u8_array(4 * CODEPOINTS);
    this.columns = columns;
    this.rows = rows;
  }

  write(bytes) {
    const at = this.room(this.input, bytes.length);
    new Uint8Array(this.core.memory.buffer).set(bytes, at);
    this.core.ghostty_terminal_write(this.handle, at, bytes.length);
  }

  resize(columns, rows) {
    this.core.ghostty_terminal_resize(this.handle, columns, rows);
    this.columns = columns;
    this.rows = rows;
  }

  close() {
    this.core = null; // its memory goes with the instance
  }

  scrollback() {
    return this.core.ghostty_terminal_get_scrollback_length(this.handle);
  }

  cursor() {
    this.core.ghostty_render_state_update(this.handle);
    return [
      this.core.ghostty_render_state_get_cursor_x(this.handle),
      this.core.ghostty_render_state_get_cursor_y(this.handle),
    ];
  }

  read(first, scrollback) {
    const { core, handle, columns } = this;
    const rows = [];
    const wrapped = [];
    core.ghostty_render_state_update(handle); // without it scrollback reads as blank
    for (let row = first; row < scrollback; row++) {
      const at = this.room(this.output, columns * CELL);
      const count = core.ghostty_terminal_get_scrollback_line(handle, row, at, columns);
      rows.push(this.text(at, count, (column) => this.scrollbackCluster(row, column)));
    }
    const at = this.viewport();
    for (let row = Math.max(0, first - scrollback); row < this.rows; row++) {
      rows.push(this.text(at + row * columns * CELL, columns, (column) => this.cluster(row, column)));
      if (core.ghostty_terminal_is_row_wrapped(handle, row)) wrapped.push(scrollback + row);
    }
    return { rows, wrapped };
  }

  cells({ row }) {
    if (row >= this.rows) throw new RangeError(`row ${row} of ${this.rows}`);
    const start = this.viewport() + row * this.columns * CELL; // may grow the memory, which detaches its buffer
    const view = new DataView(this.core.memory.buffer, start);
    return Array.from({ length: this.columns }, (_, column) => {
      const at = column * CELL;
      const [width, flags] = [view.getUint8(at + 11), view.getUint8(at + 10)];
      return {
        text: width === 0 ? "" : this.character(view, at, column, () => this.cluster(row, column)),
        width,
        fg: colour(view, at + 4, FOREGROUND),
        bg: colour(view, at + 7, BACKGROUND),
        bold: !!(flags & BOLD),
        dim: !!(flags & DIM),
        italic: !!(flags & ITALIC),
        underline: !!(flags & UNDERLINE),
        inverse: !!(flags & INVERSE),
        strike: !!(flags & STRIKE),
      };
    });
  }

  replies() {
    let data = "";
    const size = 4096;
    while (this.core.ghostty_terminal_has_response(this.handle)) {
      const at = this.room(this.output, size);
      const length = this.core.ghostty_terminal_read_response(this.handle, at, size);
      if (length <= 0) break;
      data += new TextDecoder().decode(new Uint8Array(this.core.memory.buffer, at, length));
    }
    return { data };
  }

  modes() {
    const isSet = (mode) => this.core.ghostty_terminal_get_mode(this.handle, mode, false) !== 0;
    return {
      autowrap: isSet(7),
      cursor_visible: isSet(25),
      bracketed_paste: isSet(2004),
      synchronized_output: isSet(2026),
    };
  }

  viewport() {
    const { core, handle } = this;
    const count = this.columns * this.rows;
    const at = this.room(this.output, count * CELL);
    core.ghostty_render_state_update(handle);
    core.ghostty_render_state_get_viewport(handle, at, count);
    return at;
  }

  text(at, count, cluster) {
    const view = new DataView(this.core.memory.buffer, at, count * CELL);
    let text = "";
    for (let column = 0; column < count; column++) {
      const cell = column * CELL;
      if (view.getUint8(cell + 11) !== 0) text += this.character(view, cell, column, cluster);
    }
    return text.replace(/ +$/, "");
  }

  character(view, at, column, cluster) {
    if (view.getUint8(at + 14) > 0) return cluster(column);
    return String.fromCodePoint(view.getUint32(at, true) || 32);
  }

  cluster(row, column) {
    const { core, handle, codepoints } = this;
    return this.joined(core.ghostty_render_state_get_grapheme(handle, row, column, codepoints, CODEPOINTS));
  }

  scrollbackCluster(row, column) {
    const { core, handle, codepoints } = this;
    return this.joined(core.ghostty_terminal_get_scrollback_grapheme(handle, row, column, codepoints, CODEPOINTS));
  }

  joined(count) {
    return String.fromCodePoint(...new Uint32Array(this.core.memory.buffer, this.codepoints, count));
  }

  room(block, size) {
    if (block.size < size) {
      if (block.size) this.core.ghostty_wasm_free_u8_array(block.at, block.size);
      block.size = Math.max(size, 65536);
      block.at = this.core.ghostty_wasm_alloc_u8_array(block.size);
    }
    return block.at;
  }
}

function colour(view, at, plain) {
  const value = (view.getUint8(at) << 16) | (view.getUint8(at + 1) << 8) | view.getUint8(at + 2);
  if (value === plain) return null;
  const index = value - PALETTE - 1;
  return index >= 0 && index < 16 ? index : `#${value.toString(16).padStart(6, "0")}`;
}
