/** Messages at a vendor that has Anthropic's API: the request passes with few changes, the response as it came. */
import { isMediaType } from '../../http/media-type.ts'
import type { Fields } from '../../wire/json.ts'
import type { Message, MessageRequest } from '../../wire/messages.ts'
import { hasSucceeded, readCount, readError, readJsonObject, requireSuccess } from '../answer.ts'
import { cacheMarks, type PromptCache } from '../cache-marks.ts'
import { readFault, statusOf } from './fault.ts'
import { jsonBody, sentFor, type Client } from '../client.ts'
import { Verbatim, type Call, type MessageAnswer } from '../contract.ts'
import { unreadable } from '../failure.ts'
import { parseJson } from '../../conversation/json.ts'
import { withoutOwnCosts } from '../own-costs.ts'
import type { Transfer } from '../transfer.ts'
import { yieldIfLarge } from '../yielding.ts'
import { answeredError, type FaultReader } from '../vendor-error.ts'
import { WholeBody } from '../whole-body.ts'
import { DeltaTemplates } from './delta-template.ts'
import { readMessageFrames, renamed } from './frames.ts'
import { safeErrorText } from './safe-error-text.ts'
import { expectsThinking, rejectsThinking, withoutPastThinking, withoutThinking } from './thinking.ts'

/** The version of the API, unless the host names one. */
const version = '2023-06-01'

const counting = '/messages/count_tokens'

/** How a vendor is reached. */
export interface MessageVendor {
  readonly client: Client
  /** The vendor's name for the model of a call. */
  readonly modelOf: (call: Call<unknown>) => string
  /** Where requests about a model go, if not to the paths of Anthropic, and what changes in them. */
  readonly addressOf?: ((model: string, request: MessageAddress) => MessageAddress) | undefined
  /** Whether the gateway marks what to cache. Default: not. */
  readonly marks?: { readonly promptCache: PromptCache | undefined; readonly automatic: boolean } | undefined
}

/** Where a request goes. */
export interface MessageAddress {
  readonly path: string
  readonly stream: boolean
  /** Fields to replace, add, or (if undefined) remove. */
  readonly changes: Fields
}

/** Serves messages; one for each vendor. */
export class NativeMessages {
  readonly #vendor: MessageVendor
  readonly #templates = new DeltaTemplates()

  constructor(vendor: MessageVendor) {
    this.#vendor = vendor
  }

  async answer(call: Call<MessageRequest>): Promise<MessageAnswer> {
    const { client } = this.#vendor
    const transfer = await this.#ask('/messages', call)
    if (!hasSucceeded(transfer)) await requireSuccess(transfer, call, reader(call))
    const model = this.#vendor.modelOf(call)
    const rename = model === call.publicModel ? undefined : call.publicModel
    const failure = failureOf(call)
    if (isMediaType(transfer.contentType, 'text/event-stream')) {
      return readMessageFrames(transfer, {
        rename,
        parsed: !call.stream || call.inChunks === true,
        failure,
        costs: call.costs,
        templates: this.#templates,
      })
    }
    if (call.stream && call.inChunks !== true && !isMediaType(transfer.contentType, 'application/json')) {
      throw transfer.fail(unreadable("the vendor's response is not an event stream"))
    }
    return wholeMessage(await readJsonObject(transfer, client.answerBytes), rename, failure, call.costs)
  }

