/** The size of the attack: small in every test run, larger with `npm run test:hostile`, full in its long form. */
import { long } from '../long.ts'

const gate = Boolean(process.env['MODELHATCH_HOSTILE'])

export interface Size {
  readonly mutants: number
  /** Maximum milliseconds for the mutants. On a busy machine fewer are sent. */
  readonly mutantMs: number
  /** Sends one in `worstOneIn` of the worst inputs; none if it is 0. */
  readonly worstOneIn: number
  readonly worstMs: number
  readonly spenders: number
  readonly kills: number
  readonly videos: number
}

export const size: Size = long
  ? { mutants: 100_000, mutantMs: 600_000, worstOneIn: 1, worstMs: 900_000, spenders: 2_000, kills: 100, videos: 500 }
  : gate
    ? { mutants: 6_000, mutantMs: 10_000, worstOneIn: 6, worstMs: 10_000, spenders: 300, kills: 3, videos: 20 }
    : { mutants: 600, mutantMs: 2_500, worstOneIn: 0, worstMs: 0, spenders: 60, kills: 0, videos: 0 }

/** Prints one result per kind of attack, if this is enabled. */
export function report(figure: string): void {
  if (gate || long) process.stdout.write(`${figure}\n`)
}
