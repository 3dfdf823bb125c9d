import { describe, expect, test } from 'vitest'
import { usageIn } from '../../../../adapters/bridges/ai-sdk/usage.ts'

const totals = {
  inputTokens: { total: 1_000, noCache: 300, cacheRead: 400, cacheWrite: 300 },
  outputTokens: { total: 30, text: 10, reasoning: 20 },
}

describe('usage of the AI SDK', () => {
  test('has the details that only the raw usage of Anthropic has', () => {
    const raw = {
      input_tokens: 300,
      cache_read_input_tokens: 400,
      cache_creation_input_tokens: 300,
      cache_creation: { ephemeral_5m_input_tokens: 200, ephemeral_1h_input_tokens: 100 },
      output_tokens: 30,
      server_tool_use: { web_search_requests: 2 },
      service_tier: 'priority',
    }
    expect(usageIn({ ...totals, raw }, undefined).usage).toMatchObject({
      prompt_tokens: 1_000,
      prompt_tokens_details: { cached_tokens: 400, cache_write_tokens: 300, cache_write_1h_tokens: 100 },
      server_tool_use: { web_search_requests: 2 },
      service_tier: 'priority',
    })
  })

  test('has the kinds of tokens in the raw usage of Google', () => {
    const promptTokensDetails = [{ modality: 'AUDIO', tokenCount: 700 }]
    const raw = { promptTokenCount: 1_000, candidatesTokenCount: 10, thoughtsTokenCount: 20, promptTokensDetails }
    const { usage } = usageIn({ ...totals, raw }, undefined)
    expect(usage).toMatchObject({ prompt_tokens: 1_000, prompt_tokens_details: { audio_tokens: 700 } })
  })

  test('has the details of OpenAI, in the names of chats and of responses', () => {
    const audio = { audio_tokens: 5 }
    const chat = { prompt_tokens: 1_000, completion_tokens: 30, total_tokens: 1_030, prompt_tokens_details: audio }
    const response = { input_tokens: 1_000, output_tokens: 30, input_tokens_details: audio }
    for (const raw of [chat, response]) {
      expect(usageIn({ ...totals, raw }, undefined).usage).toMatchObject({ prompt_tokens_details: audio })
    }
  })

  test('is that of the SDK if the raw one has other sums or is absent', () => {
    const standard = {
      prompt_tokens: 1_000,
      completion_tokens: 30,
      total_tokens: 1_030,
      prompt_tokens_details: { cached_tokens: 400, cache_write_tokens: 300 },
      completion_tokens_details: { reasoning_tokens: 20 },
    }
    expect(usageIn(totals, undefined)).toEqual({ usage: standard })
    expect(usageIn({ ...totals, raw: { input_tokens: 7, output_tokens: 7 } }, undefined)).toEqual({ usage: standard })
  })

  test('has the service tier in the metadata of a vendor', () => {
    const { usage } = usageIn(totals, { openai: { serviceTier: 'flex' } })
    expect(usage?.service_tier).toBe('flex')
  })
})
