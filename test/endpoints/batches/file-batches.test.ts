/** OpenAI's batches and their files, as its official client uses them. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openai } from 'modelhatch/providers'
import OpenAI, { toFile } from 'openai'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  createGateway,
  fileDirectory,
  memoryLedger,
  memoryTaskStore,
  memoryUsageStore,
  type GatewayOptions,
} from '../../../src/index.ts'
import { hostedWith } from '../../hosted.ts'
import { faults } from '../../openapi.ts'
import { hasShared } from '../../shared.ts'
import { answered, fileBatchVendor, type VendorLine } from './file-vendor.ts'
import { expectSameAnswers, failingStore, heldSubmission, watchedStore } from './held.ts'

const price = { input: '2', output: '4' }

async function scene(more: Partial<GatewayOptions> = {}) {
  const vendor = await fileBatchVendor()
  onTestFinished(() => vendor.close())
  const folder = mkdtempSync(join(tmpdir(), 'modelhatch-files-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const ledger = memoryLedger()
  const usage = memoryUsageStore()
  await ledger.credit({ account: 'acme', amount: 1_000_000n, reference: 'start' })
  let time = Date.now()
  const provider = openai({ preset: 'openai', baseURL: vendor.baseURL, responses: true })
  const hosted = await hostedWith({
    batches: { files: fileDirectory(folder) },
    keys: { 'sk-test': { account: 'acme' }, 'sk-other': { account: 'other' } },
    models: {
      gpt: { provider, providerModel: 'gpt-9-mini', price, contextWindow: 200_000 },
      second: { provider, providerModel: 'gpt-9', price },
      vectors: { provider, providerModel: 'embed-9', price: { input: '2' } },
      groq: { provider: openai({ preset: 'groq', baseURL: vendor.baseURL }), price },
      bare: { provider: openai({ baseURL: vendor.baseURL }), price },
    },
    billing: { currency: 'USD' },
    clock: () => time,
    // Steps are those of requests, so that none is under way when a request asks.
    tasks: { sweepMs: 600_000 },
    ...more,
    storage: {
      ledger,
      usage,
      batches: memoryTaskStore(),
      fileBatches: memoryTaskStore(),
      files: memoryTaskStore(),
      ...more.storage,
    },
  })
  const client = (apiKey: string) => new OpenAI({ baseURL: `${hosted.url}/v1`, apiKey, maxRetries: 0 })
  /** Time passes until the next check. */
  const pass = (ms = 61_000) => void (time += ms)
  const own = client('sk-test')
  const upload = async (lines: readonly object[] | string) => {
    const text = typeof lines === 'string' ? lines : lines.map((line) => `${JSON.stringify(line)}\n`).join('')
    return own.files.create({ file: await toFile(Buffer.from(text), 'requests.jsonl'), purpose: 'batch' })
  }
  const create = async (lines: readonly object[] | string, endpoint: Endpoint = '/v1/chat/completions') =>
    own.batches.create({ input_file_id: (await upload(lines)).id, endpoint, completion_window: '24h' })
  const read = async (id: string | undefined) =>
    (await (await own.files.content(id ?? '')).text())
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as ResultLine)
  return {
    ...hosted,
    vendor,
    folder,
    ledger,
    usage,
    pass,
    client: own,
    other: client('sk-other'),
    upload,
    create,
    read,
  }
}

type Endpoint = OpenAI.BatchCreateParams['endpoint']

interface ResultLine {
  readonly custom_id: string
  readonly response: { readonly status_code: number; readonly body: Record<string, unknown> } | null
  readonly error: { readonly code: string } | null
}

const ask = (custom_id: string, body: object = {}, url = '/v1/chat/completions') => ({
  custom_id,
  method: 'POST',
  url,
  body: { model: 'gpt', max_tokens: 100, messages: [{ role: 'user', content: custom_id }], ...body },
})

function expectValid(schema: string, value: object): void {
  if (hasShared) expect(faults(schema, value)).toEqual([])
}

