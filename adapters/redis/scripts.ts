/** Lua scripts, sent by their digest and as text only where the server does not know them yet. */
import { createHash } from 'node:crypto'

/** Sends one command and gives its reply: strings, numbers, null, or lists of them. */
export type Send = (...words: string[]) => Promise<unknown>

/** A script that was prepared: text and digest. */
export interface Script {
  readonly text: string
  readonly digest: string
}

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
local function key(kind, name) return base .. ':' .. kind .. ':' .. (name or '') end
local function whole(number) return string.format('%.0f', number) end
local function real(number) return string.format('%.17g', number) end
`

export function script(...texts: string[]): Script {
  const text = [prelude, ...texts].join('\n')
  return { text, digest: createHash('sha1').update(text).digest('hex') }
}

export class Scripts {
  readonly #send: Send
  readonly #base: string

  constructor(send: Send, prefix: string) {
    if (typeof send !== 'function') {
      throw new TypeError(
        'redis: needs a function that sends a command, such as (...words) => client.sendCommand(words)',
      )
    }
    if (!/^[\w.:-]{1,64}$/.test(prefix)) {
      throw new TypeError(`redis: the prefix "${prefix}" must be of letters, digits, "_", ".", ":" and "-"`)
    }
    this.#send = send
    this.#base = `{${prefix}}`
  }

  /** Runs a script. `ARGV[1]` is the time of this process, the given words come after it. */
  async run<Result>({ text, digest }: Script, ...words: (string | number | bigint)[]): Promise<Result> {
    const rest = ['1', this.#base, String(Date.now()), ...words.map(String)]
    try {
      return (await this.#send('EVALSHA', digest, ...rest)) as Result
    } catch (error) {
      if (!String((error as Error | undefined)?.message).includes('NOSCRIPT')) throw error
      return (await this.#send('EVAL', text, ...rest)) as Result
    }
  }
}
