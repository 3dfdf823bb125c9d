import { describe, expect, test } from 'vitest'
import { demo } from 'modelhatch/providers'
import type { Call, Conversation, Settings } from 'modelhatch/providers'
import { all, client } from './ask.ts'
import { calmly } from '../../cpu-time.ts'

function callOf(question: string, settings: Settings = {}, signal?: AbortSignal): Call<Conversation> {
  const turns = [{ role: 'user', blocks: [{ kind: 'text', text: question }] }] as const
  const request: Conversation = { turns, tools: [], settings }
  return {
    id: 'req_1',
    request,
    model: 'demo',
    publicModel: 'demo',
    openModel: false,
    stream: true,
    signal: signal ?? new AbortController().signal,
    field: () => undefined,
    json: () => Buffer.from('{}'),
  }
}

describe('streams of the demo model', () => {
  test('send one token at a time, and the usage at the end', async () => {
    const stream = await client.chat.completions.create({
      model: 'demo',
      messages: [{ role: 'user', content: 'Count to 3' }],
      stream: true,
      stream_options: { include_usage: true },
    })
    const chunks = await all(stream)
    const contents = chunks.map(({ choices }) => choices[0]?.delta.content).filter(Boolean)
    expect(contents).toEqual(['1', ',', ' 2', ',', ' 3'])
    expect(chunks.at(-1)?.usage?.completion_tokens).toBe(5)
  })

  test('interleave choices', async () => {
    const stream = await client.chat.completions.create({
      model: 'demo',
      messages: [{ role: 'user', content: 'Count to 1' }],
      stream: true,
      n: 2,
    })
    const seen = (await all(stream)).map(({ choices: [choice] }) => [choice?.index, choice?.finish_reason])
    expect(seen).toEqual([
      [0, null],
      [1, null],
      [0, 'stop'],
      [1, 'stop'],
    ])
  })

  test('send the arguments of a call in pieces', async () => {
    const stream = await client.chat.completions.create({
      model: 'demo',
      messages: [{ role: 'user', content: 'The weather in Oslo?' }],
      tools: [{ type: 'function', function: { name: 'weather', parameters: { properties: { city: {} } } } }],
      stream: true,
    })
    const pieces = (await all(stream)).flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? [])
    expect(pieces.length).toBeGreaterThan(3)
    expect(pieces[0]).toMatchObject({ type: 'function', function: { name: 'weather' } })
    expect(JSON.parse(pieces.map((piece) => piece.function?.arguments).join(''))).toEqual({ city: 'Oslo' })
  })

  test('keep the pace', async () => {
    const times: number[] = []
    for await (const _ of demo({ paceMs: 20 }).generate(callOf('Count to 40', { max: 4 })))
      times.push(performance.now())
    // Four tokens; the end follows the last without a delay.
    expect((times[3] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(55)
    expect(calmly((times[4] ?? 0) - (times[3] ?? 0), 20)).toBeLessThan(20)
  })

  test('end when the call is aborted during a delay', async () => {
    const left = new AbortController()
    const answer = demo({ paceMs: 60_000 }).generate(callOf('Count to 40', {}, left.signal))
    const pieces = answer[Symbol.asyncIterator]()
    await pieces.next()
    const second = pieces.next()
    left.abort(new Error('gone'))
    await expect(second).rejects.toMatchObject({ name: 'AbortError' })
    expect((await pieces.next()).done).toBe(true)
  })

  test('end between two tokens when there is no delay', async () => {
    const left = new AbortController()
    const answer = demo({ paceMs: 0 }).generate(callOf('Count to 40', {}, left.signal))
    const pieces = answer[Symbol.asyncIterator]()
    await pieces.next()
    left.abort(new Error('gone'))
    await expect(pieces.next()).rejects.toThrow('gone')
  })

  test('yield to the event loop during a long response without delay', async () => {
    let turns = 0
    let counting = setImmediate(function count() {
      turns++
      counting = setImmediate(count)
    })
    for await (const _ of demo({ paceMs: 0 }).generate(callOf('Write 9000 words', { choices: 20 }))) void _
    clearImmediate(counting)
    expect(turns).toBeGreaterThan(10)
  })

  test.each([
    ['Fail with 429, please.', 429, 'rate_limit_exceeded'],
    ['Fail with status 500.', 503, 'service_unavailable'],
    ['Fail with 400.', 400, 'invalid_request_error'],
  ])('fail on demand: %s', async (content, status, code) => {
    const request = { model: 'demo', messages: [{ role: 'user' as const, content }], stream: true as const }
    await expect(client.chat.completions.create(request)).rejects.toMatchObject({ status, code })
  })

  test('break off on demand', async () => {
    const messages = [{ role: 'user' as const, content: 'Count to 9 and break off after 3 tokens.' }]
    const stream = await client.chat.completions.create({ model: 'demo', messages, stream: true })
    let said = ''
    const read = async () => {
      for await (const { choices } of stream) said += choices[0]?.delta.content ?? ''
    }
    await expect(read()).rejects.toMatchObject({ code: 'service_unavailable' })
    expect(said).toBe('1, 2')
  })

  test('list the models for wildcard entries', async () => {
    const models = await demo().models?.({ signal: new AbortController().signal })
    expect(models?.map(({ id }) => id)).toContain('demo')
  })
})