test('a batch is created, ends, and its output has the names of the client and no cost of the vendor', async () => {
  const { client, vendor, pass, receipts, ledger, usage, upload, read, folder } = await scene()
  const input = await upload([ask('first'), ask('second one')])
  expect(input).toMatchObject({ object: 'file', purpose: 'batch', filename: 'requests.jsonl', status: 'processed' })
  expectValid('OpenAIFile', input)
  expect(await client.files.retrieve(input.id)).toEqual(input)
  const made = await client.batches.create({
    input_file_id: input.id,
    endpoint: '/v1/chat/completions',
    completion_window: '24h',
    metadata: { job: 'nightly' },
  })
  expectValid('Batch', made)
  expect(made).toMatchObject({
    status: 'in_progress',
    model: 'gpt',
    metadata: { job: 'nightly' },
    request_counts: { total: 2, completed: 0, failed: 0 },
  })
  expect(made.id).toMatch(/^batch_[\w-]{32}$/)
  const [sent] = vendor.batches
  expect(sent?.requests.map(({ body }) => [body['model'], body['max_tokens']])).toEqual([
    ['gpt-9-mini', 100],
    ['gpt-9-mini', 100],
  ])
  expect(sent?.requests.every(({ custom_id: id }) => /^req_\w+-[01]$/.test(id))).toBe(true)
  expect((await ledger.account('acme'))?.held).toBeGreaterThan(0n)

  vendor.end()
  pass()
  const ended = await client.batches.retrieve(made.id)
  expectValid('Batch', ended)
  expect(ended).toMatchObject({ status: 'completed', request_counts: { total: 2, completed: 2, failed: 0 } })
  expect(ended.usage).toMatchObject({ input_tokens: 20, output_tokens: 40, total_tokens: 60 })
  expect(ended.error_file_id).toBeUndefined()
  const lines = await read(ended.output_file_id)
  expect(lines.map(({ custom_id: id }) => id)).toEqual(['second one', 'first'])
  for (const { response } of lines) {
    expect(response).toMatchObject({ status_code: 200, request_id: expect.stringMatching(/^req_\w+\.[01]$/) })
    expect(response?.body).toMatchObject({ model: 'gpt', choices: [{ message: { content: 'Hi' } }] })
    expect(JSON.stringify(response)).not.toContain('cost')
    expectValid('CreateChatCompletionResponse', response?.body ?? {})
  }
  expect((await client.files.retrieve(ended.output_file_id ?? '')).purpose).toBe('batch_output')

  expect(receipts.map(({ charge, endpoint }) => `${endpoint} ${charge?.cost}`)).toEqual([
    'chat.completions.batches 0.00005',
    'chat.completions.batches 0.00005',
  ])
  expect(await ledger.account('acme')).toMatchObject({ held: 0n, balance: 1_000_000n - 100n })
  expect((await usage.list({ account: 'acme', limit: 10 })).items.map(({ cost }) => cost)).toEqual([50n, 50n])
  // The input and the output; nothing that only the steps need, here or at the vendor.
  expect(readdirSync(folder)).toHaveLength(2)
  expect(vendor.files.size).toBe(0)
})

test.each([
  ['/v1/responses', { model: 'gpt', input: 'Hi', max_output_tokens: 50 }, 'Response', 50n],
  ['/v1/embeddings', { model: 'vectors', input: ['a', 'b'] }, 'CreateEmbeddingResponse', 10n],
  ['/v1/completions', { model: 'gpt', prompt: 'Hi', max_tokens: 50 }, 'CreateCompletionResponse', 50n],
] as const)('requests of %s', async (url, body, schema, cost) => {
  const { create, client, vendor, pass, read, ledger } = await scene()
  const { id } = await create([{ custom_id: 'a', method: 'POST', url, body }], url)
  vendor.end()
  pass()
  const { output_file_id: output } = await client.batches.retrieve(id)
  const [line] = await read(output)
  expect(line?.response?.body).toMatchObject({ model: body.model })
  expectValid(schema, line?.response?.body ?? {})
  expect(await ledger.account('acme')).toMatchObject({ held: 0n, balance: 1_000_000n - cost })
})

