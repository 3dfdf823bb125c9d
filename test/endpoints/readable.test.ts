/** What would be too large to be read is refused before a vendor is called, and bills, for it. */
import { describe, expect, test } from 'vitest'
import { scene } from '../admission/scene.ts'

const hello = { messages: [{ role: 'user', content: 'Hi' }] }
const likely = { logprobs: true, top_logprobs: 20 }
const included = { include: ['message.output_text.logprobs'], top_logprobs: 20 }

async function asked(path: string, body: object) {
  const { url, vendor } = await scene((_, response) => {
    response.statusCode = 418
    response.end('{}')
  })
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', ...body }),
  })
  const { error } = (await response.json()) as { error: { message: string; param: string | null } }
  return { status: response.status, calls: vendor.requests.length, ...error }
}

describe('a request whose answer could not be read is refused, and not sent', () => {
  test.each<[string, string, object, string[]]>([
    [
      'a chat',
      '/v1/chat/completions',
      { ...hello, ...likely, n: 10, max_tokens: 4_000 },
      ['n', 'max_tokens', 'top_logprobs'],
    ],
    [
      'a long chat',
      '/v1/chat/completions',
      { ...hello, ...likely, max_completion_tokens: 60_000 },
      ['max_completion_tokens', 'top_logprobs'],
    ],
    [
      'a streamed chat',
      '/v1/chat/completions',
      { ...hello, ...likely, stream: true, n: 128, max_tokens: 4_000 },
      ['n', 'max_tokens'],
    ],
    [
      'a response',
      '/v1/responses',
      { input: 'Hi', ...included, max_output_tokens: 50_000 },
      ['max_output_tokens', 'top_logprobs'],
    ],
    [
      'a streamed response',
      '/v1/responses',
      { input: 'Hi', stream: true, ...included, max_output_tokens: 50_000 },
      ['max_output_tokens'],
    ],
    [
      'completions',
      '/v1/completions',
      { prompt: ['a', 'b'], n: 100, max_tokens: 4_000, logprobs: 5 },
      ['n', 'prompt', 'max_tokens', 'logprobs'],
    ],
    [
      'completions of very many prompts',
      '/v1/completions',
      { prompt: Array(1_000).fill('a'), n: 20, max_tokens: 1 },
      ['n', 'prompt'],
    ],
    [
      'completions that repeat a long prompt',
      '/v1/completions',
      { prompt: 'word '.repeat(90_000), n: 8, max_tokens: 1, logprobs: 5, echo: true },
      ['n', 'logprobs', 'echo'],
    ],
    ['embeddings', '/v1/embeddings', { input: Array(2_048).fill('a'), dimensions: 3_072 }, ['input', 'dimensions']],
    ['images', '/v1/images/generations', { prompt: 'a', n: 10, size: '3840x2160' }, ['n', 'size']],
    [
      'a streamed image',
      '/v1/images/generations',
      { prompt: 'a', stream: true, size: '3840x2160' },
      ['size', 'stream'],
    ],
  ])('%s', async (_, path, body, fields) => {
    const { status, calls, message, param } = await asked(path, body)
    expect([status, calls, param]).toEqual([400, 0, fields[0]])
    for (const field of fields) expect(message).toContain(`"${field}"`)
  })
})

describe('an ordinary request is sent', () => {
  test.each<[string, string, object]>([
    ['a chat with all probabilities', '/v1/chat/completions', { ...hello, ...likely, max_tokens: 4_096 }],
    ['a chat of unstated length with probabilities', '/v1/chat/completions', { ...hello, ...likely, n: 4 }],
    [
      'a streamed chat with probabilities',
      '/v1/chat/completions',
      { ...hello, ...likely, stream: true, max_tokens: 100_000 },
    ],
    ['many choices', '/v1/chat/completions', { ...hello, n: 128, max_tokens: 16_384 }],
    ['a very long answer', '/v1/responses', { input: 'Hi', max_output_tokens: 128_000 }],
    ['embeddings', '/v1/embeddings', { input: Array(2_048).fill('a'), dimensions: 1_024 }],
    [
      'embeddings in base64',
      '/v1/embeddings',
      { input: Array(2_048).fill('a'), dimensions: 3_072, encoding_format: 'base64' },
    ],
    ['ten images', '/v1/images/generations', { prompt: 'a', n: 10, size: '1536x1024' }],
  ])('%s', async (_, path, body) => {
    expect((await asked(path, body)).calls).toBe(1)
  })
})
