/** The Lua scripts of a bundle: their common prelude, and how they run. */
import { createHash } from 'node:crypto'
import type { Send } from './clients.ts'

/**
 * Starts every script. `now` is the server's clock in milliseconds, or the caller's if the server does not allow TIME in
 * scripts. Scripts return numbers as strings, because Redis truncates them to integers.
 */
const prelude = `
local base = KEYS[1]
local timed, stamp = pcall(redis.call, 'TIME')
local now = timed and type(stamp) == 'table' and stamp[1] and stamp[1] * 1000 + stamp[2] / 1000 or tonumber(ARGV[1])
local function key(kind, name) return base .. kind .. ':' .. (name or '') end
local function whole(number) return string.format('%.0f', number) end
local function real(number) return string.format('%.17g', number) end
`

export function lua(...texts: string[]): string {
  return [prelude, ...texts].join('\n')
}

type Argument = string | number | bigint

export class Scripts {
  readonly #send: Send
  readonly #known = new Map<string, Script>()
  #spread: boolean

  /** `spread`: whether keys of different bases are on different nodes. If not known, it is noticed. */
  constructor(send: Send, spread: boolean) {
    this.#send = send
    this.#spread = spread
  }

  /** Runs a script made by `lua` on the keys of `base`. `ARGV[1]` is the clock of this process; `args` start at `ARGV[2]`. */
  run<Result>(text: string, base: string, ...args: Argument[]): Promise<Result> {
    return this.runOn(text, [base], args)
  }

  /** As `run`, on keys of several bases. Only for use in `anywhere`, where bases are not spread. */
  async runOn<Result>(text: string, bases: readonly string[], args: readonly Argument[]): Promise<Result> {
    let known = this.#known.get(text)
    if (known === undefined) this.#known.set(text, (known = script(this.#send, text)))
    return (await known(keysOf(bases), Date.now(), ...args.map(String))) as Result
  }

  /** Runs a script that replies with a list for each of `KEYS`, for all `bases`. */
  lists<Item>(text: string, bases: readonly string[], ...args: Argument[]): Promise<Item[][]> {
    return this.anywhere(async (spread) => {
      if (!spread) return this.runOn<Item[][]>(text, bases, args)
      return (await Promise.all(bases.map((base) => this.run<Item[][]>(text, base, ...args)))).flat()
    })
  }

  /** Calls `act`, and again if it finds out that a command cannot use several bases because the keys are spread. */
  async anywhere<Result>(act: (spread: boolean) => Promise<Result>): Promise<Result> {
    const spread = this.#spread
    try {
      return await act(spread)
    } catch (error) {
      if (spread || !/\bCROSSSLOT\b/.test(error instanceof Error ? error.message : '')) throw error
      this.#spread = true
      return act(true)
    }
  }
}

/**
 * The keys that a script declares: two at least, neither of which exists. While a cluster moves their slot to another node, it then
 * executes the script on neither (`TRYAGAIN`). With one, it would execute it on the new node, where other keys may still be missing.
 */
export function keysOf(bases: readonly string[]): readonly string[] {
  const [base] = bases
  return base !== undefined && bases.length === 1 ? [base, `${base}-`] : bases
}

interface Script {
  (keys: readonly string[], ...values: (string | number)[]): Promise<unknown>
}

/** Runs a Lua script by its digest; sends the source if the server does not have it yet. */
export function script(send: Send, lua: string): Script {
  const digest = createHash('sha1').update(lua).digest('hex')
  return async (keys, ...values) => {
    const args = [String(keys.length), ...keys, ...values.map(String)]
    try {
      return await send('EVALSHA', digest, ...args)
    } catch (error) {
      if (!/NOSCRIPT/.test(error instanceof Error ? error.message : '')) throw error
      return send('EVAL', lua, ...args)
    }
  }
}

/** Defines `note`, which adds to a sorted set, scored by expiry, a member that expires in `age` milliseconds, and removes up to a hundred expired ones. */
export const expiringText: string = `
local function note(set, member, age)
  local expired = redis.call('ZRANGEBYSCORE', set, '-inf', real(now), 'LIMIT', 0, 100)
  if #expired > 0 then redis.call('ZREM', set, unpack(expired)) end
  redis.call('ZADD', set, real(now + age), member)
  redis.call('PEXPIRE', set, whole(math.max(math.ceil(age), redis.call('PTTL', set))))
end
`
