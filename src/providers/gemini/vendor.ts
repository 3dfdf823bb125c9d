/** The way to Google's API: what all methods of the provider do alike. */
import { requireSuccess } from '../answer.ts'
import { Client, parseBaseUrl } from '../client.ts'
import type { Call } from '../contract.ts'
import type { Transfer } from '../transfer.ts'
import { serialize } from '../turns.ts'
import { vendorError } from '../vendor-error.ts'
import { strangersClient } from '../videos/download.ts'
import { readFault, statusOf } from './fault.ts'
import type { GeminiOptions } from './options.ts'

const jsonBody = { 'content-type': 'application/json' }

export class Vendor {
  readonly #options: GeminiOptions
  /** With its version, such as `https://generativelanguage.googleapis.com/v1beta`. */
  readonly base: string
  readonly client: Client

  constructor(options: GeminiOptions) {
    this.#options = options
    this.base = versioned(options.baseURL ?? 'https://generativelanguage.googleapis.com')
    this.client = new Client({ ...options, baseURL: this.base, headers: headersOf(options) })
  }

  /** A client for a file that the vendor names, to be closed after it. Our credentials go to the vendor itself only. */
  clientAt(url: URL): Client {
    const base = new URL(this.base)
    if (url.origin === base.origin) {
      return new Client({ ...this.#options, baseURL: url.origin + base.search, headers: headersOf(this.#options) })
    }
    return strangersClient(url, base.protocol === 'http:', this.#options)
  }

  close(): Promise<void> {
    return this.client.close()
  }

  /** Asks a method of the model of a call; `body` may be serialize already. Throws for an answer that is none. */
  async post(call: Call<unknown>, method: string, body: object, signal: AbortSignal = call.signal): Promise<Transfer> {
    const bytes = body instanceof Uint8Array ? body : await serialize(call, body)
    const path = `/${collectionOf(call.model)}:${method}`
    const transfer = await this.client.send({ path, body: bytes, headers: jsonBody, signal, sent: () => call.sent?.() })
    await requireSuccess(transfer, call, readFault)
    return transfer
  }

  /** An error inside an answer → what to throw. */
  failure({ openModel, field }: Call<unknown>): (error: unknown) => Error {
    return (error) => vendorError(readFault({ status: statusOf(error), error, openModel, sent: field }))
  }
}

/** A model by its collection: a name may come with it, and never leads out of one. */
export function collectionOf(model: string): string {
  return /^(?:models|tunedModels)\/[\w.-]+$/.test(model) ? model : `models/${encodeURIComponent(model)}`
}

function headersOf({ apiKey, headers }: GeminiOptions): Record<string, string> {
  return { ...(apiKey !== undefined && { 'x-goog-api-key': apiKey }), ...headers }
}

function versioned(baseURL: string): string {
  const bare = baseURL.replace(/\/+$/, '')
  return /\/v\d+[a-z]*\d*(?:\/|$)/.test(parseBaseUrl(bare).pathname) ? bare : `${bare}/v1beta`
}
