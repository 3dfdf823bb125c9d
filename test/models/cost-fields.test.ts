/** Request fields that change what the host pays, sent through real gateways to a recording vendor. */
import { anthropic, defineProvider, gemini, openai, type PresetName, type Provider } from 'modelhatch/providers'
import { describe, expect, test } from 'vitest'
import type { ModelOptions } from '../../src/models/model-options.ts'
import { errorOf, post } from '../endpoints/ask.ts'
import { formOf, send } from '../endpoints/forms.ts'
import { hostedWith, vendorFor } from '../hosted.ts'
import { messages, world, type Fields } from './world.ts'

const compatible = (baseURL: string) => openai({ baseURL })
const native = (baseURL: string) => openai({ baseURL, responses: true })
const large = 'x'.repeat(20_000)

describe('a part of a model name that changes the price is rejected', () => {
  const router = async (options: Partial<ModelOptions> = {}) => {
    const vendor = await vendorFor((_, response) => void response.writeHead(400, { connection: 'close' }).end('{}'))
    const provider = openai({ preset: 'openrouter', baseURL: vendor.baseURL })
    const { url } = await hostedWith({
      models: { 'router/*': { provider, ...options }, fixed: { provider, providerModel: 'openai/gpt-5:online' } },
      retry: { maxAttempts: 1 },
    })
    return async (model: string) => {
      const answer = await post(url, '/chat/completions', { model, messages })
      const { code, param } = errorOf(answer)
      return vendor.requests.length > 0 ? undefined : [answer.status, code, param]
    }
  }
  const refused = [400, 'unsupported_parameter', 'model']

  test.each([
    'openai/gpt-5:online',
    'openai/gpt-5:ONLINE',
    'openai/gpt-5:free:online',
    'openai/gpt-5:online:free',
    'openai/gpt-5:online ',
    'openai/gpt-5:nitro',
    'openai/gpt-5:exacto',
    '@preset/expensive',
    'openai/gpt-5@preset/expensive',
  ])('%s', async (name) => {
    expect(await (await router())(`router/${name}`)).toEqual(refused)
  })

  test.each(['openai/gpt-5', 'openai/gpt-5:free', 'openai/gpt-5:onlineish', 'openai/gpt-5:floor'])(
    'but not %s',
    async (name) => {
      expect(await (await router())(`router/${name}`)).toBeUndefined()
    },
  )

  test('unless the host has chosen or allowed it', async () => {
    expect(await (await router())('fixed')).toBeUndefined()
    expect(await (await router({ allow: ['plugins'] }))('router/openai/gpt-5:online')).toBeUndefined()
    expect(await (await router({ allow: [':online'] }))('router/openai/gpt-5:online')).toBeUndefined()
    expect(await (await router({ allow: ['plugins'] }))('router/openai/gpt-5:nitro')).toEqual(refused)
  })
})

