/**
 * Crashes at every step, and a second crash during recovery from the first: the submitting process dies before or after
 * each of its effects on the store, the vendor and the ledger; the next process takes over and dies too; the third one
 * finishes. Invariants are checked after three virtual hours.
 */
import { describe, expect, test } from 'vitest'
import type { VideoStatus } from '../../src/providers/video.ts'
import { sampleOf, thorough } from '../long.ts'
import { holdOf, hours, minutes, seconds, submission, World, type Crash, type Job, type Kind } from './world.ts'

type Outcome = 'completes' | 'fails' | 'never ends'

const outcomes: Record<Outcome, (age: number, job: Job) => VideoStatus> = {
  completes: (age) =>
    age < 40 * seconds ? { state: 'processing' } : { state: 'completed', url: 'https://v.example/1' },
  fails: (age) => (age < 20 * seconds ? { state: 'pending' } : { state: 'failed', error: 'No.' }),
  'never ends': () => ({ state: 'processing', progress: 1 }),
}

interface Run {
  readonly kind: Kind
  readonly ending: Outcome
  readonly retries: boolean
  /** Whether its owner deletes the task after the submission. */
  readonly removes?: boolean
  readonly first?: Crash
  readonly second?: Crash
}

/** Runs one scenario to its end. Returns the number of steps that each process took. */
async function play({
  kind,
  ending,
  retries,
  removes,
  first,
  second,
}: Run): Promise<{ world: World; steps: [number, number] }> {
  const world = new World({ kind, status: outcomes[ending] })
  const processes = [world.process(first), world.process(second), world.process()]
  const alive = () => processes.find((process) => !process.dead()) as (typeof processes)[number]
  await processes[0]?.tasks.create(submission('key')).catch(() => undefined)
  if (retries)
    await alive()
      .tasks.create(submission('key'))
      .catch(() => undefined)
  if (retries)
    await alive()
      .tasks.create(submission('key'))
      .catch(() => undefined)
  const [submitted] = world.tasks()
  if (removes === true && submitted !== undefined)
    await alive()
      .tasks.remove(submitted.account, submitted.id)
      .catch(() => undefined)
  // From here on only the second process works, even if the first has not crashed.
  const start = world.time
  while (world.time < start + 3 * hours) {
    world.time += world.time < start + 2 * minutes ? 10 * seconds : 30 * minutes
    const worker = processes[1]?.dead() === true ? processes[2] : processes[1]
    await worker?.sweep()
  }
  return { world, steps: [processes[0]?.steps() ?? 0, processes[1]?.steps() ?? 0] }
}

const startTime = new World({ kind: 'none' }).time

function verify({ world }: { world: World }, run: Run): void {
  const scenario = JSON.stringify(run)
  const [stored] = world.tasks()
  const hold = stored && world.holds.get(holdOf(stored))
  expect(world.jobs.length, `${scenario}: jobs at the vendor`).toBeLessThanOrEqual(1)
  if (stored === undefined) {
    // The process died before the task was stored: the vendor was never called, and the hold expires with its lease.
    expect(world.jobs.length, scenario).toBe(0)
    for (const { until } of world.holds.values()) expect(until - startTime, scenario).toBeLessThan(5 * minutes)
    return
  }
  const { state, settled, error, charged, removed } = stored.data
  expect({ state: ['completed', 'failed'].includes(state), settled, dueAt: stored.dueAt }, scenario).toEqual({
    state: true,
    settled: true,
    dueAt: null,
  })
  const isCharged = state === 'completed' || charged === true
  expect(hold, scenario).toMatchObject({ state: isCharged ? 'settled' : 'released', ends: 1 })
  if (removed !== undefined && run.ending !== 'fails')
    expect(isCharged, scenario).toBe(world.jobs.length === 1 && error?.code !== 'submission_unknown')
  expect(world.startedUnheld, `${scenario}: at least 5 minutes of the hold are left when the vendor is called`).toBe(
    false,
  )
  if (state === 'completed') expect(world.jobs.length, scenario).toBe(1)
  if (run.kind !== 'none' && run.ending === 'completes' && removed === undefined)
    expect(state, scenario).toBe('completed')
  const orphan = state === 'failed' && error?.code === 'submission_unknown' && world.jobs.length === 1
  if (orphan)
    expect(
      world.events.some((event) => event.type === 'reconcile'),
      `${scenario}: orphan reported`,
    ).toBe(true)
}

const kinds: Kind[] = ['token', 'lookup', 'none']

describe('a task whose processes crash ends in a consistent state', () => {
  for (const kind of kinds) {
    test.each(Object.keys(outcomes) as Outcome[])(`provider "${kind}", the job %s`, async (ending) => {
      let cases = 0
      for (const [retries, removes] of [
        [false, false],
        [true, false],
        [false, true],
      ] as const) {
        const { steps } = await play({ kind, ending, retries, removes })
        for (const first of crashes(steps[0])) {
          const once: Run = { kind, ending, retries, removes, first }
          const result = await play(once)
          verify(result, once)
          cases++
          const taken = result.steps[1]
          for (const second of retries ? [] : sampleOf(relevantCrashes(taken), 3)) {
            const twice: Run = { ...once, second }
            verify(await play(twice), twice)
            cases++
          }
        }
      }
      expect(cases).toBeGreaterThan(thorough ? 100 : 40)
    })
  }
})

/** The second process repeats the same steps while a job runs, so only its first and last steps are crashed. */
function relevantCrashes(steps: number): Crash[] {
  return crashes(steps).filter(({ step }) => step <= 8 || step > steps - 3)
}

function crashes(steps: number): Crash[] {
  return Array.from({ length: steps }, (_, index) => index + 1).flatMap((step): Crash[] => [
    { step, when: 'before' },
    { step, when: 'after' },
  ])
}
