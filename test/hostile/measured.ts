/** Measures the turns of the event loop during one attack. */
import { leastMs } from '../cpu-time.ts'
import type { Answer } from './asking.ts'
import type { Attacked } from './attacked.ts'

/** Milliseconds of CPU that one turn of the event loop may take on an idle machine. */
export const longestTurn = 200

export interface Measured {
  readonly answer: Answer
  /** Milliseconds of CPU. */
  readonly longest: number
}

/** Undefined if there was no response, which is a fault. */
export async function measured(
  attacked: Attacked,
  what: string,
  attack: () => Promise<Answer>,
): Promise<Measured | undefined> {
  let answer: Answer | undefined
  const attempt = async () => {
    await attacked.turns()
    answer = await attacked.within(what, attack())
    // An attack without a response is not repeated.
    return answer === undefined ? 0 : (await attacked.turns()).longest
  }
  const longest = await leastMs(longestTurn, attempt, () => attacked.reference())
  if (answer === undefined) return undefined
  if (longest > longestTurn) attacked.faults.push(`${what}: a turn of ${longest.toFixed(0)} ms of CPU`)
  return { answer, longest }
}
