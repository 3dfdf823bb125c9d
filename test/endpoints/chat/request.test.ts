/** Validation errors of chat requests name the path of the invalid value. */
import { expect, test } from 'vitest'
import { demo } from '../../../src/providers/index.ts'
import { hostedWith } from '../../hosted.ts'
import { errorOf, post } from '../ask.ts'

async function chat(fields: object) {
  const { url } = await hostedWith({ keys: { 'sk-test': {} }, models: { demo: demo() } })
  return post(url, '/chat/completions', { model: 'demo', messages: [{ role: 'user', content: 'Hello' }], ...fields })
}

const message = (fields: object) => ({ messages: [{ role: 'user', ...fields }] })
const user = (...content: unknown[]) => message({ content })

test.each<[object, string, string]>([
  [{ messages: undefined }, 'messages', 'Missing required parameter'],
  [
    message({}),
    'messages[0].content',
    'Missing required parameter: "messages[0].content", a string, or an array of parts',
  ],
  [message({ content: null }), 'messages[0].content', 'Missing required parameter'],
  [message({ role: 'system' }), 'messages[0].content', 'Missing required parameter'],
  [message({ content: 5 }), 'messages[0].content', 'must be a string or an array of content parts'],
  [message({ role: 'bot', content: 'x' }), 'messages[0].role', '"developer"|"system"|"user"|"assistant"'],
  [user('Hello'), 'messages[0].content[0]', 'expected object, received string'],
  [user({ text: 'Hello' }), 'messages[0].content[0].type', 'Missing required parameter'],
  [user({ type: 'text' }), 'messages[0].content[0].text', 'Missing required parameter'],
  [user({ type: 'text', text: 'a' }, { type: 'text', text: 5 }), 'messages[0].content[1].text', 'expected string'],
  [user({ type: 'image_url', image_url: 'http://x' }), 'messages[0].content[0].image_url.url', 'Missing required'],
  [user({ type: 'image_url' }), 'messages[0].content[0].image_url.url', 'Missing required parameter'],
  [{ temperature: 2.1 }, 'temperature', '<=2'],
  [{ top_p: 1.1 }, 'top_p', '<=1'],
  [{ max_tokens: '10' }, 'max_tokens', 'expected number, received string'],
  [{ tool_choice: { name: 'f' } }, 'tool_choice.type', 'Missing required parameter'],
])('rejects %j', async (fields, param, words) => {
  const answer = await chat(fields)
  expect(answer.status).toBe(400)
  expect(errorOf(answer)).toMatchObject({ code: 'invalid_request_error', param })
  expect(errorOf(answer).message).toContain(words)
})

test.each<[string, object]>([
  [
    'an assistant message with tool calls only',
    message({
      role: 'assistant',
      tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
    }),
  ],
  ['parts of unknown types', user({ type: 'video_url', video_url: { url: 'http://x' } })],
  ['null for optional fields', { temperature: null, top_p: null, max_tokens: null, stream: null, tools: null }],
])('accepts %s', async (_, fields) => expect((await chat(fields)).status).toBe(200))
