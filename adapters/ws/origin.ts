import { allKeyHeaders } from '../../src/callers/authenticate.ts'
import type { UpgradeRequest } from './upgrade-request.ts'

/**
 * Whether a page of another site may have sent an upgrade on behalf of a user who did not ask for it. Pages cannot add
 * headers to a WebSocket, but the browser adds what it has for the host: cookies, passwords, certificates.
 */
export function isForeign({ headers }: UpgradeRequest, allowed: readonly string[]): boolean {
  const { origin, host, cookie, authorization } = headers
  if (origin === undefined) return false
  const isBasic = /^basic\b/i.test(String(authorization))
  if (cookie === undefined && !isBasic && allKeyHeaders.some((name) => headers[name] !== undefined)) return false
  if (allowed.includes(String(origin))) return false
  return hostOf(String(origin)) !== String(host).toLowerCase()
}

/** The host and port in an origin; undefined for `null` and anything invalid. */
function hostOf(origin: string): string | undefined {
  return /^https?:\/\/([^/]+)$/i.exec(origin)?.[1]?.toLowerCase()
}
