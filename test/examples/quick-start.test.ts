import { exec } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import OpenAI, { APIConnectionError } from 'openai'
import { anthropicDialect, scriptedVendor, type Dialect } from 'modelhatch/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { geminiDialect } from '../../src/testing/dialects/gemini.ts'
import { googleVideos } from '../../src/testing/dialects/google-videos.ts'
import { scriptedDialect } from '../../src/testing/scripted-dialect.ts'
import { commandOf, runExample, type RunningExample } from './example.ts'

const run = promisify(exec)

const { scripts } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  scripts: Record<string, string>
}

describe.each([
  ['express', 'start'],
  ['koa', 'start:koa'],
  ['hono', undefined],
])('%s, npm run %s', (name, script) => {
  let example: RunningExample
  beforeAll(async () => {
    if (script !== undefined) expect(scripts[script]).toBe(`node ${commandOf(name).join(' ')}`)
    example = await runExample(name)
  })
  afterAll(() => example.stop())

  test('the link it prints opens the console once, and without it there is none', async () => {
    const link = /http:\/\/127\.0\.0\.1:\d+\/console\/sign-in\?token=[\w-]{32}/.exec(example.printed())?.[0] ?? ''
    const site = link.replace(/sign-in.*/, '')
    const statusOf = async (url: string, headers = {}) => (await fetch(url, { headers, redirect: 'manual' })).status
    expect(await statusOf(site)).toBe(404)
    const opened = await fetch(link, { redirect: 'manual' })
    const [session = ''] = (opened.headers.get('set-cookie') ?? '').split('; ')
    expect([opened.status, opened.headers.get('location')]).toEqual([302, './'])
    expect(await statusOf(site, { cookie: session })).toBe(200)
    const me = (await (await fetch(`${site}api/me`, { headers: { cookie: session } })).json()) as { role: string }
    expect(me.role).toBe('admin')
    expect(await statusOf(link)).toBe(404)
    expect(await statusOf(`${site}api/me`, { cookie: 'modelhatch_console=' })).toBe(404)
  })

  test('its first page says how to call it', async () => {
    const page = await fetch(new URL('/', example.baseURL))
    expect(page.status).toBe(200)
    expect(example.printed()).toContain((await page.text()).trim())
  })

  test('the curl it prints works; a signal ends it after the running requests', async () => {
    const client = new OpenAI({ baseURL: example.baseURL, apiKey: 'sk-demo', maxRetries: 0 })
    const chat = (content: string) =>
      client.chat.completions.create({ model: 'demo', messages: [{ role: 'user', content }], stream: true })
    expect((await client.models.list()).data.map(({ id }) => id)).toContain('demo')

    const { stdout } = await run(example.printed().slice(example.printed().indexOf('curl')))
    expect(stdout).toContain('"content":"Hello"')
    expect(stdout).toMatch(/data: \[DONE\]\n\n$/)

    let said = ''
    let stopped: Promise<number | null> | undefined
    let refused: unknown
    for await (const { choices } of await chat('Count to 25')) {
      said += choices[0]?.delta.content ?? ''
      if (stopped === undefined) {
        stopped = example.stop('SIGINT')
        do refused = await chat('Hello').catch((error: unknown) => error)
        while (!(refused instanceof Error))
      }
    }
    expect(said).toMatch(/24, 25$/)
    // Not an HTTP error: clients connect to the next process, if there is one.
    expect(refused).toBeInstanceOf(APIConnectionError)
    // Sooner than the five seconds for which a server keeps idle connections.
    const soon = pause(4_500, 'still running', { ref: false })
    expect(await Promise.race([stopped, soon])).toBe(0)
  })
})