describe('a field that changes model, price or amount is rejected by name', () => {
  test.each<[PresetName, Fields]>([
    ['openai', { service_tier: 'priority', web_search_options: {} }],
    ['azure', { service_tier: 'priority', data_sources: [{ type: 'azure_search' }] }],
    ['groq', { service_tier: 'flex', compound_custom: {}, search_settings: {} }],
    [
      'openrouter',
      {
        models: ['openai/gpt-5-pro'],
        route: 'fallback',
        provider: { order: ['expensive'] },
        plugins: [{ id: 'web' }],
        preset: '@preset/expensive',
        service_tier: 'priority',
      },
    ],
    ['qwen', { enable_search: true, enable_code_interpreter: true }],
    ['together', { safety_model: 'expensive', service_tier: 'priority' }],
    ['xai', { search_parameters: { mode: 'on' }, deferred: true }],
    ['mistral', { service_tier: 'priority' }],
    ['deepseek', { service_tier: 'priority' }],
  ])('with the preset %s', async (preset, fields) => {
    const { ask } = await world((baseURL) => openai({ preset, baseURL }))
    for (const path of [
      '/chat/completions',
      '/completions',
      '/embeddings',
      '/moderations',
      '/images/generations',
      '/responses',
    ]) {
      for (const [name, value] of Object.entries(fields)) expect(await ask({ [name]: value }, path)).toBe(name)
    }
  })

  test('without a preset, for the fields of all known vendors', async () => {
    const { ask } = await world(compatible)
    for (const name of ['models', 'provider', 'plugins', 'fallbacks', 'api_base', 'speed', 'inference_geo']) {
      expect(await ask({ [name]: 'x' })).toBe(name)
      expect(await ask({ [name]: 'x', padding: large })).toBe(name)
    }
  })

  test.each<[string, (baseURL: string) => Provider, Fields]>([
    [
      'Claude',
      (baseURL) => anthropic({ baseURL }),
      { speed: 'fast', inference_geo: 'us', mcp_servers: [], container: 'c' },
    ],
    ['Gemini', (baseURL) => gemini({ baseURL }), { service_tier: 'priority', serviceTier: 'flex' }],
  ])('with %s, on every endpoint', async (_, make, fields) => {
    const { ask } = await world(make)
    for (const path of ['/chat/completions', '/completions', '/responses']) {
      for (const [name, value] of Object.entries(fields)) expect(await ask({ [name]: value }, path)).toBe(name)
    }
  })

  test('on images, for fields that change the amount of computation', async () => {
    const { ask } = await world(compatible)
    for (const name of ['steps', 'width', 'num_images', 'resolution', 'input_fidelity']) {
      expect(await ask({ [name]: 50 }, '/images/generations')).toBe(name)
    }
    expect(await ask({ n: 2, size: '1024x1024', quality: 'high' }, '/images/generations')).toBeUndefined()
  })

  test.each([
    ['{"Service_Tier":"priority"}', 'Service_Tier'],
    ['{"serviceTier":"priority"}', 'serviceTier'],
    ['{"SERVICE-TIER":"priority"}', 'SERVICE-TIER'],
    ['{"service\\u005ftier":"priority"}', 'service_tier'],
    ['{"\\u017fervice_tier":"priority"}', 'ſervice_tier'],
    ['{"service_tier":"default","service_tier":"priority"}', 'service_tier'],
    ['{"service_tier":["default"]}', 'service_tier'],
    ['{"service_tier":{"$ne":"default"}}', 'service_tier'],
    ['{"extra_body":{"service_tier":"priority"}}', 'extra_body.service_tier'],
    ['{"extra_body":{"Models":["expensive"]}}', 'extra_body.Models'],
    ['{"extra_body":{"model":"expensive"}}', 'extra_body.model'],
    ['{"extra_body":{"max_tokens":100000}}', 'extra_body.max_tokens'],
    ['{"extra_body":{"extra_body":{"model":"expensive"}}}', 'extra_body.extra_body'],
    ['{"Extra_Body":"{\\"service_tier\\":\\"priority\\"}"}', 'Extra_Body.service_tier'],
    ['{"Model":"expensive"}', 'Model'],
    ['{"MAX_TOKENS":100000}', 'MAX_TOKENS'],
    ['{"Tools":[{"type":"code_interpreter"}]}', 'Tools'],
  ])('in any spelling: %s', async (body, param) => {
    const { ask } = await world(compatible)
    expect(await ask(body)).toBe(param)
    expect(await ask(`{"padding":"${large}",${body.slice(1)}`)).toBe(param)
  })

  test('a duplicate field reaches the vendor once, with the value that was checked', async () => {
    const { ask, text } = await world(compatible)
    for (const padding of ['', large]) {
      const body = `{"service_tier":"priority","padding":"${padding}","service_tier":"default","extra_body":{"route":"expensive","route":null}}`
      expect(await ask(body)).toBeUndefined()
      expect(text().match(/"service_tier"/g)).toHaveLength(1)
      expect(text()).not.toMatch(/priority|expensive/)
    }
  })
})

