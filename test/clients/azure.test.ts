/** OpenAI's client for Azure, and requests of other clients for Azure. */
import { AzureOpenAI, toFile } from 'openai'
import { describe, expect, test } from 'vitest'
import { createGateway, type GatewayOptions } from 'modelhatch'
import { demo } from 'modelhatch/providers'
import { hosted } from '../hosted.ts'
import { wav } from '../sound.ts'

const names = ['demo', 'org/demo', 'demo-embedding', 'demo-image', 'demo-transcription']
const models = Object.fromEntries(names.map((name) => [name, demo({ paceMs: 0 })]))

function served(options: Partial<GatewayOptions> = {}): Promise<string> {
  return hosted(createGateway({ keys: { 'sk-test': {} }, models, azure: true, ...options }))
}

async function client(more: { deployment?: string } = {}): Promise<AzureOpenAI> {
  const endpoint = await served()
  return new AzureOpenAI({ endpoint, apiKey: 'sk-test', apiVersion: '2025-04-01-preview', maxRetries: 0, ...more })
}

const messages = [{ role: 'user' as const, content: 'Reply with exactly: pong' }]

describe('the official client for Azure', () => {
  test.each(['demo', 'org/demo'])('chats with %s, streamed and not', async (model) => {
    const azure = await client()
    const whole = await azure.chat.completions.create({ model, messages })
    expect([whole.model, whole.choices[0]?.message.content]).toEqual([model, 'pong'])
    let said = ''
    for await (const chunk of await azure.chat.completions.create({ model, messages, stream: true })) {
      said += chunk.choices[0]?.delta.content ?? ''
    }
    expect(said).toBe('pong')
  })

  test('uses its own deployment, whatever model a request names', async () => {
    const azure = await client({ deployment: 'demo' })
    const { model, choices } = await azure.chat.completions.create({ model: 'something', messages })
    expect([model, choices[0]?.message.content]).toEqual(['demo', 'pong'])
  })

  test('supports responses, embeddings, images, transcriptions and the model list', async () => {
    const azure = await client()
    const response = await azure.responses.create({ model: 'demo', input: 'Reply with exactly: pong' })
    expect(response.output_text).toBe('pong')
    expect((await azure.responses.retrieve(response.id)).id).toBe(response.id)
    expect((await azure.responses.inputItems.list(response.id)).data).toHaveLength(1)
    const embedded = await azure.embeddings.create({ model: 'demo-embedding', input: 'x', dimensions: 4 })
    expect(embedded.data[0]?.embedding).toHaveLength(4)
    const drawn = await azure.images.generate({ model: 'demo-image', prompt: 'x', size: '256x256' })
    expect(drawn.data?.[0]?.b64_json).toBeTypeOf('string')
    const file = await toFile(wav({ seconds: 1 }), 'sound.wav')
    expect((await azure.audio.transcriptions.create({ model: 'demo-transcription', file })).text).toContain('1 second')
    expect((await azure.models.list()).data.map(({ id }) => id).sort()).toEqual(names.toSorted())
  })
})

const chat = JSON.stringify({ messages })

async function ask(url: string, path: string, headers: Record<string, string>, body: string | FormData = chat) {
  const type = typeof body === 'string' ? { 'content-type': 'application/json' } : undefined
  const answer = await fetch(url + path, { method: 'POST', headers: { ...type, ...headers }, body })
  return { status: answer.status, text: await answer.text() }
}

const key = { 'api-key': 'sk-test' }

test.each([
  '/openai/v1/chat/completions?api-version=preview',
  '/openai/deployments/demo/chat/completions?api-version=2024-10-21',
  '/openai/deployments/demo/chat/completions',
  '/openai/deployments/org%2Fdemo/chat/completions',
])('%s is a chat; the model may be in the path only', async (path) => {
  const body = path.includes('deployments') ? chat : JSON.stringify({ model: 'demo', messages })
  expect(await ask(await served(), path, key, body)).toMatchObject({ status: 200 })
})

test('the model in the path replaces that of a form', async () => {
  const url = await served()
  for (const own of [undefined, 'demo']) {
    const form = new FormData()
    if (own !== undefined) form.set('model', own)
    form.set('file', new File([wav({ seconds: 1 })], 'sound.wav'))
    const path = '/openai/deployments/demo-transcription/audio/transcriptions'
    expect(await ask(url, path, key, form)).toMatchObject({ status: 200 })
  }
})

test.each([
  ['/openai/deployments/demo', 404],
  ['/openai/deployments//chat/completions', 404],
  ['/openai/deployments/%E0%A4%A/chat/completions', 404],
  ['/openai/deployments/nothing/chat/completions', 404],
  ['/openai/deployments/demo/nothing', 404],
  ['/openai/nothing', 404],
])('%s is rejected with an error of the gateway', async (path, status) => {
  const answer = await ask(await served(), path, key)
  expect(answer.status).toBe(status)
  expect(JSON.parse(answer.text)).toHaveProperty('error.message')
})

test('without the option these paths are left to the host', async () => {
  const gateway = createGateway({ models })
  expect(gateway.serves('/openai/deployments/demo/chat/completions')).toBe(false)
  expect(createGateway({ models, azure: true }).serves('/openai/deployments/demo/chat/completions')).toBe(true)
})

test.each([
  ['api-key', 'sk-test', 200],
  ['x-api-key', 'sk-test', 200],
  ['api-key', 'sk-wrong', 401],
  ['x-goog-api-key', 'sk-test', 200],
  ['x-api-key', 'sk test', 401],
  ['x-api-key', '', 401],
])('the key may be in %s: %j', async (name, value, status) => {
  const url = await served({ azure: false })
  const body = JSON.stringify({ model: 'demo', messages })
  expect(await ask(url, '/v1/chat/completions', { [name]: value }, body)).toMatchObject({ status })
})

test('a bearer key takes precedence over the others', async () => {
  const headers = { authorization: 'Bearer sk-wrong', 'api-key': 'sk-test' }
  expect(await ask(await served(), '/openai/v1/chat/completions', headers)).toMatchObject({ status: 401 })
})

describe('the default model', () => {
  test('is used for requests without a model', async () => {
    const url = await served({ defaultModel: 'demo' })
    for (const model of [undefined, null, '']) {
      const { status, text } = await ask(url, '/v1/chat/completions', key, JSON.stringify({ messages, model }))
      expect([status, (JSON.parse(text) as { model: string }).model]).toEqual([200, 'demo'])
    }
    const { text } = await ask(url, '/v1/chat/completions', key, JSON.stringify({ messages, model: 'org/demo' }))
    expect(JSON.parse(text)).toMatchObject({ model: 'org/demo' })
  })

  test('is used for forms too', async () => {
    const form = new FormData()
    form.set('file', new File([wav({ seconds: 1 })], 'sound.wav'))
    const url = await served({ defaultModel: 'demo-transcription' })
    expect(await ask(url, '/v1/audio/transcriptions', key, form)).toMatchObject({ status: 200 })
  })

  test('must be one of the models', () => {
    expect(() => createGateway({ models, defaultModel: 'dmeo' })).toThrow('defaultModel: "dmeo" is not in "models"')
    createGateway({ models: { 'x/*': demo() }, defaultModel: 'x/anything' })
  })
})
