/** The scripts of a bundle: what they have in common, and how they are run. */
import type { Send } from './clients.ts'
import { script, type Script } from './script.ts'

/**
 * What all scripts begin with. `now` is the server's clock in milliseconds; where a server lets no script ask for it, the
 * caller's. Numbers leave as text: the server would cut them off.
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

  /** `base`: what the name of every key begins with. */
  constructor(send: Send, base: string) {
    this.#send = send
    this.#base = base
  }

  /** Runs a text made by `lua`. `ARGV[1]` is the time of this process, the given words come after it. */
  async run<Result>(text: string, ...words: (string | number | bigint)[]): Promise<Result> {
    let known = this.#known.get(text)
    if (known === undefined) this.#known.set(text, (known = script(this.#send, text)))
    return (await known([this.#base], Date.now(), ...words.map(String))) as Result
  }
}
