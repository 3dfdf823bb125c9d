/** The lifecycle of a video task, in virtual time. */
import { describe, expect, test, vi } from 'vitest'
import { ProviderError } from '../../src/providers/failure.ts'
import { GatewayError } from '../../src/errors.ts'
import type { VideoStatus } from '../../src/providers/video.ts'
import { caller, holdOf, hours, minutes, seconds, submission, World, type Hold, type Job } from './world.ts'
import { thorough } from '../long.ts'

async function started(world: World, key?: string) {
  const process = world.process()
  return { ...process, task: await process.tasks.create(submission(key)) }
}

describe('a submission', () => {
  test('is stored with an unguessable id, held, and passed to the vendor with the id as token', async () => {
    const world = new World({ kind: 'token' })
    const { task } = await started(world)
    expect(task.id).toMatch(/^video_[A-Za-z0-9_-]{32}$/)
    expect(task.data).toMatchObject({ state: 'pending', operation: { job: 0 } })
    expect(world.jobs[0]?.token).toBe(task.id)
    expect(world.holds.get(holdOf(task))).toMatchObject({ state: 'held', ends: 0 })
  })

  test('rejected by the vendor rejects with the same error, also when it is repeated, and costs nothing', async () => {
    const world = new World({ kind: 'none' })
    world.faults.push('rejected')
    const { tasks } = world.process()
    const rejection = { code: 'invalid_request_error', status: 400 }
    await expect(tasks.create(submission('k'))).rejects.toMatchObject(rejection)
    await expect(tasks.create(submission('k'))).rejects.toMatchObject(rejection)
    expect(world.jobs).toHaveLength(0)
    expect([...world.holds.values()]).toMatchObject([{ state: 'released', ends: 1 }])
  })

  test('rejected by the vendor keeps neither images nor a large number of fields', async () => {
    const world = new World({ kind: 'none' })
    world.faults.push('rejected')
    const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`field${index}`, 'x'.repeat(1_000)]))
    const { request, ...rest } = submission()
    await expect(world.process().tasks.create({ ...rest, request: { ...request, ...many } })).rejects.toThrow()
    expect(JSON.stringify(world.tasks()[0]).length).toBeLessThan(2_000)
  })

  test('that never reached the vendor is rejected with 503', async () => {
    const world = new World({ kind: 'none' })
    world.faults.push('unreachable')
    await expect(world.process().tasks.create(submission())).rejects.toMatchObject({ status: 503 })
    expect([...world.holds.values()]).toMatchObject([{ state: 'released', ends: 1 }])
  })

  test('of unknown outcome is not retried without token or lookup, and clients are told not to retry', async () => {
    const world = new World({ kind: 'none' })
    world.faults.push('accepted without response')
    const { tasks } = world.process()
    await expect(tasks.create(submission('k'))).rejects.toMatchObject({ status: 503, shouldRetry: false })
    const [again] = await Promise.allSettled([tasks.create(submission('k'))])
    expect(again).toMatchObject({
      status: 'fulfilled',
      value: { data: { state: 'failed', error: { code: 'submission_unknown' } } },
    })
    expect(world.jobs).toHaveLength(1)
    expect(world.events.filter((event) => event.type === 'reconcile')).toHaveLength(1)
  })

  test.each(['accepted without response', 'no response'] as const)(
    '%s is retried with the same token and creates one job',
    async (fault) => {
      const world = new World({ kind: 'token' })
      world.faults.push(fault)
      const { task, sweep, tasks } = await started(world)
      expect(task.data.state).toBe('submitting')
      world.time += 2 * seconds
      await sweep()
      expect(await tasks.find(caller.account, task.id)).toMatchObject({ data: { state: 'pending' } })
      expect(world.jobs).toHaveLength(1)
    },
  )

  test.each(['accepted without response', 'no response'] as const)(
    '%s is looked up after acceptBoundMs and creates one job',
    async (fault) => {
      const world = new World({ kind: 'lookup' })
      world.faults.push(fault)
      const { task, sweep, tasks } = await started(world)
      world.time += 29 * seconds
      await sweep()
      expect((await tasks.find(caller.account, task.id)).data.state).toBe('submitting')
      world.time += 2 * seconds
      await sweep()
      expect((await tasks.find(caller.account, task.id)).data.state).toBe('pending')
      expect(world.jobs).toHaveLength(1)
    },
  )

  test('repeated with one idempotency key is one task, also concurrently and from another process', async () => {
    const world = new World({ kind: 'none' })
    const processes = [world.process(), world.process()]
    const tasks = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => processes[index % 2]?.tasks.create(submission('k'))),
    )
    expect(new Set(tasks.map((task) => task?.id)).size).toBe(1)
    expect(world.jobs).toHaveLength(1)
    expect([...world.holds.values()].filter((hold) => hold.state === 'held')).toHaveLength(1)
  })

  test('repeated while it is submitted is refused as the first', async () => {
    const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const submitting = async () => {
      asked.resolve()
      await answered.promise
    }
    const world = new World({ kind: 'none', submitting })
    world.faults.push('rejected')
    const create = async () =>
      world.process().tasks.create({ ...submission('k'), client: new AbortController().signal })
    const first = create()
    await asked.promise
    const found = vi.spyOn(world.store, 'find')
    const second = create()
    await expect.poll(() => found.mock.calls.length).toBeGreaterThan(0)
    answered.resolve()
    const [one, other] = await Promise.allSettled([first, second])
    const reason = { code: 'invalid_request_error' }
    expect([one, other]).toMatchObject([{ reason }, { reason }])
    expect(world.jobs).toEqual([])
  })

  test('refused for a reason that may have passed runs again, and concurrent repetitions are one task', async () => {
    const world = new World({ kind: 'none' })
    world.faults.push('unreachable', 'unreachable')
    const { tasks } = world.process()
    const code = 'service_unavailable'
    await expect(tasks.create(submission('k'))).rejects.toMatchObject({ code })
    await expect(world.process().tasks.create(submission('k'))).rejects.toMatchObject({ code, shouldRetry: undefined })
    const again = await Promise.all(
      Array.from({ length: 5 }, async () => world.process().tasks.create(submission('k'))),
    )
    expect(new Set(again.map(({ id }) => id)).size).toBe(1)
    expect(again[0]?.data.state).toBe('pending')
    expect(world.jobs).toHaveLength(1)
    expect([...world.holds.values()].filter((hold) => hold.state === 'held')).toHaveLength(1)
  })

  test('with the idempotency key of a different request is a conflict', async () => {
    const world = new World({ kind: 'token' })
    const { tasks } = await started(world, 'k')
    await expect(tasks.create({ ...submission('k'), digest: 'other' })).rejects.toMatchObject({
      status: 409,
      shouldRetry: false,
    })
  })

  test('of another account with the same idempotency key is a separate task', async () => {
    const world = new World({ kind: 'token' })
    const { tasks, task } = await started(world, 'k')
    const foreign = await tasks.create({ ...submission('k'), caller: { ...caller, account: 'other' } })
    expect(foreign.id).not.toBe(task.id)
  })
})

