/** Renews the leases of places and holds: any number of them, in commands that do not block the server for long. */
import type { Hold, LimitReturn } from '../index.ts'
import { callOf } from './call-arguments.ts'
import { ledgerText } from './ledger-text.ts'
import type { KeyBases } from './key-bases.ts'
import { lua, type Scripts } from './scripts.ts'

/** Maximum number of leases in one command. */
const mostLeases = 500

/** `ARGV[2]` is the lease; then follow, for each sorted set: what its key is, its name, the number of its members, and the members. */
const renew = lua(
  'local accounts = {}',
  ledgerText,
  `
local ends = math.ceil(now + tonumber(ARGV[2]))
local position = 3
while position < #ARGV do
  local kind, base, name, count = ARGV[position], ARGV[position + 1], ARGV[position + 2], tonumber(ARGV[position + 3])
  local set, members, renewed = base .. kind .. ':' .. name, {}, {}
  for i = 1, count do members[i] = ARGV[position + 3 + i] end
  position = position + 4 + count
  for i, score in ipairs(redis.call('ZMSCORE', set, unpack(members))) do
    if score and tonumber(score) > now then
      renewed[#renewed + 1] = ends
      renewed[#renewed + 1] = members[i]
    end
  end
  if #renewed > 0 then
    redis.call('ZADD', set, unpack(renewed))
    if kind == 'places' then
      redis.call('PEXPIRE', set, whole(ends - now + 1000), 'GT')
    elseif kind == 'holds' then
      local account = { base = base, id = name, key = base .. 'account:' .. name }
      account.found = redis.call('GET', account.key)
      local book = read_account(account)
      if ends < book.soonest then
        book.soonest = ends
        redis.call('SET', book.key, saved(book))
      end
    end
  end
end
`,
)

/** Number of holds that count for caps. */
const count = lua(`return redis.call('ZCARD', key('cap-holds'))`)

/** The members of one sorted set. */
interface Group {
  readonly kind: 'places' | 'holds' | 'cap-holds'
  readonly base: string
  readonly name: string
  readonly members: string[]
}

export class Leases {
  readonly #scripts: Scripts
  readonly #bases: KeyBases

  constructor(scripts: Scripts, keyBases: KeyBases) {
    this.#scripts = scripts
    this.#bases = keyBases
  }

  renewPlaces(holders: readonly Pick<LimitReturn, 'id' | 'places'>[], leaseMs: number): Promise<void> {
    const buckets = new Map<string, string[]>()
    for (const { id, places } of holders) for (const bucket of places) addTo(buckets, bucket, id)
    const groups = [...buckets].map(([name, members]) => {
      return { kind: 'places', base: this.#bases.baseOfBucket(name), name, members } as const
    })
    return this.#renew(groups, leaseMs)
  }

  async renewHolds(holds: readonly Pick<Hold, 'id' | 'account'>[], leaseMs: number): Promise<void> {
    if (holds.length === 0) return
    const accounts = new Map<string, string[]>()
    for (const { id, account } of holds) addTo(accounts, account, id)
    const groups: Group[] = [...accounts].map(([name, members]) => {
      return { kind: 'holds', base: this.#bases.baseOf(name), name, members }
    })
    const { shared } = this.#bases
    if ((await this.#scripts.run<number>(count, shared)) > 0) {
      const members = holds.map(({ account, id }) => callOf(account, id))
      groups.unshift({ kind: 'cap-holds', base: shared, name: '', members })
    }
    await this.#renew(groups, leaseMs)
  }

  /** All commands are sent at once. */
  async #renew(groups: readonly Group[], leaseMs: number): Promise<void> {
    await this.#scripts.anywhere(async (spread) => {
      const commands: { bases: Set<string>; args: string[]; leases: number }[] = []
      const open = new Map<string, (typeof commands)[0]>()
      for (const { kind, base, name, members } of groups) {
        for (let from = 0; from < members.length; from += mostLeases) {
          const some = members.slice(from, from + mostLeases)
          const node = spread ? base : ''
          let command = open.get(node)
          if (command === undefined || command.leases + some.length > mostLeases) {
            commands.push((command = { bases: new Set(), args: [], leases: 0 }))
            open.set(node, command)
          }
          command.bases.add(base)
          command.args.push(kind, base, name, String(some.length), ...some)
          command.leases += some.length
        }
      }
      await Promise.all(commands.map(({ bases, args }) => this.#scripts.runOn(renew, [...bases], [leaseMs, ...args])))
    })
  }
}

function addTo(groups: Map<string, string[]>, name: string, member: string): void {
  const members = groups.get(name)
  if (members === undefined) groups.set(name, [member])
  else members.push(member)
}