  /**
   * Sends a request, and again without thinking, if the vendor misses that of another vendor's calls; and if the gateway made
   * the request, without that of earlier answers which the vendor rejects: signatures are bound to the organisation, and for
   * newer models to everything before them, which the client may have shortened.
   */
  async #ask(path: string, call: Call<MessageRequest>): Promise<Transfer> {
    const transfer = await this.#send(path, call)
    if (transfer.status !== 400) return transfer
    const error = await readError(transfer)
    if (expectsThinking(error)) return this.#send(path, call, withoutThinking(call))
    if (call.inChunks === true && rejectsThinking(error)) return this.#send(path, call, withoutPastThinking(call))
    return transfer
  }

  /** Undefined for a vendor without this count. */
  async count(call: Call<MessageRequest>): Promise<number | undefined> {
    const transfer = await this.#ask(counting, call)
    if (transfer.status === 404 || transfer.status === 405 || transfer.status === 501) {
      transfer.stop()
      return undefined
    }
    if (!hasSucceeded(transfer)) await requireSuccess(transfer, call, reader(call))
    return readCount(transfer, this.#vendor.client.answerBytes, 'input_tokens')
  }

  async #send(path: string, call: Call<MessageRequest>, changes: Fields = {}): Promise<Transfer> {
    if (call.prepare !== undefined || call.large === true) {
      await call.prepare?.()
      await yieldIfLarge(call)
    }
    const { client, marks } = this.#vendor
    const model = this.#vendor.modelOf(call)
    const marked =
      marks === undefined || path === counting
        ? changes
        : { ...cacheMarks(call, { ...marks, model, instructions: 'system' }), ...changes }
    const named = model === call.publicModel ? marked : { ...marked, model }
    // A request that the gateway has made is one for an answer.
    const isAsked = path === counting && call.inChunks === true
    const usual = { path, stream: call.stream, changes: isAsked ? { ...withoutAnswer(call.request), ...named } : named }
    const address = this.#vendor.addressOf?.(model, usual) ?? usual
    return client.send({
      path: address.path,
      body: call.json(address.changes),
      headers: headersFor(client, call.clientHeaders),
      ...sentFor(call, model),
      whole: call.stream ? undefined : new WholeBody(client.answerBytes),
    })
  }
}

/** Those of the host take precedence; features of the client are added to the host's. */
export function headersFor({ headers }: Client, given: Call<unknown>['clientHeaders']): Record<string, string> {
  const features = [headers['anthropic-beta'], given?.['anthropic-beta']].filter(Boolean).join(',')
  return {
    ...jsonBody,
    'anthropic-version': headers['anthropic-version'] ?? version,
    ...(features !== '' && { 'anthropic-beta': features }),
  }
}

/** The fields of a request that count. Source: Anthropic's API reference, Count tokens in a message. */
const counted: ReadonlySet<string> = new Set([
  'cache_control',
  'context_management',
  'mcp_servers',
  'messages',
  'model',
  'output_config',
  'speed',
  'system',
  'thinking',
  'tool_choice',
  'tools',
])

/** The changes that leave out what only an answer needs, which the count rejects. */
function withoutAnswer(request: object): Record<string, undefined> {
  const names = Object.keys(request).filter((name) => !counted.has(name))
  return Object.fromEntries(names.map((name) => [name, undefined]))
}

function wholeMessage(
  answer: Verbatim<object>,
  rename: string | undefined,
  failure: (error: unknown) => Error,
  costs: Call<unknown>['costs'],
): Verbatim<Message> | Message {
  const message = answer.value as Message & { readonly error?: unknown }
  if (message.error || (message.type as string) === 'error') throw failure(message.error ?? message)
  if (!Array.isArray(message.content)) throw unreadable("the vendor's response has no content")
  const shown = withoutOwnCosts(message, costs)
  if (shown !== message) {
    // The input of calls is an object, in which numbers keep their digits.
    const named = { ...shown, model: rename ?? message.model }
    const { content } = parseJson(textOf(answer)) as Message
    return new Verbatim<Message>(named, Buffer.from(JSON.stringify({ ...named, content })))
  }
  if (rename === undefined) return answer as Verbatim<Message>
  const named = { ...message, model: rename }
  const text = renamed(textOf(answer), message.model, rename)
  return text === undefined ? named : new Verbatim<Message>(named, Buffer.from(text))
}

function textOf({ bytes }: Verbatim<object>): string {
  return Buffer.from(bytes).toString('utf8')
}

/** Does not hold the call, whose request may be long. */
function failureOf(call: Call<unknown>): (error: unknown) => Error {
  const { openModel, field } = call
  const faults = { statusOf, read: reader(call) }
  return (error) => answeredError(error, { openModel, field }, faults)
}

/** Unlike elsewhere, the vendor's words reach the client: agents correct their requests by them. */
function reader({
  model,
  publicModel,
  inChunks,
}: Pick<Call<unknown>, 'model' | 'publicModel' | 'inChunks'>): FaultReader {
  if (inChunks === true) return readFault
  return (fault) => ({ ...readFault(fault), quote: safeErrorText(fault.error, model, publicModel) })
}
