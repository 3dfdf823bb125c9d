/**
 * Models of the AI SDK that do not follow a vendor's redirect with the caller's words or the host's key. The SDK's own
 * packages keep the `fetch` they call in their `config`; models that are made otherwise are left as they are.
 */

type Fetch = typeof globalThis.fetch

const wrapped = new WeakMap<object, object>()

/** The same model with a `fetch` that follows no redirect of a request that carries anything. */
export function withoutRedirects<Model extends object>(model: Model): Model {
  const { config } = model as { config?: unknown }
  if (typeof config !== 'object' || config === null || !isHttpConfig(config)) return model
  const known = wrapped.get(model)
  if (known !== undefined) return known as Model
  const own = { ...config, fetch: careful(config.fetch) }
  const derived = Object.create(model, { config: { value: own } }) as Model
  wrapped.set(model, derived)
  return derived
}

function isHttpConfig(config: object): config is { fetch?: Fetch } {
  const { fetch, headers, url, baseURL } = config as Readonly<Record<string, unknown>>
  if (fetch !== undefined && typeof fetch !== 'function') return false
  return [fetch, headers, url, baseURL].some((each) => each !== undefined)
}

function careful(given: Fetch | undefined): Fetch {
  return async (input, init) => {
    // Looked up for each call, as the SDK does it.
    const fetch = given ?? globalThis.fetch
    return fetch(input, carriesNothing(input, init) ? init : { ...init, redirect: 'manual' })
  }
}

/** A file that is fetched from where anyone may fetch it. */
function carriesNothing(input: Parameters<Fetch>[0], init: RequestInit | undefined): boolean {
  if (typeof input === 'object' && 'headers' in input) return false
  const names = [...new Headers(init?.headers ?? {}).keys()]
  const isGet = (init?.method ?? 'GET').toUpperCase() === 'GET'
  return isGet && names.every((name) => name === 'accept' || name === 'user-agent' || name === 'range')
}
