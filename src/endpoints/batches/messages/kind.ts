/** Batches of messages, as the steps of all batches see them. */
import type { Receipt } from '../../../money/receipt.ts'
import { fieldsOf, type Fields } from '../../../wire/json.ts'
import { textBytes } from '../../../money/prices/estimate.ts'
import { usageOfMessage } from '../../../wire/message-usage.ts'
import { messages } from '../../messages/messages.ts'
import { vendorId, type BatchLine, type StoredBatch } from '../batch-task.ts'
import { measured, unmadeReceipt } from '../measured.ts'
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

function receiptOf(batch: StoredBatch, line: BatchLine, { type, message }: Fields): Receipt {
  if (type !== 'succeeded')
    return unmadeReceipt(batch, line, messages.name, type === 'canceled' || type === 'expired' ? type : 'errored')
  const { meter, receipt } = measured(batch, line, messages.name)
  const { usage, content } = fieldsOf(message)
  meter.usage = usageOfMessage(fieldsOf(usage))
  meter.textBytes = textBytes(content)
  meter.end('completed')
  return receipt()
}
