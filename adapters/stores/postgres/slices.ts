/** Items per statement: few enough for each to end well within its timeout. */
const size = 1_000

/** Calls `act` with one slice of the items after the other. Rejects with its first error, after all slices. */
export async function inSlices<T>(items: readonly T[], act: (slice: readonly T[]) => Promise<unknown>): Promise<void> {
  const failures: unknown[] = []
  for (let from = 0; from < items.length; from += size) {
    await act(items.slice(from, from + size)).catch((error: unknown) => failures.push(error))
  }
  if (failures.length > 0) throw failures[0]
}