test('receipts name the session and the agent of the request that created the batch', async () => {
  const { client, vendor, pass, receipts, upload } = await scene()
  const { id: input_file_id } = await upload([ask('first')])
  const headers = { 'session-id': 's-1', 'x-claude-code-agent-id': 'explorer' }
  const request = { input_file_id, endpoint: '/v1/chat/completions', completion_window: '24h' } as const
  const { id } = await client.batches.create(request, { headers })
  vendor.end()
  pass()
  await client.batches.retrieve(id)
  expect(receipts).toMatchObject([{ account: 'acme', session: 's-1', agent: 'explorer' }])
})

test('what did not succeed is released, and is in the file of errors', async () => {
  const { create, client, vendor, pass, read, ledger } = await scene()
  const { id } = await create(['good', 'bad', 'expired', 'lost'].map((name) => ask(name)))
  vendor.resultOf = (line: VendorLine) => {
    const name = (line.body['messages'] as { content: string }[])[0]?.content
    if (name === 'good') return answered(line)
    if (name === 'bad')
      return answered(line, 400, { error: { code: 'context_length_exceeded', message: 'gpt-9-mini' } })
    return name === 'expired' ? { response: null, error: { code: 'batch_expired' } } : undefined
  }
  vendor.end()
  pass()
  const ended = await client.batches.retrieve(id)
  expect(ended).toMatchObject({ status: 'expired', request_counts: { total: 4, completed: 1, failed: 3 } })
  const errors = await read(ended.error_file_id)
  expect(errors.map(({ custom_id: name, response, error }) => [name, response?.status_code, error?.code])).toEqual([
    ['expired', undefined, 'batch_expired'],
    ['bad', 400, undefined],
    ['lost', undefined, 'batch_error'],
  ])
  expect(JSON.stringify(errors)).not.toContain('gpt-9-mini')
  expect(await ledger.account('acme')).toMatchObject({ held: 0n, balance: 1_000_000n - 50n })
})

test('a cancelled batch is cancelled at the vendor, and what was not used is released', async () => {
  const { create, client, vendor, pass, ledger, read } = await scene()
  const { id } = await create([ask('a'), ask('b')])
  const cancelling = await client.batches.cancel(id)
  expectValid('Batch', cancelling)
  expect(cancelling.status).toBe('cancelling')
  expect(vendor.batches[0]?.status).toBe('cancelling')
  vendor.resultOf = (line) => (line.custom_id.endsWith('-0') ? answered(line) : undefined)
  vendor.end()
  pass()
  const ended = await client.batches.retrieve(id)
  expect(ended).toMatchObject({ status: 'cancelled', request_counts: { completed: 1, failed: 1 } })
  expect((await read(ended.error_file_id)).map(({ error }) => error?.code)).toEqual(['batch_cancelled'])
  expect(await ledger.account('acme')).toMatchObject({ held: 0n, balance: 1_000_000n - 50n })
})

test('a batch that has ended before its cancellation reaches the vendor is charged', async () => {
  const { create, client, vendor, pass, ledger } = await scene()
  const { id } = await create([ask('a')])
  vendor.end()
  await client.batches.cancel(id)
  pass()
  expect(await client.batches.retrieve(id)).toMatchObject({ request_counts: { completed: 1 } })
  expect(await ledger.account('acme')).toMatchObject({ held: 0n, balance: 1_000_000n - 50n })
})

test('a batch that the vendor refuses after all has failed, and costs nothing', async () => {
  const { create, client, vendor, pass, ledger } = await scene()
  const { id } = await create([ask('a')])
  const [sent] = vendor.batches
  if (sent !== undefined) sent.status = 'failed'
  pass()
  const ended = await client.batches.retrieve(id)
  expectValid('Batch', ended)
  expect(ended).toMatchObject({ status: 'failed', errors: { data: [{ code: 'batch_failed' }] } })
  expect(await ledger.account('acme')).toMatchObject({ held: 0n, balance: 1_000_000n })
})

