import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { worstGateway, type WorstGateway } from '../../worst/gateway.ts'

/** Past any depth that can be printed again. */
const deep = '{"a":'.repeat(100_000) + '1' + '}'.repeat(100_000)

describe('JSON inside of a text of a chat', () => {
  let gateway: WorstGateway

  beforeAll(async () => {
    gateway = await worstGateway()
  })

  afterAll(() => gateway.close())

  test.each([
    ['anthropic', deep, 'fine'],
    ['gemini', deep, 'fine'],
    ['gemini', '{}', deep],
  ])('reaches %s as text where it is deeper than a request may be', async (model, input, content) => {
    const call = { id: 'a', type: 'function', function: { name: 'f', arguments: input } }
    const messages = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', tool_calls: [call] },
      { role: 'tool', tool_call_id: 'a', content },
    ]
    const body = Buffer.from(JSON.stringify({ model, messages }))
    // What the vendor there answers to everything.
    expect(await gateway.send('/v1/chat/completions', 'application/json', body)).toBe(400)
  })
})