test('MODELHATCH_KEY sets the API key, and a vendor key adds the models of the vendor', async () => {
  const vendor = await scriptedVendor((request, response) => {
    const found = { object: 'list', data: [{ id: 'gpt-9', object: 'model', created: 1, owned_by: 'vendor' }] }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(request.headers.authorization === 'Bearer sk-vendor' ? found : {}))
  })
  const example = await runExample('express', {
    MODELHATCH_KEY: 'sk-mine',
    OPENAI_API_KEY: 'sk-vendor',
    OPENAI_BASE_URL: vendor.baseURL,
  })
  const client = new OpenAI({ baseURL: example.baseURL, apiKey: 'sk-mine', maxRetries: 0 })
  expect((await client.models.list()).data.map(({ id }) => id)).toEqual(
    expect.arrayContaining(['demo', 'openai/gpt-9']),
  )
  await expect(client.withOptions({ apiKey: 'sk-demo' }).models.list()).rejects.toMatchObject({ status: 401 })
  expect(await example.stop()).toBe(0)
  await vendor.close()
})

test('a vendor that rejects its key is printed', async () => {
  const vendor = await scriptedVendor((_, response) => void response.writeHead(401).end('{}'))
  const example = await runExample('express', { OPENAI_API_KEY: 'sk-old', OPENAI_BASE_URL: vendor.baseURL })
  const client = new OpenAI({ baseURL: example.baseURL, apiKey: 'sk-demo', maxRetries: 0 })
  const asked = client.chat.completions.create({ model: 'openai/gpt-9', messages: [{ role: 'user', content: 'Hi' }] })
  await expect(asked).rejects.toMatchObject({ status: 503 })
  expect(await example.stop()).toBe(0)
  expect(example.printed()).toContain('openai failed for openai/gpt-9: Error: the vendor answered 401')
  expect(example.printed()).not.toContain('sk-old')
  await vendor.close()
})

/** A vendor that responds with the key it received. */
function echoing(dialect: Dialect, header: string) {
  return scriptedVendor(scriptedDialect(dialect, (_, { headers }) => ({ text: String(headers[header]) })).reply)
}

test('keys of other vendors add their models', async () => {
  const claude = await echoing(anthropicDialect, 'x-api-key')
  const google = await echoing(geminiDialect, 'x-goog-api-key')
  const example = await runExample('express', {
    ANTHROPIC_API_KEY: 'sk-ant',
    ANTHROPIC_BASE_URL: claude.baseURL,
    GEMINI_API_KEY: 'sk-goog',
    GEMINI_BASE_URL: google.baseURL,
  })
  const client = new OpenAI({ baseURL: example.baseURL, apiKey: 'sk-demo', maxRetries: 0 })
  const ask = async (model: string) => {
    const { choices } = await client.chat.completions.create({ model, messages: [{ role: 'user', content: 'Hi' }] })
    return choices[0]?.message.content
  }
  expect(await ask('anthropic/claude-sonnet-5')).toBe('sk-ant')
  expect(await ask('gemini/gemini-3-flash')).toBe('sk-goog')
  await expect(ask('openai/gpt-9')).rejects.toMatchObject({ status: 404 })
  expect(await example.stop()).toBe(0)
  await Promise.all([claude.close(), google.close()])
})

test('the key of Google adds its video models', async () => {
  const google = googleVideos('sk-goog')
  const vendor = await scriptedVendor((request, response) => {
    if (!request.url.startsWith('/v1/models?')) return google.reply(request, response)
    response.setHeader('content-type', 'application/json')
    response.end('{"models":[{"name":"models/veo-3.1-generate-001"},{"name":"models/gemini-omni-1.1-flash"}]}')
  })
  const example = await runExample('express', { GEMINI_API_KEY: 'sk-goog', GEMINI_BASE_URL: vendor.baseURL })
  const client = new OpenAI({ baseURL: example.baseURL, apiKey: 'sk-demo', maxRetries: 0 })
  const models = ['gemini/veo-3.1-generate-001', 'gemini/gemini-omni-1.1-flash']
  expect((await client.models.list()).data.map(({ id }) => id)).toEqual(expect.arrayContaining(models))
  for (const model of models) {
    const { status } = await client.videos.create({ model, prompt: 'A hatch opens', seconds: '4' })
    expect(status).toBe('queued')
  }
  expect(google.submissions.map(({ model }) => `gemini/${model}`)).toEqual(models)
  expect(await example.stop()).toBe(0)
  await vendor.close()
})

test('a port in use is an error at once', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  await expect(runExample('express', { PORT: String(port) })).rejects.toThrow('EADDRINUSE')
  other.close()
})