test('batches and files are listed in pages; files are deleted, with their contents', async () => {
  const { create, client, pass, folder } = await scene()
  const ids: string[] = []
  for (const name of ['a', 'b', 'c']) {
    ids.unshift((await create([ask(name)])).id)
    pass(1)
  }
  const found: string[] = []
  for await (const { id } of client.batches.list({ limit: 2 })) found.push(id)
  expect(found).toEqual(ids)
  const files: string[] = []
  for await (const { id } of client.files.list({ limit: 2, purpose: 'batch' })) files.push(id)
  expect(files).toHaveLength(3)
  const before = readdirSync(folder).length
  expect(await client.files.delete(files[0] ?? '')).toEqual({ id: files[0], object: 'file', deleted: true })
  expect(readdirSync(folder)).toHaveLength(before - 1)
  await expect(client.files.retrieve(files[0] ?? '')).rejects.toMatchObject({ status: 404 })
})

test('files are listed by their purpose, however many others there are before them', async () => {
  const { create, client, vendor, pass } = await scene()
  const inputs: string[] = []
  for (const name of ['a', 'b', 'c']) {
    const { id, input_file_id: input } = await create([ask(name)])
    inputs.unshift(input)
    vendor.end()
    pass()
    await client.batches.retrieve(id)
    pass()
  }
  for (const limit of [1, 2, 3]) {
    const found: string[] = []
    for await (const { id } of client.files.list({ limit, purpose: 'batch' })) found.push(id)
    expect(found).toEqual(inputs)
  }
})

test('files expire after 30 days, with their contents', async () => {
  const { client, upload, pass, folder } = await scene({ tasks: { sweepMs: 5 } })
  const { id } = await upload([ask('a')])
  pass(31 * 86_400_000)
  await expect(client.files.retrieve(id)).rejects.toMatchObject({ status: 404 })
  await upload([ask('b')])
  await expect.poll(() => readdirSync(folder).length).toBe(1)
})

test('the ids of other accounts, unknown ids and deleted ones get the same 404', async () => {
  const { create, upload, url } = await scene()
  const { id } = await create([ask('a')])
  const file = (await upload([ask('b')])).id
  const bodyOf = async (path: string, init: RequestInit = {}) => {
    const headers = { authorization: 'Bearer sk-other', 'content-type': 'application/json' }
    const response = await fetch(`${url}/v1/${path}`, { headers, ...init })
    expect(response.status).toBe(404)
    return (await response.text()).replace(/req_\w+/, '')
  }
  const batches = [id, 'batch_unknown', '%00'].flatMap((each) => [
    bodyOf(`batches/${each}`),
    bodyOf(`batches/${each}/cancel`, { method: 'POST' }),
  ])
  expect(new Set(await Promise.all(batches)).size).toBe(1)
  const input = (each: string) =>
    JSON.stringify({ input_file_id: each, endpoint: '/v1/chat/completions', completion_window: '24h' })
  const files = [file, 'file-unknown', '%00'].flatMap((each) => [
    bodyOf(`files/${each}`),
    bodyOf(`files/${each}/content`),
    bodyOf(`files/${each}`, { method: 'DELETE' }),
    bodyOf('batches', { method: 'POST', body: input(each) }),
  ])
  expect(new Set(await Promise.all(files)).size).toBe(1)
})

test('a repeated request with the same idempotency key is the same batch', async () => {
  const { client, upload, vendor } = await scene()
  const { id: input } = await upload([ask('a')])
  const make = (metadata: Record<string, string> = {}) =>
    client.batches.create(
      { input_file_id: input, endpoint: '/v1/chat/completions', completion_window: '24h', metadata },
      { headers: { 'idempotency-key': 'once' } },
    )
  const [first, second] = await Promise.all([make(), make()])
  expect((await make()).id).toBe(first.id)
  expect(second.id).toBe(first.id)
  expect(vendor.batches).toHaveLength(1)
  await expect(make({ other: 'yes' })).rejects.toMatchObject({ status: 409 })
})

