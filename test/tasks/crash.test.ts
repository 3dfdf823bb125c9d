/**
 * Every crash at every step, and a second one while the first is being cleared up: the process that submits dies before
 * or after each of its effects on store, vendor and ledger; the next process finds what is left, and dies as well; the
 * third one finishes. Invariants are checked when three virtual hours are over.
 */
import { describe, expect, test } from 'vitest'
import type { VideoStatus } from '../../src/providers/video.ts'
import { sampleOf, thorough } from '../long.ts'
import { holdOf, hours, minutes, seconds, submission, World, type Crash, type Job, type Kind } from './world.ts'

type Ending = 'completes' | 'fails' | 'never ends'

const endings: Record<Ending, (age: number, job: Job) => VideoStatus> = {
  completes: (age) =>
    age < 40 * seconds ? { state: 'processing' } : { state: 'completed', url: 'https://v.example/1' },
  fails: (age) => (age < 20 * seconds ? { state: 'pending' } : { state: 'failed', error: 'No.' }),
  'never ends': () => ({ state: 'processing', progress: 1 }),
}

interface Run {
  readonly kind: Kind
  readonly ending: Ending
  readonly retries: boolean
  readonly first?: Crash
  readonly second?: Crash
}

/** Plays one history to its end and gives the steps that each process took. */
async function play({ kind, ending, retries, first, second }: Run): Promise<{ world: World; steps: [number, number] }> {
  const world = new World({ kind, status: endings[ending] })
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
  // After the first crash nobody but the second process works on, even if the first has not crashed at all.
  const start = world.time
  while (world.time < start + 3 * hours) {
    world.time += world.time < start + 2 * minutes ? 10 * seconds : 30 * minutes
    const worker = processes[1]?.dead() === true ? processes[2] : processes[1]
    await worker?.sweep()
  }
  return { world, steps: [processes[0]?.steps() ?? 0, processes[1]?.steps() ?? 0] }
}

const begun = new World({ kind: 'none' }).time

function verify({ world }: { world: World }, run: Run): void {
  const where = JSON.stringify(run)
  const [stored] = world.tasks()
  const hold = stored && world.holds.get(holdOf(stored))
  // A hold without a task is one whose process died before the task was stored: it ends with its lease.
  expect(world.jobs.length, `${where}: jobs at the vendor`).toBeLessThanOrEqual(1)
  if (stored === undefined) {
    // The process died before the intent was stored: the vendor was never called, the hold ends with its lease.
    expect(world.jobs.length, where).toBe(0)
    for (const { until } of world.holds.values()) expect(until - begun, where).toBeLessThan(5 * minutes)
    return
  }
  const { state, settled, error } = stored.data
  expect({ state: ['completed', 'failed'].includes(state), settled, dueAt: stored.dueAt }, where).toEqual({
    state: true,
    settled: true,
    dueAt: null,
  })
  expect(hold, where).toMatchObject({ state: state === 'completed' ? 'settled' : 'released', ends: 1 })
  expect(world.begunUnheld, `${where}: held for long before the vendor is asked`).toBe(false)
  if (state === 'completed') expect(world.jobs.length, where).toBe(1)
  if (run.kind !== 'none' && run.ending === 'completes') expect(state, where).toBe('completed')
  const orphan = state === 'failed' && error?.code === 'submission_unknown' && world.jobs.length === 1
  if (orphan)
    expect(
      world.events.some((event) => event.type === 'reconcile'),
      `${where}: orphan reported`,
    ).toBe(true)
}

const kinds: Kind[] = ['token', 'lookup', 'none']

describe('a task whose processes crash', () => {
  for (const kind of kinds) {
    test.each(Object.keys(endings) as Ending[])(`provider "${kind}", the job %s`, async (ending) => {
      let cases = 0
      for (const retries of [false, true]) {
        const { steps } = await play({ kind, ending, retries })
        for (const first of crashes(steps[0])) {
          const once: Run = { kind, ending, retries, first }
          const result = await play(once)
          verify(result, once)
          cases++
          const taken = result.steps[1]
          for (const second of retries ? [] : sampleOf(telling(taken), 3)) {
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

/** The second process does the same thing over and over while a job runs: its first steps and its last ones tell. */
function telling(steps: number): Crash[] {
  return crashes(steps).filter(({ step }) => step <= 8 || step > steps - 3)
}

function crashes(steps: number): Crash[] {
  return Array.from({ length: steps }, (_, index) => index + 1).flatMap((step): Crash[] => [
    { step, when: 'before' },
    { step, when: 'after' },
  ])
}
