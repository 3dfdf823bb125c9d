/** Sends requests to a vendor with an OpenAI-compatible API: shared by all methods of its provider. */
import type { LRUCache } from 'lru-cache'
import { formBody } from '../../http/form-body.ts'
import { amendForm, changesTo, type Form } from '../../http/form.ts'
import { hasSucceeded, readError, requireSuccess } from '../answer.ts'
import type { StructureCheck } from '../answer-bounds.ts'
import { Client, jsonBody, sentFor, type ClientOptions } from '../client.ts'
import type { AuthHeaders } from '../credentials/contract.ts'
import { authOf, bearer } from '../credentials/key.ts'
import type { Call } from '../contract.ts'
import { boundedCache } from '../../bounded-cache.ts'
import { fieldsOf, type Fields } from '../../wire/json.ts'
import type { Transfer } from '../transfer.ts'
import { yieldIfLarge } from '../yielding.ts'
import { answeredError } from '../vendor-error.ts'
import { WholeBody } from '../whole-body.ts'
import { FrameTemplates } from './template.ts'
import type { OpenAIOptions } from './options.ts'
import type { VendorHeaders } from '../credentials/header-functions.ts'

/** A response whose status and headers have arrived. */
export interface StartedResponse {
  readonly transfer: Transfer
  /** The public model name that the response must carry; undefined if the vendor's name is the same. */
  readonly rename: string | undefined
  /** Converts an error object inside the response to the error to throw. */
  readonly failure: (error: unknown) => Error
  /** See `Call.costs`. */
  readonly costs: Call<unknown>['costs']
  /** The formats of the model's frames. */
  readonly templates: FrameTemplates
}

/** Model names can come from clients. */
const maxModels = 1_000
/** What a model once refused is tried again: a server that starts, or a proxy, may have said that it has no such endpoint. */
const refused = { ttl: 600_000 }

type Models = LRUCache<string, true>

export class Vendor {
  /** Models that turned out to have no text completions. */
  readonly onlyChats: Models = boundedCache(maxModels, refused)
  /** Models that turned out to have no compactions. */
  readonly neverCompacts: Models = boundedCache(maxModels, refused)
  /** Models that rejected a request for encrypted reasoning. */
  readonly plainReasoning: Models = boundedCache(maxModels, refused)
  readonly client: Client
  readonly #options: OpenAIOptions
  readonly #templates = boundedCache<string, FrameTemplates>(maxModels)

  /** `connect`: makes the client. Throws a `TypeError` for an invalid base URL. */
  constructor(options: OpenAIOptions, connect: (options: ClientOptions) => Client = (given) => new Client(given)) {
    const { baseURL = 'https://api.openai.com/v1' } = options
    this.#options = options
    this.client = connect({ ...options, baseURL, ...authOf(options, keyHeaders(options), headersOf(options)) })
  }

  close(): Promise<void> {
    return this.client.close()
  }

  /** The vendor's name for the model of a call, after `modelNames`. */
  modelOf({ model }: Pick<Call<unknown>, 'model'>): string {
    const { modelNames } = this.#options
    return modelNames !== undefined && Object.hasOwn(modelNames, model) ? (modelNames[model] as string) : model
  }

  /** Sends the request as JSON, with a few fields changed. Throws if the response has an error status. */
  async post(
    path: string,
    call: Call<unknown>,
    changes: Fields = {},
    check?: StructureCheck,
  ): Promise<StartedResponse> {
    const transfer = await this.send(path, call, changes, check)
    if (!hasSucceeded(transfer)) await requireSuccess(transfer, call)
    return this.started(transfer, call)
  }

  /** Like `post`, but returns a response of any status. `check`: see `WholeBody`; `more`: further headers. */
  send(
    path: string,
    call: Call<unknown>,
    changes?: Fields,
    check?: StructureCheck,
    more?: Readonly<Record<string, string>>,
  ): Promise<Transfer> {
    const isReady = call.prepare === undefined && call.large !== true
    return isReady ? this.#send(path, call, changes, check, more) : this.#sendLarge(path, call, changes, check, more)
  }

  async #sendLarge(...sent: Parameters<Vendor['send']>): Promise<Transfer> {
    const [, call] = sent
    await call.prepare?.()
    await yieldIfLarge(call)
    return this.#send(...sent)
  }

  #send(
    path: string,
    call: Call<unknown>,
    changes: Fields = {},
    check?: StructureCheck,
    more?: Readonly<Record<string, string>>,
  ): Promise<Transfer> {
    const model = this.modelOf(call)
    return this.client.send({
      path,
      body: call.json(model === call.publicModel ? changes : { ...changes, model }),
      headers: jsonBody,
      ...sentFor(call, model),
      added: more === undefined ? call.headers : { ...call.headers, ...more },
      whole: call.stream ? undefined : new WholeBody(this.client.answerBytes, check),
    })
  }

  /**
   * Sends a form with the vendor's name for the model, while it is still being uploaded. Throws if the response has an
   * error status.
   */
  async postForm(path: string, call: Call<unknown>, form: Form): Promise<StartedResponse> {
    const { contentType, length, bytes } = await formBody(amendForm(form, changesTo({ model: this.modelOf(call) })))
    const headers = { 'content-type': contentType, ...(length !== undefined && { 'content-length': String(length) }) }
    const transfer = await this.client.send({ path, body: bytes, headers, ...sentFor(call, this.modelOf(call)) })
    await requireSuccess(transfer, call)
    return this.started(transfer, call)
  }

  /** Whether the vendor has no such endpoint, or this model: then the model is added to `without`. */
  async lacks(transfer: Transfer, call: Call<unknown>, without: Models): Promise<boolean> {
    if (transfer.status !== 404 && transfer.status !== 405) return false
    const error = await readError(transfer)
    if (fieldsOf(error)['code'] === 'model_not_found') throw this.started(transfer, call).failure(error)
    without.set(this.modelOf(call), true)
    return true
  }

  started(transfer: Transfer, call: Call<unknown>): StartedResponse {
    const { openModel, publicModel, field, costs } = call
    const model = this.modelOf(call)
    return {
      transfer,
      costs,
      templates: this.#templatesOf(model),
      rename: model === publicModel ? undefined : publicModel,
      failure: (error) => answeredError(error, { openModel, field }),
    }
  }

  #templatesOf(model: string): FrameTemplates {
    let templates = this.#templates.get(model)
    if (templates === undefined) this.#templates.set(model, (templates = new FrameTemplates()))
    return templates
  }
}

function headersOf(options: OpenAIOptions): VendorHeaders {
  return {
    ...(options.organization !== undefined && { 'openai-organization': options.organization }),
    ...(options.project !== undefined && { 'openai-project': options.project }),
    ...options.headers,
  }
}

function keyHeaders({ keyHeader }: OpenAIOptions): (key: string) => AuthHeaders {
  return keyHeader === undefined ? bearer : (key) => ({ [keyHeader.toLowerCase()]: key })
}
