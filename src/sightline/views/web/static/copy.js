// The clipboard, with the old way as a fallback: the new one needs a secure context and a permission some browsers withhold.

export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyByCommand(text);
  }
}

function copyByCommand(text) {
  const before = document.activeElement;
  const area = document.createElement("textarea");
  area.className = "hidden";
  area.setAttribute("aria-hidden", "true");
  area.value = text;
  document.body.append(area);
  area.select();
  const copied = document.execCommand("copy");
  area.remove();
  before?.focus({ preventScroll: true });
  return copied;
}
