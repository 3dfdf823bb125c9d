import { GatewayError } from '../../errors.ts'
import { within } from '../../http/deadline.ts'
import type { StoreQuestion } from './store-questions.ts'

/** Calls each store once. Rejects with their errors as the `cause`, equal errors of several stores only once. */
export async function requireReady(all: readonly StoreQuestion[], timeoutMs: number): Promise<void> {
  const given = await Promise.allSettled(all.map(({ name, ask }) => within(timeoutMs, ask(), name)))
  const causes = new Map<string, unknown>()
  const failed = all.flatMap(({ name }, index) => {
    const { reason } = given[index] as PromiseRejectedResult
    if (given[index]?.status === 'fulfilled') return []
    const error: unknown = GatewayError.is(reason) ? (reason.cause ?? reason) : reason
    causes.set(String(error), error)
    return name
  })
  if (failed.length === 0) return
  const [first] = causes.values()
  const cause = causes.size === 1 ? first : new AggregateError(causes.values(), [...causes.keys()].join('; '))
  const message = `The gateway is not ready: ${failed.join(', ')} failed. See the cause.`
  throw new GatewayError('service_unavailable', { message, cause })
}
