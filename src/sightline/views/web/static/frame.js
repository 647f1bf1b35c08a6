// One drawing per frame: whatever arrives marks itself dirty, and each dirty thing draws once, at the next frame.
// What can wait (`later`: the list of sessions) is drawn after the rest, so that a frame that is full still shows new output.
// A hidden tab gets no frames, so it draws nothing and catches up with one drawing when it is shown again.

const BUDGET_MS = 12; // a frame that runs longer than this hands the rest to the next, so that keys and clicks get through

const dirty = new Set();
let scheduled = false;

export function draw(thing) {
  dirty.add(thing);
  if (!scheduled) {
    scheduled = true;
    requestAnimationFrame(run);
  }
}

function run(started) {
  scheduled = false;
  const end = performance.now() + BUDGET_MS;
  const again = [];
  for (const thing of [...dirty].sort((a, b) => Boolean(a.later) - Boolean(b.later))) {
    dirty.delete(thing);
    if (thing.draw(end)) again.push(thing); // true: there is more to do than fits in this frame
    if (performance.now() > end) break;
  }
  for (const thing of again) dirty.add(thing);
  if (dirty.size > 0) {
    scheduled = true;
    requestAnimationFrame(run);
  }
}
