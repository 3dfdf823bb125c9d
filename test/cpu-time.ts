/**
 * Time, of the CPU and by the clock, and limits on it. The same work takes longer on a slower machine, and on one whose
 * caches, memory and cores are shared with others. So a limit is what a calm machine may take, and is compared with a fixed
 * piece of work that is measured at the same time.
 */

/** Milliseconds of CPU of this thread; before Node 23.9 those of the whole process, its compiler and its collector included. */
export function cpuMs(): number {
  const { user, system } = (process as Partial<typeof process>).threadCpuUsage?.() ?? process.cpuUsage()
  return (user + system) / 1_000
}

/** What the fixed piece of work takes on the machine that the limits were chosen on, when it is calm. */
export const calmMs = 43

let text: string | undefined

/** The fixed piece of work: 6 MB of JSON parsed, printed and encoded. Returns its milliseconds of CPU. */
export function referenceMs(): number {
  text ??= JSON.stringify(Array.from({ length: 25_000 }, (_, at) => ({ a: at, b: 'a "word"\n'.repeat(18) })))
  const before = cpuMs()
  Buffer.from(JSON.stringify(JSON.parse(text)))
  return cpuMs() - before
}

/** How often something is tried that took too long. */
const tries = 6

/**
 * The shortest of several runs of `attempt`, in milliseconds of an idle machine. Repeats it while the result exceeds the
 * limit, because the first runs include compilation, and any run can include a garbage collection.
 */
export async function leastMs(
  limitMs: number,
  attempt: () => number | Promise<number>,
  reference: () => number | Promise<number> = referenceMs,
): Promise<number> {
  let least = Infinity
  let leastReference = Infinity
  for (let tried = 0; tried < tries; tried++) {
    least = Math.min(least, await attempt())
    if (least <= limitMs) return least
    leastReference = Math.min(leastReference, await reference())
  }
  return least / Math.max(1, leastReference / calmMs)
}

/** How many times as long as on a calm machine work takes by the clock: other processes have their share of a busy one. */
export function slowness(): number {
  // The first one makes the text.
  referenceMs()
  const began = performance.now()
  for (let times = 0; times < 3; times++) referenceMs()
  return Math.max(1, (performance.now() - began) / (3 * calmMs))
}

/** Milliseconds by the clock, as a calm machine would have taken where they are over the limit. */
export function calmly(ms: number, limitMs: number): number {
  return ms <= limitMs ? ms : ms / slowness()
}
