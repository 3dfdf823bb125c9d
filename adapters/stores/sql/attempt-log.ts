import type { AttemptRecord, UsageRecord } from '../index.ts'
import { listIn } from '../unreadable.ts'

/** What the log of an attempt does not repeat of its record. */
type Last = Pick<UsageRecord, 'provider' | 'providerModel'>

/** `startMs`, `ms`, `outcome`, `status`, `code`, `provider` and `providerModel`; the usual values at the end are omitted. */
type Packed = [number, number, ...(string | number | null)[]]

/** The attempts of a record as a short text: usually one, which succeeded at the provider of the record. */
export function packAttempts(log: readonly AttemptRecord[], last: Last): string {
  const packed = log.map((attempt): Packed => {
    const { startMs, ms, outcome, status = null, code = null, provider, providerModel } = attempt
    const all: Packed = [
      startMs,
      ms,
      outcome === 'succeeded' ? null : outcome,
      status,
      code,
      provider === last.provider ? null : provider,
      providerModel === last.providerModel ? null : providerModel,
    ]
    while (all.at(-1) === null) all.pop()
    return all
  })
  return JSON.stringify(packed)
}

/** The attempts of a text that `packAttempts` made; undefined if it cannot be read. */
export function unpackAttempts(text: string, last: Last): AttemptRecord[] | undefined {
  return listIn(text)?.map((packed) => {
    const [startMs, ms, outcome, status, code, provider, providerModel] = [packed].flat() as Packed
    const log = {
      provider: provider ?? last.provider ?? '',
      providerModel: providerModel ?? last.providerModel ?? '',
      outcome: outcome ?? 'succeeded',
      ...(typeof status === 'number' && { status }),
      ...(typeof code === 'string' && { code }),
      startMs,
      ms,
    }
    return log as AttemptRecord
  })
}
