import type { Receipt } from '../../money/receipt.ts'
import { countedNames, type CountedUnits, type Units } from '../../wire/units.ts'
import type { UsageRecord } from './contract.ts'

/** What the charge of a request adds to its receipt. */
interface Charged extends Pick<UsageRecord, 'cost' | 'overage' | 'basis'> {
  readonly vendorCost?: UsageRecord['vendorCost'] | undefined
  readonly lines?: UsageRecord['lines'] | undefined
}

/** The usage record of a receipt. */
export function usageRecordOf(receipt: Receipt, { cost, overage, basis, vendorCost, lines }: Charged): UsageRecord {
  const { usage, units } = receipt
  const record: { -readonly [Name in keyof UsageRecord]: UsageRecord[Name] } = {
    id: receipt.id,
    startedAt: receipt.startedAt,
    account: receipt.account,
    group: receipt.group,
    endpoint: receipt.endpoint,
    model: receipt.model,
    outcome: receipt.outcome,
    attempts: receipt.attempts,
    stream: receipt.stream,
    promptTokens: usage.prompt_tokens,
    cachedTokens: usage.prompt_tokens_details?.cached_tokens ?? 0,
    completionTokens: usage.completion_tokens,
    reasoningTokens: usage.completion_tokens_details?.reasoning_tokens ?? 0,
    images: units?.images ?? 0,
    seconds: units?.seconds ?? 0,
    cost,
    overage,
    basis,
    totalMs: receipt.totalMs,
    ...(units === undefined ? uncounted : countedIn(units)),
  }
  if (receipt.key !== undefined) record.key = receipt.key
  if (receipt.user !== undefined) record.user = receipt.user
  if (receipt.session !== undefined) record.session = receipt.session
  if (receipt.agent !== undefined) record.agent = receipt.agent
  if (receipt.tags !== undefined) record.tags = receipt.tags
  if (receipt.provider !== undefined) record.provider = receipt.provider
  if (receipt.providerModel !== undefined) record.providerModel = receipt.providerModel
  if (receipt.code !== undefined) record.code = receipt.code
  if (receipt.attemptLog !== undefined) record.attemptLog = receipt.attemptLog
  if (receipt.firstByteMs !== undefined) record.firstByteMs = receipt.firstByteMs
  if (vendorCost !== undefined) record.vendorCost = vendorCost
  if (lines !== undefined) record.lines = lines
  return record
}

function countedIn(units: Units): Required<CountedUnits> {
  return Object.fromEntries(countedNames.map((name) => [name, units[name] ?? 0])) as Required<CountedUnits>
}

const uncounted = countedIn({})
