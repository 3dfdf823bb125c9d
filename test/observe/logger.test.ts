/** The lines that a logger of the host gets, from real loggers. */
import { Console } from 'node:console'
import { Writable } from 'node:stream'
import pino from 'pino'
import { expect, test } from 'vitest'
import winston from 'winston'
import { createGateway, memoryUsageStore, type GatewayOptions, type Logger } from '../../src/index.ts'
import { openai } from '../../src/providers/openai/openai.ts'
import { defineProvider, finish, retrySame, text, tryNext } from '../../src/providers/index.ts'
import { causeOf } from '../../src/observe/cause.ts'
import { LineLimit } from '../../src/observe/line-limit.ts'
import { askChat, hosted, vendorFor } from '../hosted.ts'

interface Line {
  readonly level: string
  readonly message: string
  readonly [field: string]: unknown
}

/** Collects what is written to it, line by line. */
function sink() {
  const lines: string[] = []
  const stream = new Writable({
    write(chunk: Buffer, _, done) {
      lines.push(
        ...chunk
          .toString()
          .split('\n')
          .filter((line) => line !== ''),
      )
      done()
    },
  })
  return { stream, lines }
}

function byPino() {
  const { stream, lines } = sink()
  const levels: Readonly<Record<string, string>> = { 30: 'info', 40: 'warn', 50: 'error' }
  const read = (line: string): Line => {
    const { level, msg, ...fields } = JSON.parse(line) as { level: number; msg: string }
    return { level: levels[level] as string, message: msg, ...fields }
  }
  const logger: Logger = pino(stream)
  return { logger, lines: () => lines.map(read) }
}

function byWinston() {
  const { stream, lines } = sink()
  const logger: Logger = winston.createLogger({
    transports: [new winston.transports.Stream({ stream })],
    format: winston.format.json(),
  })
  return { logger, lines: () => lines.map((line) => JSON.parse(line) as Line) }
}

/** A logger of the host with methods of its own. */
function byHand() {
  const lines: Line[] = []
  const at = (level: string) => (message: string, fields: object) => void lines.push({ level, message, ...fields })
  const logger: Logger = { info: at('info'), warn: at('warn'), error: at('error') }
  return { logger, lines: () => lines }
}

const loggers = [
  ['pino', byPino],
  [
    'a child of pino',
    () => {
      const { stream, lines } = sink()
      const read = ({ msg, ...rest }: Record<string, unknown>) =>
        ({ ...rest, message: msg, level: rest['level'] === 40 ? 'warn' : 'error' }) as unknown as Line
      return {
        logger: pino(stream).child({ service: 'ai' }) as Logger,
        lines: () => lines.map((line) => read(JSON.parse(line) as Record<string, unknown>)),
      }
    },
  ],
  ['winston', byWinston],
  ['a logger by hand', byHand],
] as const

const good = defineProvider({
  name: 'good',
  async *generate() {
    yield text('Hello')
    yield finish('stop')
  },
})

async function service(logger: Logger, options: Partial<GatewayOptions> = {}) {
  const gateway = createGateway({
    models: { m: good },
    keys: { 'sk-test': {} },
    retry: { maxAttempts: 1 },
    logger,
    ...options,
  })
  return { gateway, url: await hosted(gateway) }
}

test.each(loggers)('%s: one line for a failed attempt, with request, deployment, status and cause', async (_, make) => {
  const { logger, lines } = make()
  const vendor = await vendorFor(
    (__, response) => void response.writeHead(503).end('{"error":{"message":"prompt: secret words"}}'),
  )
  const first = openai({ baseURL: vendor.baseURL, apiKey: 'sk-vendor-0123456789', name: 'first' })
  const { url } = await service(logger, {
    models: { m: { route: [{ provider: first, providerModel: 'x' }, { provider: good }] } },
  })
  const response = await askChat(url)
  expect(response.status).toBe(200)
  await expect.poll(lines).toHaveLength(1)
  expect(lines()[0]).toMatchObject({
    level: 'warn',
    message: 'attempt failed',
    requestId: response.headers.get('x-request-id'),
    endpoint: 'chat.completions',
    model: 'm',
    provider: 'first',
    providerModel: 'x',
    status: 503,
    code: 'service_unavailable',
    fault: 'provider_unavailable',
    cause: expect.stringContaining('the vendor answered 503'),
  })
  expect(JSON.stringify(lines())).not.toMatch(/secret words|sk-vendor/)
})

