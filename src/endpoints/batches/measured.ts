/** The receipts of the requests of a batch. */
import { Meter } from '../../admission/meter.ts'
import { GatewayError } from '../../errors.ts'
import { tierInBatch } from '../../money/prices/batch-price.ts'
import type { Receipt } from '../../money/receipt.ts'
import { namedIn } from '../../tasks/owner.ts'
import { lineId, type BatchLine, type BatchModel, type StoredBatch } from './batch-task.ts'

/** A request whose result has come. */
export interface MeasuredLine {
  readonly meter: Meter
  /** Once the meter has ended. */
  readonly receipt: () => Receipt
}

/** `endpoint`: the name of that to which the request would be sent alone. `tier`: the service tier that it asks for. */
export function measured(
  batch: StoredBatch,
  line: BatchLine & { readonly prompt?: number },
  endpoint: string,
  tier?: string,
): MeasuredLine {
  const { createdAt, data } = batch
  const { endedAt = createdAt, provider } = data
  const { name, providerModel } = data.models[line.m] as BatchModel
  const owner = namedIn(batch)
  let made: Receipt | undefined
  const meter = new Meter(`${endpoint}.batches`, {
    id: lineId(data, line.id),
    caller: owner,
    attribution: owner,
    order: { model: name, stream: false, promptTokens: line.prompt ?? 0 },
    startedAt: createdAt,
    elapsedMs: () => Math.max(0, endedAt - createdAt),
    deliver({ serviceTier, ...receipt }) {
      const inBatch = tierInBatch(serviceTier)
      made = { ...receipt, ...(inBatch !== undefined && { serviceTier: inBatch }) }
    },
  })
  meter.attempt({ provider: { name: provider }, model: providerModel }, tier)
  return { meter, receipt: () => made as Receipt }
}

/** The receipt of a request that the vendor has not made. */
export function unmadeReceipt(
  batch: StoredBatch,
  line: BatchLine,
  endpoint: string,
  outcome: 'errored' | 'canceled' | 'expired',
): Receipt {
  const { meter, receipt } = measured(batch, line, endpoint)
  meter.attemptFailed()
  if (outcome === 'canceled') meter.end('cancelled')
  else meter.end('failed', new GatewayError(outcome === 'expired' ? 'request_timeout' : 'server_error'))
  return receipt()
}
