/** Time limits of which very many run at once: those of one duration share a timer. */
import { longestTimerMs } from './deadline.ts'

/** What a time limit is set for. */
export interface TimeLimited {
  /** Called once when the time has passed. Must not throw. */
  timedOut(): void
}

/** A time limit that runs for one operation. The deadlines of a `TimeLimit` form a ring, ordered by time. */
export class Deadline {
  owner: TimeLimited
  /** By `performance.now`. */
  dueAt: number = Infinity
  /** The neighbours in the ring. */
  earlier: Deadline = this
  later: Deadline = this

  /** Use `TimeLimit.start`. */
  constructor(owner: TimeLimited) {
    this.owner = owner
  }
}

const nobody: TimeLimited = { timedOut() {} }

/** One duration. Its timer keeps running for a while after the last operation, which saves a timer for each. */
export class TimeLimit {
  /** Milliseconds. */
  readonly ms: number
  /** Between the last deadline and the first. */
  readonly #ring = new Deadline(nobody)
  #timer: NodeJS.Timeout | undefined

  /** `ms`: milliseconds; `Infinity` and other long times count as `longestTimerMs`. */
  constructor(ms: number) {
    this.ms = Math.min(ms, longestTimerMs)
  }

  /** Starts the time of an operation. */
  start(owner: TimeLimited): Deadline {
    const deadline = new Deadline(owner)
    this.#append(deadline)
    return deadline
  }

  /** Starts the time of an operation again. */
  restart(deadline: Deadline): void {
    unlink(deadline)
    this.#append(deadline)
  }

  /** Ends a deadline of any duration, if there is one. */
  static stop(deadline: Deadline | undefined): void {
    if (deadline === undefined) return
    unlink(deadline)
    // A reference to the deadline must not keep its operation in memory.
    deadline.owner = nobody
  }

  /** Stops the timer, and with it all deadlines. */
  close(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #append(deadline: Deadline): void {
    const last = this.#ring.earlier
    deadline.dueAt = performance.now() + this.ms
    deadline.earlier = last
    deadline.later = this.#ring
    last.later = deadline
    this.#ring.earlier = deadline
    if (this.#timer === undefined) this.#wait(this.ms)
  }

  #wait(ms: number): void {
    this.#timer = setTimeout(this.#look, ms)
    this.#timer.unref()
  }

  readonly #look = (): void => {
    for (let first = this.#ring.later; first !== this.#ring; first = this.#ring.later) {
      const restMs = first.dueAt - performance.now()
      // Timers are accurate to a millisecond, and may be early by less.
      if (restMs >= 1) return this.#wait(Math.ceil(restMs))
      const { owner } = first
      TimeLimit.stop(first)
      owner.timedOut()
    }
    this.#timer = undefined
  }
}

function unlink(deadline: Deadline): void {
  deadline.earlier.later = deadline.later
  deadline.later.earlier = deadline.earlier
  deadline.earlier = deadline.later = deadline
}
