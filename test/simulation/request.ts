/** What the parties outside of the gateways know of a request, of a job of the vendor of videos, and what is wrong. */
import type { Machine } from './scheduler.ts'

/** The first thing that was wrong in a history. */
export class Violation extends Error {
  readonly invariant: string

  constructor(invariant: string, message: string) {
    super(`${invariant}: ${message}`)
    this.invariant = invariant
  }
}

/** One request, as the parties outside of the gateway know it. */
export interface Request {
  readonly id: string
  readonly machine: Machine
  readonly startedAt: number
  /** What the vendor charges the host for: set once it has reported. */
  reported?: bigint
  /** Attempts at the vendor that are open. */
  open: number
  hasFailed?: boolean
  /** Its client has the whole answer. */
  hasAnswered?: boolean
  /** When nobody waits for it any more. */
  endedAt?: number
  /** What the gateway says it charged. */
  cost?: bigint
  outcome?: string
  unsettled?: boolean
}

export interface Job {
  readonly token: string
  readonly at: number
  readonly takesMs: number
  readonly fails: boolean
  cancelled: boolean
}
