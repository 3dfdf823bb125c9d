/** Virtual time: every timer, clock and random number of this thread, and the order in which anything happens. */
import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import timers from 'node:timers/promises'
import { seeded } from '../../src/testing/random.ts'

/** Something that runs: a process of a gateway, the server of the stores, a vendor, a client. */
export class Machine {
  readonly name: string
  /** What a dead machine has planned never happens. */
  isDead = false
  /** Until then what it has planned waits, as in a virtual machine that is suspended. */
  pausedUntil = 0
  /** By how much its wall clock is wrong, in milliseconds. */
  clockMs = 0
  /** Whether its clock waits until it is right, instead of going back. */
  readonly isSteady: boolean
  /** The latest time that a steady clock has shown. */
  shown = 0

  constructor(name: string, isSteady: boolean = false) {
    this.name = name
    this.isSteady = isSteady
  }
}

interface Planned {
  at: number
  readonly order: number
  readonly machine: Machine
  run: (() => void) | undefined
}

let current: Scheduler

function setCurrent(scheduler: Scheduler): void {
  current = scheduler
}

const real = { setImmediate: globalThis.setImmediate }
const epoch = Date.UTC(2030, 0, 1)
const longestTimer = 2 ** 31 - 1

/** Plans what machines do, and runs it in the order of virtual time. One at a time in a thread. */
export class Scheduler {
  /** Milliseconds since the start of the history. */
  now = 0
  /** The machine that runs at the moment: what it plans is its own. */
  machine = new Machine('world')
  /** Events run so far. */
  steps = 0
  /** Real work that is under way outside of virtual time, such as a query of a database in WebAssembly. */
  working = 0
  /** Whether what a suspended machine has planned happens in any order once it goes on. */
  shuffles = false
  readonly random: () => number
  readonly #planned: Planned[] = []
  #order = 0
  #isStopped = false

  constructor(seed: number) {
    this.random = seeded(seed)
    setCurrent(this)
  }

  /** Runs `act` on a machine after `ms`. */
  after(ms: number, machine: Machine, act: () => void): Planned {
    const planned = { at: this.now + ms, order: this.#order++, machine, run: act }
    this.#push(planned)
    return planned
  }

  /** Runs until `end`, or until nothing is planned. `settled` is called after each event with all that follows from it. */
  async run(end: number, settled: () => void): Promise<void> {
    for (
      let next = this.#planned[0];
      !this.#isStopped && next !== undefined && next.at <= end;
      next = this.#planned[0]
    ) {
      this.#pop()
      const { machine, run } = next
      if (run === undefined || machine.isDead) continue
      if (machine.pausedUntil > next.at) {
        next.at = machine.pausedUntil + (this.shuffles ? this.random() : 0)
        this.#push(next)
        continue
      }
      this.now = Math.max(this.now, next.at)
      this.machine = machine
      next.run = undefined
      this.steps++
      run()
      // All that follows without waiting for the system has happened when the next tick comes, as no tick plans another one.
      await new Promise((resolve) => process.nextTick(resolve))
      while (this.working > 0) await new Promise((resolve) => real.setImmediate(resolve))
      settled()
    }
    this.now = Math.max(this.now, end)
    // One turn of the event loop, in which finalization registries run their callbacks, too.
    await new Promise((resolve) => real.setImmediate(resolve))
  }

  /** Runs nothing more. */
  stop(): void {
    this.#isStopped = true
  }

  /** The wall clock of a machine. */
  clockOf(machine: Machine): number {
    const time = Math.floor(epoch + this.now + machine.clockMs)
    return machine.isSteady ? (machine.shown = Math.max(machine.shown, time)) : time
  }

  #push(planned: Planned): void {
    const heap = this.#planned
    let at = heap.push(planned) - 1
    while (at > 0) {
      const above = (at - 1) >> 1
      if (!isBefore(planned, heap[above] as Planned)) break
      heap[at] = heap[above] as Planned
      at = above
    }
    heap[at] = planned
  }

  #pop(): void {
    const heap = this.#planned
    const last = heap.pop() as Planned
    if (heap.length === 0) return
    let at = 0
    for (let below = 1; below < heap.length; below = 2 * at + 1) {
      const right = heap[below + 1]
      if (right !== undefined && isBefore(right, heap[below] as Planned)) below++
      if (!isBefore(heap[below] as Planned, last)) break
      heap[at] = heap[below] as Planned
      at = below
    }
    heap[at] = last
  }
}

function isBefore(left: Planned, right: Planned): boolean {
  return left.at < right.at || (left.at === right.at && left.order < right.order)
}

/** A timer as `node:timers` makes it. Fires up to half a millisecond late, so that timers of one length change their order. */
class Timer {
  #planned: Planned | undefined
  readonly #plan: () => Planned

  constructor(act: () => void, ms: number, repeats: boolean) {
    const length = ms >= 1 && ms <= longestTimer ? ms : 1
    this.#plan = () =>
      current.after(length + current.random() / 2, current.machine, () => {
        this.#planned = repeats ? this.#plan() : undefined
        act()
      })
    this.#planned = this.#plan()
  }

  clear(): void {
    if (this.#planned !== undefined) this.#planned.run = undefined
    this.#planned = undefined
  }

  ref(): this {
    return this
  }

  unref(): this {
    return this
  }

  hasRef(): boolean {
    return false
  }

  refresh(): this {
    this.clear()
    this.#planned = this.#plan()
    return this
  }
}

/** Replaces the clocks, timers and random numbers of this thread by those of the scheduler made last. */
export function install(): void {
  const timer =
    (repeats: boolean) =>
    (act: (...values: unknown[]) => void, ms = 0, ...values: unknown[]) =>
      new Timer(() => act(...values), ms, repeats)
  const clear = (given: unknown) => void (given instanceof Timer && given.clear())
  const immediate = (act: (...values: unknown[]) => void, ...values: unknown[]) =>
    current.after(0, current.machine, () => act(...values))
  // Ids must differ, and decide nothing: pools of them outlive a history, so they must not use its random numbers.
  const ids = seeded(1)
  const fill = <T extends NodeJS.ArrayBufferView>(buffer: T): T => {
    const bytes = new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength)
    for (let at = 0; at < bytes.length; at++) bytes[at] = ids() * 256
    return buffer
  }
  Object.assign(globalThis, {
    setTimeout: timer(false),
    setInterval: timer(true),
    setImmediate: immediate,
    clearTimeout: clear,
    clearInterval: clear,
  })
  Date.now = () => current.clockOf(current.machine)
  performance.now = () => current.now
  Math.random = () => current.random()
  AbortSignal.timeout = (ms) => {
    const controller = new AbortController()
    setTimeout(() => controller.abort(new DOMException('The operation timed out.', 'TimeoutError')), ms)
    return controller.signal
  }
  Object.assign(crypto, {
    randomFillSync: fill,
    randomBytes: (size: number) => fill(Buffer.alloc(size)),
    randomUUID: () => fill(Buffer.alloc(16)).toString('hex'),
  })
  Object.assign(timers, {
    setImmediate: (value: unknown) => new Promise((resolve) => immediate(() => resolve(value))),
    setTimeout: (ms: number, value: unknown) => new Promise((resolve) => setTimeout(() => resolve(value), ms)),
  })
  syncBuiltinESMExports()
}

/** Resolves after virtual time, or rejects when the signal is aborted. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(signal.reason)
    const timer = setTimeout(resolve, ms)
    signal?.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(signal.reason)
    })
  })
}
