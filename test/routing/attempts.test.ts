import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { GatewayError } from '../../src/errors.ts'
import type { Deployment } from '../../src/models/contract.ts'
import { ProviderError, unavailable, type RetryAdvice } from '../../src/providers/failure.ts'
import { Breaker } from '../../src/routing/breaker.ts'
import { Canceller } from '../../src/http/cancellation.ts'
import { TimeLimit } from '../../src/http/time-limit.ts'
import { Attempts, type AttemptSettings, type RetryOptions, type Trial } from '../../src/routing/attempts.ts'

const limitMs = 60_000
const cause = new Error('down')
const failing = (retry: RetryAdvice, vendorWaitMs?: number) => unavailable(retry, cause, { vendorWaitMs })

function deployment(name: string): Deployment {
  return { provider: { name }, model: name, order: 0, weight: 1 }
}

function settings(own: Partial<AttemptSettings> = {}): AttemptSettings {
  const limit = new TimeLimit(limitMs)
  return { breaker: new Breaker({}, Date.now), retry: {}, random: () => 0.5, limit, ...own }
}

interface Round {
  /** The deployment and the milliseconds since the start of each call. */
  readonly calls: string[]
  readonly outcome: unknown
}

/** Performs one request. `outcomes` are the results of its calls in order; errors are thrown. */
async function round(names: string, outcomes: unknown[], retry: RetryOptions = {}, random = 0.5): Promise<Round> {
  const calls: string[] = []
  const startedAt = Date.now()
  const trial: Trial<unknown> = {
    candidates: names.split('').map(deployment),
    async attempt({ model }) {
      calls.push(`${model} ${Date.now() - startedAt}`)
      const outcome = outcomes.shift()
      if (outcome instanceof Error) throw outcome
      return outcome
    },
    cancellation: new Canceller(),
  }
  const performing = new Attempts(settings({ retry, random: () => random }), trial)
    .answer()
    .catch((error: unknown) => error)
  await vi.advanceTimersByTimeAsync(2 * limitMs)
  return { calls, outcome: await performing }
}

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

describe('the retry advice of a failure is followed:', () => {
  test('success: the result is returned', async () => {
    expect(await round('ab', ['fine'])).toEqual({ calls: ['a 0'], outcome: 'fine' })
  })

  test('same: one more call of the same deployment, then the next', async () => {
    const outcomes = [failing('same'), failing('same'), 'fine']
    expect(await round('ab', outcomes)).toEqual({ calls: ['a 0', 'a 250', 'b 250'], outcome: 'fine' })
  })

  test('next: the next deployment immediately', async () => {
    expect(await round('ab', [failing('next'), 'fine'])).toEqual({ calls: ['a 0', 'b 0'], outcome: 'fine' })
  })

  test('never: no other deployment is called', async () => {
    const rejection = new ProviderError('invalid_request_error', { retry: 'never' })
    expect(await round('ab', [rejection])).toEqual({ calls: ['a 0'], outcome: rejection })
  })

  test('a GatewayError is passed on: no other deployment is called', async () => {
    const rejection = new GatewayError('unsupported_value')
    expect(await round('ab', [rejection])).toEqual({ calls: ['a 0'], outcome: rejection })
  })

  test('an unknown error: the next deployment', async () => {
    expect(await round('ab', [new TypeError('bug'), 'fine'])).toEqual({ calls: ['a 0', 'b 0'], outcome: 'fine' })
  })

  test('advice of another copy of the library is followed', async () => {
    const foreign = Object.assign(new Error('down'), { name: 'GatewayError', code: 'server_error', retry: 'next' })
    expect(await round('ab', [foreign, 'fine'])).toEqual({ calls: ['a 0', 'b 0'], outcome: 'fine' })
  })

  test('if all fail, the last failure is thrown', async () => {
    const last = failing('next')
    expect(await round('ab', [failing('next'), last])).toEqual({ calls: ['a 0', 'b 0'], outcome: last })
  })
})

function always(): ProviderError[] {
  return Array.from({ length: 9 }, () => failing('same'))
}

