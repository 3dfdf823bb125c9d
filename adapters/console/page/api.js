/** The admin API, below the page's own URL. */

/** An error response, with the id by which the operator finds the request. */
export class ApiError extends Error {
  /** @param {string} message @param {{ status: number, code?: string | undefined, param?: string | undefined, requestId?: string | undefined }} details */
  constructor(message, { status, code, param, requestId }) {
    super(message)
    this.status = status
    this.code = code
    this.param = param
    this.requestId = requestId
  }
}

/** @typedef {Readonly<Record<string, string | number | undefined>>} Query */

/** The URL of a route, also for links to files. Undefined and empty values are left out. @param {string} path @param {Query} [query] */
export function urlOf(path, query = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '')
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)]))
  return `api/${path}${given.length === 0 ? '' : `?${search}`}`
}

/** The path of an account. @param {string} account @param {...string} rest */
export const accountPath = (account, ...rest) => ['accounts', account, ...rest].map(encodeURIComponent).join('/')

/**
 * @param {string} path @param {Query} [query] @param {AbortSignal} [signal]
 * @returns {Promise<any>}
 */
export function get(path, query, signal) {
  return fetchJson(urlOf(path, query), signal)
}

/** @param {string} url @param {AbortSignal} [signal] @returns {Promise<any>} */
export async function fetchJson(url, signal) {
  return result(await fetched(url, { signal: signal ?? null }))
}

/**
 * @param {'POST' | 'PATCH' | 'PUT' | 'DELETE'} method @param {string} path @param {unknown} [body] @param {Query} [query]
 * @returns {Promise<any>}
 */
export async function send(method, path, body, query) {
  const headers = { 'content-type': 'application/json', ...ownHeader }
  const sent = body === undefined ? { method, headers: ownHeader } : { method, headers, body: JSON.stringify(body) }
  return result(await fetched(urlOf(path, query), sent))
}

/** Ends the session, and goes where the server says. */
export async function signOut() {
  const { url } = await result(await fetched('sign-out', { method: 'POST', headers: ownHeader }))
  location.assign(url)
}

/** Pages of other origins cannot set it, so that they cannot act in the name of the user. */
export const ownHeader = { 'x-modelhatch-admin': '1' }

/** The response, whatever its status is. @param {string} url @param {RequestInit} options */
export async function fetched(url, options) {
  try {
    return await fetch(url, { ...options, credentials: 'same-origin', cache: 'no-store' })
  } catch (cause) {
    if (options.signal?.aborted) throw cause
    throw new ApiError('', { status: 0 })
  }
}

/** @param {Response} response */
async function result(response) {
  if (!response.ok) throw await errorOf(response)
  return response.status === 204 ? undefined : response.json()
}

/** @param {Response} response */
export async function errorOf(response) {
  const { error } = await response.json().catch(() => ({}))
  const { message, code, param } = Object(error)
  const requestId = response.headers.get('x-request-id') ?? undefined
  return new ApiError(typeof message === 'string' ? message : '', { status: response.status, code, param, requestId })
}
