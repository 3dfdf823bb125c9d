/** A thread of its own in virtual time: gateways that share the limit of one vendor's key, and accounts that ask for more. */
import { parentPort, workerData } from 'node:worker_threads'
import type { Gateway } from '../../../src/index.ts'
import type { LimitClaim } from '../../../adapters/stores/index.ts'
import type { Provider } from '../../../src/providers/index.ts'
import { install, Machine, pause, Scheduler } from '../../simulation/scheduler.ts'

/** What happens in the thread. */
export interface Load {
  readonly processes: number
  /** Calls a second that each account offers. The first account is the one that floods. */
  readonly rates: readonly number[]
  /** Whether the gateways have the option `fairness`. */
  readonly isFair: boolean
  /** Whether the vendor tells its limits in headers. */
  readonly hasHeaders: boolean
  /** Whether the processes share a limit store. */
  readonly isShared?: boolean
  /** Calls a second that the vendor accepts. */
  readonly limit: number
  readonly seconds: number
  readonly seed: number
}

export interface Result {
  /** Tokens that each account was served, and milliseconds of each of its answered calls. */
  readonly tokens: readonly number[]
  /** Calls of each account. */
  readonly asked: readonly number[]
  readonly ms: readonly number[][]
  readonly answered: number
  /** Calls that reached the vendor beyond its limit. */
  readonly refused: number
  /** Calls that the gateway has refused with a 503. */
  readonly shed: number
  readonly used: number
}

install()
const { createGateway, memoryLimitStore } = await import('../../../src/index.ts')
const { defineProvider, ProviderError } = await import('../../../src/providers/index.ts')
const { usageOf } = await import('../../../src/wire/usage.ts')

/** The vendor's first minute is not counted: its limit is learned then. */
const warmMs = 60_000

async function run(load: Load): Promise<Result> {
  const { processes, rates, isFair, isShared = false, limit, seconds, seed } = load
  const scheduler = new Scheduler(seed)
  const result = {
    tokens: rates.map(() => 0),
    asked: rates.map(() => 0),
    ms: rates.map((): number[] => []),
    answered: 0,
    refused: 0,
    shed: 0,
  }
  const counts = () => scheduler.now > warmMs
  const provider = vendor(load, scheduler, () => {
    if (counts()) result.refused++
  })
  const keys = Object.fromEntries(rates.map((_, at) => [`sk-${at}`, { account: `account ${at}` }]))
  const limits = memoryLimitStore({ clock: () => scheduler.now })
  const take = async (claim: LimitClaim) => {
    await pause(2)
    return limits.take(claim)
  }
  const storage = { limits: { take, give: async () => undefined, renew: async () => undefined } }
  const fleet = Array.from({ length: processes }, (_, at) => {
    scheduler.machine = new Machine(`process ${at}`)
    const options = { models: { model: provider }, keys, retry: { maxAttempts: 1 }, ...(isShared && { storage }) }
    return { machine: scheduler.machine, gateway: createGateway(isFair ? { ...options, fairness: {} } : options) }
  })
  const clients = new Machine('clients')
  const ask = (account: number, { gateway, machine }: { gateway: Gateway; machine: Machine }) => {
    const tokens = Math.round(100 + 900 * scheduler.random())
    const sentAt = scheduler.now
    if (counts()) result.asked[account] = (result.asked[account] as number) + 1
    scheduler.after(0, machine, () => {
      const messages = [{ role: 'user', content: 'x'.repeat(4 * tokens) }]
      const exchange = {
        method: 'POST',
        target: '/v1/chat/completions',
        headers: { authorization: `Bearer sk-${account}`, 'content-type': 'application/json' },
        body: { state: 'text' as const, text: JSON.stringify({ model: 'model', messages }) },
        signal: new AbortController().signal,
      }
      void gateway.handle(exchange).then(({ status }) => {
        if (!counts()) return
        if (status === 200) {
          result.answered++
          result.tokens[account] = (result.tokens[account] as number) + tokens
          result.ms[account]?.push(scheduler.now - sentAt)
        } else if (status === 503) result.shed++
      })
    })
  }
  for (const [account, rate] of rates.entries()) {
    const next = () => {
      ask(account, fleet[Math.floor(scheduler.random() * processes)] as (typeof fleet)[number])
      scheduler.after((-Math.log(1 - scheduler.random()) * 1_000) / rate, clients, next)
    }
    if (rate > 0) scheduler.after(0, clients, next)
  }
  await scheduler.run(warmMs + seconds * 1_000, () => undefined)
  return { ...result, used: result.answered / (limit * seconds) }
}

/** Accepts `limit` calls a second on the average, and those of a minute at once, as most vendors do. */
function vendor({ limit, hasHeaders }: Load, scheduler: Scheduler, refused: () => void): Provider {
  const most = limit * 60
  let left = most / 2
  let at = 0
  return defineProvider({
    name: 'vendor',
    async *chat({ answered, signal }) {
      await pause(20, signal)
      left = Math.min(most, left + ((scheduler.now - at) * limit) / 1_000)
      at = scheduler.now
      if (left < 1) {
        refused()
        throw new ProviderError('rate_limit_exceeded', { retry: 'same', begun: false, vendorStatus: 429 })
      }
      left--
      const headers: Record<string, string> = {
        'x-ratelimit-limit-requests': String(most),
        'x-ratelimit-remaining-requests': String(Math.floor(left)),
        'x-ratelimit-reset-requests': `${(((most - left) / limit) * 1_000).toFixed(0)}ms`,
      }
      await pause(200 + 200 * scheduler.random(), signal)
      if (hasHeaders) answered?.({ status: 200, header: (name) => headers[name] })
      await pause(200 + 800 * scheduler.random(), signal)
      yield { choices: [{ index: 0, delta: { content: 'Yes.' } }] }
      yield { choices: [{ index: 0, delta: {}, finish_reason: 'stop' as const }], usage: usageOf(100, 2) }
    },
  })
}

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- not a window
parentPort?.postMessage(await run(workerData as Load))
