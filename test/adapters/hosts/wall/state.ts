/** The state of a process that a library must not change. */
import { EventEmitter } from 'node:events'

export interface ProcessState {
  readonly [name: string]: unknown
}

export function stateOf(): ProcessState {
  const emitters = { process, stdout: process.stdout, stderr: process.stderr }
  const listeners = Object.entries(emitters).map(([name, emitter]) => [
    `listeners of ${name}`,
    emitter.eventNames().map((event) => `${String(event)}: ${emitter.listenerCount(event)}`),
  ])
  const prototypes = [Object, Array, Function, Promise, String, EventEmitter].map(({ name, prototype }) => [
    `prototype of ${name}`,
    Reflect.ownKeys(prototype as object).map(String),
  ])
  return {
    globals: Reflect.ownKeys(globalThis).map(String),
    environment: { ...process.env },
    title: process.title,
    folder: process.cwd(),
    // Without unref'ed timers, because these do not keep the process alive.
    resources: process.getActiveResourcesInfo().filter((name) => !/Pipe|TTY|Immediate|FSReq/.test(name)),
    ...(Object.fromEntries([...listeners, ...prototypes]) as object),
  }
}

/** The parts of the state that differ. */
export function changes(before: ProcessState, after: ProcessState): Record<string, unknown> {
  const changed = Object.keys(before).filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
  return Object.fromEntries(changed.map((name) => [name, difference(before[name], after[name])]))
}

function difference(before: unknown, after: unknown): unknown {
  if (!Array.isArray(before) || !Array.isArray(after)) return { before, after }
  return {
    removed: before.filter((each) => !after.includes(each)),
    added: after.filter((each) => !before.includes(each)),
  }
}
