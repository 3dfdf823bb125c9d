/** Public addresses, compared with the IANA registries and with a library that implements them. */
import * as fc from 'fast-check'
import ipaddr from 'ipaddr.js'
import { describe, expect, test } from 'vitest'
import { isPublicAddress, publicUrl } from '../../src/http/public-address.ts'

/** All ranges of IANA's special-purpose registries that are not globally reachable (2026-11), and multicast. */
const special = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
  ['255.255.255.255', 32],
  ['::', 128],
  ['::1', 128],
  ['::ffff:0:0', 96],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['100:0:0:1::', 64],
  ['2001::', 32],
  ['2001:2::', 48],
  ['2001:10::', 28],
  ['2001:20::', 28],
  ['2001:30::', 28],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
  ['5f00::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
] as const

function textOf(bytes: readonly number[]): string {
  return ipaddr.fromByteArray([...bytes]).toString()
}

describe('the first and the last address of', () => {
  test.each(special)('%s/%i are not public', (net, prefix) => {
    const bytes = ipaddr.parse(net).toByteArray()
    const last = bytes.map((byte, index) => byte | (0xff >> Math.min(Math.max(prefix - index * 8, 0), 8)))
    expect([isPublicAddress(textOf(bytes)), isPublicAddress(textOf(last))]).toEqual([false, false])
    const host = (address: string) => (address.includes(':') ? `[${address}]` : address)
    expect(publicUrl(`https://${host(textOf(bytes))}/`)).toBeUndefined()
    expect(publicUrl(`https://${host(textOf(last))}/`)).toBeUndefined()
  })
})

test('metadata services of clouds are not public, ordinary addresses are', () => {
  for (const address of ['169.254.169.254', '168.63.129.16', '100.100.100.200', '192.0.0.192', 'fd00:ec2::254']) {
    expect([address, isPublicAddress(address)]).toEqual([address, false])
  }
  for (const address of ['1.1.1.1', '8.8.8.8', '172.15.255.255', '172.32.0.0', '2606:4700::1111', '2a00:1450::8a']) {
    expect([address, isPublicAddress(address)]).toEqual([address, true])
  }
})

test('no address is public that the library classifies as special', () => {
  const octet = fc.integer({ min: 0, max: 255 })
  const near = fc.constantFrom(...special).map(([net]) => ipaddr.parse(net).toByteArray())
  const spread = fc
    .tuple(near, fc.array(octet, { minLength: 16, maxLength: 16 }), fc.integer({ min: 1, max: 16 }))
    .map(([bytes, other, kept]) => bytes.map((byte, index) => (index < kept ? byte : (other[index] as number))))
  const any = fc.oneof(
    fc.array(octet, { minLength: 4, maxLength: 4 }),
    fc.array(octet, { minLength: 16, maxLength: 16 }),
    spread,
  )
  // Globally reachable anycast, and no private network.
  const reachable = new Set(['unicast', 'as112', 'as112v6', 'amt'])
  fc.assert(
    fc.property(any, (bytes) => {
      const address = ipaddr.fromByteArray([...bytes])
      return reachable.has(address.range()) || !isPublicAddress(address.toString())
    }),
    { numRuns: 3_000 },
  )
})
