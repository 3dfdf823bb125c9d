import type { Receipt } from '../money/receipt.ts'
import { countedNames, countedUnits, type Units } from '../wire/units.ts'
import type { Model } from '../models/contract.ts'
import { usageOf, type Usage } from '../wire/usage.ts'
import type { Estimate } from './estimate.ts'

/** Rounds of a vendor's built-in tools within one request, each of which processes the conversation again. */
const mostRounds = 8
/** Context window assumed for a model that declares none. */
const largestWindow = 10_000_000
/** Maximum output tokens of one choice: per second, and in addition at once. */
const fastest = { perSecond: 20_000, atOnce: 200_000 }
/** Tokens by which a vendor may exceed the limit of a request. */
const slack = 1_024
/** Maximum seconds of a recording or video. */
const longest = 86_400

/** Maximum calls of one of the vendor's own tools in one request. */
const mostToolCalls = 1_000

/** Upper bound of what a request can use. */
export interface UsageBounds {
  readonly promptTokens: number
  readonly completionTokens: number
  /** Upper bound of the output tokens that the request asks for; 0 for vectors and transcripts. */
  readonly length: number
  /** Number of choices of the response. */
  readonly choices: number
}

/** Computes the bounds that a vendor's counts must not exceed, so that a faulty count cannot empty an account. */
export function boundsOf(
  {
    bytes,
    outputTokens,
    choices,
    writes,
    units,
  }: Pick<Estimate, 'bytes' | 'outputTokens' | 'choices' | 'writes' | 'units'>,
  { contextWindow, maxOutputTokens }: Model,
): UsageBounds {
  const length = outputTokens ?? (maxOutputTokens ?? contextWindow ?? largestWindow) * choices
  return {
    promptTokens: Math.max((contextWindow ?? largestWindow) * mostRounds, bytes),
    completionTokens: length * mostRounds + slack,
    length: writes || units.images !== undefined ? length : 0,
    choices,
  }
}

/** The receipt with its usage reduced to the bounds; the same object if nothing exceeds them. */
export function plausible(receipt: Receipt, { promptTokens, completionTokens, choices }: UsageBounds): Receipt {
  const { usage, units, totalMs } = receipt
  const inTime = (fastest.atOnce + (fastest.perSecond * Math.max(0, totalMs)) / 1_000) * choices
  const prompt = Math.min(usage.prompt_tokens, promptTokens)
  const completion = Math.min(usage.completion_tokens, completionTokens, Math.ceil(inTime))
  const boundedUnits = units && unitsWithin(units)
  const tools = usage.server_tool_use && boundedCalls(usage.server_tool_use)
  const same =
    prompt === usage.prompt_tokens &&
    completion === usage.completion_tokens &&
    boundedUnits === units &&
    tools === usage.server_tool_use
  if (same) return receipt
  const bounded: Usage = { ...usage, ...usageOf(prompt, completion), ...(tools && { server_tool_use: tools }) }
  const { delivered: _, ...rest } = receipt
  return {
    ...rest,
    usage: bounded,
    ...(boundedUnits && { units: boundedUnits }),
    implausible: { usage, ...(units && { units }) },
  }
}

/** The same object if no number exceeds its bound. */
function unitsWithin(units: Units): Units {
  const bounds = [
    ['seconds', longest] as const,
    ...countedNames.map((name) => [name, countedUnits[name].most] as const),
  ]
  const exceeding = bounds.filter(([name, most]) => (units[name] ?? 0) > most)
  return exceeding.length === 0 ? units : { ...units, ...Object.fromEntries(exceeding) }
}

type Calls = NonNullable<Usage['server_tool_use']>

/** The same object if no count exceeds the bound. */
function boundedCalls(calls: Calls): Calls {
  if (!Object.values(calls).some((count) => count > mostToolCalls)) return calls
  return Object.fromEntries(Object.entries(calls).map(([name, count]) => [name, Math.min(count, mostToolCalls)]))
}
