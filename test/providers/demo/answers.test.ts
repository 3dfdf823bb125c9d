import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions'
import { describe, expect, test } from 'vitest'
import { ask, messageTo, say } from './ask.ts'

function resultOf(name: string, content: string): ChatCompletionMessageParam[] {
  const call = { id: 'call_1', type: 'function', function: { name, arguments: '{}' } } as const
  return [
    { role: 'assistant', content: null, tool_calls: [call] },
    { role: 'tool', tool_call_id: 'call_1', content },
  ]
}

describe('the demo model', () => {
  test.each([
    ['Reply with exactly: pong', 'pong'],
    ['Say exactly "This is a test. Twice." please', 'This is a test. Twice.'],
    ['Reply only with the word OK and nothing else.', 'OK'],
    ["Respond with just 'yes'.", 'yes'],
    ['Reply with the single word: ping', 'ping'],
    ['Answer with exactly one word: banana', 'banana'],
    ['Repeat after me: one two three.', 'one two three'],
    ['Output only {"a": 1.5}', '{"a": 1.5}'],
    ['Count from 3 to 6.', '3, 4, 5, 6'],
  ])('answers %s with %s', async (question, answer) => {
    expect(await say(question)).toBe(answer)
  })

  test('quotes any other question', async () => {
    const answer = await say('Write a haiku about programming.')
    expect(answer).toContain('Write a haiku about programming.')
    expect(answer).toContain('demo model')
    expect(await say('Hello')).toContain('Hello!')
  })

  test('gives the same answer to the same question', async () => {
    expect(await say('Tell me something')).toBe(await say('Tell me something'))
  })

  test('writes a text of the requested number of words', async () => {
    const story = (await say('Write a story of 120 words')) ?? ''
    expect(story.match(/\w+/g)).toHaveLength(120)
  })

  test.each([
    ['My name is Alice.', 'What is my name?', 'Alice'],
    ['Please remember code=417.', 'Which code did I tell you?', '417'],
    ['My favourite colour is green, as you know.', 'Tell me my favourite colour', 'green'],
    ['Hi, I am Bob', 'Do you recall my name?', 'Bob'],
  ])('remembers %s and answers %s with %s', async (message, question, fact) => {
    const messages = [
      { role: 'user', content: message },
      { role: 'assistant', content: 'I see.' },
      { role: 'user', content: question },
    ] as const
    expect(await say('', { messages: [...messages] })).toContain(fact)
    expect(await say(question)).not.toContain(fact)
  })

  test('remembers facts of the instructions, and the newest one counts', async () => {
    const system = { role: 'system', content: 'The magic word is xyzzy.' } as const
    const first = await say('', { messages: [system, { role: 'user', content: 'What is the magic word?' }] })
    expect(first).toContain('xyzzy')
    const second = await say('', {
      messages: [
        system,
        { role: 'user', content: 'The magic word is plugh.' },
        { role: 'user', content: 'What is the magic word?' },
      ],
    })
    expect(second).toContain('plugh')
    expect(second).not.toContain('xyzzy')
  })

  test.each([
    ['The number is 417. Repeat only the number.', '417'],
    ['I have 12 apples. Reply with just the number.', '12'],
    ['My name is Ada. Say my name only.', 'Ada'],
    ['Reply with just the number.', /^You said: "Reply with just the number."/],
  ])('answers %s with %s', async (question, answer) => {
    expect(await say(question)).toEqual(answer instanceof RegExp ? expect.stringMatching(answer) : answer)
  })

  test('finds a requested value in earlier messages and tool results', async () => {
    const question = { role: 'user', content: 'Which number did I say? Reply with just the number.' } as const
    const earlier = { role: 'user', content: 'Remember 5 and 417, please.' } as const
    expect(await say('', { messages: [earlier, { role: 'assistant', content: 'Yes.' }, question] })).toBe('417')
    expect(await say('', { messages: [question, ...resultOf('add', '{"sum": 36}')] })).toBe('36')
  })

  test.each(['system', 'developer'] as const)(
    'a %s message is obeyed, unless it speaks of some questions',
    async (role) => {
      const saying = (content: string) =>
        say('', {
          messages: [
            { role, content },
            { role: 'user', content: 'Hi there' },
          ],
        })
      expect(await saying('You are a test. Reply with exactly: pong')).toBe('pong')
      expect(await saying('Always answer with exactly "it is done" and stop.')).toBe('it is done')
      expect(await saying('Respond only in English. Answer with exactly one sentence.')).toContain('Hello!')
      expect(await saying('When the user is rude, reply with exactly: bye')).toContain('Hello!')
    },
  )

  test('gives the requested final answer after tool calls, and recalls earlier results', async () => {
    const request = { role: 'user', content: 'Look up the weather, then reply with exactly DONE.' } as const
    expect(await say('', { messages: [request, ...resultOf('weather', 'rain')] })).toBe('DONE')
    const later = (content: string) =>
      say('', {
        messages: [
          { role: 'user', content: 'The weather?' },
          ...resultOf('weather', '{"sky": "grey", "wind": 3}'),
          { role: 'assistant', content: 'It is grey.' },
          { role: 'user', content },
        ],
      })
    expect(await later('What did the tool say?')).toBe('weather said: {"sky": "grey", "wind": 3}')
    expect(await later('And what about the wind?')).toContain('wind is 3')
  })

  test('names images, audio and files with their types', async () => {
    const answer = await say('', {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What do you see?' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
            { type: 'image_url', image_url: { url: 'https://example.com/cat.jpg' } },
            { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
            { type: 'file', file: { filename: 'a.pdf', file_data: 'AAAA' } },
          ],
        },
      ],
    })
    expect(answer).toContain('an image (image/png), an image, a sound, a file')
  })

  test('stops before the first of several stop sequences', async () => {
    expect(await say('Count to 9', { stop: [' 7', ' 5'] })).toBe('1, 2, 3, 4,')
    expect(await say('Count to 9', { stop: '1' })).toBe('')
    expect(await say('Count to 3', { stop: '' })).toBe('1, 2, 3')
  })

  test.each(['max_tokens', 'max_completion_tokens'])(
    '%s truncates the answer with the finish reason "length"',
    async (limit) => {
      const { choices, usage } = await ask('Count to 9', { [limit]: 4 })
      expect(choices[0]).toMatchObject({ finish_reason: 'length', message: { content: '1, 2,' } })
      expect(usage?.completion_tokens).toBe(4)
      const whole = await ask('Count to 2', { [limit]: 3 })
      expect(whole.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: '1, 2' } })
    },
  )

  test('returns n choices, and counts all their tokens', async () => {
    const one = await ask('Count to 2')
    const three = await ask('Count to 2', { n: 3 })
    expect(three.choices.map(({ index, message }) => [index, message.content])).toEqual([
      [0, '1, 2'],
      [1, '1, 2'],
      [2, '1, 2'],
    ])
    expect(three.usage?.prompt_tokens).toBe(one.usage?.prompt_tokens)
    expect(three.usage?.completion_tokens).toBe(3 * (one.usage?.completion_tokens ?? 0))
  })

  test('returns logprobs with one certain entry per token', async () => {
    const { choices, usage } = await ask('Count to 3', { logprobs: true, top_logprobs: 1 })
    const tokens = choices[0]?.logprobs?.content ?? []
    expect(tokens.map(({ token }) => token).join('')).toBe('1, 2, 3')
    expect(tokens).toHaveLength(usage?.completion_tokens ?? 0)
    expect(tokens[2]).toEqual({
      token: ' 2',
      logprob: 0,
      bytes: [32, 50],
      top_logprobs: [{ token: ' 2', logprob: 0, bytes: [32, 50] }],
    })
  })

  test('rejects an invalid message of a large request with its path', async () => {
    const messages = [{ role: 'user', content: 'x'.repeat(20_000) }, null]
    await expect(messageTo('', { messages: messages as never })).rejects.toMatchObject({
      status: 400,
      param: 'messages[1]',
    })
  })
})
