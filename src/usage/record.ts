import type { Receipt } from '../billing/receipt.ts'
import type { UsageRecord } from './contract.ts'

/** The usage record of a receipt. */
export function recordOf(
  receipt: Receipt,
  charged: Pick<UsageRecord, 'cost' | 'overage' | 'basis' | 'lines'>,
): UsageRecord {
  const { usage, units, usageSource: _, delivered: __, serviceTier: ___, omitted: ____, ...rest } = receipt
  return {
    ...rest,
    promptTokens: usage.prompt_tokens,
    cachedTokens: usage.prompt_tokens_details?.cached_tokens ?? 0,
    completionTokens: usage.completion_tokens,
    reasoningTokens: usage.completion_tokens_details?.reasoning_tokens ?? 0,
    images: units?.images ?? 0,
    seconds: units?.seconds ?? 0,
    ...charged,
  }
}
