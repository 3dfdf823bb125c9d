import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { long } from '../long.ts'
import { worstGateway, type WorstGateway } from './gateway.ts'
import { worstInputs } from './inputs.ts'
import { turnsOf } from './turns.ts'

/** Milliseconds of CPU, in the best of some tries: twice of what `npm run bench:turns` allows on a machine that is calm. */
const allowed = 200
const tries = 3

/** What has taken longest, each in another part of the gateway. All of them are in `npm run bench:turns`. */
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

describe('no body keeps the event loop for long', () => {
  let gateway: WorstGateway

  beforeAll(async () => {
    gateway = await worstGateway()
  })

  afterAll(() => gateway.close())

  test.each(long ? [...chosen, ...others] : chosen)('%s: %s, to %s', async (path, name, model) => {
    const input = worstInputs.find((each) => each.path === path && each.name === name)
    const body = input?.body(model) ?? Buffer.alloc(0)
    let longest = Infinity
    for (let tried = 0; tried < tries && longest > allowed; tried++) {
      const { result, longestTurn } = await turnsOf(() => gateway.send(path, input?.contentType ?? '', body))
      expect(result).toBeGreaterThan(0)
      expect(result).toBeLessThan(500)
      longest = Math.min(longest, longestTurn)
    }
    expect(longest).toBeLessThan(allowed)
  })
})