describe('a request that is repeated while the batch is submitted', () => {
  const once = { headers: { 'idempotency-key': 'once' } }

  test.each([
    ['accepts', undefined],
    ['refuses', 400],
    ['is too busy for', 429],
  ])('is answered as the first, if the vendor %s it', async (_, status) => {
    const { store, found } = watchedStore()
    const { client, upload, vendor } = await scene({ storage: { fileBatches: store } })
    const { id: input } = await upload([ask('a')])
    const create = async () =>
      client.batches.create({ input_file_id: input, endpoint: '/v1/chat/completions', completion_window: '24h' }, once)
    await expectSameAnswers(vendor, create, found, status)
    expect((await client.batches.list()).data).toHaveLength(vendor.batches.length)
  })

  test('is told of it after half a minute, and then finds it even if the vendor refuses it', async () => {
    const { client, upload, vendor, pass } = await scene()
    const { id: input } = await upload([ask('a')])
    const create = async () =>
      client.batches.create({ input_file_id: input, endpoint: '/v1/chat/completions', completion_window: '24h' }, once)
    const { asked, answer } = heldSubmission(vendor, 400)
    const first = create()
    await asked
    pass(30_001)
    const { id, status } = await create()
    expect(status).toBe('validating')
    answer()
    await expect(first).rejects.toMatchObject({ status: 400 })
    expect((await client.batches.retrieve(id)).status).toBe('failed')
  })
})

describe('a batch is refused as a whole', () => {
  const large = { max_tokens: 190_000 }
  test.each([
    [[ask('a', { model: 'none' })], 404, 'Line 1 of the file: The model "none"'],
    [[ask('a'), ask('b', { model: 'second' })], 400, 'must have the same model, here "gpt"'],
    [[ask('a', { model: 'bare' })], 400, 'The model "bare" is not available in batches'],
    [[ask('a'), ask('a')], 400, 'Line 2 of the file: "custom_id" must be unique'],
    [[ask('')], 400, 'custom_id'],
    [[ask('a', {}, '/v1/embeddings')], 400, '"url" must be "/v1/chat/completions"'],
    [[{ ...ask('a'), method: 'GET' }], 400, 'method'],
    [[ask('a', { max_tokens: 'many' })], 400, 'Line 1 of the file: Invalid value for "max_tokens"'],
    [[ask('a', { messages: [{ role: 'none', content: '' }] })], 400, 'messages[0].role'],
    [[ask('a', { stream: true })], 400, 'stream'],
    [[ask('a', { service_tier: 'priority' })], 400, 'service_tier'],
    ['{"custom_id": ', 400, 'Line 1 of the file'],
    ['\n\n', 400, 'The file has no requests'],
    [[ask('a', large), ask('b', large), ask('c', large)], 429, 'insufficient'],
  ])('%j', async (lines, status, message) => {
    const { create, vendor, ledger, folder, client } = await scene()
    const error = await create(lines).then(
      () => undefined,
      (thrown: { readonly status?: number; readonly code?: string; readonly message: string }) => thrown,
    )
    expect(error?.status).toBe(status)
    expect(`${error?.code} ${error?.message}`).toContain(message)
    expect(vendor.batches).toEqual([])
    expect((await client.batches.list()).data).toEqual([])
    await expect.poll(() => readdirSync(folder)).toHaveLength(1)
    expect(await ledger.account('acme')).toMatchObject({ held: 0n, balance: 1_000_000n })
  })

  test('by a cap that all requests together would break, by the vendor, and without the endpoint there', async () => {
    const caps = [{ name: 'daily', period: 'day', calls: 3 }] as const
    const { create, vendor, ledger } = await scene({ keys: { 'sk-test': { account: 'acme', caps } } })
    const four = ['a', 'b', 'c', 'd'].map((name) => ask(name))
    await expect(create(four)).rejects.toMatchObject({ status: 429, message: expect.stringContaining('daily') })
    expect(await ledger.account('acme')).toMatchObject({ held: 0n })
    await create(four.slice(0, 3))
    expect(vendor.batches).toHaveLength(1)

    const { create: again, vendor: strict, ledger: books, client } = await scene()
    strict.reply = (_, response) => void response.writeHead(400, { 'content-type': 'application/json' }).end('{}')
    await expect(again([ask('a')])).rejects.toMatchObject({ status: 400 })
    expect(await books.account('acme')).toMatchObject({ held: 0n, balance: 1_000_000n })
    expect((await client.batches.list()).data).toEqual([])
    const body = { model: 'groq', input: 'Hi', max_output_tokens: 9 }
    const line = { custom_id: 'a', method: 'POST', url: '/v1/responses', body }
    await expect(again([line], '/v1/responses')).rejects.toThrow('not available in batches of /v1/responses')
  })

  test.each([
    [{ purpose: 'assistants' }, 'purpose'],
    [{ purpose: 'batch', expires_after: { anchor: 'created_at', seconds: 3_600 } }, 'expires_after'],
  ])('a file of %j', async (fields, message) => {
    const { client, folder } = await scene()
    const file = await toFile(Buffer.alloc(2_000_000, 'x'), 'x.jsonl')
    await expect(client.files.create({ file, ...fields } as OpenAI.FileCreateParams)).rejects.toThrow(message)
    expect(readdirSync(folder)).toEqual([])
  })

  test('a file that an account has no room for', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'modelhatch-files-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const { upload } = await scene({ batches: { files: fileDirectory(folder), accountBytes: 100 } })
    await upload([ask('a')])
    await expect(upload([ask('b')])).rejects.toThrow('Delete some of them')
  })
})

