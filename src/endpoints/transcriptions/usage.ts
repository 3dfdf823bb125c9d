import { readTokenUsage } from '../../wire/counts.ts'
import type { Transcript, TranscriptUsage } from '../../wire/transcriptions.ts'

interface Counted {
  readonly usage?: TranscriptUsage
  readonly duration?: number
}

/**
 * A transcript or event with its usage in OpenAI's format, whatever names the vendor uses; the same object if
 * unchanged.
 */
export function withUsage<Source extends { readonly usage?: unknown }>(source: Source): Source & Counted {
  const { usage: raw, ...rest } = source
  if (raw === undefined || isUsage(raw)) return source as Source & Counted
  const { duration } = source as Partial<Transcript>
  const seconds = secondsIn(raw)
  const usage = usageIn(raw)
  return {
    ...rest,
    ...(usage && { usage }),
    ...(duration === undefined && seconds !== undefined && { duration: seconds }),
  } as Source & Counted
}

function isUsage(raw: unknown): raw is TranscriptUsage {
  const { type, input_tokens: input, seconds } = Object(raw) as Readonly<Record<string, unknown>>
  return type === 'tokens' ? typeof input === 'number' : type === 'duration' && typeof seconds === 'number'
}

function secondsIn(raw: unknown): number | undefined {
  const { seconds, prompt_audio_seconds: audio = seconds } = Object(raw) as Readonly<Record<string, unknown>>
  return typeof audio === 'number' && audio >= 0 ? audio : undefined
}

/** Tokens if they are reported, else seconds. Some vendors include the tokens of the audio only in the total. */
function usageIn(raw: unknown): TranscriptUsage | undefined {
  const counts = readTokenUsage(raw)
  const seconds = secondsIn(raw)
  if (counts === undefined) return seconds === undefined ? undefined : { type: 'duration', seconds }
  const { output_tokens: output, completion_tokens: reported = output } = Object(raw) as Readonly<
    Record<string, unknown>
  >
  const outputTokens = typeof reported === 'number' ? Math.min(reported, counts.total_tokens) : counts.completion_tokens
  return {
    type: 'tokens',
    input_tokens: counts.total_tokens - outputTokens,
    output_tokens: outputTokens,
    total_tokens: counts.total_tokens,
  }
}