describe('default values and unknown fields', () => {
  test('are forwarded unchanged', async () => {
    const { ask, sent } = await world(compatible)
    const fields = {
      service_tier: 'auto',
      models: null,
      enable_search: false,
      search_parameters: { mode: 'off' },
      unheard_of: { models: ['x'] },
      metadata: { provider: 'x' },
      extra_body: { google: { cached_content: 'c' } },
    }
    expect(await ask(fields)).toBeUndefined()
    expect(sent()).toMatchObject(fields)
    expect(await ask({ ...fields, padding: large })).toBeUndefined()
    expect(sent()).toMatchObject(fields)
  })

  test('are forwarded to a self-hosted model, and so are cost fields', async () => {
    const { ask } = await world((baseURL) => openai({ preset: 'vllm', baseURL }))
    expect(await ask({ service_tier: 'priority', provider: 'x' })).toBeUndefined()
    expect(await ask({ Model: 'another' })).toBe('Model')
  })
})

describe('the options of a model', () => {
  test.each(['', large])('can allow a field', async (padding) => {
    const { ask, sent } = await world(compatible, { allow: ['service_tier', 'provider'] })
    const fields = {
      service_tier: 'priority',
      provider: { order: ['a'] },
      extra_body: { service_tier: 'flex' },
      padding,
    }
    expect(await ask(fields)).toBeUndefined()
    expect(sent()).toMatchObject(fields)
    expect(await ask({ models: ['x'], padding })).toBe('models')
  })

  test.each(['', large])('can set a field, which overrides that of the client', async (padding) => {
    const { ask, sent, text } = await world(compatible, { set: { service_tier: 'flex', provider: { sort: 'price' } } })
    for (const fields of [
      {},
      { service_tier: 'priority' },
      { Service_Tier: 'priority' },
      { serviceTier: 'priority' },
    ]) {
      expect(await ask({ ...fields, padding })).toBeUndefined()
      expect(sent()).toMatchObject({ service_tier: 'flex', provider: { sort: 'price' } })
      expect(text()).not.toContain('priority')
    }
    expect(await ask({ extra_body: { service_tier: 'priority' }, padding })).toBe('extra_body.service_tier')
  })

  test.each(['/responses', '/messages', '/completions'])(
    'a set field is in a request that was translated from %s',
    async (path) => {
      const { ask, sent } = await world(compatible, { set: { service_tier: 'flex', provider: { sort: 'price' } } })
      expect(await ask({ max_tokens: 10, ...(path === '/completions' && { prompt: 'Hi' }) }, path)).toBeUndefined()
      expect(sent()).toMatchObject({ service_tier: 'flex', provider: { sort: 'price' } })
    },
  )

  test('can allow and set fields of Claude and Gemini, translated to their names', async () => {
    const claude = await world((baseURL) => anthropic({ baseURL }), { allow: ['speed'], set: { inference_geo: 'us' } })
    expect(await claude.ask({ speed: 'fast', inference_geo: 'global' })).toBeUndefined()
    expect(claude.sent()).toMatchObject({ speed: 'fast', inference_geo: 'us' })
    const google = await world((baseURL) => gemini({ baseURL }), { allow: ['service_tier'] })
    expect(await google.ask({ service_tier: 'flex' })).toBeUndefined()
    expect(google.sent()).toMatchObject({ serviceTier: 'flex' })
    expect(await google.ask({ service_tier: 'priority' }, '/responses')).toBeUndefined()
    expect(google.sent()).toMatchObject({ serviceTier: 'priority' })
  })

  test('apply to the models of a route; a price of the route revokes what they allow', async () => {
    const vendor = await vendorFor((_, response) => void response.writeHead(400).end('{}'))
    const provider = openai({ baseURL: vendor.baseURL })
    const { url } = await hostedWith({
      models: {
        open: { provider, allow: ['service_tier'] },
        fixed: { provider, set: { service_tier: 'flex' } },
        plain: { provider },
        same: { route: ['open'] },
        priced: { route: ['open'], price: { input: '1' } },
        mixed: { route: ['open', 'plain'] },
        thrifty: { route: ['fixed'] },
        own: { route: ['fixed'], set: { service_tier: 'scale' } },
      },
      retry: { maxAttempts: 1 },
    })
    const ask = async (model: string) => {
      const before = vendor.requests.length
      const body = { model, messages: [{ role: 'user', content: 'Hi' }], service_tier: 'priority' }
      await post(url, '/chat/completions', body)
      return (vendor.requests[before]?.json as Fields | undefined)?.['service_tier']
    }
    expect(await ask('same')).toBe('priority')
    expect(await ask('priced')).toBeUndefined()
    expect(await ask('mixed')).toBeUndefined()
    expect(await ask('thrifty')).toBe('flex')
    expect(await ask('own')).toBe('scale')
  })

  test('apply to the cost fields of a custom provider', async () => {
    const received: unknown[] = []
    const own = defineProvider({
      name: 'own',
      costs: (endpoint) => (endpoint === 'chat.completions' ? { fields: { turbo: [0] } } : undefined),
      async *chat({ request }) {
        received.push(request['turbo'])
        yield { choices: [{ index: 0, delta: { content: 'Hi' }, finish_reason: 'stop' }] }
      },
    })
    const { url } = await hostedWith({ models: { m: own, fast: { provider: own, set: { turbo: 2 } } } })
    const chat = (model: string, turbo: number) =>
      post(url, '/chat/completions', { model, turbo, messages: [{ role: 'user', content: 'Hi' }] })
    expect((await chat('m', 0)).status).toBe(200)
    expect(errorOf(await chat('m', 1))).toMatchObject({ code: 'unsupported_parameter', param: 'turbo' })
    expect((await chat('fast', 1)).status).toBe(200)
    expect(received).toEqual([0, 2])
  })
})