test('a batch whose submission was broken off is found at the vendor, and not sent twice', async () => {
  const { create, client, vendor, pass, ledger } = await scene({ tasks: { sweepMs: 5 } })
  vendor.before = (_, made) => {
    if (made !== undefined) throw new Error('broken off')
  }
  const { id, status } = await create([ask('a')])
  expect(status).toBe('validating')
  vendor.end()
  await expect
    .poll(async () => {
      pass()
      return (await client.batches.retrieve(id)).status
    })
    .toBe('completed')
  expect(vendor.batches).toHaveLength(1)
  expect(await ledger.account('acme')).toMatchObject({ held: 0n, balance: 1_000_000n - 50n })
})

test('a batch is refused if it is not known whether its intent was stored', async () => {
  const { create, client, vendor, ledger } = await scene({
    storage: { fileBatches: failingStore(['submitting'], true) },
  })
  await expect(create([ask('a')])).rejects.toMatchObject({ status: 503 })
  expect((await client.batches.list()).data).toEqual([])
  expect(vendor.batches).toEqual([])
  expect(await ledger.account('acme')).toMatchObject({ held: 0n, balance: 1_000_000n })
})

test('a batch whose refusal could not be stored is sent again, and charged', async () => {
  const { create, client, vendor, pass, ledger } = await scene({
    storage: { fileBatches: failingStore(['settling', 'ended'], false) },
  })
  const { reply } = vendor
  vendor.reply = (request, response) => {
    if (request.url.endsWith('/batches')) return void response.writeHead(400).end('{}')
    return reply(request, response)
  }
  await expect(create([ask('a')])).rejects.toMatchObject({ status: 503 })
  vendor.reply = reply
  await expect
    .poll(async () => {
      pass(400_000)
      vendor.end()
      const { data } = await client.batches.list()
      return (await client.batches.retrieve(data[0]?.id ?? '')).status
    })
    .toBe('completed')
  expect(vendor.batches).toHaveLength(1)
  expect(await ledger.account('acme')).toMatchObject({ held: 0n, balance: 1_000_000n - 50n })
})

test('an erased account has no batches and no files', async () => {
  const { create, gateway, client, folder, pass } = await scene({ tasks: { sweepMs: 5 } })
  await create([ask('a')])
  await gateway.admin.erase('acme')
  expect((await client.files.list()).data).toEqual([])
  expect((await client.batches.list()).data).toEqual([])
  pass()
  await expect.poll(() => readdirSync(folder).filter((name) => name.startsWith('file-'))).toEqual([])
})

test('without a storage of files there are no such paths, and with it the storage must keep batches', async () => {
  const { url } = await hostedWith({ models: {}, batches: true, storage: { batches: memoryTaskStore() } })
  for (const path of ['files', 'batches']) {
    const response = await fetch(`${url}/v1/${path}`, { headers: { authorization: 'Bearer sk-test' } })
    expect(await response.text()).toContain('Unknown request URL')
  }
  const files = fileDirectory('never-used')
  const storage = { batches: memoryTaskStore(), fileBatches: memoryTaskStore() }
  expect(() => createGateway({ models: {}, batches: { files }, storage })).toThrow('batches: needs a storage')
  expect(() => createGateway({ models: {}, batches: { files: {} } as never })).toThrow('batches')
})
