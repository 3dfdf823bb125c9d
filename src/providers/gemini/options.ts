import { elsewhere, object, secret, text, textByName, texts, type Known } from '../../records/known-options.ts'
import { clientOptions, type ClientOptions } from '../client.ts'
import type { RequestOptions } from './request.ts'

/** Options of `gemini`. */
export interface GeminiOptions extends Partial<Omit<ClientOptions, 'headers' | 'baseURL'>>, RequestOptions {
  /** Sent as `x-goog-api-key`. Omit it if `headers` carries the credentials, as on Vertex AI. */
  readonly apiKey?: string | undefined
  /**
   * With or without a version such as `/v1beta`. Default `https://generativelanguage.googleapis.com`. On Vertex AI:
   * `https://…/v1/projects/…/locations/…/publishers/google`.
   */
  readonly baseURL?: string | undefined
  /** The provider's name in receipts. Default `gemini`. */
  readonly name?: string
  /** Additional headers of every request. Default: none. */
  readonly headers?: Readonly<Record<string, string>>
}

export const known: Known<GeminiOptions> = {
  apiKey: secret,
  baseURL: elsewhere,
  name: text,
  headers: textByName,
  traits: object,
  dropParams: texts,
  ...clientOptions,
}
