import { BlockList, isIP, isIPv4 } from 'node:net'

/** The form of an address in a list, for messages. */
export const addressForm = "an IP address or a range, such as '203.0.113.7', '10.0.0.0/8' or '2001:db8::/32'"

interface Range {
  readonly address: string
  readonly bits: number
  readonly family: 'ipv4' | 'ipv6'
}

const lists = new WeakMap<readonly string[], BlockList>()

/**
 * Whether an address is in one of the ranges. False if the address is unknown. An IPv4 address that is written as IPv6
 * (`::ffff:203.0.113.7`) equals the plain one, on both sides.
 */
export function isWithin(ranges: readonly string[], address: string | undefined): boolean {
  const given = address === undefined ? undefined : rangeOf(withoutZone(address))
  if (given === undefined) return false
  let list = lists.get(ranges)
  if (list === undefined) lists.set(ranges, (list = listOf(ranges)))
  return list.check(given.address, given.family)
}

/** Whether a text is an IP address or a range in CIDR notation, without bits set behind its prefix. */
export function isRange(text: unknown): text is string {
  if (typeof text !== 'string') return false
  const range = rangeOf(text)
  if (range === undefined) return false
  // The first address of the range must be the one that is written, so that 10.0.0.1/8 is found to be a mistake.
  const below = new BlockList()
  below.addSubnet(range.address, range.bits, range.family)
  const before = previous(range)
  return before === undefined || !below.check(before, range.family)
}

function listOf(ranges: readonly string[]): BlockList {
  const list = new BlockList()
  for (const text of ranges) {
    const range = rangeOf(text)
    if (range !== undefined) list.addSubnet(range.address, range.bits, range.family)
  }
  return list
}

function rangeOf(text: string): Range | undefined {
  const [, address = '', bitsText] = /^([^/]*)(?:\/(0|[1-9]\d{0,2}))?$/.exec(text) ?? []
  if (isIP(address) === 0 || address.includes('%')) return undefined
  const most = isIPv4(address) ? 32 : 128
  const bits = bitsText === undefined ? most : Number(bitsText)
  if (bits > most) return undefined
  if (most === 32) return { address, bits, family: 'ipv4' }
  const groups = groupsOf(address)
  const isMapped = bits >= 96 && groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff
  if (!isMapped) return { address, bits, family: 'ipv6' }
  return { address: dotted(groups), bits: bits - 96, family: 'ipv4' }
}

/** The eight groups of an IPv6 address. */
function groupsOf(address: string): number[] {
  const plain = address.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, ...parts: string[]) => {
    const [a = 0, b = 0, c = 0, d = 0] = parts.slice(0, 4).map(Number)
    return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`
  })
  const [head = '', tail] = plain.split('::')
  const [left, right] = [head, tail ?? ''].map((half) => (half === '' ? [] : half.split(':')))
  const missing = tail === undefined ? 0 : 8 - (left?.length ?? 0) - (right?.length ?? 0)
  return [...(left ?? []), ...Array<string>(missing).fill('0'), ...(right ?? [])].map((group) => parseInt(group, 16))
}

function dotted(groups: readonly number[]): string {
  const [high = 0, low = 0] = groups.slice(6)
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}

/** The address before the one of a range; undefined if there is none. */
function previous({ address, family }: Range): string | undefined {
  const [size, numbers] = family === 'ipv4' ? [256, address.split('.').map(Number)] : [65_536, groupsOf(address)]
  for (let index = numbers.length - 1; index >= 0; index--) {
    const number = numbers[index] as number
    if (number > 0) {
      numbers[index] = number - 1
      return family === 'ipv4' ? numbers.join('.') : numbers.map((each) => each.toString(16)).join(':')
    }
    numbers[index] = size - 1
  }
  return undefined
}

function withoutZone(address: string): string {
  const at = address.indexOf('%')
  return at < 0 ? address : address.slice(0, at)
}