describe('a task', () => {
  test('goes from pending to processing to completed, and is settled once', async () => {
    const world = new World({ kind: 'token' })
    const { tasks, task, sweep } = await started(world)
    const states: string[] = []
    for (let at = 0; at < 60; at += 5) {
      world.time += 5 * seconds
      await sweep()
      states.push((await tasks.find(caller.account, task.id)).data.state)
    }
    expect([...new Set(states)]).toEqual(['pending', 'processing', 'completed'])
    expect(world.holds.get(holdOf(task))).toMatchObject({ state: 'settled', ends: 1 })
    expect(world.events.map((event) => event.type)).toEqual(['created', 'completed'])
  })

  test('does not return to an earlier state when the vendor does', async () => {
    const world = new World({
      kind: 'token',
      status: (age) => ({ state: age < 12 * seconds ? 'processing' : 'pending' }),
    })
    const { tasks, task } = await started(world)
    for (let at = 0; at < 5; at++) {
      world.time += 6 * seconds
      expect((await tasks.find(caller.account, task.id)).data.state).toBe('processing')
    }
  })

  test('not finished by its deadline is cancelled at the vendor, released once, and stays failed if the vendor completes later', async () => {
    const world = new World({
      kind: 'token',
      status: (age) => (age < 5 * hours ? { state: 'processing' } : { state: 'completed' }),
    })
    const { tasks, task, sweep } = await started(world)
    for (let at = 0; at < 7; at++) {
      world.time += 1 * hours
      await sweep()
    }
    const ended = await tasks.find(caller.account, task.id)
    expect(ended.data).toMatchObject({ state: 'failed', error: { code: 'expired' } })
    expect(world.jobs[0]?.cancelled).toBe(true)
    expect(world.holds.get(holdOf(task))).toMatchObject({ state: 'released', ends: 1 })
  })

  test('finished when its deadline is checked completes', async () => {
    const world = new World({ kind: 'token' })
    const { tasks, task, sweep } = await started(world)
    world.time += 3 * hours
    await sweep()
    expect((await tasks.find(caller.account, task.id)).data.state).toBe('completed')
  })

  test('is found for 24 hours, then rejected with the same 404 as an unknown id or one of another account', async () => {
    const world = new World({ kind: 'token' })
    const { tasks, task } = await started(world)
    world.time = task.createdAt + 24 * hours - 1
    expect((await tasks.find(caller.account, task.id)).id).toBe(task.id)
    const foreign = await tasks.find('other', task.id).catch((error: unknown) => error as GatewayError)
    const unknown = await tasks.find(caller.account, 'video_unknown').catch((error: unknown) => error as GatewayError)
    world.time = task.createdAt + 24 * hours
    const expired = await tasks.find(caller.account, task.id).catch((error: unknown) => error as GatewayError)
    expect(expired).toMatchObject({ status: 404 })
    const errors = [foreign, unknown, expired].map((error) => JSON.stringify(error))
    expect(new Set(errors).size).toBe(1)
  })

  test('is settled without any client polling, even after its id has expired', async () => {
    const world = new World({ kind: 'token' })
    const { task } = await started(world)
    world.time += 30 * hours
    await world.process().sweep()
    expect(world.holds.get(holdOf(task))).toMatchObject({ state: 'settled', ends: 1 })
    await world.process().sweep()
    expect(await world.store.claim({ now: world.time + hours, leaseMs: 1, limit: 10 })).toEqual([])
  })

  test('survives a vendor that is down, with growing poll intervals', async () => {
    let failing = true
    const world = new World({
      kind: 'token',
      status: () => {
        if (failing) throw new ProviderError('service_unavailable', { retry: 'same' })
        return { state: 'completed' }
      },
    })
    const { tasks, task, sweep } = await started(world)
    for (let at = 0; at < 600; at++) {
      world.time += 1 * seconds
      await sweep()
    }
    expect(world.polls).toBeGreaterThan(8)
    expect(world.polls).toBeLessThan(25)
    failing = false
    world.time += 61 * seconds
    expect((await tasks.find(caller.account, task.id)).data.state).toBe('completed')
  })

  test('fails after the vendor returned not found three times in a row, not before', async () => {
    let known = 2
    const world = new World({
      kind: 'token',
      status: () => {
        if (known-- === 0) return { state: 'processing' }
        throw new GatewayError('not_found')
      },
    })
    const { tasks, task } = await started(world)
    const states: string[] = []
    for (let at = 0; at < 6; at++) {
      world.time += 61 * seconds
      states.push((await tasks.find(caller.account, task.id)).data.state)
    }
    expect(states).toEqual(['pending', 'pending', 'processing', 'processing', 'processing', 'failed'])
  })

  test('removed by its owner is not found any more, without its prompt, and its job is cancelled', async () => {
    const world = new World({ kind: 'token' })
    const { tasks, task } = await started(world, 'k')
    await expect(tasks.remove('other', task.id)).rejects.toMatchObject({ status: 404 })
    await tasks.remove(caller.account, task.id)
    for (const gone of [tasks.find(caller.account, task.id), tasks.remove(caller.account, task.id)])
      await expect(gone).rejects.toMatchObject({ status: 404 })
    await expect(tasks.create(submission('k'))).rejects.toMatchObject({ status: 409, shouldRetry: false })
    expect(world.jobs[0]?.cancelled).toBe(true)
    expect(JSON.stringify(world.stored(caller.account, task.id))).not.toContain('a hatch opens')
  })

  const unknown = () => {
    throw new GatewayError('not_found')
  }
  const ends: [string, (age: number, job: Job) => VideoStatus, Hold['state']][] = [
    ['is completed all the same', (age) => ({ state: age > minutes ? 'completed' : 'processing' }), 'settled'],
    ['was complete already', () => ({ state: 'completed' }), 'settled'],
    ['is not known any more', (_, { cancelled }) => (cancelled ? unknown() : { state: 'processing' }), 'settled'],
    ['never ends', () => ({ state: 'processing' }), 'settled'],
    [
      'is reported as failed',
      (_, { cancelled }) => (cancelled ? { state: 'failed', error: 'Cancelled.' } : { state: 'processing' }),
      'released',
    ],
  ]
  test.each(ends)(
    'removed by its owner, whose job %s, is ended once as the vendor charges',
    async (_, status, state) => {
      const world = new World({ kind: 'none', status })
      const { tasks, task, sweep } = await started(world)
      await tasks.remove(caller.account, task.id)
      for (let at = 0; at < 30; at++) {
        world.time += 5 * minutes
        await sweep()
      }
      expect(world.holds.get(holdOf(task))).toMatchObject({ state, ends: 1 })
      expect(world.events.map(({ type }) => type)).toEqual(['created', 'failed'])
    },
  )

  test.each(['token', 'lookup', 'none'] as const)(
    'removed while the vendor accepts it, as "%s", is charged',
    async (kind) => {
      let remove: ((token: string) => Promise<unknown>) | undefined
      const world = new World({ kind, submitting: async (token) => void (await remove?.(token)) })
      const { tasks, sweep } = world.process()
      remove = (token) => tasks.remove(caller.account, token)
      const task = await tasks.create(submission())
      await expect(tasks.find(caller.account, task.id)).rejects.toMatchObject({ status: 404 })
      for (let at = 0; at < 30; at++) {
        world.time += 5 * seconds
        await sweep()
      }
      expect(world.jobs[0]?.cancelled).toBe(true)
      expect(world.holds.get(holdOf(task))).toMatchObject({ state: 'settled', ends: 1 })
    },
  )

  test('removed while a vendor rejects it costs nothing', async () => {
    let remove: ((token: string) => Promise<unknown>) | undefined
    const world = new World({ kind: 'token', submitting: async (token) => void (await remove?.(token)) })
    world.faults.push('rejected')
    const { tasks } = world.process()
    remove = (token) => tasks.remove(caller.account, token)
    await expect(tasks.create(submission())).rejects.toMatchObject({ status: 400 })
    expect([...world.holds.values()]).toMatchObject([{ state: 'released', ends: 1 }])
  })

  test('whose process died continues in the next process after the lease', async () => {
    const world = new World({ kind: 'token' })
    const { task } = await started(world)
    const dying = world.process({ step: 3, when: 'before' })
    world.time += 6 * seconds
    await dying.sweep()
    expect(dying.dead()).toBe(true)
    world.time += 31 * seconds
    await world.process().sweep()
    expect(world.stored(caller.account, task.id)?.data.state).not.toBe('pending')
  })
})

