// Elapsed time continues from the server's value, on the monotonic clock: the two wall clocks may disagree or jump.

const ticking = new Set();

export class Elapsed {
  constructor() {
    this.set(0, false);
  }

  set(value, running) {
    this.value = value ?? 0;
    this.running = running;
    this.at = performance.now();
  }

  get now() {
    return this.running ? this.value + (performance.now() - this.at) / 1000 : this.value;
  }
}

export const startTicking = (thing) => ticking.add(thing);
export const stopTicking = (thing) => ticking.delete(thing);

setInterval(() => {
  if (document.hidden) return;
  for (const thing of ticking) thing.tick();
}, 1000);
