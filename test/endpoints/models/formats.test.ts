/** The model list as the clients of Anthropic's API and Codex read it. */
import Anthropic from '@anthropic-ai/sdk'
import { describe, expect, test } from 'vitest'
import { createGateway } from 'modelhatch'
import { demo } from 'modelhatch/providers'
import { hosted } from '../../hosted.ts'

const names = Array.from({ length: 45 }, (_, index) => `claude-${String(index).padStart(2, '0')}`)
const plain = Object.fromEntries(names.map((name) => [name, { provider: demo(), created: 1_700_000_000 }]))
const url = () =>
  hosted(
    createGateway({
      keys: { 'sk-test': {} },
      models: {
        ...plain,
        'claude-fast': {
          route: ['claude-00'],
          displayName: 'Fast',
          contextWindow: 128_000,
          maxOutputTokens: 8_000,
          aliases: ['fast'],
          created: 1_700_000_000,
        },
      },
    }),
  )

const client = async () => new Anthropic({ apiKey: 'sk-test', baseURL: await url(), maxRetries: 0 })

describe('a client of Anthropic', () => {
  test('pages through the whole list, in both directions', async () => {
    const anthropic = await client()
    const seen: string[] = []
    for await (const { id } of anthropic.models.list({ limit: 7 })) seen.push(id)
    expect(seen).toEqual([...names, 'claude-fast'])
    const before = await anthropic.models.list({ before_id: 'claude-10', limit: 4 })
    expect(before.data.map(({ id }) => id)).toEqual(['claude-06', 'claude-07', 'claude-08', 'claude-09'])
    expect(before).toMatchObject({ first_id: 'claude-06', last_id: 'claude-09', has_more: true })
  })

  test('gets 20 models unless it asks for more, and at most 1,000', async () => {
    const anthropic = await client()
    expect((await anthropic.models.list()).data).toHaveLength(20)
    expect((await anthropic.models.list({ limit: 1_000 })).data).toHaveLength(46)
    expect((await anthropic.models.list({ limit: 1_000_000 })).data).toHaveLength(46)
  })

  test('gets the name, the date and the limits of a model, by an alias too', async () => {
    const fast = {
      type: 'model',
      display_name: 'Fast',
      created_at: '2023-11-14T22:13:20.000Z',
      max_input_tokens: 128_000,
      max_tokens: 8_000,
    }
    const anthropic = await client()
    expect(await anthropic.models.retrieve('claude-fast')).toMatchObject({ ...fast, id: 'claude-fast' })
    expect(await anthropic.models.retrieve('fast')).toMatchObject({ ...fast, id: 'fast' })
    await expect(anthropic.models.retrieve('nothing')).rejects.toMatchObject({ status: 404 })
  })

  test.each(['limit=0', 'after_id=nothing', 'before_id=nothing'])('gets 400 for %s', async (query) => {
    const headers = { 'x-api-key': 'sk-test', 'anthropic-version': '2023-06-01' }
    expect((await fetch(`${await url()}/v1/models?${query}`, { headers })).status).toBe(400)
  })
})

test('Codex gets its own list beside that of OpenAI', async () => {
  const headers = { authorization: 'Bearer sk-test' }
  const answer = await fetch(`${await url()}/v1/models?client_version=0.169.0`, { headers })
  const { data, models } = (await answer.json()) as Record<'data' | 'models', Record<string, unknown>[]>
  expect(data.map(({ id }) => id)).toEqual(models.map(({ slug }) => slug))
  expect(models.at(-1)).toMatchObject({ display_name: 'Fast', context_window: 128_000, shell_type: 'shell_command' })
})
