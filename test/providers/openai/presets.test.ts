import { openai, type PresetName } from 'modelhatch/providers'
import { describe, expect, test } from 'vitest'
import { presets } from '../../../src/providers/openai/presets.ts'
import { vendorFor } from '../../hosted.ts'
import { hasShared } from '../../shared.ts'
import { vendorRequests, type Sent } from '../vendor-requests.ts'
import { assertResult, recordingsOf, replay } from '../recordings.ts'
import { served } from '../served.ts'
import { resultOfClient } from '../chat-results.ts'

const names = Object.keys(presets) as PresetName[]

/** The folder of each vendor's recordings. */
const folders: Partial<Record<PresetName, string>> = {
  openai: 'openai',
  azure: 'azure',
  deepseek: 'deepseek',
  groq: 'groq',
  mistral: 'mistral',
  moonshot: 'moonshot',
  openrouter: 'openrouter',
  qwen: 'alibaba',
  together: 'together',
  xai: 'xai',
}

const recorded = Object.entries(folders).flatMap(([preset, folder]) =>
  recordingsOf(folder)
    .filter(({ wire }) => wire === 'openai.chat')
    .map((recording) => ({ preset: preset as PresetName, recording, file: recording.file })),
)

test.skipIf(!hasShared).each(recorded)(
  '$preset: the client gets the content of $file',
  async ({ preset, recording }) => {
    const vendor = await vendorFor(replay(recording))
    const { client } = await served({ model: openai({ preset, baseURL: vendor.baseURL, apiKey: 'k' }) })
    const result = await resultOfClient(
      client,
      { model: 'model', messages: [{ role: 'user', content: 'Hi' }] },
      recording.stream,
    )
    assertResult(result, recording.expect)
  },
)

describe('presets', () => {
  test.each(names)('%s has a base URL, or requires one', (preset) => {
    const { baseURL } = presets[preset]
    if (baseURL === undefined) expect(() => openai({ preset })).toThrow(/requires the option "baseURL"/)
    else expect(openai({ preset }).name).toBe(preset)
  })

  test('the error for an unknown preset lists the valid ones', () => {
    expect(() => openai({ preset: 'acme' as PresetName })).toThrow(/"acme".*deepseek/)
  })

  test('options override the preset', () => {
    expect(openai({ preset: 'groq', name: 'mine' }).name).toBe('mine')
  })

  test('Azure gets the key in the header api-key', async () => {
    const vendor = await vendorFor((_, response) => void response.writeHead(500).end())
    const { client } = await served({ model: openai({ preset: 'azure', baseURL: vendor.baseURL, apiKey: 'secret' }) })
    await resultOfClient(client, { model: 'model', messages: [{ role: 'user', content: 'Hi' }] }, false)
    expect(vendor.requests[0]?.headers).toMatchObject({ 'api-key': 'secret' })
    expect(vendor.requests[0]?.headers).not.toHaveProperty('authorization')
  })

  test('Mistral gets a service tier only if it is a special one, which it then rejects itself', async () => {
    const allow = ['service_tier']
    const { sent } = await vendorRequests((baseURL) => openai({ preset: 'mistral', baseURL }), 'mistral-large', {
      allow,
    })
    expect(await sent({ service_tier: 'auto' })).not.toHaveProperty('service_tier')
    expect(await sent({ service_tier: 'flex' })).toMatchObject({ service_tier: 'flex' })
  })

  test('Mistral gets random_seed, max_tokens, and no field that it rejects', async () => {
    const { sent } = await vendorRequests((baseURL) => openai({ preset: 'mistral', baseURL }), 'mistral-large')
    const rejected = { user: 'u', store: true, metadata: { a: 'b' }, stream_options: { include_usage: true } }
    const body = await sent({ seed: 5, max_completion_tokens: 9, stream: true, ...rejected })
    expect(body).toEqual({
      model: 'mistral-large',
      messages: [{ role: 'user', content: 'Hi' }],
      stream: true,
      random_seed: 5,
      max_tokens: 9,
    })
  })
})