test('a deployment that rejects a request is not skipped', async () => {
  const breaker = new Breaker({ failures: 1 }, Date.now)
  const candidates = ['a', 'b'].map(deployment)
  const rejection = new ProviderError('invalid_request_error', { retry: 'never' })
  const attempt = () => Promise.reject(rejection)
  const performing = new Attempts(settings({ breaker }), {
    candidates,
    attempt,
    cancellation: new Canceller(),
  }).answer()
  await expect(performing).rejects.toBe(rejection)
  expect(breaker.usable(candidates)).toEqual(candidates)
})

describe('waits between calls', () => {
  test('double, and are jittered by half in both directions', async () => {
    const retry = { maxAttempts: 4, backoffMs: 100 }
    expect((await round('a', always(), retry, 0.5)).calls).toEqual(['a 0', 'a 100', 'a 300', 'a 700'])
    expect((await round('a', always(), retry, 0)).calls).toEqual(['a 0', 'a 50', 'a 150', 'a 350'])
    expect((await round('a', always(), retry, 0.999)).calls).toEqual(['a 0', 'a 149', 'a 448', 'a 1047'])
  })

  test('do not exceed maxWaitMs', async () => {
    const retry = { maxAttempts: 4, backoffMs: 1_000, maxWaitMs: 1_500 }
    expect((await round('a', always(), retry)).calls).toEqual(['a 0', 'a 1000', 'a 2500', 'a 4000'])
  })

  test('are as long as the vendor asks', async () => {
    expect((await round('a', [failing('same', 1_234), 'fine'])).calls).toEqual(['a 0', 'a 1234'])
  })

  test('are skipped if the vendor asks for more than maxWaitMs: the next deployment is called immediately', async () => {
    const { calls, outcome } = await round('ab', [failing('same', 2_001), 'fine'])
    expect({ calls, outcome }).toEqual({ calls: ['a 0', 'b 0'], outcome: 'fine' })
  })

  test('of more than maxWaitMs are sent to the client as retry-after if there is no other deployment', async () => {
    const { calls, outcome } = await round('a', [failing('same', 30_000)])
    expect(calls).toEqual(['a 0'])
    expect((outcome as GatewayError).adviceHeaders()).toMatchObject({ 'retry-after': '30' })
  })
})

