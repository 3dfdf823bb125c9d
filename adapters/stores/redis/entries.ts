/** The entries of an account: a list of lines, newest first. Their numbers have no gaps. */
import { pageOf, readNumberCursor, type LedgerEntry, type Page, type PageRequest } from '../index.ts'
import type { KeyBases } from './key-bases.ts'
import { lua, type Scripts } from './scripts.ts'

/** The entries before a number, newest first. */
const entries = lua(`
local found, before, limit = {}, tonumber(ARGV[3]), tonumber(ARGV[4])
local name = key('entries', ARGV[2])
local newest = redis.call('LINDEX', name, 0)
if not newest then return found end
local from = math.max(0, tonumber(string.match(newest, '^%d+')) - before + 1)
return redis.call('LRANGE', name, from, from + limit - 1)
`)

/** The oldest entries after a number, newest first. */
const later = lua(`
local name = key('entries', ARGV[2])
local newest = redis.call('LINDEX', name, 0)
if not newest then return {} end
local count = math.min(tonumber(string.match(newest, '^%d+')) - tonumber(ARGV[3]), redis.call('LLEN', name))
return count > 0 and redis.call('LRANGE', name, math.max(0, count - tonumber(ARGV[4])), count - 1) or {}
`)

export async function readEntriesAfter(
  scripts: Scripts,
  keyBases: KeyBases,
  account: string,
  ...range: [after: number, most: number]
): Promise<readonly LedgerEntry[]> {
  const lines = await scripts.run<string[]>(later, keyBases.baseOf(account), account, ...range)
  return lines.toReversed().map((line) => entryOf(account, line))
}

export async function readEntries(
  scripts: Scripts,
  keyBases: KeyBases,
  account: string,
  { limit = 100, after = '999999999999999' }: PageRequest,
): Promise<Page<LedgerEntry>> {
  const args = [account, String(readNumberCursor(after)), limit + 1]
  const lines = await scripts.run<string[]>(entries, keyBases.baseOf(account), ...args)
  const found = lines.map((line) => entryOf(account, line))
  return pageOf(found, limit, (last) => String(last.number))
}

/** The length of the reference counts bytes. */
function entryOf(account: string, line: string): LedgerEntry {
  const [number, kind, at, amount, overage, length] = line.split(' ', 6) as [string, ...string[]]
  const head = [number, kind, at, amount, overage, length].join(' ').length + 1
  const rest = Buffer.from(line.slice(head))
  const note = rest.subarray(Number(length)).toString()
  return {
    number: Number(number),
    account,
    kind: kind as LedgerEntry['kind'],
    reference: rest.subarray(0, Number(length)).toString(),
    amount: BigInt(amount ?? 0),
    overage: BigInt(overage ?? 0),
    ...(note !== '' && { note: note.slice(1) }),
    at: Number(at),
  }
}
