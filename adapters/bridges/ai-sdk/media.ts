/** Embeddings, images and transcripts through models of the AI SDK. */
import { buffer } from 'node:stream/consumers'
import { invalid } from '../../../src/errors.ts'
import { isFile, type Form } from '../../../src/http/form.ts'
import type {
  Call,
  EmbeddingAnswer,
  ImageAnswer,
  SpeechPiece,
  TranscriptAnswer,
} from '../../../src/providers/contract.ts'
import { readDataUrl } from '../../../src/providers/data-url.ts'
import { refuseDetails, refuseSpeakers } from '../../../src/providers/transcription-limits.ts'
import { isRecord } from '../../../src/wire/json.ts'
import { unsupportedValue } from '../../../src/providers/unsupported.ts'
import type { EmbeddingRequest } from '../../../src/wire/embeddings.ts'
import type { ImageEditRequest, ImageReference } from '../../../src/wire/images.ts'
import type { RerankAnswer, RerankRequest } from '../../../src/wire/rerank.ts'
import type { SpeechRequest } from '../../../src/wire/speech.ts'
import type { TokenUsage } from '../../../src/wire/usage.ts'
import type { TranscriptionRequest } from '../../../src/wire/transcriptions.ts'
import type { ModelSettings } from './generate.ts'
import { failureOf, rejectIgnored } from './failure.ts'
import type {
  AiSdkEmbeddingModel,
  AiSdkImageModel,
  AiSdkRerankingModel,
  AiSdkSpan,
  AiSdkSpeechModel,
  AiSdkTranscriptionModel,
} from './models.ts'

export async function embed(
  model: AiSdkEmbeddingModel,
  call: Call<EmbeddingRequest>,
  settings: ModelSettings,
): Promise<EmbeddingAnswer> {
  const { input, dimensions } = call.request
  const texts = typeof input === 'string' ? [input] : [...input]
  if (!texts.every((text) => typeof text === 'string')) {
    throw unsupportedValue(call, 'input', 'send texts, not tokens.')
  }
  const batchSize = (await model.maxEmbeddingsPerCall) ?? texts.length
  const vectors: (readonly number[])[] = []
  let tokens: number | undefined = 0
  for (let from = 0; from < texts.length; from += batchSize) {
    const values = texts.slice(from, from + batchSize)
    const input = { values, dimensions: dimensions ?? undefined }
    const { embeddings, usage, warnings } = await attempt(call, settings, input, (options) => model.doEmbed(options))
    rejectIgnored(warnings, call, settings.dropParams)
    vectors.push(...embeddings)
    tokens = usage === undefined || tokens === undefined ? undefined : tokens + usage.tokens
  }
  return {
    data: vectors.map((embedding, index) => ({ index, embedding })),
    ...(tokens !== undefined && { usage: { prompt_tokens: tokens, total_tokens: tokens } }),
  }
}

/** Generates or edits images, in several calls if the model makes fewer at once than requested. */
export async function generateImages(
  model: AiSdkImageModel,
  call: Call<ImageEditRequest>,
  settings: ModelSettings,
): Promise<ImageAnswer> {
  const { prompt, n, size } = call.request
  const { files, mask } = await inputImages(call)
  const requested = n ?? 1
  const maxPerCall = await maxImagesPerCall(model)
  const images: { b64_json: string }[] = []
  let usage: TokenUsage | undefined
  while (images.length < requested) {
    const input = {
      prompt,
      n: Math.min(requested - images.length, maxPerCall),
      size: size === 'auto' ? undefined : (size ?? undefined),
      providerOptions: {},
      files: files.length > 0 ? files : undefined,
      mask,
    }
    const generated = await attempt(call, settings, input, (options) => model.doGenerate(options))
    rejectIgnored(generated.warnings, call, settings.dropParams)
    if (generated.images.length === 0) break
    for (const image of generated.images) {
      images.push({ b64_json: typeof image === 'string' ? image : Buffer.from(image).toString('base64') })
    }
    usage = added(usage, generated.usage)
  }
  return { data: images, ...(usage && { usage }) }
}

export async function transcribe(
  model: AiSdkTranscriptionModel,
  call: Call<TranscriptionRequest>,
  settings: ModelSettings,
): Promise<TranscriptAnswer> {
  const file = await fileIn(call.form)
  // The form's other fields are complete only once its parts have been read.
  refuseDetails(call)
  refuseSpeakers(call)
  const { language, prompt, temperature, timestamp_granularities: granularities } = call.request
  for (const [field, value] of Object.entries({ language, prompt, temperature })) {
    const unsupportedField = value !== undefined && !settings.dropParams.includes(field)
    if (unsupportedField) throw unsupportedValue(call, field, 'leave it out.')
  }
  const input = { audio: file.bytes, mediaType: file.type, timestampGranularities: granularities }
  const transcript = await attempt(call, settings, input, (options) => model.doGenerate(options))
  rejectIgnored(transcript.warnings, call, settings.dropParams)
  const { text, language: spoken, durationInSeconds: duration, segments, words } = transcript
  return {
    text,
    ...(spoken !== undefined && { language: spoken }),
    ...(duration !== undefined && { duration, usage: { type: 'duration', seconds: duration } }),
    ...(segments && { segments: segments.map(spanOf) }),
    ...(words && { words: words.map(({ text: word, startSecond: start, endSecond: end }) => ({ word, start, end })) }),
  }
}

