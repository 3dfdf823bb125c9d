/** Inspectors that refuse, throw, hang or cut, for the official client of each wire format. */
import type { Inspector } from 'modelhatch'
import { anthropic } from 'modelhatch/providers'
import { describe, expect, test } from 'vitest'
import { hostedWith, vendorFor } from '../hosted.ts'
import { say, wires, worldWith, type Wire } from './world.ts'

const words = ['The ', 'secret ', 'plan ', 'is ', 'long.']

/** Never answers. */
const never = new Promise<undefined>(() => undefined)

function fails(how: 'throws' | 'hangs', where: 'request' | 'answer', onFailure: 'refuse' | 'pass'): Inspector {
  const fail = () => {
    if (how === 'hangs') return never
    throw new Error('no model of mine')
  }
  return { name: 'broken', [where]: fail, deadlineMs: 50, onFailure }
}

const cutting: Inspector = {
  answer({ text }) {
    if (text.includes('plan')) return { cut: 'Not for you.' }
    return { hold: Math.min(text.length, 5) }
  },
}

const ends: Readonly<Record<Wire, string>> = {
  chat: 'content_filter',
  responses: 'content_filter',
  messages: 'refusal',
  gemini: 'SAFETY',
  completions: 'content_filter',
}

test('a cut answer is charged as what was generated, also if its vendor counts at the beginning', async () => {
  const event = (type: string, more: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`
  const said = 'word '.repeat(200)
  const vendor = await vendorFor((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const usage = { input_tokens: 50, cache_read_input_tokens: 30, output_tokens: 1 }
    const message = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [],
      stop_reason: null,
      usage,
    }
    response.write(event('message_start', { message }))
    response.write(event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }))
    response.write(event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: said } }))
    response.write(event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'the plan' } }))
  })
  const { url, receipt } = await hostedWith({
    models: { m: anthropic({ baseURL: vendor.baseURL, apiKey: 'k' }) },
    inspect: [cutting],
  })
  const body = { model: 'm', max_tokens: 900, stream: true, messages: [{ role: 'user', content: 'Hi' }] }
  const response = await fetch(`${url}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': 'sk-test', 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  expect(await response.text()).toContain('"stop_reason":"refusal"')
  const { usage } = await receipt()
  expect(usage).toMatchObject({ prompt_tokens: 80, prompt_tokens_details: { cached_tokens: 30 } })
  expect(usage.completion_tokens).toBeGreaterThan(200)
})

describe.each(wires)('in %s', (wire) => {
  describe.each([false, true])('stream: %s', (stream) => {
    test('a refused request is a 400 with the words of the inspector, and no vendor is called', async () => {
      const refusing: Inspector = { request: (_, { caller }) => ({ refuse: `Not for ${caller.group}.` }) }
      const world = await worldWith({ inspect: [refusing] }, () => ({ texts: words }))
      await expect(say(world, wire, 'Hi', stream)).rejects.toThrow(/Not for default\./)
      await expect(say(world, wire, 'Hi', stream)).rejects.toMatchObject({ status: 400 })
      expect(world.vendor.requests).toHaveLength(0)
      expect(await world.receipt()).toMatchObject({ outcome: 'failed', code: 'content_policy_violation' })
    })

    test('a cut answer ends as by the filter of a vendor, with the words of the inspector', async () => {
      const world = await worldWith({ inspect: [cutting] }, () => ({ texts: words }))
      const said = await say(world, wire, 'Hi', stream)
      expect(said.end).toBe(ends[wire])
      expect(said.text).not.toContain('plan')
      if (wire !== 'gemini') expect(said.text).toContain('Not for you.')
      expect(await world.receipt()).toMatchObject({ outcome: 'completed' })
    })

    test.each(['throws', 'hangs'] as const)('one that %s over the request fails it, or lets it pass', async (how) => {
      const world = await worldWith({ inspect: [fails(how, 'request', 'refuse')] }, () => ({ texts: words }))
      await expect(say(world, wire, 'Hi', stream)).rejects.toMatchObject({ status: 503 })
      expect(world.vendor.requests).toHaveLength(0)
      const lenient = await worldWith({ inspect: [fails(how, 'request', 'pass')] }, () => ({ texts: words }))
      expect((await say(lenient, wire, 'Hi', stream)).text).toBe(words.join(''))
      expect(lenient.failures).toHaveLength(1)
    })

    test.each(['throws', 'hangs'] as const)('one that %s over the answer fails it, or lets it pass', async (how) => {
      const world = await worldWith({ inspect: [fails(how, 'answer', 'refuse')] }, () => ({ texts: words }))
      const failing = say(world, wire, 'Hi', stream)
      await expect(failing).rejects.toThrow()
      await expect(failing).rejects.not.toThrow(/no model of mine/)
      const lenient = await worldWith({ inspect: [fails(how, 'answer', 'pass')] }, () => ({ texts: words }))
      expect((await say(lenient, wire, 'Hi', stream)).text).toBe(words.join(''))
      expect(lenient.failures.length).toBeGreaterThan(0)
    })
  })

  test('one that fails in the middle of a stream ends it with an error, after what has passed', async () => {
    const seen = words.map(() => Promise.withResolvers<void>())
    const late: Inspector = {
      answer({ text }) {
        if (text.startsWith('plan')) throw new Error('no model of mine')
        seen[words.indexOf(text)]?.resolve()
        return { hold: 0 }
      },
    }
    const world = await worldWith({ inspect: [late] }, () => ({
      texts: words,
      after: (index) => (index < 2 ? seen[index]?.promise : undefined),
    }))
    await expect(say(world, wire, 'Hi', true)).rejects.toThrow(/could not be checked/)
    expect(await world.receipt()).toMatchObject({ outcome: 'failed' })
  })

  test('the vendor stops when all of an answer is cut', async () => {
    const stopped = Promise.withResolvers<void>()
    const world = await worldWith({ inspect: [cutting] }, () => ({
      texts: words,
      after: (index) => (index < 3 ? undefined : stopped.promise),
    }))
    world.vendor.requests.length = 0
    const said = await say(world, wire, 'Hi', true)
    expect(said.end).toBe(ends[wire])
    await expect.poll(() => world.vendor.requests[0]?.signal.aborted).toBe(true)
    stopped.resolve()
  })
})