describe('at scale', () => {
  test('thousands of polls of one task on two instances cause one vendor request an interval and one settlement', async () => {
    const world = new World({ kind: 'token' })
    const { task } = await started(world)
    const instances = [world.process(), world.process()]
    let polls = 0
    for (let interval = 1; interval <= 9; interval++) {
      world.time += 5 * seconds
      const before = world.polls
      await Promise.all(
        Array.from({ length: interval === 1 ? 10_000 : 500 }, async (_, index) =>
          instances[index % 2]?.tasks.find(caller.account, task.id),
        ),
      )
      expect(world.polls - before).toBeLessThanOrEqual(1)
      polls += interval === 1 ? 10_000 : 500
    }
    expect(polls).toBeGreaterThan(10_000)
    expect(world.holds.get(holdOf(task))).toMatchObject({ state: 'settled', ends: 1 })
    expect(world.events.filter((event) => event.type === 'completed')).toHaveLength(1)
  })

  test('the completion of each of many tasks is noticed within its interval and two seconds', async () => {
    const count = thorough ? 5_000 : 1_000
    const world = new World({
      count,
      kind: 'token',
      status: (age) => (age < 20 * seconds ? { state: 'processing' } : { state: 'completed' }),
    })
    const { tasks, sweep } = world.process()
    for (let index = 0; index < count; index++) {
      await tasks.create(submission())
      if (index % (count / 20) === 0) world.time += 100
    }
    const noticed = new Map<string, number>()
    const begunAt = world.time
    while (noticed.size < count && world.time < begunAt + 5 * minutes) {
      world.time += 1 * seconds
      await sweep()
      for (const { type, task } of world.events)
        if (type === 'completed' && !noticed.has(task.id)) noticed.set(task.id, world.time)
      world.events.length = 0
    }
    const delays = world.jobs.map((job) => (noticed.get(job.token) ?? Infinity) - job.startedAt - 20 * seconds)
    expect(Math.max(...delays)).toBeLessThanOrEqual(5 * seconds + 2 * seconds)
  })
})
