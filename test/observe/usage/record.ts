import { memoryUsageStore, type UsageRecord, type UsageStore } from '../../../src/index.ts'
import { eachUnit } from '../../../src/observe/usage/units.ts'

/** A record of a small request without cost. */
export function usageRecord(changes: Partial<UsageRecord>): UsageRecord {
  return {
    id: '',
    account: 'a',
    group: 'g',
    endpoint: 'chat.completions',
    model: 'm',
    outcome: 'completed',
    stream: false,
    ...eachUnit(() => 0),
    promptTokens: 1,
    completionTokens: 1,
    cost: 0n,
    overage: 0n,
    basis: 'reported',
    startedAt: 1,
    totalMs: 1,
    ...changes,
  }
}

/** A usage store with the required methods only. */
export function plainUsageStore(): UsageStore {
  const store = memoryUsageStore()
  return {
    append: (records) => store.append(records),
    list: (question) => store.list(question),
    summarise: (question) => store.summarise(question),
  }
}
