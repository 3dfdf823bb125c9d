/** What is probably a mistake in the options of a provider, although they are valid. */
export interface OptionWarning {
  /** What it is. Stable. */
  readonly code: 'no_vendor_key' | 'base_url_without_version'
  /** What is probably wrong, and what to change: goes on after the name of the provider. Contains no secrets. */
  readonly message: string
}

interface Access {
  readonly apiKey?: unknown
  readonly credentials?: unknown
  readonly headers?: Readonly<Record<string, unknown>> | undefined
}

/** A warning if requests to a vendor carry no key. `needsKey`: whether it is a vendor that has keys. */
export function keyWarnings(
  { apiKey, credentials, headers = {} }: Access,
  needsKey: boolean,
): readonly OptionWarning[] {
  const isKeyed = Object.keys(headers).some((name) => /auth|key|token/i.test(name))
  if (!needsKey || apiKey !== undefined || credentials !== undefined || isKeyed) return none
  return [{ code: 'no_vendor_key', message: 'has no key, so the vendor will reject every request. Set "apiKey".' }]
}

/** A warning if an address has no path, which most servers with OpenAI's API have. */
export function pathWarnings(baseURL: string | undefined): readonly OptionWarning[] {
  if (baseURL === undefined || withoutPath.has(new URL(baseURL).hostname)) return none
  if (new URL(baseURL).pathname !== '/') return none
  const message = `has the base URL "${new URL(baseURL).origin}" without a path. Add the one before "/chat/completions", which is "/v1" for most servers.`
  return [{ code: 'base_url_without_version', message }]
}

const none: readonly OptionWarning[] = []

/** Vendors whose API has no version in its path. */
const withoutPath = new Set(['api.deepseek.com', 'api.perplexity.ai'])