test.each(loggers)(
  '%s: a request that fails has a line of its own, without a second one for the same failure',
  async (_, make) => {
    const { logger, lines } = make()
    const bad = defineProvider({
      name: 'bad',
      chat: () => {
        throw tryNext(new Error('it is down', { cause: new Error('connect to postgres://root:hunter2@db') }))
      },
    })
    const { url } = await service(logger, { models: { m: bad } })
    const response = await askChat(url)
    expect(response.status).toBe(503)
    await expect.poll(lines).toHaveLength(2)
    expect(lines().map(({ level, message }) => [level, message])).toEqual([
      ['warn', 'attempt failed'],
      ['error', 'request failed'],
    ])
    const requestId = response.headers.get('x-request-id')
    expect(lines()[1]).toMatchObject({
      requestId,
      provider: 'bad',
      attempts: 1,
      status: 503,
      cause: expect.stringContaining('it is down: connect to postgres://…@db'),
    })
    expect(JSON.stringify(lines())).not.toContain('hunter2')
  },
)

test('a stream that fails after its first content has both lines', async () => {
  const { logger, lines } = byHand()
  const breaking = defineProvider({
    name: 'breaking',
    async *generate() {
      yield text('Hello')
      throw retrySame(new Error('it broke'))
    },
  })
  const { url } = await service(logger, { models: { m: breaking } })
  await (await askChat(url, { stream: true })).text()
  await expect.poll(() => lines().map(({ message }) => message)).toEqual(['attempt failed', 'request failed'])
  for (const line of lines())
    expect(line).toMatchObject({ provider: 'breaking', cause: expect.stringContaining('it broke') })
})

test('a request that succeeds, one that is refused and a client that leaves have no line', async () => {
  const { logger, lines } = byHand()
  const started = Promise.withResolvers<void>()
  const left = Promise.withResolvers<void>()
  const slow = defineProvider({
    name: 'slow',
    chat: ({ signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => (reject(signal.reason as Error), left.resolve()), { once: true })
        started.resolve()
      }),
  })
  const { url } = await service(logger, { models: { m: good, slow } })
  expect((await askChat(url)).status).toBe(200)
  expect((await askChat(url, { model: 'none' })).status).toBe(404)
  const client = new AbortController()
  const pending = askChat(url, { model: 'slow' }, { signal: client.signal }).catch(() => undefined)
  await started.promise
  client.abort()
  await left.promise
  await pending
  expect(lines()).toEqual([])
})

test('a vendor that rejects a request is information, and a logger without info gets no line', async () => {
  const vendor = await vendorFor((_, response) => void response.writeHead(400).end('{"error":{"param":"messages"}}'))
  const models = { m: openai({ baseURL: vendor.baseURL, apiKey: 'k' }) }
  const { logger, lines } = byHand()
  expect((await askChat((await service(logger, { models })).url)).status).toBe(400)
  expect(lines()).toMatchObject([{ level: 'info', message: 'attempt rejected', status: 400 }])
  const plain: Logger = { warn: (...line) => logger.warn(...line), error: (...line) => logger.error(...line) }
  expect((await askChat((await service(plain, { models })).url)).status).toBe(400)
  expect(lines()).toHaveLength(1)
})

test('a store that fails, a hook that throws and an open breaker have lines', async () => {
  const { logger, lines } = byHand()
  const usage = Object.assign(memoryUsageStore(), {
    append: () => {
      throw Object.assign(new Error('the disk is full'), { code: 'ENOSPC' })
    },
  })
  const bad = defineProvider({
    name: 'bad',
    chat: () => {
      throw retrySame(new Error('down'))
    },
  })
  const { url } = await service(logger, {
    models: { m: { route: [{ provider: bad }, { provider: good }] } },
    storage: { usage },
    breaker: { failures: 1 },
    hooks: {
      receipt: () => {
        throw new Error('the hook is broken')
      },
    },
  })
  expect((await askChat(url)).status).toBe(200)
  const found = (message: string) => lines().find((line) => line.message === message)
  await expect
    .poll(() => found('store failed'))
    .toMatchObject({ level: 'error', store: 'the usage store', cause: 'the disk is full (ENOSPC)' })
  expect(found('work failed')).toMatchObject({
    level: 'error',
    requestId: expect.stringMatching(/^req_/),
    cause: 'the hook is broken',
  })
  expect(found('deployment skipped')).toMatchObject({ level: 'warn', provider: 'bad', providerModel: 'm' })
})