describe('tools that run on the vendor’s side', () => {
  const weather = { type: 'function', name: 'weather', parameters: { type: 'object' } }

  test.each([
    [{ tools: [weather, { type: 'code_interpreter', container: { type: 'auto' } }] }, 'tools[1].type'],
    [{ tools: [{ type: 'image_generation' }] }, 'tools[0].type'],
    [{ tools: [{ type: 'mcp', server_url: 'https://x.example' }] }, 'tools[0].type'],
    [{ tools: [{ type: 'file_search', vector_store_ids: ['v'] }] }, 'tools[0].type'],
    [{ tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'code_interpreter' }] }] }, 'tools[0].tools[0].type'],
    [{ tools: [{ type: 'shell', environment: { type: 'container_auto' } }] }, 'tools[0].environment'],
    [{ max_tool_calls: 1000 }, 'max_tool_calls'],
    [{ service_tier: 'priority' }, 'service_tier'],
  ])('are rejected in responses: %o', async (fields, param) => {
    const { ask } = await world(native)
    expect(await ask(fields, '/responses')).toBe(param)
    expect(await ask({ ...fields, padding: large }, '/responses')).toBe(param)
  })

  test('are rejected in chats', async () => {
    const { ask } = await world((baseURL) => openai({ preset: 'zhipu', baseURL }))
    expect(await ask({ tools: [{ type: 'web_search', web_search: { enable: true } }] })).toBe('tools[0].type')
    expect(await ask({ tools: [{ type: 'function', function: { name: 'f' } }] })).toBeUndefined()
  })

  test.each(['', large])('are forwarded if the model allows them', async (padding) => {
    const { ask, sent } = await world(native, { allow: ['code_interpreter', 'max_tool_calls', 'web_search'] })
    const tools = [{ type: 'code_interpreter', container: { type: 'auto' } }, { type: 'web_search' }, weather]
    expect(await ask({ tools, max_tool_calls: 3, padding }, '/responses')).toBeUndefined()
    expect(sent()).toMatchObject({ tools, max_tool_calls: 3 })
  })

  test.each(['', large])('that agents send by default are dropped', async (padding) => {
    const { ask, sent } = await world(native)
    const search = { type: 'web_search', external_web_access: false }
    const local = { type: 'shell', environment: { type: 'local' } }
    expect(await ask({ tools: [weather, search, local], padding }, '/responses')).toBeUndefined()
    expect(sent()).toMatchObject({ tools: [weather, local] })
    expect(await ask({ tools: [search], tool_choice: 'none', padding }, '/responses')).toBeUndefined()
    expect(sent()).not.toHaveProperty('tools')
  })

  test.each(['', large])(
    'are refused where no other is left, because a model makes up what they would find',
    async (padding) => {
      const { ask } = await world(native)
      expect(await ask({ tools: [{ type: 'web_search' }], padding }, '/responses')).toBe('tools[0].type')
    },
  )

  test.each(['', large])('are not hidden by a duplicate type', async (padding) => {
    const { ask, text } = await world(native)
    const tool = '{"type":"code_interpreter","name":"f","type":"function"}'
    expect(await ask(`{"tools":[${tool}],"padding":"${padding}"}`, '/responses')).toBeUndefined()
    expect(text()).not.toContain('code_interpreter')
    const twice = '{"tools":[{"type":"function","name":"f","typ\\u0065":"code_interpreter"}]}'
    expect(await ask(twice, '/responses')).toBe('tools[0].type')
  })
})

