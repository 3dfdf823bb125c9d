/**
 * What the model wants to see again on the next turn, on its way through the client: in `extra_content.google` of the
 * message and of its calls, the place of Google's own OpenAI-compatible endpoint, which clients know to send back.
 */
import { isRecord } from '../reading/parts.ts'

export type ContentPart = Readonly<Record<string, unknown>>

/** The field of a message or a call. `own` are parts of the vendor's own work, such as code it ran. */
export function extraContent(signature: string | undefined, own: readonly ContentPart[] = []): Record<string, unknown> {
  if (signature === undefined && own.length === 0) return {}
  const google = {
    ...(signature !== undefined && { thought_signature: signature }),
    ...(own.length > 0 && { parts: own }),
  }
  return { extra_content: { google } }
}

/** What a message of the past carries. */
export function carriedBy(message: Readonly<Record<string, unknown>>): {
  readonly signature: string | undefined
  readonly own: readonly ContentPart[]
} {
  const { parts } = googleIn(message)
  return { signature: signatureOf(message), own: Array.isArray(parts) ? parts.filter(isRecord) : [] }
}

export function signatureOf(raw: Readonly<Record<string, unknown>>): string | undefined {
  const { thought_signature: signature } = googleIn(raw)
  return typeof signature === 'string' && signature !== '' ? signature : undefined
}

function googleIn({ extra_content: extra }: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return isRecord(extra) && isRecord(extra['google']) ? extra['google'] : {}
}
