/** Batches of messages, as the steps of all batches see them. */
import type { Receipt } from '../../../money/receipt.ts'
import { tierInBatch } from '../../../money/prices/batch-price.ts'
import { namedIn } from '../../../tasks/owner.ts'
import { fieldsOf, type Fields } from '../../../wire/json.ts'
import { usageOfMessage } from '../../../wire/message-usage.ts'
import { usageOf } from '../../../wire/usage.ts'
import { lineId, vendorId, type BatchLine, type BatchTask, type StoredBatch } from '../batch-task.ts'
import type { BatchKind } from '../services.ts'
import { resultIn } from './result.ts'

export const messageKind: BatchKind = {
  startMs: 120_000,
  jobs: ({ batches }) => batches,
  lines: async ({ data }) => data.lines ?? [],
  async submit({ batches }, { data }, signal) {
    const { params = [], clientHeaders } = data
    if (batches === undefined) throw new TypeError('the provider has no batches')
    const requests = params.map((each, index) => ({ id: vendorId(data, index), params: each }))
    return batches.create({ requests, signal, ...(clientHeaders && { clientHeaders }) })
  },
  reader(batch, lines) {
    const ended = (index: number, result: Fields) => ({
      index,
      receipt: receiptOf(batch, lines[index] as BatchLine, result),
    })
    return {
      read(line) {
        const found = resultIn(batch, line)
        return found && ended(found.index, found.result)
      },
      // It was not made.
      missing: (index) => ended(index, { type: 'expired' }),
    }
  },
}

const outcomes: Readonly<Record<string, Pick<Receipt, 'outcome' | 'code'>>> = {
  succeeded: { outcome: 'completed' },
  canceled: { outcome: 'cancelled' },
  errored: { outcome: 'failed', code: 'server_error' },
  expired: { outcome: 'failed', code: 'request_timeout' },
}

function receiptOf(batch: StoredBatch, line: BatchLine, result: Fields): Receipt {
  const { createdAt, data } = batch
  const { provider, endedAt = createdAt } = data
  const { name, providerModel } = data.models[line.m] as BatchTask['models'][number]
  const { outcome, code } = outcomes[String(result['type'])] ?? { outcome: 'failed', code: 'server_error' }
  const isMade = outcome === 'completed'
  const { service_tier: tier, ...usage } = isMade
    ? usageOfMessage(fieldsOf(fieldsOf(result['message'])['usage']))
    : usageOf(0, 0)
  const serviceTier = tierInBatch(tier)
  return {
    id: lineId(data, line.id),
    endpoint: 'messages.batches',
    outcome,
    ...(code !== undefined && { code }),
    ...namedIn(batch),
    model: name,
    provider,
    providerModel,
    attempts: 1,
    stream: false,
    usage,
    usageSource: isMade ? 'reported' : 'estimated',
    ...(serviceTier !== undefined && { serviceTier }),
    startedAt: createdAt,
    totalMs: Math.max(0, endedAt - createdAt),
  }
}
