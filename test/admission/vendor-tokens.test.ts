/** Bounds of prompts count what vendors add by themselves, so that no cap is passed. */
import { describe, expect, test } from 'vitest'
import { boundedBy } from '../../src/admission/upper-bounds.ts'
import { estimateOf } from '../../src/admission/estimate.ts'
import type { Model } from '../../src/models/contract.ts'
import { anthropic, gemini, openai } from '../../src/providers/index.ts'
import { estimateTokens } from '../../src/wire/counts.ts'
import { hasShared, sharedJson } from '../shared.ts'
import { recordingsOf } from '../providers/recordings.ts'
import { vendorFor } from '../hosted.ts'
import { scene } from './scene.ts'

const texts = { makes: 'text', lengthFields: ['max_tokens', 'max_output_tokens'] } as const

const caps = [{ rule: { measures: ['tokens'] } }] as never

/** The bound of the prompt of a request to a vendor, in the format of a chat, of messages or of responses. */
function promptBound(model: Model, body: Record<string, unknown>): number {
  const field = (name: string) => body[name]
  const order = { field, promptTokens: estimateTokens(Buffer.byteLength(JSON.stringify(body))) }
  const estimate = estimateOf(texts, order, model)
  return boundedBy(
    caps,
    { model, estimate, order, makes: 'text' },
    {
      unpriced: 'free',
      bounds: { toolCalls: 2 },
    },
  ).estimate.mostPromptTokens
}

function modelOf(provider: Model['deployments'][number]['provider'], name: string): Model {
  const deployment = { provider, model: name, order: 1, weight: 1, allow: vendorTools }
  return { id: 'm', created: 1, ownedBy: 'x', contextWindow: 200_000, deployments: [deployment] }
}

/** Tools and fields of the recordings that a host must allow. */
const vendorTools = ['tools', 'web_search', 'code_execution', 'url_context', 'cached_content']

/** A recorded request in the format that clients send. Gemini's own is translated by the gateway. */
function clientBody({ path, body }: { path: string; body: Record<string, unknown> }): Record<string, unknown> {
  if (body['contents'] === undefined) return body
  const { contents, tools, systemInstruction, cachedContent, generationConfig: _, ...rest } = body
  const made = (tools as object[] | undefined)?.flatMap((tool) =>
    'functionDeclarations' in tool
      ? (tool.functionDeclarations as object[]).map((each) => ({ type: 'function', function: each }))
      : Object.keys(tool).map((type) => ({ type: type.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) })),
  )
  const model = /models\/([^:]+):/.exec(path)?.[1]
  return {
    model,
    ...rest,
    messages: [systemInstruction, ...(contents as [])],
    ...(made && { tools: made }),
    cached_content: cachedContent,
  }
}

describe.skipIf(!hasShared)('the bound of a recorded prompt covers what the vendor reported', () => {
  const providers: Record<string, (name: string) => Model> = {
    anthropic: (name) => modelOf(anthropic({ apiKey: 'x' }), name),
    gemini: (name) => modelOf(gemini({ apiKey: 'x' }), name),
  }
  const names =
    'anthropic,gemini,google-compat,groq,mistral,openai,openrouter,perplexity,snowflake,together,xai,deepseek'
  const recorded = names.split(',').flatMap((vendor) =>
    recordingsOf(vendor).flatMap(({ file, expect: { usage } }) => {
      const path = `recordings/${vendor}/${file.replace(/\.\w+$/, '')}.request.json`
      const request = requestIn(path)
      return usage && request ? [{ vendor, file, request, reported: usage.prompt_tokens }] : []
    }),
  )

  test('in every recording with a request and a usage', () => {
    expect(recorded.length).toBeGreaterThan(25)
  })

  test.each(recorded)('$vendor/$file', ({ vendor, request, reported }) => {
    const body = clientBody(request)
    const name = String(body['model'])
    const model = providers[vendor]?.(name) ?? modelOf(openai({ name: vendor, baseURL: 'http://x.example' }), name)
    expect(promptBound(model, body)).toBeGreaterThanOrEqual(reported)
  })
})

function requestIn(path: string): { path: string; body: Record<string, unknown> } | undefined {
  try {
    return sharedJson(path) as never
  } catch {
    return undefined
  }
}

test('small requests with tools do not pass a cap of tokens at Claude', async () => {
  // The vendor's own instructions for tools have some 350 tokens.
  const usage = { input_tokens: 561, output_tokens: 10 }
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-sonnet-4-5', stop_sequence: null }
  const answer = { ...message, content: [{ type: 'text', text: 'Hi' }], stop_reason: 'end_turn', usage }
  const vendor = await vendorFor((_, response) => {
    response.setHeader('content-type', 'application/json')
    setTimeout(() => response.end(JSON.stringify(answer)), 20)
  })
  const provider = anthropic({ apiKey: 'x', baseURL: vendor.baseURL })
  const { url, ledger } = await scene((_, response) => void response.end(), {
    models: () => ({ m: { provider, providerModel: 'claude-sonnet-4-5', price: { input: '3', output: '15' } } }),
    billing: { currency: 'EUR', caps: [{ name: 'daily', period: 'day', tokens: 2_000 }] },
  })
  await ledger.credit({ account: 'acme', amount: 1_000_000n, reference: 'start' })
  const body = {
    model: 'm',
    max_tokens: 10,
    messages: [{ role: 'user', content: 'Hi' }],
    tools: [{ name: 'f', input_schema: { type: 'object' } }],
  }
  const statuses = await Promise.all(
    Array.from({ length: 10 }, async () => {
      const headers = { authorization: 'Bearer sk-test', 'content-type': 'application/json' }
      const response = await fetch(`${url}/v1/messages`, { method: 'POST', headers, body: JSON.stringify(body) })
      await response.arrayBuffer()
      return response.status
    }),
  )
  const admitted = statuses.filter((status) => status === 200).length
  expect(admitted).toBeGreaterThan(0)
  expect(admitted * (usage.input_tokens + usage.output_tokens)).toBeLessThanOrEqual(2_000)
})

describe('an image', () => {
  const image = { type: 'image_url', image_url: { url: 'https://example.com/a.png' } }
  const body = { messages: [{ role: 'user', content: [image] }], max_tokens: 10 }

  test.each([
    ['claude-sonnet-4-5', 1_600, 5_000],
    ['gpt-4o', 1_445, 4_400],
    ['gpt-4o-mini', 48_169, 49_000],
    ['gemini-2.5-flash', 4_128, 6_800],
  ])('holds what the vendor publishes for %s, not the whole window', (name, published, most) => {
    const bound = promptBound(modelOf(openai({ baseURL: 'http://x.example' }), name), body)
    expect(bound).toBeGreaterThanOrEqual(published)
    expect(bound).toBeLessThan(most)
  })
})
