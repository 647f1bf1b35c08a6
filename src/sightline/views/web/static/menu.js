// A menu of buttons beside the button that opened it. Arrow keys move in it; a press closes it, and so do Escape and a
// click elsewhere (a popover does that by itself).

const GAP = 4; // px between the button and its menu

export class Menu {
  constructor(element) {
    this.element = element;
    this.opener = null;
    element.addEventListener("toggle", ({ newState }) => {
      this.opener?.setAttribute("aria-expanded", String(newState === "open"));
    });
    element.addEventListener("keydown", (event) => this.key(event));
    element.addEventListener("click", (event) => { if (event.target.closest("button")) this.close(); }, { capture: true });
  }

  open(opener, label, buttons) {
    this.opener = opener;
    this.element.setAttribute("aria-label", label);
    this.element.replaceChildren(...buttons);
    this.element.showPopover();
    this.place(opener.getBoundingClientRect());
    this.element.querySelector("button:enabled")?.focus();
  }

  close() {
    if (this.element.matches(":popover-open")) this.element.hidePopover();
  }

  place({ bottom, top, right }) {
    const { width, height } = this.element.getBoundingClientRect();
    const below = bottom + GAP + height <= innerHeight;
    this.element.style.left = `${Math.max(GAP, Math.min(right - width, innerWidth - width - GAP))}px`;
    this.element.style.top = `${below ? bottom + GAP : Math.max(GAP, top - GAP - height)}px`;
  }

  key(event) {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    const all = [...this.element.querySelectorAll("button:enabled")];
    all.at((all.indexOf(document.activeElement) + by) % all.length)?.focus();
  }
}
