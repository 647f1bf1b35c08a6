// Elements are only ever made here, and text only ever goes in as text: what a command prints cannot become markup.

export function make(tag, { text, className, ...attributes } = {}, ...children) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children);
  return element;
}

export function button(text, onClick, attributes = {}) {
  const element = make("button", { text, type: "button", ...attributes });
  element.addEventListener("click", onClick);
  return element;
}

// Writing the same text again would still cost a layout and make some screen readers speak again.
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// A line below a form, hidden while there is nothing to report.
export function showProblem(element, text) {
  setText(element, text);
  element.hidden = !text;
}

export const byId = (id) => document.getElementById(id);
