import { describe, expect, test } from 'vitest'
import { demo } from 'modelhatch/providers'
import type { Call } from 'modelhatch/providers'
import { all, client } from './ask.ts'
import { calmly } from '../../cpu-time.ts'

type ChatRequest = Parameters<ReturnType<typeof demo>['chat']>[0]['request']

function callOf(request: Partial<ChatRequest>, signal: AbortSignal = new AbortController().signal): Call<ChatRequest> {
  const whole = { model: 'demo', messages: [{ role: 'user', content: 'Count to 40' }], ...request } as ChatRequest
  return {
    id: 'req_1',
    request: whole,
    model: 'demo',
    publicModel: 'demo',
    openModel: false,
    stream: true,
    signal,
    field: (name) => whole[name],
    json: () => Buffer.from(JSON.stringify(whole)),
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
    for await (const _ of demo({ paceMs: 20 }).chat(callOf({ max_tokens: 4 }))) times.push(performance.now())
    // Four tokens; the end follows the last without a delay.
    expect((times[3] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(55)
    expect(calmly((times[4] ?? 0) - (times[3] ?? 0), 20)).toBeLessThan(20)
  })

  test('end when the call is aborted during a delay', async () => {
    const left = new AbortController()
    const pieces = demo({ paceMs: 60_000 }).chat(callOf({}, left.signal))[Symbol.asyncIterator]()
    await pieces.next()
    const second = pieces.next()
    left.abort(new Error('gone'))
    await expect(second).rejects.toMatchObject({ name: 'AbortError' })
    expect((await pieces.next()).done).toBe(true)
  })

  test('end between two tokens when there is no delay', async () => {
    const left = new AbortController()
    const pieces = demo({ paceMs: 0 }).chat(callOf({}, left.signal))[Symbol.asyncIterator]()
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
    const messages: ChatRequest['messages'] = [{ role: 'user', content: 'Write 9000 words' }]
    for await (const _ of demo({ paceMs: 0 }).chat(callOf({ messages, n: 20 }))) void _
    clearImmediate(counting)
    expect(turns).toBeGreaterThan(10)
  })

  test('list the models for wildcard entries', async () => {
    const models = await demo().models?.({ signal: new AbortController().signal })
    expect(models?.map(({ id }) => id)).toContain('demo')
  })
})