export async function rerank(
  model: AiSdkRerankingModel,
  call: Call<RerankRequest>,
  settings: ModelSettings,
): Promise<RerankAnswer> {
  const { query, documents: values, top_n: top } = call.request
  const input = { query, documents: { type: 'text', values }, topN: top ?? undefined }
  const { ranking, warnings } = await attempt(call, settings, input, (options) => model.doRerank(options))
  rejectIgnored(warnings, call, settings.dropParams)
  return { results: ranking.map(({ index, relevanceScore }) => ({ index, relevance_score: relevanceScore })) }
}

/** The models of the SDK make all audio before they return any. */
export async function* speak(
  model: AiSdkSpeechModel,
  call: Call<SpeechRequest>,
  settings: ModelSettings,
): AsyncGenerator<SpeechPiece, void, void> {
  const { input: text, voice, instructions, speed, response_format: format } = call.request
  if (typeof voice !== 'string') throw unsupportedValue(call, 'voice', 'name a voice of the vendor.')
  const [outputFormat, told] = [format ?? undefined, instructions || undefined]
  const input = { text, voice, outputFormat, instructions: told, speed: speed ?? undefined }
  const { audio, warnings } = await attempt(call, settings, input, (options) => model.doGenerate(options))
  rejectIgnored(warnings, call, settings.dropParams)
  yield typeof audio === 'string' ? Buffer.from(audio, 'base64') : audio
}

/** Calls a model with the common options, and translates what it throws. */
async function attempt<T>(
  call: Call<unknown>,
  { providerOptions }: ModelSettings,
  input: object,
  run: (options: never) => PromiseLike<T>,
): Promise<T> {
  try {
    const { headers, signal: abortSignal } = call
    return await run({ ...input, ...(providerOptions && { providerOptions }), headers, abortSignal } as never)
  } catch (thrown) {
    throw failureOf(thrown, call)
  }
}

async function maxImagesPerCall({ maxImagesPerCall: given, modelId }: AiSdkImageModel): Promise<number> {
  const max: unknown = typeof given === 'function' ? await (given as (of: object) => unknown)({ modelId }) : given
  return typeof max === 'number' && max > 0 ? max : 1
}

async function inputImages(call: Call<ImageEditRequest>): Promise<{ files: object[]; mask: object | undefined }> {
  if (call.form === undefined) {
    const { images, mask } = call.request
    const files = (images ?? []).map((each, index) => referred(each, `images[${index}].image_url`, call))
    return { files, mask: mask ? referred(mask, 'mask.image_url', call) : undefined }
  }
  const files: object[] = []
  let mask: object | undefined
  for await (const part of call.form.parts()) {
    if (!isFile(part)) continue
    const file = { type: 'file', mediaType: part.type, data: await buffer(part.bytes) }
    if (part.name === 'mask') mask = file
    else files.push(file)
  }
  return { files, mask }
}

/** An input image: a data URL, or an http(s) URL that the vendor fetches itself. */
export function referred(
  { image_url: url = '' }: ImageReference,
  param: string,
  call: Pick<Call<unknown>, 'publicModel'>,
): object {
  const inline = readDataUrl(url)
  if (inline !== undefined) return { type: 'file', mediaType: inline.mediaType, data: inline.base64 }
  if (/^https?:\/\//.test(url)) return { type: 'url', url }
  throw unsupportedValue(call, param, 'it must be an http(s) URL or a data URL.')
}

async function fileIn(form: Form | undefined): Promise<{ bytes: Uint8Array; type: string }> {
  let file: { bytes: Uint8Array; type: string } | undefined
  for await (const part of form?.parts() ?? []) {
    if (isFile(part) && part.name === 'file') file = { bytes: await buffer(part.bytes), type: part.type }
  }
  if (file === undefined) throw invalid('Missing required parameter: "file".', 'file')
  return file
}

function added(sofar: TokenUsage | undefined, more: unknown): TokenUsage | undefined {
  if (!isRecord(more)) return sofar
  const input = Number(more['inputTokens'] ?? 0) + (sofar?.input_tokens ?? 0)
  const output = Number(more['outputTokens'] ?? 0) + (sofar?.output_tokens ?? 0)
  return { input_tokens: input, output_tokens: output, total_tokens: input + output }
}

function spanOf({ text, startSecond: start, endSecond: end }: AiSdkSpan, id: number) {
  return { id, start, end, text }
}
