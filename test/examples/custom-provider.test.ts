import OpenAI from 'openai'
import { expect, test } from 'vitest'
import { runExample } from './example.ts'

test('a custom provider serves non-streaming and streamed requests, and is retried when it fails', async () => {
  const example = await runExample('custom-provider')
  const client = new OpenAI({ baseURL: example.baseURL, apiKey: 'sk-demo', maxRetries: 0 })
  const question = { model: 'parrot', messages: [{ role: 'user', content: 'Pretty Polly' }] } as const
  const create = { ...question, messages: [...question.messages] }
  for (let call = 0; call < 3; call++) {
    const { choices, usage } = await client.chat.completions.create(create)
    expect(choices[0]?.message.content).toBe('Pretty Polly ')
    expect(usage?.total_tokens).toBe(4)
  }
  let said = ''
  for await (const chunk of await client.chat.completions.create({ ...create, stream: true })) {
    said += chunk.choices[0]?.delta.content ?? ''
  }
  expect(said).toBe('Pretty Polly ')
  expect(await example.stop()).toBe(0)
})
