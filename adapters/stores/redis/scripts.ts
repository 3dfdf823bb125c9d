/** The Lua scripts of a bundle: their common prelude, and how they run. */
import type { Send } from './clients.ts'
import { script, type Script } from './script.ts'

/**
 * Starts every script. `now` is the server's clock in milliseconds, or the caller's if the server does not allow TIME in
 * scripts. Scripts return numbers as strings, because Redis truncates them to integers.
 */
const prelude = `
local base = KEYS[1]
local timed, stamp = pcall(redis.call, 'TIME')
local now = tonumber(ARGV[1])
if timed and type(stamp) == 'table' and stamp[1] then
  now = tonumber(stamp[1]) * 1000 + tonumber(stamp[2]) / 1000
end
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
    return (await known(bases, Date.now(), ...args.map(String))) as Result
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
