/** Any vendor that speaks OpenAI's format over HTTP. */
import { readJsonObject, requireSuccess } from '../answer.ts'
import { Client, type ClientOptions, isMediaType } from '../client.ts'
import { Verbatim, type Call, type ChatAnswer, type Provider } from '../contract.ts'
import { unavailable } from '../failure.ts'
import type { Transfer } from '../transfer.ts'
import { statusIn, vendorError } from '../vendor-error.ts'
import type { ChatCompletion, ChatRequest } from '../../wire/chat.ts'
import type { ModelObject } from '../../wire/model.ts'
import { readFrames } from './frames.ts'

export interface OpenAIOptions extends Partial<Omit<ClientOptions, 'headers'>> {
  /** Sent as `Authorization: Bearer`. Leave it out for a vendor that takes none, or takes it in `headers`. */
  readonly apiKey?: string
  /** Default `https://api.openai.com/v1`. */
  readonly baseUrl?: string
  /** The name in receipts. Default `openai`. */
  readonly name?: string
  /** Sent as `OpenAI-Organization`. */
  readonly organization?: string
  /** Sent as `OpenAI-Project`. */
  readonly project?: string
  /** Further headers of every request. */
  readonly headers?: Readonly<Record<string, string>>
  /** The vendor's names for models, by the name they are called here. Others are passed on as they are. */
  readonly modelNames?: Readonly<Record<string, string>>
  /**
   * The field in which the vendor takes the limit of output tokens; whichever the client used is renamed. Default: as
   * the client sent it.
   */
  readonly tokenLimit?: 'max_tokens' | 'max_completion_tokens'
  /** Set to false for vendors that refuse `stream_options`. Their streams are then billed by estimate. Default true. */
  readonly usageInStreams?: boolean
}

export function openai(options: OpenAIOptions = {}): Provider {
  const { name = 'openai', baseUrl = 'https://api.openai.com/v1', modelNames = {} } = options
  let client: Client | undefined
  const open = () => (client ??= new Client({ ...options, baseUrl, headers: headersOf(options) }))

  return {
    name,
    async chat(call) {
      const model = Object.hasOwn(modelNames, call.model) ? (modelNames[call.model] as string) : call.model
      const body = call.json(changesFor(call, model, options))
      const transfer = await open().send({ path: '/chat/completions', body, headers: jsonBody, signal: call.signal })
      await requireSuccess(transfer, call)
      const rename = model === call.publicModel ? undefined : call.publicModel
      return answerOf(transfer, call, rename, open().answerBytes)
    },
    async models({ signal }) {
      const transfer = await open().send({ method: 'GET', path: '/models', signal })
      await requireSuccess(transfer)
      const list = (await readJsonObject(transfer, open().answerBytes)).value as { data?: unknown }
      if (!Array.isArray(list.data)) throw unavailable('next', new Error('the vendor listed no models'))
      return list.data.filter(isModel).map(modelObject)
    },
    async close() {
      await client?.close()
    },
  }
}

const jsonBody = { 'content-type': 'application/json' }

function headersOf(options: OpenAIOptions): Record<string, string> {
  return {
    ...(options.apiKey !== undefined && { authorization: `Bearer ${options.apiKey}` }),
    ...(options.organization !== undefined && { 'openai-organization': options.organization }),
    ...(options.project !== undefined && { 'openai-project': options.project }),
    ...options.headers,
  }
}

/** The few fields that the vendor gets otherwise than the client sent them. */
function changesFor(call: Call<ChatRequest>, model: string, options: OpenAIOptions): Record<string, unknown> {
  const changes: Record<string, unknown> = {}
  if (model !== call.publicModel) changes['model'] = model
  if (call.stream && options.usageInStreams !== false) {
    const asked = call.field('stream_options') as ChatRequest['stream_options']
    changes['stream_options'] = { ...asked, include_usage: true }
  }
  const { tokenLimit } = options
  if (tokenLimit !== undefined) {
    const other = tokenLimit === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens'
    const limit = call.field(other)
    if (limit !== undefined) {
      changes[other] = undefined
      changes[tokenLimit] = call.field(tokenLimit) ?? limit
    }
  }
  return changes
}

/** Vendors may answer a call for events with a whole, and the other way round: what came decides. */
function answerOf(
  transfer: Transfer,
  call: Call<ChatRequest>,
  rename: string | undefined,
  maxBytes: number,
): ChatAnswer | Promise<ChatAnswer> {
  const { stream, openModel, field } = call
  const failure = (error: unknown) => vendorError({ status: statusIn(error), error, openModel, sent: field })
  if (isMediaType(transfer.contentType, 'text/event-stream')) {
    return readFrames(transfer, { rename, parsed: !stream, failure })
  }
  if (stream && !isMediaType(transfer.contentType, 'application/json')) {
    throw transfer.fail(unavailable('same', new Error('the vendor answered with something else than events')))
  }
  return wholeOf(transfer, rename, maxBytes, failure)
}

async function wholeOf(
  transfer: Transfer,
  rename: string | undefined,
  maxBytes: number,
  failure: (error: unknown) => Error,
): Promise<ChatCompletion | Verbatim<ChatCompletion>> {
  const { value, bytes } = await readJsonObject(transfer, maxBytes)
  const { error } = value as { error?: unknown }
  if (error) throw failure(error)
  const completion = value as ChatCompletion
  return rename === undefined ? new Verbatim(completion, bytes) : { ...completion, model: rename }
}

function isModel(value: unknown): value is { id: string } {
  return typeof (value as { id?: unknown } | null)?.id === 'string'
}

function modelObject(raw: { id: string; created?: unknown; owned_by?: unknown }): ModelObject {
  const created = typeof raw.created === 'number' ? Math.floor(raw.created) : 0
  return { id: raw.id, object: 'model', created, owned_by: typeof raw.owned_by === 'string' ? raw.owned_by : 'unknown' }
}
