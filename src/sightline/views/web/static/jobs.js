// Jobs by name: those of a session count from 1, in the order they began. Their ids (`k3m9qz-7`) number all calls.

const known = new Map(); // session → numbers of its jobs, in order
const commands = new Map(); // job id → the command of the call that began it

const partsOf = (id) => /^(.*)-(\d+)$/.exec(id);

export const commandOf = (id) => commands.get(id);

export function noteJob(id, command = "") {
  if (command) commands.set(id, command);
  const [, session, number] = partsOf(id) ?? [];
  if (!session) return;
  const numbers = known.get(session) ?? new Set();
  numbers.add(Number(number));
  known.set(session, new Set([...numbers].sort((a, b) => a - b)));
}

export function jobName(id) {
  const [, session, number] = partsOf(id) ?? [];
  const at = [...known.get(session) ?? []].indexOf(Number(number));
  return at < 0 ? `job ${id}` : `job ${at + 1}`;
}
