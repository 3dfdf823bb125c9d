import { memoryUsageStore, type UsageRecord, type UsageStore } from '../../../src/index.ts'

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
    promptTokens: 1,
    cachedTokens: 0,
    completionTokens: 1,
    reasoningTokens: 0,
    images: 0,
    seconds: 0,
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
