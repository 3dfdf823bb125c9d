type Fetch = typeof globalThis.fetch

const wrapped = new WeakMap<object, object>()

/**
 * The same model with a `fetch` that does not follow redirects, so that a vendor cannot redirect the API key or the
 * client's content to another host. Anonymous downloads are still redirected. Works on models that keep their `fetch` in
 * `config`, as the SDK's own packages do; others are returned unchanged.
 */
export function withoutRedirects<Model extends object>(model: Model): Model {
  const { config } = model as { config?: unknown }
  if (typeof config !== 'object' || config === null || !isHttpConfig(config)) return model
  const known = wrapped.get(model)
  if (known !== undefined) return known as Model
  const own = { ...config, fetch: withManualRedirects(config.fetch) }
  const derived = Object.create(model, { config: { value: own } }) as Model
  wrapped.set(model, derived)
  return derived
}

function isHttpConfig(config: object): config is { fetch?: Fetch } {
  const { fetch, headers, url, baseURL } = config as Readonly<Record<string, unknown>>
  if (fetch !== undefined && typeof fetch !== 'function') return false
  return [fetch, headers, url, baseURL].some((each) => each !== undefined)
}

function withManualRedirects(given: Fetch | undefined): Fetch {
  return async (input, init) => {
    // The global is looked up for each call, as in the SDK.
    const fetch = given ?? globalThis.fetch
    return fetch(input, isAnonymousGet(input, init) ? init : { ...init, redirect: 'manual' })
  }
}

/** A GET without any header that could carry a key, such as the download of a public file. */
function isAnonymousGet(input: Parameters<Fetch>[0], init: RequestInit | undefined): boolean {
  if (typeof input === 'object' && 'headers' in input) return false
  const names = [...new Headers(init?.headers ?? {}).keys()]
  const isGet = (init?.method ?? 'GET').toUpperCase() === 'GET'
  return isGet && names.every((name) => name === 'accept' || name === 'user-agent' || name === 'range')
}
