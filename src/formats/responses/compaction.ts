/** Items that stand for an earlier conversation. */
import { type GatewayError, refusedValue } from '../../errors.ts'
import { anyMaker, seal, unseal } from '../envelope.ts'

/** A summary that every model can read, as the encrypted content of an item. */
export function sealedSummary(summary: string): string {
  return seal(anyMaker, Buffer.from(summary).toString('base64url'))
}

/** A summary as text for a model; undefined for a compaction that only its vendor can read. */
export function summaryText(encrypted: unknown): string | undefined {
  const packed = unseal(encrypted, anyMaker)
  if (packed === undefined) return undefined
  return `A summary of our conversation so far:\n\n${Buffer.from(packed, 'base64url').toString('utf8')}`
}

/** The error for a compaction of another vendor. Without it, the model would silently miss the earlier conversation. */
export function compactedByOther(param: string): GatewayError {
  const message = 'This model cannot read a conversation that another vendor compacted. Use a model of that vendor.'
  return refusedValue(message, param)
}
