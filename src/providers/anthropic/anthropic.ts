/** The provider for Claude, and for any vendor with Anthropic's Messages API. */
import { checkKnown, object, oneOf, texts, type Known } from '../../records/known-options.ts'
import type { PromptCache } from '../cache-marks.ts'
import { Client } from '../client.ts'
import { vendorRules, type SimpleVendorOptions } from '../simple-vendor.ts'
import { authOf, usesConversation, withOwnKey, type ApiKey } from '../credentials/key.ts'
import type { Provider } from '../contract.ts'
import { anthropicCosts } from '../costs/lists.ts'
import { keyWarnings } from '../option-warnings.ts'
import { messageBatches } from '../messages/batches.ts'
import { NativeMessages, type MessageVendor } from '../messages/native.ts'
import type { ClaudeTraits, MessageTraits } from '../message-traits.ts'
import { listModels } from '../models.ts'
import { stringOf, textOf } from '../../wire/json.ts'
import { traitsOf } from './models.ts'
import { readFault } from '../messages/fault.ts'
import type { VendorHeaders } from '../credentials/header-functions.ts'

/** Options of `anthropic`. */
export interface AnthropicOptions extends SimpleVendorOptions {
  /** Sent as `x-api-key`: a key, a function that returns it, or several of them. Omit it if `headers` carries the credentials. */
  readonly apiKey?: ApiKey | undefined
  /** With or without `/v1` at the end. Default `https://api.anthropic.com`. */
  readonly baseURL?: string | undefined
  /** The provider's name in receipts. Default `anthropic`. */
  readonly name?: string
  /**
   * Additional headers of every request, such as `anthropic-beta`: texts, or functions that return them as one for `apiKey` does.
   * Default: none.
   */
  readonly headers?: VendorHeaders
  /** Corrections of the built-in table of models, keyed by the vendor's name for the model. Default: none. */
  readonly traits?: Readonly<Record<string, Partial<ClaudeTraits>>>
  /**
   * How to treat a `temperature`, `top_p` or `top_k` that the model does not accept. `fit`: reduce a temperature above 1 to
   * 1, and drop the others. `refuse`: respond with a 400. Default `fit`.
   */
  readonly sampling?: 'fit' | 'refuse'
  /** Fields without a counterpart at the vendor to drop instead of rejecting, such as `['seed']`. Default: none. */
  readonly dropParams?: readonly string[]
  /**
   * `auto`: if the client marked nothing for the vendor's cache, the instructions (or tools) and the last turn are marked, where
   * they are long enough to be cached. `none`: nothing is added. Default: `auto` for models whose price has `cached` and
   * `cacheWrite`, else `none`.
   */
  readonly promptCache?: PromptCache
}

const known: Known<AnthropicOptions> = {
  ...vendorRules,
  traits: object,
  sampling: oneOf('fit', 'refuse'),
  dropParams: texts,
  promptCache: oneOf('auto', 'none'),
}

/**
 * Creates the provider for Claude, or for a vendor with Anthropic's Messages API. Throws a `TypeError` for an unknown
 * option or an invalid URL.
 *
 * @example
 * anthropic({ apiKey: process.env.ANTHROPIC_API_KEY })
 */
export function anthropic(options: AnthropicOptions = {}): Provider {
  const { baseURL = 'https://api.anthropic.com' } = options
  return messagesProvider({ ...options, baseURL: baseURL.replace(/(?:\/v1)?\/*$/, '/v1') })
}

/** The provider for a vendor whose base URL is used as it is. `addressOf`: see `MessageVendor`. */
export function messagesProvider(
  options: AnthropicOptions & { readonly baseURL: string },
  addressOf?: MessageVendor['addressOf'],
): Provider {
  checkKnown('anthropic', options, known)
  const { name = 'anthropic', promptCache } = options
  const client = new Client({
    ...options,
    ...authOf(options, (key) => ({ 'x-api-key': key }), headersOf(options)),
  })

  const messages = new NativeMessages({
    client,
    modelOf: ({ model }) => model,
    addressOf,
    marks: { promptCache, automatic: new URL(client.origin).hostname === 'api.anthropic.com' },
  })

  return {
    name,
    maker: 'anthropic',
    origin: client.origin,
    reportsSent: true,
    releasesCalls: true,
    usesConversation: usesConversation(options.apiKey),
    message: (call) => messages.answer(call),
    messageTraits: traitsFor(client, options),
    countMessage: (call) => messages.count(call),
    ...(addressOf === undefined && { batches: messageBatches(client) }),
    models: ({ signal }) =>
      listModels(client, { path: '/models?limit=1000', field: 'data', read: readFault, signal }, (raw) => {
        const at = Date.parse(textOf(raw['created_at']))
        return { id: stringOf(raw['id']), created: Math.floor((at || 0) / 1000), owned_by: 'anthropic' }
      }),
    costs: anthropicCosts,
    withKey: (apiKey) => messagesProvider(withOwnKey(options, name, apiKey), addressOf),
    warnings: keyWarnings(options, new URL(client.origin).hostname === 'api.anthropic.com'),
    close: () => client.close(),
  }
}

/** From this version of the API on, no model has sampling parameters. */
const withoutSampling = '2026-10-21'

function traitsFor({ headers }: Client, { traits, sampling, dropParams }: AnthropicOptions) {
  const fixed = (headers['anthropic-version'] ?? '') >= withoutSampling ? ({ sampling: 'none' } as const) : {}
  return (model: string): MessageTraits => {
    const claude = { ...traitsOf(model), ...fixed, ...traits?.[model] }
    return { claude, sampling, dropParams }
  }
}

function headersOf({ headers }: AnthropicOptions): VendorHeaders {
  return { 'anthropic-version': '2023-06-01', ...headers }
}
