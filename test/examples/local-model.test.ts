/** A real model behind a provider: tokens, sampling, lengths, cancellation. The expected texts come with its weights. */
import { fileURLToPath } from 'node:url'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasShared } from '../shared.ts'
import { runExample, type RunningExample } from './example.ts'

const at = (name: string) => fileURLToPath(new URL(`../../../shared/models/${name}`, import.meta.url))

const story =
  'Once upon a time, there was a little girl named Lily. She loved to play outside in the park. One day, she saw a big, red ball. She wanted to play with it, but it was too high.'

describe.skipIf(!hasShared)('a local model', () => {
  let example: RunningExample
  let client: OpenAI

  beforeAll(async () => {
    const env = { LOCAL_WEIGHTS: at('stories260K.bin'), LOCAL_VOCABULARY: at('tok512.bin') }
    example = await runExample('local-model', env)
    client = new OpenAI({ baseURL: example.baseURL, apiKey: 'sk-demo', maxRetries: 0 })
  })
  afterAll(async () => {
    expect(await example.stop()).toBe(0)
  })

  const ask = (prompt: string, more: object = {}) => {
    const messages = [{ role: 'user' as const, content: prompt }]
    return client.chat.completions.create({ model: 'local', messages, temperature: 0, stream: false, ...more })
  }
  const told = async (prompt: string, more: object = {}) =>
    (await ask(prompt, more)).choices[0] as OpenAI.ChatCompletion.Choice

  test.each([
    ['', 1],
    ['Once upon a time', 5],
    ['Hello, world!', 9],
    ['forest', 5],
    ['é', 3],
    ['日本', 8],
    ['😀', 6],
  ])('%j is %i tokens', async (prompt, tokens) => {
    expect((await ask(prompt, { max_tokens: 1 })).usage).toMatchObject({ prompt_tokens: tokens, completion_tokens: 1 })
  })

  test.each([
    ['', story],
    ['Once upon a time', story.slice('Once upon a time'.length)],
    ['The dog', ' was a big, red ball. He liked to play with his ball.'],
    ['Lily said', ', "Lily, I want to go to the park. It\'s a small box."'],
  ])('at temperature 0 it continues %j as its authors printed', async (prompt, expected) => {
    const { message, finish_reason: reason } = await told(prompt, { max_tokens: 64 })
    expect(message.content?.startsWith(expected) || expected.startsWith(message.content ?? '-')).toBe(true)
    expect(reason).toBe('length')
  })

  test('a stream has the same text, token by token', async () => {
    const stream = await client.chat.completions.create({
      model: 'local',
      messages: [{ role: 'user', content: '' }],
      temperature: 0,
      max_tokens: 40,
      stream: true,
      stream_options: { include_usage: true },
    })
    const pieces: string[] = []
    let usage: unknown
    for await (const chunk of stream) {
      const piece = chunk.choices[0]?.delta.content
      if (piece) pieces.push(piece)
      usage = chunk.usage ?? usage
    }
    expect(pieces.length).toBeGreaterThan(30)
    expect(story.startsWith(pieces.join(''))).toBe(true)
    expect(usage).toMatchObject({ prompt_tokens: 1, completion_tokens: 40, total_tokens: 41 })
  })

  test('a response ends before a stop sequence, however tokens split it', async () => {
    for (const stop of ['Lily', 'girl named', '.', ', there']) {
      const { message, finish_reason: reason } = await told('', { stop, max_tokens: 60 })
      expect([message.content, reason]).toEqual([story.slice(0, story.indexOf(stop)), 'stop'])
    }
  })

  test('a text that only began like a stop sequence is delivered at the end', async () => {
    for (const max_tokens of [8, 9, 10, 11, 12, 13]) {
      const { message } = await told('', { max_tokens })
      expect((await told('', { stop: 'a little girlfriend', max_tokens })).message.content).toBe(message.content)
    }
  })

  test('a seed gives the same story again, another seed another one', async () => {
    const seeded = async (seed: number) =>
      (await told('', { temperature: 1, top_p: 0.9, seed, max_tokens: 40 })).message.content
    const first = await seeded(7)
    expect(await seeded(7)).toBe(first)
    expect(await seeded(8)).not.toBe(first)
    expect(first).not.toBe(story.slice(0, first?.length))
  })

  test('the context window limits the response', async () => {
    const { choices, usage } = await ask('', { max_tokens: 100_000 })
    expect(['length', 'stop']).toContain(choices[0]?.finish_reason)
    expect(usage?.total_tokens).toBeLessThanOrEqual(513)
    const long = ask('word '.repeat(600))
    await expect(long).rejects.toMatchObject({ status: 400, code: 'context_length_exceeded' })
  })

  test('an unsupported field is rejected by name', async () => {
    const tools = [{ type: 'function', function: { name: 'f' } }]
    await expect(ask('', { tools })).rejects.toMatchObject({ status: 400, param: 'tools' })
  })

  test('generation stops when the client disconnects: the next client does not wait', async () => {
    const leaving = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const stream = await client.chat.completions.create({
          model: 'local',
          messages: [{ role: 'user', content: '' }],
          max_tokens: 500,
          stream: true,
        })
        for await (const _ of stream) break
        return 'left'
      }),
    )
    expect(leaving).toHaveLength(8)
    expect((await told('', { max_tokens: 5 })).message.content).toBe('Once upon a time,')
  })
})