describe('an abort', () => {
  const reason = new GatewayError('client_closed')

  /** Aborts during the call of a deployment, or `afterMs` after it has failed. */
  async function aborted(failure: Error, afterMs?: number): Promise<Round & { readonly endedMs: number }> {
    const calls: string[] = []
    const controller = new Canceller()
    const startedAt = Date.now()
    const trial: Trial<unknown> = {
      candidates: ['a', 'b'].map(deployment),
      async attempt({ model }) {
        calls.push(model)
        if (afterMs === undefined) controller.abort(reason)
        else setTimeout(() => controller.abort(reason), afterMs)
        throw failure
      },
      cancellation: controller,
    }
    const performing = new Attempts(settings(), trial).answer().catch((error: unknown) => error)
    const outcome = performing.then((error) => ({ error, endedMs: Date.now() - startedAt }))
    await vi.advanceTimersByTimeAsync(2 * limitMs)
    const { error, endedMs } = await outcome
    return { calls, outcome: error, endedMs }
  }

  test('during a call is the outcome, whatever the call returns', async () => {
    expect(await aborted(failing('same'))).toEqual({ calls: ['a'], outcome: reason, endedMs: 0 })
    expect(await aborted(failing('next'))).toEqual({ calls: ['a'], outcome: reason, endedMs: 0 })
  })

  test('during a wait ends the wait', async () => {
    expect(await aborted(failing('same'), 10)).toEqual({ calls: ['a'], outcome: reason, endedMs: 10 })
  })

  test('leaves no timer behind', async () => {
    await aborted(failing('same'), 10)
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe('a request whose time limit passes', () => {
  test.each(['during a call', 'between two calls'])('%s fails once, with the error of the request', async (when) => {
    const ended: string[] = []
    const attempt = () => (when === 'during a call' ? new Promise<string>(() => {}) : Promise.reject(failing('same')))
    const cancellation = new Canceller()
    const late = new GatewayError('service_unavailable')
    const attempts = new Attempts(settings({ retry: { backoffMs: 2 * limitMs, maxWaitMs: 2 * limitMs } }), {
      candidates: [deployment('a')],
      attempt,
      cancellation,
      timeout: () => late,
      isWatched: true,
      ended: (_, { outcome }) => void ended.push(outcome),
    })
    const outcome = attempts.answer().catch((error: unknown) => error)
    await vi.advanceTimersByTimeAsync(2 * limitMs)
    expect(await outcome).toBe(late)
    expect(ended).toEqual([when === 'during a call' ? 'aborted' : 'failed'])
    expect(vi.getTimerCount()).toBe(0)
  })

  test.each([
    ['the one that hangs has failed', 'a', 0, 'b'],
    ['not one that began late', 'b', 0.6 * limitMs, 'bc'],
    ['nor one that has not been called', 'a', 0, 'ab', true],
  ])('%s', async (_, hangs, earlierMs, usable, isWaiting = false) => {
    const breaker = new Breaker({ failures: 1, coolDownMs: 600_000 }, Date.now)
    const [first, ...others] = 'abc'.split('').map(deployment)
    const candidates = hangs === 'a' ? [first as Deployment, others[0] as Deployment] : [first as Deployment, ...others]
    const attempts = new Attempts(settings({ breaker }), {
      candidates,
      attempt: ({ model }) =>
        new Promise<string>((_resolve, reject) => {
          if (model !== hangs) setTimeout(reject, earlierMs, failing('next'))
        }),
      cancellation: new Canceller(),
      isWaiting,
    })
    const outcome = attempts.answer().catch(() => 'failed')
    await vi.advanceTimersByTimeAsync(limitMs)
    expect(await outcome).toBe('failed')
    const names = breaker.usable(candidates).map(({ model }) => model)
    expect(names.join('')).toBe(usable)
  })

  test('discards an answer that arrives later', async () => {
    const { promise, resolve } = Promise.withResolvers<string>()
    const discarded: string[] = []
    const attempts = new Attempts(settings(), {
      candidates: [deployment('a')],
      attempt: () => promise,
      cancellation: new Canceller(),
      discard: (answer: string) => void discarded.push(answer),
    })
    const outcome = attempts.answer().catch((error: unknown) => (error as GatewayError).code)
    await vi.advanceTimersByTimeAsync(2 * limitMs)
    expect(await outcome).toBe('service_unavailable')
    resolve('late')
    await vi.advanceTimersByTimeAsync(2 * limitMs)
    expect(discarded).toEqual(['late'])
  })
})

test('a request that is cancelled during a call fails at once, and discards what the call still returns', async () => {
  const { promise, resolve } = Promise.withResolvers<string>()
  const cancellation = new Canceller()
  const discarded: string[] = []
  const attempts = new Attempts(settings(), {
    candidates: [deployment('a')],
    attempt: () => promise,
    cancellation,
    discard: (answer: string) => void discarded.push(answer),
  })
  const outcome = attempts.answer().catch((error: unknown) => error)
  const reason = new GatewayError('client_closed')
  cancellation.abort(reason)
  expect(await outcome).toBe(reason)
  resolve('late')
  await vi.advanceTimersByTimeAsync(0)
  expect(discarded).toEqual(['late'])
})

test('a request that is cancelled before its first attempt makes none', async () => {
  const cancellation = new Canceller()
  const reason = new GatewayError('client_closed')
  cancellation.abort(reason)
  const attempt = vi.fn<() => Promise<string>>()
  const attempts = new Attempts(settings(), { candidates: [deployment('a')], attempt, cancellation })
  await expect(attempts.answer()).rejects.toBe(reason)
  expect(attempt).not.toHaveBeenCalled()
})

describe('an answer that is waited for with a time limit', () => {
  const waiting = new TimeLimit(1_000)

  test('is undefined after it, and arrives later', async () => {
    const { promise, resolve } = Promise.withResolvers<string>()
    const trial = { candidates: [deployment('a')], attempt: () => promise, cancellation: new Canceller() }
    const attempts = new Attempts(settings(), trial)
    const first = attempts.answerWithin(waiting)
    await vi.advanceTimersByTimeAsync(1_000)
    expect(await first).toBeUndefined()
    const second = attempts.answer()
    resolve('fine')
    expect([await second, await attempts.answer()]).toEqual(['fine', 'fine'])
  })

  test('is the answer or the failure if that is earlier', async () => {
    for (const outcome of ['fine', failing('never')]) {
      const attempt = async () => {
        if (outcome instanceof Error) throw outcome
        return outcome
      }
      const attempts = new Attempts(settings(), {
        candidates: [deployment('a')],
        attempt,
        cancellation: new Canceller(),
      })
      expect(await attempts.answerWithin(waiting).catch((error: unknown) => error)).toBe(outcome)
      expect(await attempts.answerWithin(waiting).catch((error: unknown) => error)).toBe(outcome)
    }
  })
})

describe('after a request that was too long', () => {
  const tooLong = new GatewayError('context_length_exceeded')
  const rejected = new GatewayError('content_policy_violation')
  const outcomes = async (deployments: readonly Deployment[], ...failures: readonly unknown[]) => {
    const left = [...failures]
    const calls: string[] = []
    const trial: Trial<unknown> = {
      candidates: deployments,
      async attempt({ model }) {
        calls.push(model)
        const failure = left.shift()
        if (failure !== undefined) throw failure
        return 'done'
      },
      cancellation: new Canceller(),
    }
    const outcome = await new Attempts(settings(), trial).answer().catch((error: unknown) => error)
    return { calls: calls.join(''), outcome }
  }
  const windowed = (name: string, contextWindow: number): Deployment => ({ ...deployment(name), contextWindow })
  const after = (name: string, ...when: NonNullable<Deployment['when']>): Deployment => ({ ...deployment(name), when })

  test('only deployments with a larger window are tried', async () => {
    const [small, same, large] = [windowed('s', 8_000), windowed('t', 8_000), windowed('l', 128_000)]
    expect(await outcomes([small, same, large], tooLong)).toEqual({ calls: 'sl', outcome: 'done' })
    expect(await outcomes([small, same], tooLong)).toEqual({ calls: 's', outcome: tooLong })
    expect(await outcomes([small, deployment('u')], tooLong)).toEqual({ calls: 's', outcome: tooLong })
  })

  test('or those that say so, which serve nothing else', async () => {
    const routes = [deployment('a'), after('c', 'context'), after('p', 'policy'), deployment('b')]
    expect(await outcomes(routes, tooLong)).toEqual({ calls: 'ac', outcome: 'done' })
    expect(await outcomes(routes, rejected)).toEqual({ calls: 'ap', outcome: 'done' })
    const failure = failing('next')
    expect(await outcomes(routes, failure, failure)).toEqual({ calls: 'ab', outcome: failure })
    expect(await outcomes(routes, rejected, failure)).toEqual({ calls: 'apb', outcome: 'done' })
  })

  test('a request that is invalid for another reason is not repeated', async () => {
    const invalid = new GatewayError('invalid_request_error')
    const routes = [windowed('s', 8_000), windowed('l', 128_000), after('c', 'context', 'policy')]
    expect(await outcomes(routes, invalid)).toEqual({ calls: 's', outcome: invalid })
  })
})

describe('a deployment that cannot do what the request asks', () => {
  const unable = (param: string) => new ProviderError('unsupported_parameter', { retry: 'skip', begun: false, param })

  test('is passed over for the next one', async () => {
    const { calls, outcome } = await round('ab', [unable('seed'), 'done'])
    expect(calls).toEqual(['a 0', 'b 0'])
    expect(outcome).toBe('done')
  })

  test('is not the reason that the client gets if another one failed', async () => {
    const failure = failing('next')
    expect((await round('ab', [unable('seed'), failure])).outcome).toBe(failure)
    expect((await round('ab', [failure, unable('seed')])).outcome).toBe(failure)
  })

  test('gives the reason if there is no other: the first one, with its field', async () => {
    const [first, second] = [unable('seed'), unable('n')]
    expect((await round('ab', [first, second])).outcome).toBe(first)
  })

  test('does not open its breaker', async () => {
    const breaker = new Breaker({ failures: 1 }, Date.now)
    const [only] = [deployment('a')]
    const attempt = () => Promise.reject(unable('seed'))
    const trial: Trial<unknown> = { candidates: [only], attempt, cancellation: new Canceller() }
    await new Attempts(settings({ breaker }), trial).answer().catch((error: unknown) => error)
    expect(breaker.stateOf(only)).toBe('closed')
  })
})