test('an outage does not flood the log', async () => {
  const { logger, lines } = byHand()
  const bad = defineProvider({
    name: 'bad',
    chat: () => {
      throw tryNext(new Error('down'))
    },
  })
  const { url } = await service(logger, { models: { m: bad }, breaker: { failures: 1_000 } })
  for (let round = 0; round < 40; round++) expect((await askChat(url)).status).toBe(503)
  const count = (message: string) => lines().filter((line) => line.message === message).length
  // On a slow machine the requests may take more than one window.
  for (const message of ['attempt failed', 'request failed']) {
    expect(count(message)).toBeGreaterThanOrEqual(10)
    expect(count(message)).toBeLessThan(40)
  }
})

test('lines are counted by kind and in all, and the next one says how many were left out', () => {
  let now = 0
  const limit = new LineLimit(() => now)
  const admitted = (kind: string, times: number) =>
    Array.from({ length: times }, () => limit.admit(kind)).filter((each) => each !== undefined)
  expect(admitted('a', 25)).toEqual(Array.from({ length: 10 }, () => 0))
  expect(admitted('b', 3)).toEqual([0, 0, 0])
  now = 9_999
  expect(admitted('a', 1)).toEqual([])
  now = 10_000
  expect(admitted('a', 2)).toEqual([16, 0])
  const all = Array.from({ length: 200 }, (_, index) => limit.admit(`kind ${index}`)).filter(
    (each) => each !== undefined,
  )
  expect(all).toHaveLength(98)
  for (let index = 0; index < 5_000; index++) limit.admit(`name ${index}`)
  now = 20_000
  expect(limit.admit('a')).toBeDefined()
})

test('a logger that throws affects nothing', async () => {
  const fail = () => {
    throw new Error('no disk')
  }
  const bad = defineProvider({ name: 'bad', chat: fail })
  const { url } = await service({ warn: fail, error: fail }, { models: { m: bad } })
  expect((await askChat(url)).status).toBe(500)
})

test('console gets the message first', async () => {
  const { stream, lines } = sink()
  const bad = defineProvider({
    name: 'bad',
    chat: () => {
      throw tryNext(new Error('down'))
    },
  })
  const { url } = await service(new Console(stream, stream), { models: { m: bad } })
  await askChat(url)
  expect(lines[0]).toMatch(/^attempt failed \{/)
})

test('anything but a logger is rejected', () => {
  for (const wrong of [{}, 'pino', { warn() {} }, null]) {
    expect(() => createGateway({ models: { m: good }, logger: wrong as never })).toThrow(/"?logger"?.*warn and error/)
  }
})

test.each<[unknown, string]>([
  [new Error('a', { cause: new Error('b', { cause: 'c' }) }), 'a: b: c'],
  [new Error('a', { cause: new Error('a') }), 'a'],
  [new Error('first line\nINSERT INTO secrets'), 'first line'],
  [new SyntaxError('Unexpected token in "my prompt" is not valid JSON'), 'SyntaxError'],
  [Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }), 'refused (ECONNREFUSED)'],
  [new AggregateError([new Error('one'), new Error('two')], 'all failed'), 'all failed: one'],
  [new Error('Incorrect API key provided: sk-proj-abcdefgh12345678.'), 'Incorrect API key provided: ….'],
  [new Error('authorization: Bearer abc.def'), 'authorization: … …'],
  [new Error('postgres://user:pass@host:5432/db is down'), 'postgres://…@host:5432/db is down'],
  [new Error('postgres://user:p@ss/word@host/db is down'), 'postgres://…@host/db is down'],
  [new Error('bad options {"apiKey":"abc123","clientSecret": "x y"}'), 'bad options {"apiKey":…,"clientSecret": …}'],
  [new Error('GET https://x.test/?api_key=12345&a=1'), 'GET https://x.test/?api_key=…&a=1'],
  [new Error(`token ${'a1'.repeat(30)} expired`), 'token … expired'],
  [new Error('x'.repeat(5_000)), 'x'.repeat(200)],
  ['just a text', 'just a text'],
  [undefined, ''],
])('the cause of %s', (error, expected) => {
  expect(causeOf(error)).toBe(expected)
})

test('the cause of an object that throws when it is read', () => {
  const hostile = new Proxy(
    {},
    {
      get: () => {
        throw new Error('no')
      },
    },
  )
  expect(causeOf(hostile)).toBe('an error that cannot be read')
})
