/** Sends requests to Google's API: shared by all methods of the provider. */
import { requireSuccess } from '../answer.ts'
import { Client, jsonBody, parseBaseUrl, sentFor } from '../client.ts'
import { authOf, bearer } from '../credentials/key.ts'
import type { Call } from '../contract.ts'
import type { Transfer } from '../transfer.ts'
import { serialize } from '../yielding.ts'
import { answeredError } from '../vendor-error.ts'
import { anonymousClient } from '../videos/download.ts'
import { contentFaults, readFault } from '../content/fault.ts'
import type { GeminiOptions } from './options.ts'

export class Vendor {
  readonly #options: GeminiOptions
  readonly #auth: ReturnType<typeof authOf>
  /** The base URL with its version, such as `https://generativelanguage.googleapis.com/v1beta`. */
  readonly base: string
  readonly client: Client

  constructor(options: GeminiOptions) {
    this.#options = options
    this.base = versioned(options.baseURL ?? 'https://generativelanguage.googleapis.com')
    this.#auth = authOf(options, this.isVertex ? bearer : googleKey, options.headers ?? {})
    this.client = new Client({ ...options, baseURL: this.base, ...this.#auth })
  }

  /** A client for the URL of a file; the caller closes it. It has our credentials only if the URL is at the vendor. */
  clientAt(url: URL): Client {
    const base = new URL(this.base)
    if (url.origin === base.origin) {
      return new Client({ ...this.#options, baseURL: url.origin + base.search, ...this.#auth })
    }
    const { headers: _, ...settings } = this.#options
    return anonymousClient(url, base.protocol === 'http:', settings)
  }

  /** Vertex AI has the models below their publisher. */
  get isVertex(): boolean {
    return this.base.includes('/publishers/')
  }

  close(): Promise<void> {
    return this.client.close()
  }

  /** Calls a method of the model, with an object or serialised JSON. Throws if the response has an error status. */
  async post(call: Call<unknown>, method: string, body: object): Promise<Transfer> {
    const transfer = await this.send(call, method, body)
    await requireSuccess(transfer, call, readFault)
    return transfer
  }

  /** Like `post`, but returns a response of any status. */
  async send(call: Call<unknown>, method: string, body: object): Promise<Transfer> {
    const bytes = body instanceof Uint8Array ? body : await serialize(call, body)
    const path = `/${collectionOf(call.model)}:${method}`
    return this.client.send({ path, body: bytes, headers: jsonBody, ...sentFor(call) })
  }

  /** Converts an error inside a response to the error to throw. */
  failure(error: unknown, call: Call<unknown>): Error {
    return answeredError(error, call, contentFaults)
  }
}

/** The path of a model. A name may include its collection; any other slash is escaped, so it cannot leave the collection. */
export function collectionOf(model: string): string {
  return /^(?:models|tunedModels)\/[\w.-]+$/.test(model) ? model : `models/${encodeURIComponent(model)}`
}

function googleKey(key: string): Record<string, string> {
  return { 'x-goog-api-key': key }
}

function versioned(baseURL: string): string {
  const bare = baseURL.replace(/\/+$/, '')
  return /\/v\d+[a-z]*\d*(?:\/|$)/.test(parseBaseUrl(bare).pathname) ? bare : `${bare}/v1beta`
}
