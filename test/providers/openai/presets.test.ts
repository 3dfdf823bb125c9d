import { openai, type PresetName } from 'modelhatch/providers'
import { describe, expect, test } from 'vitest'
import { presets } from '../../../src/providers/openai/presets.ts'
import { vendorFor } from '../../hosted.ts'
import { hasShared } from '../../shared.ts'
import { asking, type Sent } from '../asking.ts'
import { assertTold, recordingsOf, replay } from '../recordings.ts'
import { served } from '../served.ts'
import { toldByClient } from '../told.ts'

const names = Object.keys(presets) as PresetName[]

/** Those of whom there are recordings, by their folders. */
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

test.skipIf(!hasShared).each(recorded)('$preset: $file is told as it should be', async ({ preset, recording }) => {
  const vendor = await vendorFor(replay(recording))
  const { client } = await served({ model: openai({ preset, baseURL: vendor.baseURL, apiKey: 'k' }) })
  const told = await toldByClient(
    client,
    { model: 'model', messages: [{ role: 'user', content: 'Hi' }] },
    recording.stream,
  )
  assertTold(told, recording.expect)
})

describe('what is known of each vendor', () => {
  test.each(names)('%s has an address, or asks for one', (preset) => {
    const { baseURL } = presets[preset]
    if (baseURL === undefined) expect(() => openai({ preset })).toThrow(/needs a "baseURL"/)
    else expect(openai({ preset }).name).toBe(preset)
  })

  test('a preset that does not exist names those that do', () => {
    expect(() => openai({ preset: 'acme' as PresetName })).toThrow(/"acme".*deepseek/)
  })

  test('options go before the preset', () => {
    expect(openai({ preset: 'groq', name: 'mine' }).name).toBe('mine')
  })

  test('Azure takes the key in a header of its own', async () => {
    const vendor = await vendorFor((_, response) => void response.writeHead(500).end())
    const { client } = await served({ model: openai({ preset: 'azure', baseURL: vendor.baseURL, apiKey: 'secret' }) })
    await toldByClient(client, { model: 'model', messages: [{ role: 'user', content: 'Hi' }] }, false)
    expect(vendor.requests[0]?.headers).toMatchObject({ 'api-key': 'secret' })
    expect(vendor.requests[0]?.headers).not.toHaveProperty('authorization')
  })

  test('Mistral is asked for a tier that it does not have only where that is more than the usual one', async () => {
    const allow = ['service_tier']
    const { sent } = await asking((baseURL) => openai({ preset: 'mistral', baseURL }), 'mistral-large', { allow })
    expect(await sent({ service_tier: 'auto' })).not.toHaveProperty('service_tier')
    expect(await sent({ service_tier: 'flex' })).toMatchObject({ service_tier: 'flex' })
  })

  test('Mistral gets its own name for the seed, its own limit, and nothing that it refuses', async () => {
    const { sent } = await asking((baseURL) => openai({ preset: 'mistral', baseURL }), 'mistral-large')
    const refused = { user: 'u', store: true, metadata: { a: 'b' }, stream_options: { include_usage: true } }
    const body = await sent({ seed: 5, max_completion_tokens: 9, stream: true, ...refused })
    expect(body).toEqual({
      model: 'mistral-large',
      messages: [{ role: 'user', content: 'Hi' }],
      stream: true,
      random_seed: 5,
      max_tokens: 9,
    })
  })
})

describe('what the model of another vendor left in the conversation', () => {
  const past = {
    role: 'assistant',
    content: 'Hi',
    reasoning_content: 'Hm.',
    reasoning_details: [{ type: 'reasoning.text', text: 'Hm.' }],
    extra_content: { google: { thought_signature: 's' } },
    tool_calls: [
      {
        id: 'a',
        type: 'function',
        function: { name: 'f', arguments: '{}' },
        extra_content: { google: { thought_signature: 's' } },
      },
    ],
  }
  const plain = {
    role: 'assistant',
    content: 'Hi',
    tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }],
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
  ])('%s gets what it takes', async (preset, expected) => {
    const { sent } = await asking((baseURL) => openai({ preset, baseURL }), 'model')
    const result = { role: 'tool', tool_call_id: 'a', content: 'x' }
    // Small requests are parsed by then, large ones are not.
    for (const size of [1, 20_000]) {
      const asked = { role: 'user', content: 'x'.repeat(size) }
      const body: Sent = await sent({ messages: [asked, past, result] })
      expect(body.messages).toEqual([asked, expected, result])
    }
  })

  test.each(['reasoning', 'images'])('%s alone is found too', async (field) => {
    const { sent } = await asking((baseURL) => openai({ preset: 'openai', baseURL }), 'model')
    const asked = { role: 'user', content: 'x'.repeat(20_000) }
    const body: Sent = await sent({ messages: [asked, { role: 'assistant', content: 'Hi', [field]: ['Hm.'] }] })
    expect(body.messages[1]).toEqual({ role: 'assistant', content: 'Hi' })
  })

  test.each<PresetName>(['deepseek', 'moonshot'])('%s gets a thought with calls that came without', async (preset) => {
    const { sent } = await asking((baseURL) => openai({ preset, baseURL }), 'model')
    const result = { role: 'tool', tool_call_id: 'a', content: 'x' }
    const said = { role: 'assistant', content: 'Hi' }
    const body: Sent = await sent({ messages: [{ role: 'user', content: 'Hi' }, said, plain, result] })
    expect(body.messages.slice(1)).toEqual([said, { ...plain, reasoning_content: '' }, result])
  })

  test('Groq gets no names of messages, but those of functions', async () => {
    const { sent } = await asking((baseURL) => openai({ preset: 'groq', baseURL }), 'model')
    const old = { role: 'function', name: 'f', content: 'x' }
    const tools = [{ type: 'function', function: { name: 'f' } }]
    const body: Sent = await sent({ tools, messages: [{ role: 'user', name: 'ada', content: 'Hi' }, old] })
    expect([body.messages, body.tools]).toEqual([[{ role: 'user', content: 'Hi' }, old], tools])
  })

  test('the words of a user are never touched', async () => {
    const { sent } = await asking((baseURL) => openai({ preset: 'openai', baseURL }), 'model')
    const messages = [{ role: 'user', content: 'What is "reasoning_content" for?', name: 'a' }]
    expect((await sent({ messages })).messages).toEqual(messages)
  })
})
