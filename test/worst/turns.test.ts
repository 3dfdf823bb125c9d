import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { long } from '../long.ts'
import type { Outcome, Trial } from './child.ts'
import { sourceFlags } from '../source-flags.ts'

/** Milliseconds of CPU on an idle machine: twice the limit of `npm run bench:turns`. */
const allowed = 200

/** The slowest inputs of different parts of the gateway. `npm run bench:turns` runs all. */
const chosen: readonly (readonly [path: string, name: string, model: string])[] = [
  ['/v1/chat/completions', 'blanks before the object', 'openai'],
  ['/v1/chat/completions', 'a picture as a data URL of another alphabet', 'anthropic'],
  ['/v1/videos', 'a large picture', 'demo'],
  ['/v1/videos', 'very many fields', 'demo'],
]
const others: typeof chosen = [
  ['/v1/chat/completions', 'a long text of escapes', 'openai'],
  ['/v1/chat/completions', 'a picture as a data URL with very many parameters', 'gemini'],
  ['/v1/chat/completions', 'a tool with a schema of a long reference', 'demo'],
  ['/v1/embeddings', 'a text that becomes longer when it is normalised', 'demo'],
  ['/v1/videos', 'a long name of escapes', 'demo'],
]

describe('no request body blocks the event loop for long', () => {
  let child: ChildProcess

  beforeAll(async () => {
    child = fork(new URL('child.ts', import.meta.url), { execArgv: [...sourceFlags] })
    await messageOf(child)
  })

  afterAll(() => child.disconnect())

  test.each(long ? [...chosen, ...others] : chosen)('%s: %s, model %s', async (path, name, model) => {
    child.send({ path, name, model, limit: allowed } satisfies Trial)
    const { statuses, longest } = (await messageOf(child)) as Outcome
    expect(statuses.filter((status) => status < 200 || status >= 500)).toEqual([])
    expect(longest).toBeLessThanOrEqual(allowed)
  })
})

async function messageOf(child: ChildProcess): Promise<unknown> {
  const died = once(child, 'exit').then(([code, signal]) => {
    throw new Error(`the process ended with ${String(code ?? signal)}`)
  })
  died.catch(() => undefined)
  const [message] = (await Promise.race([once(child, 'message'), died])) as unknown[]
  return message
}
