/** Protection against server-side request forgery: URLs from clients and vendors may reach public addresses only. */
import { lookup as lookUp, type LookupAddress, type LookupOptions } from 'node:dns'
import { BlockList, isIP } from 'node:net'

/** IPv4 ranges outside the public internet (IANA special-purpose registry), and Azure's platform address. */
const privateV4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['168.63.129.16', 32],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
]

/** Special-purpose ranges within IPv6 global unicast. Outside of global unicast nothing is public. */
const privateV6: readonly (readonly [string, number])[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
]

const blocked = new BlockList()
for (const [net, prefix] of privateV4) blocked.addSubnet(net, prefix, 'ipv4')
for (const [net, prefix] of privateV6) blocked.addSubnet(net, prefix, 'ipv6')
const unicast = new BlockList()
unicast.addSubnet('2000::', 3, 'ipv6')

/** Whether an IP address belongs to the public internet. False for anything that is not an IP address. */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !blocked.check(address, 'ipv4')
    case 6:
      return unicast.check(address, 'ipv6') && !blocked.check(address, 'ipv6')
    default:
      return false
  }
}

/**
 * The URL if it is http(s) and its host is a name or a public address. `publicLookup` checks what a name resolves to.
 */
export function publicUrl(text: string): URL | undefined {
  if (!URL.canParse(text)) return undefined
  const url = new URL(text)
  if ((url.protocol !== 'http:' && url.protocol !== 'https:') || url.port === '0') return undefined
  const host = url.hostname.replace(/^\[|\]$/g, '')
  return isIP(host) === 0 || isPublicAddress(host) ? url : undefined
}

type Found = (error: Error | null, address: string | LookupAddress[], family?: number) => void
type Resolver = (
  name: string,
  options: LookupOptions & { all: true },
  found: (error: Error | null, all: LookupAddress[]) => void,
) => void

/**
 * A `lookup` for sockets that fails unless all addresses of a name are public. The socket connects to the addresses
 * that were checked, so that a second DNS response cannot redirect it.
 */
export function publicLookup(resolver: Resolver = lookUp) {
  return (name: string, options: LookupOptions, found: Found): void => {
    resolver(name, { ...options, all: true }, (error, all) => {
      if (error !== null) return found(error, '')
      const [first] = all
      if (first === undefined || !all.every(({ address }) => isPublicAddress(address))) {
        return found(new Error(`${name} does not resolve to public addresses only`), '')
      }
      if (options.all === true) found(null, all)
      else found(null, first.address, first.family)
    })
  }
}
