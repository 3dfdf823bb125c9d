import { readTokenUsage } from '../../wire/counts.ts'
import { countOf } from '../../wire/json.ts'
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
  const { type, input_tokens: input, output_tokens: output } = Object(raw) as Readonly<Record<string, unknown>>
  if (type === 'tokens') return typeof input === 'number' && typeof output === 'number'
  return type === 'duration' && secondsIn(raw) !== undefined
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
  const outputTokens = Math.min(countOf(reported) ?? counts.completion_tokens, counts.total_tokens)
  return {
    type: 'tokens',
    input_tokens: counts.total_tokens - outputTokens,
    output_tokens: outputTokens,
    total_tokens: counts.total_tokens,
  }
}
