/**
 * What a call can have used at most. A vendor's counts are charged as they are within these bounds; a count beyond them is
 * a fault of the vendor, and no account is emptied by it.
 */
import type { Receipt } from '../billing/receipt.ts'
import type { Model } from '../models/contract.ts'
import { usageOf, type Usage } from '../wire/usage.ts'
import type { Estimate } from './estimate.ts'

/** Rounds of a vendor's own tools that count as one call: each reads the conversation again. */
const mostRounds = 8
/** Tokens that the largest model reads, where a model's window is not known. */
const largestWindow = 10_000_000
/** Tokens that one answer can take in a second, and before its first second is over. */
const fastest = { perSecond: 20_000, atOnce: 200_000 }
/** Tokens by which a vendor may pass the limit it was given. */
const slack = 1_024
/** Seconds of the longest recording or video. */
const longest = 86_400

export interface Bounds {
  readonly promptTokens: number
  readonly completionTokens: number
}

export function boundsOf(
  { bytes, outputTokens, choices }: Estimate,
  { contextWindow, maxOutputTokens }: Model,
): Bounds {
  const length = outputTokens ?? (maxOutputTokens ?? contextWindow ?? largestWindow) * choices
  return {
    promptTokens: Math.max((contextWindow ?? largestWindow) * mostRounds, bytes),
    completionTokens: length * mostRounds + slack,
  }
}

/** The receipt with nothing in it that the call cannot have used; the same where there is nothing to change. */
export function plausible(receipt: Receipt, { promptTokens, completionTokens }: Bounds, choices: number): Receipt {
  const { usage, units, totalMs } = receipt
  const inTime = (fastest.atOnce + (fastest.perSecond * Math.max(0, totalMs)) / 1_000) * choices
  const prompt = Math.min(usage.prompt_tokens, promptTokens)
  const completion = Math.min(usage.completion_tokens, completionTokens, Math.ceil(inTime))
  const seconds = units?.seconds === undefined ? undefined : Math.min(units.seconds, longest)
  const same = prompt === usage.prompt_tokens && completion === usage.completion_tokens && seconds === units?.seconds
  if (same) return receipt
  const bounded: Usage = { ...usage, ...usageOf(prompt, completion) }
  const { delivered: _, ...rest } = receipt
  return {
    ...rest,
    usage: bounded,
    ...(units !== undefined && { units: { ...units, ...(seconds !== undefined && { seconds }) } }),
    implausible: { usage, ...(units && { units }) },
  }
}