describe('a cost field in a form', () => {
  const sound = (size: number) => new Blob([Buffer.alloc(size, 's')], { type: 'audio/wav' })

  test.each([
    [[['service_tier', 'priority']], 'service_tier'],
    [[['Service_Tier', 'priority']], 'Service_Tier'],
    [[['provider[order][]', 'expensive']], 'provider[order][]'],
    [
      [
        ['service_tier', 'default'],
        ['service_tier', 'priority'],
      ],
      'service_tier',
    ],
    [[['extra_body', '{"models":["expensive"]}']], 'extra_body.models'],
  ] as [[string, string][], string][])('%o is rejected before the file', async (entries, param) => {
    const { url, vendor } = await world(compatible)
    const form = formOf(['model', 'm'], ...entries, ['file', sound(10), 'a.wav'])
    const response = await send(url, '/audio/transcriptions', form)
    expect([response.status, await response.json()]).toMatchObject([400, { error: { param } }])
    expect(vendor.requests).toEqual([])
  })

  test.each([10, 200_000])('is rejected after a file of %i bytes', async (size) => {
    const { url, vendor } = await world(compatible)
    const form = formOf(['model', 'm'], ['file', sound(size), 'a.wav'], ['service_tier', 'priority'])
    const response = await send(url, '/audio/transcriptions', form)
    expect([response.status, await response.json()]).toMatchObject([400, { error: { param: 'service_tier' } }])
    expect(vendor.requests).toEqual([])
  })

  test.each([10, 200_000])('is replaced by the one that the model sets, with a file of %i bytes', async (size) => {
    const { url, text } = await world(compatible, { set: { service_tier: 'flex' } })
    for (const entries of [[], [['service_tier', 'priority']], [['Service_Tier', 'priority']]] as [
      string,
      string,
    ][][]) {
      await send(url, '/audio/transcriptions', formOf(['model', 'm'], ['file', sound(size), 'a.wav'], ...entries))
      expect(text().match(/name="service_tier"\r\n\r\n(\w+)/gi)).toEqual(['name="service_tier"\r\n\r\nflex'])
    }
  })

  test('is rejected in image edits', async () => {
    const { url, vendor } = await world(compatible)
    const image = new Blob(['png'], { type: 'image/png' })
    const form = formOf(['model', 'm'], ['prompt', 'x'], ['image', image, 'a.png'], ['input_fidelity', 'high'])
    const response = await send(url, '/images/edits', form)
    expect([response.status, await response.json()]).toMatchObject([400, { error: { param: 'input_fidelity' } }])
    expect(vendor.requests).toEqual([])
  })
})
