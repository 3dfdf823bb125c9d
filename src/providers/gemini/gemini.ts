/** Gemini over Google's own API, on the Gemini API or on Vertex AI. */
import { readJsonObject, requireSuccess } from '../answer.ts'
import { Client, isMediaType, type ClientOptions } from '../client.ts'
import type { Call, ChatPiece, Provider } from '../contract.ts'
import { readValues } from '../events.ts'
import { unavailable } from '../failure.ts'
import { isRecord } from '../reading/parts.ts'
import type { Transfer } from '../transfer.ts'
import { vendorError } from '../vendor-error.ts'
import type { ModelObject } from '../../wire/model.ts'
import { readFault, statusOf } from './fault.ts'
import { ResponseReader, type ReaderOptions } from './reader.ts'
import { requestFor, type RequestOptions } from './request.ts'

export interface GeminiOptions extends Partial<Omit<ClientOptions, 'headers' | 'baseUrl'>>, RequestOptions {
  /** Sent as `x-goog-api-key`. Leave it out where `headers` carry the credentials, as on Vertex AI. */
  readonly apiKey?: string | undefined
  /**
   * With or without a version such as `/v1beta` in it. Default `https://generativelanguage.googleapis.com`. On Vertex
   * AI: `https://…/v1/projects/…/locations/…/publishers/google`.
   */
  readonly baseUrl?: string | undefined
  /** The name in receipts. Default `gemini`. */
  readonly name?: string
  /** Further headers of every request. */
  readonly headers?: Readonly<Record<string, string>>
}

export function gemini(options: GeminiOptions = {}): Provider {
  const { name = 'gemini', baseUrl = 'https://generativelanguage.googleapis.com' } = options
  let client: Client | undefined
  const open = () => (client ??= new Client({ ...options, baseUrl: versioned(baseUrl), headers: headersOf(options) }))
  const post = async (call: Call<unknown>, method: string, body: object) => {
    const bytes = Buffer.from(JSON.stringify(body))
    const path = `/${pathOf(call.model)}:${method}`
    const transfer = await open().send({ path, body: bytes, headers: jsonBody, signal: call.signal })
    await requireSuccess(transfer, call, readFault)
    return transfer
  }

  return {
    name,
    async chat(call) {
      const { body, answerTool, single } = requestFor(call, options)
      const transfer = await post(call, call.stream ? 'streamGenerateContent?alt=sse' : 'generateContent', body)
      const failure = (error: unknown) =>
        vendorError(readFault({ status: statusOf(error), error, openModel: call.openModel, sent: call.field }))
      return piecesOf(transfer, open().answerBytes, { answerTool, single, failure })
    },
    async models({ signal }) {
      const transfer = await open().send({ method: 'GET', path: '/models?pageSize=1000', signal })
      await requireSuccess(transfer, undefined, readFault)
      const list = (await readJsonObject(transfer, open().answerBytes)).value as { models?: unknown }
      if (!Array.isArray(list.models)) throw unavailable('next', new Error('the vendor listed no models'))
      return list.models.filter(isRecord).flatMap(modelObject)
    },
    async close() {
      await client?.close()
    },
  }
}

const jsonBody = { 'content-type': 'application/json' }

function headersOf({ apiKey, headers }: GeminiOptions): Record<string, string> {
  return { ...(apiKey !== undefined && { 'x-goog-api-key': apiKey }), ...headers }
}

function versioned(baseUrl: string): string {
  const bare = baseUrl.replace(/\/+$/, '')
  return /\/v\d+[a-z]*\d*(?:\/|$)/.test(new URL(bare).pathname) ? bare : `${bare}/v1beta`
}

/** A name may come with its collection; it never leads out of one. */
function pathOf(model: string): string {
  return /^(?:models|tunedModels)\/[\w.-]+$/.test(model) ? model : `models/${encodeURIComponent(model)}`
}

/** Events as they come, or a whole response, or a list of them, whichever the vendor sent. */
async function* piecesOf(transfer: Transfer, maxBytes: number, options: ReaderOptions): AsyncGenerator<ChatPiece> {
  const reader = new ResponseReader(options)
  if (isMediaType(transfer.contentType, 'text/event-stream')) {
    for await (const responses of readValues(transfer)) yield* reader.push(responses)
  } else {
    const { value } = await readJsonObject(transfer, maxBytes)
    yield* reader.push(Array.isArray(value) ? value : [value])
  }
  yield* reader.end()
}

function modelObject({ name }: Record<string, unknown>): ModelObject[] {
  if (typeof name !== 'string') return []
  return [{ id: name.replace(/^models\//, ''), object: 'model', created: 0, owned_by: 'google' }]
}
