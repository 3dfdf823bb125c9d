import { object, texts, type Known } from '../../records/known-options.ts'
import type { ApiKey } from '../credentials/key.ts'
import type { GeminiTraits } from '../content-traits.ts'
import { vendorRules, type SimpleVendorOptions } from '../simple-vendor.ts'

/** Options of `gemini`. */
export interface GeminiOptions extends SimpleVendorOptions {
  /**
   * Sent as `x-goog-api-key`, on Vertex AI as `Authorization: Bearer`: a key, a function that returns it, or several of them.
   * Omit it if `headers` carries the credentials.
   */
  readonly apiKey?: ApiKey | undefined
  /**
   * With or without a version such as `/v1beta`. Default `https://generativelanguage.googleapis.com`. On Vertex AI:
   * `https://…/v1/projects/…/locations/…/publishers/google`.
   */
  readonly baseURL?: string | undefined
  /** The provider's name in receipts. Default `gemini`. */
  readonly name?: string
  /** Corrections of the built-in table of models, keyed by the vendor's name for the model. Default: none. */
  readonly traits?: Readonly<Record<string, Partial<GeminiTraits>>>
  /** Fields without a counterpart at the vendor to drop instead of rejecting, such as `['logit_bias']`. Default: none. */
  readonly dropParams?: readonly string[]
}

export const known: Known<GeminiOptions> = {
  ...vendorRules,
  traits: object,
  dropParams: texts,
}
