/**
 * A long run in virtual time: a thousand tasks an hour, with random faults and processes that die at random steps. Every
 * task must end. Two hours here, twenty-four with `npm run test:long`.
 */
import { expect, test } from 'vitest'
import { ProviderError } from '../../src/providers/failure.ts'
import type { VideoStatus } from '../../src/providers/video.ts'
import { long, sampleOf } from '../long.ts'
import { seeded } from '../../src/testing/random.ts'
import { hours, minutes, seconds, submission, World, type Kind } from '../tasks/world.ts'

const length = long ? 24 : 2

const kinds = ['lookup', 'token', 'none'] satisfies Kind[]

test.each(sampleOf(kinds, 3))('a vendor of kind "%s"', { timeout: 600_000 }, async (kind) => {
  const random = seeded(20_261_120)
  const status = (age: number): VideoStatus => {
    const fate = random()
    if (fate < 0.05) throw new ProviderError('service_unavailable', { retry: 'same' })
    if (fate < 0.07) return { state: 'failed', error: 'The video was refused.' }
    return age < 45 * seconds ? { state: 'processing' } : { state: 'completed', url: 'https://videos.example/1.mp4' }
  }
  const world = new World({ kind, status })
  const step = 30 * seconds
  const perStep = 1_000 / (hours / step)
  let process = world.process()
  let made = 0
  let due = 0
  for (const end = world.time + length * hours; world.time < end; world.time += step) {
    for (due += perStep; due >= 1; due--) {
      const fate = random()
      if (fate < 0.03) world.faults.push('accepted without response')
      else if (fate < 0.06) world.faults.push('no response')
      else if (fate < 0.08) world.faults.push('unreachable')
      if (process.dead()) process = world.process()
      await process.tasks.create(submission(`key-${made++}`)).catch(() => undefined)
    }
    if (random() < 0.2)
      process = world.process({ step: 1 + Math.floor(random() * 200), when: random() < 0.5 ? 'before' : 'after' })
    await process.sweep()
    if (process.dead()) process = world.process()
  }
  for (let rest = 0; rest < 60; rest++) {
    world.time += 30 * minutes
    if (process.dead()) process = world.process()
    await process.sweep()
  }

  expect(made).toBeGreaterThanOrEqual(length * 1_000)
  expect(await world.store.claim({ now: world.time + hours, leaseMs: 1, limit: 10 }), 'tasks still due').toEqual([])
  const unsettled = world.tasks().filter(({ data, dueAt }) => !data.settled || dueAt !== null)
  expect(unsettled, 'unsettled tasks').toEqual([])
  const jobs = new Map<string, number>()
  for (const { token } of world.jobs) jobs.set(token, (jobs.get(token) ?? 0) + 1)
  expect(
    [...jobs.values()].filter((count) => count > 1),
    'duplicated jobs',
  ).toEqual([])
  const known = new Set(world.tasks().map(({ data }) => data.attempt))
  const open = [...world.holds].filter(([id, hold]) => known.has(id) && (hold.state === 'held' || hold.ends !== 1))
  expect(open, 'open holds').toEqual([])
})
