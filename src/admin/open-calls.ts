import type { Meter } from '../admission/meter.ts'
import type { OpenCalls } from '../http/open-calls.ts'
import type { Receipt } from '../money/receipt.ts'
import { strict } from '../records/rules.ts'
import { estimateTokens } from '../wire/counts.ts'
import { ofAny, requireScoped } from './check.ts'
import type { UsageScope } from './usage-scope.ts'

type Known = 'id' | 'endpoint' | 'account' | 'group' | 'key' | 'user' | 'model' | 'stream' | 'startedAt'

/** A request that waits for a model, or whose response is being sent. */
export interface OpenCallView extends Pick<Receipt, Known | 'provider' | 'providerModel' | 'attempts' | 'firstByteMs'> {
  /** Milliseconds since the request arrived. */
  readonly ageMs: number
  /** Tokens of the input: reported by the vendor, or an estimate. */
  readonly promptTokens: number
  /** Tokens of the response so far: reported by the vendor, or an estimate by its text. */
  readonly completionTokens: number
  /** Whether the client has gone, and the response is read to its end to learn what it costs. */
  readonly disconnected: boolean
}

const mostCalls = 1_000

const rule = strict(ofAny)

/** The open calls of a process, the oldest first. */
export function openCallsIn(calls: OpenCalls<Meter>, scope: UsageScope): OpenCallView[] {
  requireScoped(rule, scope, 'open calls')
  const found: OpenCallView[] = []
  for (const { subject, disconnected } of calls) {
    if (subject === undefined || (scope.all !== true && subject.request.caller.account !== scope.account)) continue
    found.push(viewOf(subject, disconnected))
    if (found.length === mostCalls) break
  }
  return found
}

function viewOf(meter: Meter, disconnected: boolean): OpenCallView {
  const { id, caller, attribution, order, startedAt, elapsedMs } = meter.request
  const { endpoint, deployment, attempts, firstByteMs, usage } = meter
  const { account, group, key } = caller
  const { user } = attribution
  return {
    id,
    endpoint,
    account,
    group,
    ...(key !== undefined && { key }),
    ...(user !== undefined && { user }),
    model: order.model,
    ...(deployment && { provider: deployment.provider.name, providerModel: deployment.model }),
    attempts,
    stream: order.stream,
    startedAt,
    ageMs: elapsedMs(),
    ...(firstByteMs !== undefined && { firstByteMs }),
    promptTokens: usage?.prompt_tokens ?? order.promptTokens,
    // Some vendors report a few tokens when the response begins.
    completionTokens: Math.max(usage?.completion_tokens ?? 0, estimateTokens(meter.textBytes)),
    disconnected,
  }
}
