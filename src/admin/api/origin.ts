/** Protection from requests that a page of another site makes a browser send. */
import { GatewayError } from '../../errors.ts'
import { header, type Exchange } from '../../http/exchange.ts'

/** The header that every request that changes something must have. Forms cannot send it, and scripts of other sites only with CORS. */
export const writeHeader = 'x-modelhatch-admin'

const loopback: readonly string[] = ['localhost', '127.0.0.1', '[::1]']

/** Throws a 403 unless the request was sent to one of the hosts. */
export function requireHost(exchange: Exchange, hosts: readonly string[] | '*' = loopback): void {
  if (hosts === '*' || isOneOf(hostOf(exchange), hosts)) return
  const message =
    hosts === loopback
      ? 'This host name is not one of the loopback: name it in the option "hosts".'
      : 'This host name is not among the option "hosts".'
  throw new GatewayError('forbidden', { message })
}

/**
 * Throws a 403 unless the request can only come from a script that is allowed to read the responses: a page of the same
 * origin, or a program that is no browser. Of the headers that browsers set, programs send none.
 */
export function requireOwnOrigin(exchange: Exchange, hosts: readonly string[] | '*' = loopback): void {
  if (header(exchange, writeHeader) === undefined) {
    throw new GatewayError('forbidden', { message: `Send the header "${writeHeader}: 1" with this method.` })
  }
  const site = header(exchange, 'sec-fetch-site')
  if (site !== undefined && site !== 'same-origin' && site !== 'none') throw foreign('sec-fetch-site')
  const origin = header(exchange, 'origin')
  if (origin === undefined) return
  const host = authorityOf(origin)
  if (host === undefined) throw foreign('origin')
  if (host === hostOf(exchange)) return
  // Behind a proxy that sends another `Host`, the name is known only if it is configured.
  if (hosts === '*' || hosts === loopback || !isOneOf(host, hosts)) throw foreign('origin')
}

function foreign(name: string): GatewayError {
  const message = `This request comes from a page of another origin, by its header "${name}". Behind a proxy that changes "Host", name the public host in the option "hosts".`
  return new GatewayError('forbidden', { message })
}

/** In lower case, without a port that is the default of HTTP or HTTPS; undefined without a valid one. */
function hostOf({ headers }: Exchange): string | undefined {
  const given = headers['host'] ?? headers[':authority']
  return typeof given === 'string' ? withoutDefaultPort(given) : undefined
}

/** The host and port of an `Origin` header; undefined for `null` and everything else that is no origin. */
function authorityOf(origin: string): string | undefined {
  const authority = /^https?:\/\/([^/?#@\s,]+)$/i.exec(origin)?.[1]
  return authority === undefined ? undefined : withoutDefaultPort(authority)
}

function withoutDefaultPort(authority: string): string {
  return authority.toLowerCase().replace(/:(?:80|443)$/, '')
}

/** Whether a host is one of the names, of which those without a port match any. */
function isOneOf(host: string | undefined, names: readonly string[]): boolean {
  if (host === undefined) return false
  const bare = host.replace(/:\d+$/, '')
  return names.some((name) => {
    const wanted = withoutDefaultPort(name)
    return wanted === host || wanted === bare
  })
}
