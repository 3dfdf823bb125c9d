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

export class Scripts {
  readonly #send: Send
  readonly #base: string
  readonly #known = new Map<string, Script>()

  /** `base`: the prefix of every key. */
  constructor(send: Send, base: string) {
    this.#send = send
    this.#base = base
  }

  /** Runs a script made by `lua`. `ARGV[1]` is the clock of this process; `args` start at `ARGV[2]`. */
  async run<Result>(text: string, ...args: (string | number | bigint)[]): Promise<Result> {
    let known = this.#known.get(text)
    if (known === undefined) this.#known.set(text, (known = script(this.#send, text)))
    return (await known([this.#base], Date.now(), ...args.map(String))) as Result
  }
}
