/** A `fetch` for real clients that validates every response they receive. */
import { faults } from '../openapi.ts'
import { hasShared } from '../shared.ts'
import { streamFaults, type Chunk } from './stream-rules.ts'
import { typedFaults } from './typed-events.ts'

export interface Judge {
  readonly fetch: typeof globalThis.fetch
  /** Removes and returns the faults so far, after all responses have been read to the end. */
  readonly verdict: () => Promise<string[]>
}

/** The schema names for the responses of each endpoint, non-streaming and for each event. */
const answers: readonly (readonly [path: RegExp, whole: string, event?: string])[] = [
  [/\/models$/, 'ListModelsResponse'],
  [/\/models\/.+/, 'Model'],
  [/\/chat\/completions$/, 'CreateChatCompletionResponse', 'CreateChatCompletionStreamResponse'],
  [/\/embeddings$/, 'CreateEmbeddingResponse'],
  [/\/moderations$/, 'CreateModerationResponse'],
  [/\/images\/(?:generations|edits)$/, 'ImagesResponse'],
  [/\/audio\/transcriptions$/, 'CreateTranscriptionResponseJson'],
  [/\/audio\/translations$/, 'CreateTranslationResponseJson'],
]

/** Endpoints whose events have a type. */
const typed = /\/(?:images|audio)\//
/** Endpoints that can respond in plain text. */
const plain = /\/audio\//

export function judge(): Judge {
  const pending: Promise<string[]>[] = []
  return {
    async fetch(input, init) {
      const response = await fetch(input, init)
      const { protocol, pathname } = new URL(response.url)
      // The official client tests the features of `fetch` with an empty data URL.
      if (protocol === 'data:') return response
      pending.push(faultsOf(pathname, response.clone()))
      return response
    },
    async verdict() {
      return (await Promise.all(pending.splice(0))).flat()
    },
  }
}

async function faultsOf(path: string, response: Response): Promise<string[]> {
  // A client that disconnects does not read to the end, so its response cannot be validated.
  const text = await response.text().catch(() => undefined)
  if (text === undefined) return []
  const found = response.headers.has('x-request-id') ? [] : [`${path} without x-request-id`]
  const [, whole, event] = answers.find(([pattern]) => pattern.test(path)) ?? []
  if (response.status >= 400) return [...found, ...byDocument('ErrorResponse', JSON.parse(text))]
  const type = response.headers.get('content-type') ?? ''
  if (whole === undefined) return found
  if (type.startsWith('application/json')) return [...found, ...byDocument(wholeSchema(whole, text), JSON.parse(text))]
  if (plain.test(path) && /^text\/(?:plain|vtt); charset=utf-8$/.test(type)) return found
  if (!type.startsWith('text/event-stream')) return [...found, `${path} with the content type ${type}`]
  if (typed.test(path)) return [...found, ...typedFaults(text, byDocument)]
  const data = text.split('\n\n').filter((frame) => frame.startsWith('data: '))
  const chunks = data.slice(0, -1).map((frame) => JSON.parse(frame.slice(6)) as Chunk)
  const events = chunks.flatMap((chunk) => ('error' in chunk ? [] : byDocument(event ?? whole, chunk)))
  return [...found, ...events, ...streamFaults(chunks, data.at(-1)?.slice(6) ?? '')]
}

/** The schema of a transcript depends on its fields. */
function wholeSchema(schema: string, text: string): string {
  const { task, language } = JSON.parse(text) as { task?: string; language?: string }
  if (task === undefined) return schema
  if (task === 'translate') return 'CreateTranslationResponseVerboseJson'
  return `CreateTranscriptionResponse${language === undefined ? 'Diarized' : 'Verbose'}Json`
}

function byDocument(schema: string, value: unknown): string[] {
  if (!hasShared) return []
  // The document has no vectors in base64, although the official clients request them.
  // The document has only three of the image sizes.
  const unknown = /\/data\/\d+\/embedding must be array|^Image\w+\/size must be equal to one of/
  return faults(schema, value).filter((fault) => !unknown.test(fault))
}
