import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { worstGateway, type WorstGateway } from '../../worst/gateway.ts'

/** Deeper than JSON.stringify can serialise. */
const deep = '{"a":'.repeat(100_000) + '1' + '}'.repeat(100_000)

describe('JSON inside a string of a chat request', () => {
  let gateway: WorstGateway

  beforeAll(async () => {
    gateway = await worstGateway()
  })

  afterAll(() => gateway.close())

  test.each([
    ['anthropic', deep, 'fine'],
    ['gemini', deep, 'fine'],
    ['gemini', '{}', deep],
  ])('reaches %s as text if it is nested deeper than a request may be', async (model, input, content) => {
    const call = { id: 'a', type: 'function', function: { name: 'f', arguments: input } }
    const messages = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', tool_calls: [call] },
      { role: 'tool', tool_call_id: 'a', content },
    ]
    const body = Buffer.from(JSON.stringify({ model, messages }))
    // The vendor of this gateway responds to every request with a 400.
    expect(await gateway.send('/v1/chat/completions', 'application/json', body)).toBe(400)
  })
})
