import { Canceller } from '../http/cancellation.ts'
import { pause } from '../http/deadline.ts'

/** Milliseconds for which a request for a task waits for the vendor before it returns the stored state. */
const answerMs = 3_000

/** The task after a step, or as it was stored before if the step takes long. The step goes on. */
export async function soonOr<Task>(step: Promise<Task>, fallback: Task): Promise<Task> {
  const over = new Canceller()
  const late = pause(answerMs, over).then(() => fallback)
  try {
    return await Promise.race([step, late])
  } finally {
    over.abort(undefined)
  }
}
