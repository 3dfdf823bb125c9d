/**
 * Opaque data that the model needs back in the next turn. It travels through the client in `extra_content.google` of the
 * message and of its tool calls, as at Google's own OpenAI-compatible endpoint; clients already send that field back.
 */
import { isRecord } from '../../wire/json.ts'

export type ContentPart = Readonly<Record<string, unknown>>

/** The field for a message or a tool call. `own`: parts from the vendor's built-in tools, such as code that it ran. */
export function extraContent(signature: string | undefined, own: readonly ContentPart[] = []): Record<string, unknown> {
  if (signature === undefined && own.length === 0) return {}
  const google = {
    ...(signature !== undefined && { thought_signature: signature }),
    ...(own.length > 0 && { parts: own }),
  }
  return { extra_content: { google } }
}

/** The parts of the vendor's built-in tools in an earlier message. */
export function ownPartsOf(message: Readonly<Record<string, unknown>>): readonly ContentPart[] {
  const { parts } = googleIn(message)
  return Array.isArray(parts) ? parts.filter(isRecord) : []
}

/** The signature of an earlier message or tool call. */
export function signatureOf(raw: Readonly<Record<string, unknown>>): string | undefined {
  const { thought_signature: signature } = googleIn(raw)
  return typeof signature === 'string' && signature !== '' ? signature : undefined
}

function googleIn({ extra_content: extra }: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return isRecord(extra) && isRecord(extra['google']) ? extra['google'] : {}
}
