/** What one attack costs the event loop. A turn that was too long is looked at again: the first may have compiled code. */
import type { Answer } from './asking.ts'
import type { Attacked } from './attacked.ts'

/** Milliseconds of CPU that one turn of the event loop may take. */
export const longestTurn = 200

const tries = 4

export interface Measured {
  readonly answer: Answer
  /** Milliseconds of CPU. */
  readonly longest: number
}

/** Undefined where there was no answer, which is noted. */
export async function measured(
  attacked: Attacked,
  what: string,
  attack: () => Promise<Answer>,
): Promise<Measured | undefined> {
  let least: Measured | undefined
  for (let tried = 0; tried < tries && (least === undefined || least.longest > longestTurn); tried++) {
    await attacked.turns()
    const answer = await attacked.within(what, attack())
    if (answer === undefined) return undefined
    const { longest } = await attacked.turns()
    if (least === undefined || longest < least.longest) least = { answer, longest }
  }
  if (least !== undefined && least.longest > longestTurn) {
    attacked.faults.push(`${what}: a turn of ${least.longest.toFixed(0)} ms of CPU`)
  }
  return least
}
