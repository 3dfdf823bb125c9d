/** What the providers of a single method have in common. */
import { checkKnown, elsewhere, secrets, text, headersByName, type Known } from '../records/known-options.ts'
import { Client, clientOptions, jsonBody, sentFor, type ClientOptions } from './client.ts'
import { requireSuccess } from './answer.ts'
import type { Call, Provider } from './contract.ts'
import type { AuthHeaders } from './credentials/contract.ts'
import { keyWarnings } from './option-warnings.ts'
import { authOf, usesConversation, withOwnKey, type ApiKey } from './credentials/key.ts'
import type { Transfer } from './transfer.ts'
import { serialize } from './yielding.ts'
import type { VendorHeaders } from './credentials/header-functions.ts'

/** Options that providers have in common; all of those for speech or rerank alone, such as `elevenlabs` and `cohereRerank`. */
export interface SimpleVendorOptions extends Partial<Omit<ClientOptions, 'headers' | 'baseURL'>> {
  /** A key, a function that returns it, or several of them. Default: not sent. */
  readonly apiKey?: ApiKey | undefined
  /** Default: the vendor's own API. */
  readonly baseURL?: string | undefined
  /** The provider's name in receipts. Default: the vendor's name. */
  readonly name?: string
  /**
   * Additional headers of every request: texts, or functions that return them as one for `apiKey` does. Default: none.
   */
  readonly headers?: VendorHeaders
}

/** The rules of these options, which other providers have, too. */
export const vendorRules: Known<SimpleVendorOptions> = {
  apiKey: secrets,
  baseURL: elsewhere,
  name: text,
  headers: headersByName,
  ...clientOptions,
}

export function simpleVendor(
  defaults: { readonly name: string; readonly baseURL: string },
  options: SimpleVendorOptions,
  keyHeaders: (key: string) => AuthHeaders,
  methods: (client: Client) => Partial<Provider>,
): Provider {
  checkKnown(defaults.name, options, vendorRules)
  const { name = defaults.name, baseURL = defaults.baseURL, headers = {} } = options
  const client = new Client({ ...options, baseURL, ...authOf(options, keyHeaders, headers) })
  return {
    name,
    origin: client.origin,
    reportsSent: true,
    usesConversation: usesConversation(options.apiKey),
    ...methods(client),
    withKey: (apiKey) => simpleVendor(defaults, withOwnKey(options, name, apiKey), keyHeaders, methods),
    warnings: keyWarnings(options, options.baseURL === undefined && baseURL.startsWith('https:')),
    close: () => client.close(),
  }
}

/** Sends a request as JSON. Resolves once the head of a successful response has arrived. */
export async function postJson(client: Client, call: Call<unknown>, path: string, body: object): Promise<Transfer> {
  const transfer = await client.send({ path, body: await serialize(call, body), headers: jsonBody, ...sentFor(call) })
  await requireSuccess(transfer, call)
  return transfer
}