describe('non-standard fields in earlier messages', () => {
  const past = {
    role: 'assistant',
    content: 'Hi',
    reasoning_content: 'Hm.',
    reasoning_details: [{ type: 'reasoning.text', text: 'Hm.' }],
    extra_content: { google: { thought_signature: 's' } },
    tool_calls: [
      {
        id: 'call00001',
        type: 'function',
        function: { name: 'f', arguments: '{}' },
        extra_content: { google: { thought_signature: 's' } },
      },
    ],
  }
  const plain = {
    role: 'assistant',
    content: 'Hi',
    tool_calls: [{ id: 'call00001', type: 'function', function: { name: 'f', arguments: '{}' } }],
  }

  test.each<[PresetName, object]>([
    ['openai', plain],
    ['azure', plain],
    ['groq', plain],
    ['mistral', plain],
    ['deepseek', { ...plain, reasoning_content: 'Hm.' }],
    ['together', plain],
    ['openrouter', { ...plain, reasoning_content: 'Hm.', reasoning_details: past.reasoning_details }],
    ['ollama', past],
  ])('%s gets the fields that it accepts', async (preset, expected) => {
    const { sent } = await vendorRequests((baseURL) => openai({ preset, baseURL }), 'model')
    const result = { role: 'tool', tool_call_id: 'call00001', content: 'x' }
    // At this point small requests have been parsed, and large ones have not.
    for (const size of [1, 20_000]) {
      const asked = { role: 'user', content: 'x'.repeat(size) }
      const body: Sent = await sent({ messages: [asked, past, result] })
      expect(body.messages).toEqual([asked, expected, result])
    }
  })

  test.each(['reasoning', 'images'])('a message with only %s is found too', async (field) => {
    const { sent } = await vendorRequests((baseURL) => openai({ preset: 'openai', baseURL }), 'model')
    const asked = { role: 'user', content: 'x'.repeat(20_000) }
    const body: Sent = await sent({ messages: [asked, { role: 'assistant', content: 'Hi', [field]: ['Hm.'] }] })
    expect(body.messages[1]).toEqual({ role: 'assistant', content: 'Hi' })
  })

  describe.each<PresetName>(['deepseek', 'moonshot'])('%s, in a conversation with tool calls,', (preset) => {
    const result = { role: 'tool', tool_call_id: 'call00001', content: 'x' }
    const said = { role: 'assistant', content: 'Hi' }
    const reasoned = async (message: object) => {
      const { sent } = await vendorRequests((baseURL) => openai({ preset, baseURL }), 'model')
      const body: Sent = await sent({
        messages: [{ role: 'user', content: 'Hi' }, { ...plain, ...message }, result, said],
      })
      expect(body.messages[3]).toEqual({ ...said, reasoning_content: ' ' })
      return body.messages[1]
    }

    test.each([{}, { reasoning_content: '' }, { reasoning_content: null }, { reasoning_details: [null, {}] }])(
      'gets a space for reasoning that the client has not kept: %j',
      async (fields) => {
        expect(await reasoned(fields)).toEqual({ ...plain, reasoning_content: ' ' })
      },
    )

    test.each([
      { reasoning_content: 'Hm.', reasoning: 'no' },
      { reasoning: 'Hm.' },
      { reasoning_details: [{ type: 'reasoning.text', text: 'H' }, { data: 'x' }, { text: 'm.' }] },
    ])('gets reasoning from the field that has it: %j', async (fields) => {
      expect(await reasoned(fields)).toEqual({ ...plain, reasoning_content: 'Hm.' })
    })
  })

  test.each<PresetName>(['deepseek', 'moonshot'])('%s gets no reasoning without tool calls', async (preset) => {
    const { sent } = await vendorRequests((baseURL) => openai({ preset, baseURL }), 'model')
    const messages = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Hi' },
    ]
    expect((await sent({ messages })).messages).toEqual(messages)
  })

  test('Groq gets no message names, except those of functions', async () => {
    const { sent } = await vendorRequests((baseURL) => openai({ preset: 'groq', baseURL }), 'model')
    const old = { role: 'function', name: 'f', content: 'x' }
    const tools = [{ type: 'function', function: { name: 'f' } }]
    const body: Sent = await sent({ tools, messages: [{ role: 'user', name: 'ada', content: 'Hi' }, old] })
    expect([body.messages, body.tools]).toEqual([[{ role: 'user', content: 'Hi' }, old], tools])
  })

  test('the text of a user message is never changed', async () => {
    const { sent } = await vendorRequests((baseURL) => openai({ preset: 'openai', baseURL }), 'model')
    const messages = [{ role: 'user', content: 'What is "reasoning_content" for?', name: 'a' }]
    expect((await sent({ messages })).messages).toEqual(messages)
  })
})
