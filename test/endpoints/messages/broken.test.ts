/** Messages that a model which only supports chat breaks off. */
import { finish, text, toolCall } from '../../chat-chunks.ts'
import { describe, expect, test } from 'vitest'
import { scripted } from './scripted.ts'

const tools = [{ name: 'weather', input_schema: { type: 'object', properties: { city: { type: 'string' } } } }]

describe('calls', () => {
  test.each(['{"city":', '[1]', '"Oslo"', '{"city":"Oslo"} and'])(
    'with the arguments %s are an error in a stream, and tell an agent what the model wrote in a whole message',
    async (args) => {
      const { stream, create } = await scripted([
        toolCall({ id: 'a', name: 'weather', arguments: args }),
        finish('stop'),
      ])
      expect((await stream({ tools })).error).toBeDefined()
      const whole = await (await create({ tools })).json()
      expect(whole).toMatchObject({ content: [{ type: 'tool_use', input: { invalid_arguments: args } }] })
    },
  )
})

test('a stream that breaks ends with an error event', async () => {
  const { stream } = await scripted(async function* () {
    yield text('Hi')
    throw new Error('broken')
  } as never)
  expect((await stream()).error).toMatchObject({ type: expect.any(String) as string })
})
