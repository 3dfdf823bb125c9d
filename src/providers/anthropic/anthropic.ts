/** The provider for Claude, and for any vendor with Anthropic's Messages API. */
import { isMediaType } from '../../http/media-type.ts'
import {
  checkKnown,
  elsewhere,
  object,
  oneOf,
  secret,
  text,
  textByName,
  texts,
  type Known,
} from '../../records/known-options.ts'
import { readJsonObject, requireSuccess } from '../answer.ts'
import { Client, clientOptions, type ClientOptions } from '../client.ts'
import type { Call, ChatPiece, Provider } from '../contract.ts'
import { readValues } from '../events.ts'
import { anthropicCosts } from '../costs/lists.ts'
import { unreadable } from '../failure.ts'
import type { Transfer } from '../transfer.ts'
import { forceParse } from '../yielding.ts'
import { NativeMessages } from '../messages/native.ts'
import { vendorError } from '../vendor-error.ts'
import type { ModelObject } from '../../wire/model.ts'
import { formatOf } from './block-order.ts'
import { send, countChat } from './send.ts'
import { readFault, statusOf } from '../messages/fault.ts'
import { eventsOf, MessageReader, type ReaderOptions } from './reader.ts'
import type { RequestOptions } from './request.ts'

/** Options of `anthropic`. */
export interface AnthropicOptions extends Partial<Omit<ClientOptions, 'headers' | 'baseURL'>>, RequestOptions {
  /** Sent as `x-api-key`. Omit it if `headers` carries the credentials. */
  readonly apiKey?: string | undefined
  /** With or without `/v1` at the end. Default `https://api.anthropic.com`. */
  readonly baseURL?: string | undefined
  /** The provider's name in receipts. Default `anthropic`. */
  readonly name?: string
  /** Additional headers of every request, such as `anthropic-beta`. Default: none. */
  readonly headers?: Readonly<Record<string, string>>
}

const known: Known<AnthropicOptions> = {
  apiKey: secret,
  baseURL: elsewhere,
  name: text,
  headers: textByName,
  traits: object,
  sampling: oneOf('fit', 'refuse'),
  dropParams: texts,
  ...clientOptions,
}

/**
 * Creates the provider for Claude, or for a vendor with Anthropic's Messages API. Throws a `TypeError` for an unknown
 * option or an invalid URL.
 *
 * @example
 * anthropic({ apiKey: process.env.ANTHROPIC_API_KEY })
 */
export function anthropic(options: AnthropicOptions = {}): Provider {
  checkKnown('anthropic', options, known)
  const { name = 'anthropic', baseURL = 'https://api.anthropic.com' } = options
  const client = new Client({
    ...options,
    baseURL: baseURL.replace(/(?:\/v1)?\/*$/, '/v1'),
    headers: headersOf(options),
  })

  const messages = new NativeMessages({ client, modelOf: ({ model }) => model })

  return {
    name,
    maker: 'anthropic',
    origin: client.origin,
    chatTraits: { systemAnywhere: true, cacheControl: true, topK: true, richResults: true, maxStops: 8_191 },
    reportsSent: true,
    releasesCalls: true,
    message: (call) => messages.answer(call),
    countMessage: (call) => messages.count(call),
    async countChat(call) {
      await forceParse(call)
      return countChat(client, call, options)
    },
    async chat(call) {
      await forceParse(call)
      const { transfer, answerTool } = await send(client, call, options)
      return piecesOf(transfer, client.answerBytes, {
        answerTool,
        failure: failureOf(call),
        format: formatOf(call.model),
      })
    },
    async models({ signal }) {
      const transfer = await client.send({ method: 'GET', path: '/models?limit=1000', signal })
      await requireSuccess(transfer, undefined, readFault)
      const list = (await readJsonObject(transfer, client.answerBytes)).value as { data?: unknown }
      if (!Array.isArray(list.data)) throw unreadable("the vendor's response has no list of models", 'next')
      return list.data.flatMap(modelObject)
    },
    costs: anthropicCosts,
    close: () => client.close(),
  }
}

/** Does not hold the call, whose request may be long. */
function failureOf({ openModel, field }: Call<unknown>): (error: unknown) => Error {
  return (error) => vendorError(readFault({ status: statusOf(error), error, openModel, sent: field }))
}

function headersOf({ apiKey, headers }: AnthropicOptions): Record<string, string> {
  return { 'anthropic-version': '2023-06-01', ...(apiKey !== undefined && { 'x-api-key': apiKey }), ...headers }
}

/** Reads an event stream or one message. The content type decides. */
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
