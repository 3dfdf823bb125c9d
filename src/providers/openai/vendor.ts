/** One vendor that speaks OpenAI's format: what all methods of its provider do alike. */
import { formBody } from '../../http/form-body.ts'
import { amendForm, changesTo, type Form } from '../../http/form.ts'
import { requireSuccess } from '../answer.ts'
import { Client } from '../client.ts'
import type { Call } from '../contract.ts'
import type { Transfer } from '../transfer.ts'
import { statusIn, vendorError } from '../vendor-error.ts'
import type { OpenAIOptions } from './options.ts'

const jsonBody = { 'content-type': 'application/json' }

/** An answer that has begun with a good status. */
export interface Begun {
  readonly transfer: Transfer
  /** The name the client used, when it is not the vendor's: the answer is then made to carry it. */
  readonly rename: string | undefined
  /** An error object inside the answer → what to throw. */
  readonly failure: (error: unknown) => Error
}

export class Vendor {
  /** Models seen to have no endpoint for text completions. */
  readonly onlyChats: BoundedSet = new BoundedSet()
  /** Models seen to have no endpoint for compactions. */
  readonly neverCompacts: BoundedSet = new BoundedSet()
  /** Models seen to refuse encrypting what they thought. */
  readonly plainReasoning: BoundedSet = new BoundedSet()
  readonly client: Client
  readonly #options: OpenAIOptions

  /** Throws a `TypeError` for a base URL that is none. */
  constructor(options: OpenAIOptions) {
    const { baseURL = 'https://api.openai.com/v1' } = options
    this.#options = options
    this.client = new Client({ ...options, baseURL, headers: headersOf(options) })
  }

  close(): Promise<void> {
    return this.client.close()
  }

  /** The vendor's name for the model of a call. */
  modelOf({ model }: Pick<Call<unknown>, 'model'>): string {
    const { modelNames = {} } = this.#options
    return Object.hasOwn(modelNames, model) ? (modelNames[model] as string) : model
  }

  /** Sends the request, changed in a few fields, as JSON. Throws for an answer that is none. */
  async post(path: string, call: Call<unknown>, changes: Record<string, unknown> = {}): Promise<Begun> {
    const transfer = await this.send(path, call, changes)
    await requireSuccess(transfer, call)
    return this.begun(transfer, call)
  }

  /** Like `post`, but any status comes back. */
  send(path: string, call: Call<unknown>, changes: Record<string, unknown> = {}): Promise<Transfer> {
    const model = this.modelOf(call)
    const body = call.json(model === call.publicModel ? changes : { ...changes, model })
    return this.client.send({ path, body, headers: jsonBody, signal: call.signal, sent: () => call.sent?.() })
  }

  /** Sends a form, while it is read, with the vendor's name for the model. Throws for an answer that is none. */
  async postForm(path: string, call: Call<unknown>, form: Form): Promise<Begun> {
    const { contentType, length, bytes } = await formBody(amendForm(form, changesTo({ model: this.modelOf(call) })))
    const headers = { 'content-type': contentType, ...(length !== undefined && { 'content-length': String(length) }) }
    const transfer = await this.client.send({
      path,
      body: bytes,
      headers,
      signal: call.signal,
      sent: () => call.sent?.(),
    })
    await requireSuccess(transfer, call)
    return this.begun(transfer, call)
  }

  begun(transfer: Transfer, call: Call<unknown>): Begun {
    const { openModel, publicModel, field } = call
    return {
      transfer,
      rename: this.modelOf(call) === publicModel ? undefined : publicModel,
      failure: (error) => vendorError({ status: statusIn(error), error, openModel, sent: field }),
    }
  }
}

/** Names of models come from clients at times: their number must not grow without end. */
class BoundedSet extends Set<string> {
  override add(value: string): this {
    if (this.size >= 1_000) this.clear()
    return super.add(value)
  }
}

function headersOf(options: OpenAIOptions): Record<string, string> {
  return {
    ...keyIn(options),
    ...(options.organization !== undefined && { 'openai-organization': options.organization }),
    ...(options.project !== undefined && { 'openai-project': options.project }),
    ...options.headers,
  }
}

function keyIn({ apiKey, keyHeader }: OpenAIOptions): Record<string, string> {
  if (apiKey === undefined) return {}
  return keyHeader === undefined ? { authorization: `Bearer ${apiKey}` } : { [keyHeader]: apiKey }
}
