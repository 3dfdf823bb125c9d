import { describe, expect, test } from 'vitest'
import { readTokenUsage, readUsage, tokenUsage } from '../../src/wire/counts.ts'
import { chatUsage } from '../../src/wire/response-usage.ts'

const counts = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 }

describe('usage in the names of a vendor', () => {
  test.each([
    ['OpenAI', { prompt_tokens_details: { cached_tokens: 40, cache_write_tokens: 30 } }],
    ['no details', {}],
    ['null for details', { prompt_tokens_details: null, server_tool_use: null }],
    ['OpenRouter', { server_tool_use: { web_search_requests: 2 } }],
  ])('is the same object if nothing has to change: %s', (_, more) => {
    const usage = { ...counts, ...more }
    expect(readUsage(usage)).toBe(usage)
  })

  test.each([
    ['OpenRouter', { cost: 0.1, is_byok: false, cost_details: { upstream_inference_cost: null } }],
    ['xAI', { cost_in_usd_ticks: 1 }],
    ['Perplexity', { cost: { total_cost: 0.1 } }],
  ])('is without the costs of the host: %s', (_, more) => {
    expect(readUsage({ ...counts, ...more })).toEqual(counts)
  })

  test.each([
    ['Moonshot', { cached_tokens: 40 }, { cached_tokens: 40 }],
    ['Mistral', { num_cached_tokens: 40 }, { cached_tokens: 40 }],
    ['DeepSeek', { prompt_cache_hit_tokens: 40, prompt_cache_miss_tokens: 60 }, { cached_tokens: 40 }],
    [
      'Alibaba',
      {
        prompt_tokens_details: {
          cached_tokens: 0,
          cache_creation_input_tokens: 30,
          cache_creation: { ephemeral_5m_input_tokens: 30 },
        },
      },
      { cached_tokens: 0, cache_write_tokens: 30 },
    ],
    [
      'LiteLLM',
      {
        cache_creation_input_tokens: 30,
        prompt_tokens_details: {
          cached_tokens: 40,
          cache_creation_token_details: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 20 },
        },
      },
      { cached_tokens: 40, cache_write_tokens: 30, cache_write_1h_tokens: 20 },
    ],
  ])('gets those of OpenAI for its cache: %s', (_, more, details) => {
    expect(readUsage({ ...counts, ...more })).toMatchObject({ ...counts, prompt_tokens_details: details })
  })

  test.each([
    ['Perplexity', { num_search_queries: 3 }, { web_search_requests: 3 }],
    ['xAI, sources', { num_sources_used: 4 }, { live_search_requests: 4 }],
    ['xAI, tools', { server_side_tool_usage_details: { web_search_calls: 2 } }, { web_search_calls: 2 }],
    ['both', { num_search_queries: 3, server_tool_use: { web_search_requests: 5 } }, { web_search_requests: 5 }],
  ])('gets the calls of its tools: %s', (_, more, tools) => {
    expect(readUsage({ ...counts, ...more })?.server_tool_use).toEqual(tools)
  })

  test('of images and transcriptions keeps what kinds of tokens there are', () => {
    const input = { text_tokens: 4, audio_tokens: 10 }
    const usage = readTokenUsage({ input_tokens: 14, output_tokens: 2, total_tokens: 16, input_token_details: input })
    expect(usage).toMatchObject({ prompt_tokens: 14, completion_tokens: 2, prompt_tokens_details: input })
    expect(usage && tokenUsage(usage)).toMatchObject({
      input_tokens: 14,
      output_tokens: 2,
      input_tokens_details: input,
    })
  })
})

test('an item of any name is no call of a tool', () => {
  const usage = { input_tokens: 1, output_tokens: 1 }
  const output = ['constructor', 'web_search_call'].map((type) => ({ type, id: type }))
  expect(chatUsage(usage, output)?.server_tool_use).toEqual({ web_search_requests: 1 })
})
