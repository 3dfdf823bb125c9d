/** The parts of a stream after their inspection. */
import type { Part } from '../conversation/parts.ts'
import { ignore } from '../http/ignore.ts'
import type { AnswerStage } from './answer-stage.ts'

/** Text that waits too long for what follows it is passed on. Ends the source when the answer was cut. */
export async function* inspected(
  source: AsyncGenerator<readonly Part[], void, void>,
  stages: readonly AnswerStage[],
): AsyncGenerator<readonly Part[], void, void> {
  try {
    let next = source.next()
    for (;;) {
      const result = await soonOr(next, Math.min(...stages.map(({ patienceMs }) => patienceMs)))
      if (result?.done === true) return
      let parts = result?.value ?? []
      for (const stage of stages) {
        const passed = await stage.take(parts)
        parts = result === undefined ? [...passed, ...stage.late()] : passed
      }
      yield parts
      if (stages.some(({ isOver }) => isOver)) return
      if (result !== undefined) next = source.next()
    }
  } finally {
    await source.return()
  }
}

/** Undefined if it takes longer. */
async function soonOr<T>(next: Promise<T>, ms: number): Promise<T | undefined> {
  if (ms === Infinity) return next
  next.catch(ignore)
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => (timer = setTimeout(resolve, ms, undefined).unref()))
  try {
    return await Promise.race([next, late])
  } finally {
    clearTimeout(timer)
  }
}
