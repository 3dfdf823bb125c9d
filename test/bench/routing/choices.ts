/** The choice of a deployment, without sockets: shares, what moves when one leaves, and its time. */
import type { Deployment, Model } from '../../../src/models/contract.ts'
import { Price } from '../../../src/money/prices/price.ts'
import { KeyPool } from '../../../src/providers/credentials/pool.ts'
import { attemptOrder } from '../../../src/routing/attempt-order.ts'
import { FirstContentTimes } from '../../../src/routing/first-content-times.ts'
import { Preference } from '../../../src/routing/preference.ts'

const sessions = Array.from({ length: 30_000 }, (_, index) => `account\0m\0session ${index}`)
const weights = [5, 3, 2]

function deployment(weight: number, index: number): Deployment {
  const price = new Price({ input: `${index + 1}`, output: '9', cached: '0.1' })
  return { provider: { name: `vendor-${index}` }, model: 'm', order: 0, weight, price }
}

function never(): number {
  throw new Error('chance decides')
}

function chosen(deployments: readonly Deployment[]): readonly string[] {
  return sessions.map((session) => attemptOrder(deployments, never, session)[0]?.provider.name ?? '')
}

/** For each deployment, how far its share of the sessions is from its weight, in percent of the latter. */
export function sharesOff(): readonly number[] {
  const all = chosen(weights.map(deployment))
  const sum = weights.reduce((left, right) => left + right)
  return weights.map((weight, index) => {
    const count = all.filter((name) => name === `vendor-${index}`).length
    return ((count * sum) / (weight * sessions.length) - 1) * 100
  })
}

/** One deployment leaves and returns: the sessions that move each time, and how many of them it had, or gets. */
export function moves(): readonly { readonly moved: number; readonly own: number }[] {
  const all = weights.map(deployment)
  const [before, without, after] = [chosen(all), chosen(all.slice(1)), chosen(all)]
  const between = (left: readonly string[], right: readonly string[]) => {
    const moved = left.flatMap((name, index) => (name === right[index] ? [] : [[name, right[index]]]))
    return { moved: moved.length, own: moved.filter((pair) => pair.includes('vendor-0')).length }
  }
  return [between(before, without), between(without, after)]
}

/** Microseconds of CPU for one choice among six deployments and of one of four keys, for a preference. */
export function choosingMicros(prefer?: 'price' | 'latency'): number {
  const deployments = Array.from({ length: 6 }, (_, index) => deployment(1, index))
  const model: Model = { id: 'm', created: 0, ownedBy: 'me', deployments, ...(prefer && { prefer }) }
  const preference = new Preference(new FirstContentTimes())
  for (const each of deployments) preference.times.add(each, 100)
  const holder = { headers: () => ({ authorization: 'Bearer key' }) }
  const pool = new KeyPool(['a', 'b', 'c', 'd'].map((name) => ({ name, holder })))
  const request = { method: 'POST', url: 'http://vendor', headers: {}, body: undefined, model: 'm', account: 'a' }
  const rounds = Array.from({ length: 9 }, () => {
    // What other processes take of a busy machine does not count.
    const startedAt = process.cpuUsage()
    for (const conversation of sessions.slice(0, 10_000)) {
      preference.order(model, attemptOrder(deployments, never, conversation), { promptTokens: 5_000, conversation })
      void pool.headers({ ...request, conversation })
    }
    return process.cpuUsage(startedAt).user / 10_000
  })
  return rounds.toSorted((left, right) => left - right)[4] as number
}
