/** Milliseconds for which a request for a task waits for the vendor before it returns the stored state. */
const answerMs = 3_000

/** The task after a step, or as it was stored before if the step takes long. The step goes on. */
export async function soonOr<Task>(step: Promise<Task>, fallback: Task): Promise<Task> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<Task>((resolve) => {
    timer = setTimeout(resolve, answerMs, fallback)
    timer.unref()
  })
  try {
    return await Promise.race([step, late])
  } finally {
    clearTimeout(timer)
    step.catch(() => undefined)
  }
}
