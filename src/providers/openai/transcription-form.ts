/**
 * Forms of transcriptions for vendors with other fields than OpenAI. Sources: the API references of Mistral, Groq, OpenRouter and
 * Together, and Mistral's client.
 */
import { isFile, type Form, type TextPart } from '../../http/form.ts'
import type { TranscriptionRequest } from '../../wire/transcriptions.ts'
import type { Call } from '../contract.ts'
import { refuseDetails, refuseSpeakers } from '../transcription-limits.ts'
import { unsupportedValue } from '../unsupported.ts'
import type { PresetName } from './options.ts'

interface FormRules {
  /** The client's fields that do not reach the vendor under their names. */
  readonly replaced: readonly string[]
  /** What the vendor gets in their place. Throws a 400 for what it cannot do. */
  readonly fields: (call: Call<TranscriptionRequest>) => readonly TextPart[]
}

/** Whisper without speakers, subtitles and streams: the gateway makes the last two. */
const whisper: FormRules = {
  replaced: ['response_format', 'stream', 'chunking_strategy'],
  fields(call) {
    refuseDetails(call)
    refuseSpeakers(call)
    const { response_format: format } = call.request
    if (format === undefined) return []
    const isPlain = format === 'json' || format === 'text'
    return [{ name: 'response_format', value: isPlain ? 'json' : 'verbose_json' }]
  },
}

const mistral: FormRules = {
  replaced: ['response_format', 'chunking_strategy', 'timestamp_granularities', 'keywords'],
  fields(call) {
    refuseDetails(call)
    const { response_format: format = 'json', keywords = [] } = call.request
    const times = timesOf(call)
    if (times !== undefined && call.request.language !== undefined) {
      throw unsupportedValue(call, 'language', 'with times or speakers, the model detects the language.')
    }
    return [
      ...(format === 'diarized_json' ? [{ name: 'diarize', value: 'true' }] : []),
      ...(times === undefined ? [] : [{ name: 'timestamp_granularities', value: times }]),
      // Its terms have neither spaces nor commas.
      ...keywords.map((term) => ({ name: 'context_bias', value: term.trim().replace(/[\s,]+/g, '_') })),
    ]
  },
}

/** The times to ask for: of segments, or of words, which take the place of segments. */
function timesOf(call: Call<TranscriptionRequest>): 'segment' | 'word' | undefined {
  const { response_format: format = 'json', timestamp_granularities: asked = [] } = call.request
  if (format === 'json' || format === 'text') return undefined
  if (format !== 'verbose_json' || !asked.includes('word')) return 'segment'
  if (!asked.includes('segment')) return 'word'
  throw unsupportedValue(call, 'timestamp_granularities', 'ask for "word" or "segment".')
}

const rules: Readonly<Partial<Record<PresetName, FormRules>>> = {
  groq: whisper,
  openrouter: whisper,
  together: whisper,
  mistral,
}

/** The form for a vendor; the same form if the vendor has OpenAI's fields. Throws a 400 for what the vendor cannot do. */
export function transcriptionForm(form: Form, call: Call<TranscriptionRequest>, preset: PresetName | undefined): Form {
  const found = preset && rules[preset]
  if (found === undefined) return form
  // Before anything is sent, as far as the fields have arrived.
  found.fields(call)
  return {
    get kept() {
      return form.kept
    },
    async *parts() {
      for await (const part of form.parts()) {
        if (isFile(part) || !found.replaced.includes(part.name.replace(/\[.*$/, ''))) yield part
      }
      yield* found.fields(call)
    },
  }
}
