/** The usage of a transcript in OpenAI's form, whatever the vendor calls its counts. */
import { readTokenUsage } from '../../wire/counts.ts'
import type { Transcript, TranscriptUsage } from '../../wire/transcriptions.ts'

interface Counted {
  readonly usage?: TranscriptUsage
  readonly duration?: number
}

/** The same object where nothing has to change. */
export function withUsage<Told extends { readonly usage?: unknown }>(told: Told): Told & Counted {
  const { usage: raw, ...rest } = told
  if (raw === undefined || isUsage(raw)) return told as Told & Counted
  const { duration } = told as Partial<Transcript>
  const seconds = secondsIn(raw)
  const usage = usageIn(raw)
  return {
    ...rest,
    ...(usage && { usage }),
    ...(duration === undefined && seconds !== undefined && { duration: seconds }),
  } as Told & Counted
}

function isUsage(raw: unknown): raw is TranscriptUsage {
  const { type, input_tokens: input, seconds } = Object(raw) as Readonly<Record<string, unknown>>
  return type === 'tokens' ? typeof input === 'number' : type === 'duration' && typeof seconds === 'number'
}

function secondsIn(raw: unknown): number | undefined {
  const { seconds, prompt_audio_seconds: heard = seconds } = Object(raw) as Readonly<Record<string, unknown>>
  return typeof heard === 'number' && heard >= 0 ? heard : undefined
}

/** Tokens where they are told, else seconds. Some count the tokens of the sound in the total alone. */
function usageIn(raw: unknown): TranscriptUsage | undefined {
  const counts = readTokenUsage(raw)
  const seconds = secondsIn(raw)
  if (counts === undefined) return seconds === undefined ? undefined : { type: 'duration', seconds }
  const { output_tokens: output, completion_tokens: written = output } = Object(raw) as Readonly<
    Record<string, unknown>
  >
  const spoken = typeof written === 'number' ? Math.min(written, counts.total_tokens) : counts.completion_tokens
  return {
    type: 'tokens',
    input_tokens: counts.total_tokens - spoken,
    output_tokens: spoken,
    total_tokens: counts.total_tokens,
  }
}
