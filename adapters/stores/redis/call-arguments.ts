/** The arguments of a script for several calls. What the calls share, such as buckets and accounts, is sent once. */
import type { PlaceRule, RateRule } from '../index.ts'
import type { KeyBases } from './key-bases.ts'

/**
 * Reads the arguments: tables of `rates`, `slots`, `accounts` and `calls`, then the calls, each preceded by its number of
 * arguments. What they need is read in one command.
 */
export const argumentsText: string = readingArguments('')
/** The same, and reads the strings of the calls. */
export const endingsText: string = readingArguments('names[#rates + #accounts + i] = calls[i].name')

function readingArguments(readCall: string): string {
  return `
local position = 3
local function next_text() position = position + 1 return ARGV[position] end
-- Takes half as long as 'tonumber'.
local function next_number() position = position + 1 return ARGV[position] + 0 end
local rates, slots, accounts, calls, names = {}, {}, {}, {}, {}
for i = 1, next_number() do
  local rate = { name = next_text(), limit = next_number(), period = next_number(), burst = next_number(), ttl = next_text() }
  rates[i], names[i] = rate, rate.name
end
for i = 1, next_number() do slots[i] = { name = next_text(), places = next_number() } end
for i = 1, next_number() do
  accounts[i] = { base = next_text(), id = next_text() }
  names[#rates + i] = accounts[i].base .. 'account:' .. accounts[i].id
end
for i = 1, next_number() do
  calls[i] = { name = next_text() }
  ${readCall}
end
if #names > 0 then
  local found = redis.call('MGET', unpack(names))
  for i, rate in ipairs(rates) do rate.found = found[i] end
  for i, account in ipairs(accounts) do account.key, account.found = names[#rates + i], found[#rates + i] end
  for i, call in ipairs(calls) do call.text = found[#rates + #accounts + i] end
end
local ends_by_lease = {}
local function ends_after(lease)
  local ends = ends_by_lease[lease]
  if not ends then
    ends = string.format('%d', math.ceil(now + lease))
    ends_by_lease[lease] = ends
  end
  return ends
end
local replies = {}
local function each_call(act)
  while position < #ARGV do
    local after = next_number() + position
    local done, reply = pcall(act, after)
    local failure = not done and (type(reply) == 'table' and reply.err or tostring(reply))
    -- A replica writes nothing of the script, which is sent again: the client may have to find the master first.
    if failure and string.sub(failure, 1, 8) == 'READONLY' then error(reply) end
    replies[#replies + 1] = done and reply or 'error ' .. failure
    position = after
  end
end
`
}

/** The name of a call. The length keeps account and id apart. */
export function callOf(account: string, id: string): string {
  return `${Buffer.byteLength(account)}:${account}:${id}`
}

/** Number of arguments of a rate. */
const perRate = 5

export class Arguments {
  /** The bases of the keys. */
  readonly bases: Set<string> = new Set()
  readonly #bases: KeyBases
  readonly #rates: string[] = []
  readonly #rateOf = new Map<string, { readonly rule: RateRule; readonly index: string }>()
  readonly #slots: string[] = []
  readonly #slotOf = new Map<string, { readonly places: number; readonly index: string }>()
  readonly #accounts: string[] = []
  readonly #accountOf = new Map<string, string>()
  readonly #calls: string[] = []
  readonly #callOf = new Map<string, string>()
  readonly #args: string[] = []

  constructor(keyBases: KeyBases) {
    this.#bases = keyBases
  }

  /** Adds a call. */
  add(args: readonly string[]): void {
    this.#args.push(String(args.length), ...args)
  }

  /** The arguments of a call for the rates that it draws from: their number, and the index and the cost of each. */
  rates(rules: readonly RateRule[]): string[] {
    return [String(rules.length), ...rules.flatMap((rule) => [this.#rate(rule), String(rule.cost)])]
  }

  /** The arguments of a call for its places: their number, and the index of each. */
  places(rules: readonly PlaceRule[]): string[] {
    return [String(rules.length), ...rules.map((rule) => this.#slot(rule))]
  }

  account(id: string): string {
    let index = this.#accountOf.get(id)
    if (index === undefined) {
      const base = this.#bases.baseOf(id)
      this.bases.add(base)
      this.#accounts.push(base, id)
      this.#accountOf.set(id, (index = String(this.#accounts.length / 2)))
    }
    return index
  }

  /** The arguments for the hold of a call: its account, its id, and its string. */
  hold(account: string, id: string): string[] {
    const name = `${this.#bases.baseOf(account)}call:${callOf(account, id)}`
    let index = this.#callOf.get(name)
    if (index === undefined) this.#callOf.set(name, (index = String(this.#calls.push(name))))
    return [this.account(account), id, index]
  }

  get values(): string[] {
    return [
      String(this.#rates.length / perRate),
      ...this.#rates,
      String(this.#slots.length / 2),
      ...this.#slots,
      String(this.#accounts.length / 2),
      ...this.#accounts,
      String(this.#calls.length),
      ...this.#calls,
      ...this.#args,
    ]
  }

  #rate(rule: RateRule): string {
    const { bucket, limit, periodMs, burst } = rule
    const known = this.#rateOf.get(bucket)
    const same =
      known !== undefined &&
      known.rule.limit === limit &&
      known.rule.periodMs === periodMs &&
      known.rule.burst === burst
    if (same) return known.index
    const untilFull = Math.ceil(Math.min((burst * periodMs) / limit + 1_000, 1e15))
    this.#rates.push(this.#named('rate', bucket), String(limit), String(periodMs), String(burst), String(untilFull))
    const index = String(this.#rates.length / perRate)
    this.#rateOf.set(bucket, { rule, index })
    return index
  }

  #slot({ bucket, places }: PlaceRule): string {
    const known = this.#slotOf.get(bucket)
    if (known !== undefined && known.places === places) return known.index
    this.#slots.push(this.#named('places', bucket), String(places))
    const index = String(this.#slots.length / 2)
    this.#slotOf.set(bucket, { places, index })
    return index
  }

  #named(kind: string, bucket: string): string {
    const base = this.#bases.baseOfBucket(bucket)
    this.bases.add(base)
    return `${base}${kind}:${bucket}`
  }
}
