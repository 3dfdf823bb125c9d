/** Claude over Anthropic's Messages API, or over anything else that speaks it. */
import { refuseUnknown, type Known } from '../../known-options.ts'
import { readJsonObject, requireSuccess } from '../answer.ts'
import { Client, clientOptions, isMediaType, type ClientOptions } from '../client.ts'
import type { ChatPiece, Provider } from '../contract.ts'
import { readValues } from '../events.ts'
import { unavailable } from '../failure.ts'
import type { Transfer } from '../transfer.ts'
import { vendorError } from '../vendor-error.ts'
import type { ModelObject } from '../../wire/model.ts'
import { readFault, statusOf } from './fault.ts'
import { eventsOf, MessageReader, type ReaderOptions } from './reader.ts'
import { requestFor, type RequestOptions } from './request.ts'

export interface AnthropicOptions extends Partial<Omit<ClientOptions, 'headers' | 'baseUrl'>>, RequestOptions {
  /** Sent as `x-api-key`. Leave it out where `headers` carry the credentials. */
  readonly apiKey?: string | undefined
  /** With or without `/v1` at its end. Default `https://api.anthropic.com`. */
  readonly baseUrl?: string | undefined
  /** The name in receipts. Default `anthropic`. */
  readonly name?: string
  /** Further headers of every request, such as `anthropic-beta`. */
  readonly headers?: Readonly<Record<string, string>>
}

const known: Known<AnthropicOptions> = {
  apiKey: true,
  baseUrl: true,
  name: true,
  headers: true,
  traits: true,
  sampling: true,
  ignore: true,
  ...clientOptions,
}

export function anthropic(options: AnthropicOptions = {}): Provider {
  refuseUnknown('anthropic', options, known)
  const { name = 'anthropic', baseUrl = 'https://api.anthropic.com' } = options
  const client = new Client({
    ...options,
    baseUrl: baseUrl.replace(/(?:\/v1)?\/*$/, '/v1'),
    headers: headersOf(options),
  })

  return {
    name,
    async chat(call) {
      const { body, answerTool } = requestFor(call, options)
      const bytes = Buffer.from(JSON.stringify(body))
      const transfer = await client.send({ path: '/messages', body: bytes, headers: jsonBody, signal: call.signal })
      await requireSuccess(transfer, call, readFault)
      const failure = (error: unknown) =>
        vendorError(readFault({ status: statusOf(error), error, openModel: call.openModel, sent: call.field }))
      return piecesOf(transfer, client.answerBytes, { answerTool, failure })
    },
    async models({ signal }) {
      const transfer = await client.send({ method: 'GET', path: '/models?limit=1000', signal })
      await requireSuccess(transfer, undefined, readFault)
      const list = (await readJsonObject(transfer, client.answerBytes)).value as { data?: unknown }
      if (!Array.isArray(list.data)) throw unavailable('next', new Error('the vendor listed no models'))
      return list.data.flatMap(modelObject)
    },
    close: () => client.close(),
  }
}

const jsonBody = { 'content-type': 'application/json' }

function headersOf({ apiKey, headers }: AnthropicOptions): Record<string, string> {
  return { 'anthropic-version': '2023-06-01', ...(apiKey !== undefined && { 'x-api-key': apiKey }), ...headers }
}

/** Events as they come, or a whole message, whichever the vendor sent. */
async function* piecesOf(transfer: Transfer, maxBytes: number, options: ReaderOptions): AsyncGenerator<ChatPiece> {
  const reader = new MessageReader(options)
  if (isMediaType(transfer.contentType, 'text/event-stream')) {
    for await (const events of readValues(transfer)) {
      yield* reader.push(events)
      if (reader.done) return transfer.settle()
    }
    return reader.end()
  }
  const message = (await readJsonObject(transfer, maxBytes)).value as Record<string, unknown>
  yield* reader.push(message['type'] === 'error' ? [message] : eventsOf(message))
  reader.end()
}

function modelObject(raw: unknown): ModelObject[] {
  const { id, created_at: created } = Object(raw) as { id?: unknown; created_at?: unknown }
  if (typeof id !== 'string') return []
  const at = typeof created === 'string' ? Date.parse(created) : Number.NaN
  return [{ id, object: 'model', created: Number.isNaN(at) ? 0 : Math.floor(at / 1000), owned_by: 'anthropic' }]
}
