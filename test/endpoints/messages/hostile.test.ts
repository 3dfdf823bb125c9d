/** Messages that no well-meaning client sends, to a model that only chats. */
import { finish, text } from '../../chat-chunks.ts'
import { expect, test } from 'vitest'
import { scripted } from './scripted.ts'

const answer = [text('Hi'), finish('stop')]

function nested(depth: number): object {
  let block: object = { type: 'text', text: 'inside' }
  for (let level = 0; level < depth; level++) {
    block = { type: 'document', source: { type: 'content', content: [block] } }
  }
  return block
}

test.each([10, 1_000])('documents inside of documents, %s deep, are read or refused', async (depth) => {
  const { create, asked } = await scripted(answer)
  const response = await create({ messages: [{ role: 'user', content: [nested(depth)] }] })
  await response.text()
  if (depth > 100) expect(response.status).toBe(400)
  else expect(asked[0]?.messages).toEqual([{ role: 'user', content: 'inside' }])
})

test('ten thousand calls with their results reach the model in order', async () => {
  const { create, asked } = await scripted(answer)
  const ids = Array.from({ length: 10_000 }, (_, index) => `toolu_${index}`)
  const calls = ids.map((id) => ({ type: 'tool_use', id, name: 'tool', input: {} }))
  const results = ids.toReversed().map((id) => ({ type: 'tool_result', tool_use_id: id, content: 'x' }))
  const response = await create({
    messages: [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: calls },
      { role: 'user', content: results },
    ],
  })
  expect(response.status, await response.text()).toBe(200)
  expect(asked[0]?.messages).toHaveLength(10_002)
  expect(asked[0]?.messages[1]?.tool_calls).toHaveLength(10_000)
})

const turn = (content: unknown) => ({ messages: [{ role: 'user', content }] })

test.each([
  turn([null]),
  turn([{ type: 'text' }]),
  turn([{ type: 'text', text: 1 }]),
  turn([{ type: 'image' }]),
  turn([{ type: 'image', source: null }]),
  turn([{ type: 'image', source: { type: 'base64', media_type: 'image/png' } }]),
  turn([{ type: 'document', source: { type: 'url' } }]),
  turn([{ type: 'document', source: { type: 'content', content: 7 } }]),
  turn([{ type: 'tool_result' }]),
  turn([{ type: 'tool_result', tool_use_id: 'a', content: { text: 'x' } }]),
  turn([{ type: 'tool_result', tool_use_id: 'a', content: ['x'] }]),
  turn([]),
  { messages: [{ role: 'assistant', content: [{ type: 'tool_use', name: 'x', input: {} }] }] },
  { messages: [{ role: 'assistant', content: [{ type: 'tool_use', id: 'x', input: {} }] }] },
  { messages: [{ role: 'tool', content: 'x' }] },
  { tools: [{ input_schema: {} }] },
  { tools: [{ name: 'a', input_schema: {} }], tool_choice: { type: 'tool', name: 'b' } },
])('%j is refused with a message', async (body) => {
  const { create, asked } = await scripted(answer)
  const response = await create(body)
  const { error } = (await response.json()) as { error: { type: string; message: string } }
  expect([response.status, error.type]).toEqual([400, 'invalid_request_error'])
  expect(error.message).toMatch(/"|messages|tools/)
  expect(asked).toEqual([])
})

test.each([
  turn([{ type: 'text', text: 'x', cache_control: 'always' }]),
  turn([{ type: 'unknown_block', any: 'thing' }]),
  turn([{ type: 'tool_result', tool_use_id: '__proto__', content: 'x' }]),
  { messages: [{ role: 'user', content: 'x' }], thinking: { type: 'enabled' } },
  { messages: [{ role: 'user', content: 'x' }], output_config: { effort: 'extreme', format: { type: 'text' } } },
  { tools: [{ name: '__proto__', input_schema: {} }], tool_choice: { type: 'tool', name: '__proto__' } },
  {
    tools: [
      { type: 'web_search_x\r\nx: y', name: 'a' },
      { name: 'f', input_schema: {} },
    ],
  },
  {
    messages: [
      { role: 'assistant', content: [{ type: 'thinking' }, { type: 'tool_use', id: 'a', name: 'b', input: [] }] },
    ],
  },
  {
    messages: [
      { role: 'assistant', content: [{ type: 'thinking', thinking: 'x', signature: 'mh1.scripted.e30' }] },
      { role: 'user', content: 'x' },
    ],
  },
  {
    messages: [
      { role: 'assistant', content: [{ type: 'thinking', thinking: 'x', signature: 'mh1.scripted.!!' }] },
      { role: 'user', content: 'x' },
    ],
  },
])('%j is answered', async (body) => {
  const { create } = await scripted(answer)
  const response = await create(body)
  expect(response.status, await response.text()).toBe(200)
})
