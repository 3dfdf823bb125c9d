/** A vendor with a cache of prompts for each key: blocks of 128 tokens from the beginning, kept for five minutes after their use. */
import { hash } from 'node:crypto'
import type { VendorReply } from '../../../src/testing/vendor.ts'

const blockBytes = 128 * 4
const keptMs = 300_000

export interface CachingVendor {
  readonly totals: { prompt: number; cached: number }
  readonly reply: VendorReply
}

/** `place`: vendors of different places share nothing. */
export function cachingVendor(place: string): CachingVendor {
  const seen = new Map<string, number>()
  const totals = { prompt: 0, cached: 0 }
  const reply: VendorReply = (request, response) => {
    const text = JSON.stringify((request.json as { messages: unknown[] }).messages)
    const now = performance.now()
    let prefix = `${place} ${request.headers.authorization}`
    let cached = 0
    for (let block = 1, isHit = true; block * blockBytes <= text.length; block++) {
      prefix = hash('sha1', `${prefix} ${text.slice((block - 1) * blockBytes, block * blockBytes)}`)
      isHit &&= (seen.get(prefix) ?? -Infinity) > now - keptMs
      if (isHit) cached = block * 128
      seen.set(prefix, now)
    }
    const prompt_tokens = Math.ceil(text.length / 4)
    totals.prompt += prompt_tokens
    totals.cached += cached
    const usage = { prompt_tokens, completion_tokens: 1, total_tokens: prompt_tokens + 1 }
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(
      JSON.stringify({
        id: 'a',
        object: 'chat.completion',
        created: 1,
        model: 'm',
        choices: [{ index: 0, message: { role: 'assistant', content: 'Yes.' }, finish_reason: 'stop' }],
        usage: { ...usage, prompt_tokens_details: { cached_tokens: cached } },
      }),
    )
  }
  return { totals, reply }
}

/** Holds conversations, each turn of all of them before the next. `ask`: sends the messages of a turn. */
export async function converse(
  { conversations, turns, concurrency }: { conversations: number; turns: number; concurrency: number },
  ask: (messages: readonly object[]) => Promise<void>,
): Promise<void> {
  const all = Array.from({ length: conversations }, (_, index): object[] => [
    { role: 'system', content: `You help customer ${index}. ${'Be brief and exact. '.repeat(60)}` },
  ])
  for (let turn = 0; turn < turns; turn++) {
    const rest = all.values()
    await Promise.all(
      Array.from({ length: concurrency }, async () => {
        for (const messages of rest) {
          messages.push({ role: 'user', content: `Question ${turn}: ${'what about this? '.repeat(20)}` })
          await ask(messages)
          messages.push({ role: 'assistant', content: 'Yes.' })
        }
      }),
    )
  }
}
