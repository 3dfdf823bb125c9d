/** The snippets of the readme and the guides: what they may refer to, and how they are run. */
import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { snippets as all, type Snippet } from '../documents.ts'
import { sampleOf } from '../long.ts'
import { root, type Consumer } from './packed.ts'

const run = promisify(execFile)

/** Every snippet in TypeScript, those of the readme first. */
export const snippets: readonly Snippet[] = all.filter(({ language }) => language === 'ts')

/** The types of what a snippet that shows only a part refers to. */
export const globals = `
// The types of the AI SDK do not compile as strictly as this consumer does.
declare module '@ai-sdk/google' {
  export function createGoogleGenerativeAI(options: { apiKey?: string | undefined }): any
}
declare module '@koa/bodyparser' {
  export function bodyParser(): import('koa').Middleware
}
declare const mount: typeof import('modelhatch/express').mount
declare const server: import('node:http').Server
declare const gateway: import('modelhatch').Gateway
declare const app: import('express').Express
declare const pool: import('modelhatch/postgres').Queryable
declare const mysqlPool: import('modelhatch/mysql').MysqlPool
declare const redisClient: { sendCommand(words: string[]): Promise<unknown> }
declare const awsChain: () => Promise<{ accessKeyId: string; secretAccessKey: string }>
declare const googleAuth: { getRequestHeaders(): Promise<Record<string, string>> }
declare const azureCredential: { getToken(scope: string): Promise<{ token: string; expiresOnTimestamp: number }> }
declare function myClaude(options: { baseURL: string }): import('modelhatch/providers').Provider
declare function myTaskStore(): import('modelhatch').TaskStore
declare function anotherHandleOn(store: import('modelhatch').TaskStore): import('modelhatch').TaskStore
`

export interface Ran {
  readonly name: string
  /** Absent: it ran to its end. */
  readonly error?: string
  /** What each server that it started said to "Reply with exactly: pong". */
  readonly served: readonly string[]
  /** The status with which its gateway rejects a request without a key. */
  readonly stranger?: number
  /** What its provider, its handler or its client said. */
  readonly said?: string
}

/** Runs all snippets in one process that has real values for the globals: Express, PGlite, a gateway. */
export async function runSnippets(consumer: Consumer): Promise<Ran[]> {
  const files = place(
    consumer,
    snippets.filter((snippet) => !isSuite(snippet)),
  )
  consumer.write('run/run.mjs', running)
  const env = Object.fromEntries(
    ['OPENAI', 'ANTHROPIC', 'GEMINI', 'OTHER', 'OPENROUTER', 'XAI', 'GROQ'].map((name) => [
      `${name}_API_KEY`,
      'sk-none',
    ]),
  )
  const words = ['run.mjs', JSON.stringify(files)]
  const options = {
    cwd: join(consumer.folder, 'run'),
    timeout: 80_000,
    env: {
      PATH: process.env['PATH'],
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      AZURE_KEY: 'sk-none',
      AWS_BEARER_TOKEN_BEDROCK: 'sk-none',
      MASK_KEY: 'a secret',
      VENDOR_KEY_SECRET: 'a secret of at least 32 characters',
      CONSOLE_SECRET: 'a secret of at least 32 characters',
      OIDC_CLIENT_SECRET: 'secret',
      ...env,
    },
  }
  await run(process.execPath, words, options)
  return JSON.parse(readFileSync(join(consumer.folder, 'run/ran.json'), 'utf8')) as Ran[]
}

/** Runs the snippets that are test suites under Node's own runner, some of them unless it is thorough; gives their reports. */
export async function runSuites(consumer: Consumer): Promise<{ name: string; report: string }[]> {
  const files = place(consumer, sampleOf(snippets.filter(isSuite), 3))
  return Promise.all(
    files.map(async ({ name, file }) => {
      const words = ['--import', './makers.mjs', '--test-reporter=tap', file]
      const { stdout } = await run(process.execPath, words, { cwd: join(consumer.folder, 'run'), timeout: 80_000 })
      return { name, report: stdout }
    }),
  )
}

function isSuite({ code }: Snippet): boolean {
  return code.includes("from 'node:test'")
}

interface Placed {
  readonly name: string
  readonly file: string
}

/** Writes snippets into a folder that has at run time what their readers would have installed. */
function place(consumer: Consumer, chosen: readonly Snippet[]): Placed[] {
  const folder = join(consumer.folder, 'run')
  for (const name of ['@ai-sdk/google', '@koa/bodyparser', '@electric-sql/pglite']) {
    const link = join(folder, 'node_modules', name)
    mkdirSync(dirname(link), { recursive: true })
    try {
      symlinkSync(join(root, 'node_modules', name), link)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  }
  writeFileSync(join(folder, 'makers.mjs'), makers)
  writeFileSync(join(folder, 'world.mjs'), world)
  return chosen.map(({ name, code }, at) => {
    const file = `${name.replace(/\W+/g, '-')}-${at}.ts`
    writeFileSync(join(folder, file), `${code}\n${shown}`)
    return { name, file }
  })
}

/** Appended to a snippet, so that what it made can be looked at. */
const shown = `
export const made = {
  gateway: typeof gateway === 'undefined' ? undefined : gateway,
  parrot: typeof parrot === 'undefined' ? undefined : parrot,
  handler: typeof handler === 'undefined' ? undefined : handler,
  choices: typeof choices === 'undefined' ? undefined : choices,
}
`

/** What the reader has made: apart, so that a suite's process holds nothing open. */
const makers = `
import { memoryTaskStore } from 'modelhatch'
import { anthropic } from 'modelhatch/providers'
Object.assign(globalThis, {
  myClaude: ({ baseURL }) => anthropic({ baseURL }),
  myTaskStore: () => memoryTaskStore(),
  anotherHandleOn: (store) => store,
})
`

const world = `
import { createServer } from 'node:http'
import { Server } from 'node:net'
import { PGlite } from '@electric-sql/pglite'
import express from 'express'
import { createGateway } from 'modelhatch'
import { mount } from 'modelhatch/express'
import { postgres } from 'modelhatch/postgres'
import { demo } from 'modelhatch/providers'
import './makers.mjs'

// On a busy machine the database and its tables take longer to make than a request may wait.
const pool = new PGlite()
const first = createGateway({ models: { demo: demo() }, storage: postgres(pool) })
while (!(await first.ready().then(() => true, () => false)));
await first.close({ graceMs: 0 })

const gateway = createGateway({ keys: { 'sk-demo': {} }, models: { demo: demo() } })
const app = express().use('/ai', mount(gateway))
Object.assign(globalThis, {
  mount,
  gateway,
  app,
  server: createServer(app),
  pool,
  mysqlPool: { getConnection: () => Promise.reject(new Error('there is no MySQL here')) },
  redisClient: { sendCommand: () => Promise.reject(new Error('there is no Redis here')) },
  awsChain: () => Promise.reject(new Error('there is no AWS here')),
  googleAuth: { getRequestHeaders: () => Promise.reject(new Error('there is no Google here')) },
  azureCredential: { getToken: () => Promise.reject(new Error('there is no Azure here')) },
})

/** Servers on port 3000, each on a free one. */
export const servers = []
const listen = Server.prototype.listen
Server.prototype.listen = function (port, ...rest) {
  if (port !== 3000) return listen.call(this, port, ...rest)
  servers.push(this)
  return listen.call(this, 0, '127.0.0.1')
}
const send = globalThis.fetch
globalThis.fetch = (url, init) =>
  send(String(url).replace('localhost:3000', () => '127.0.0.1:' + servers[0].address().port), init)
`

const running = `
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createGateway } from 'modelhatch'
import { mount } from 'modelhatch/fetch'
import { servers } from './world.mjs'

const files = JSON.parse(process.argv[2])
const global = globalThis.gateway
const headers = { authorization: 'Bearer sk-demo', 'content-type': 'application/json' }
const asking = (model, content) => ({
  method: 'POST',
  headers,
  body: JSON.stringify({ model, messages: [{ role: 'user', content }] }),
})
for (const method of ['log', 'warn', 'error']) console[method] = () => {}

/** What a server says, wherever in it the gateway is mounted; of one that has no such key or model, why it refuses. */
async function pong(server) {
  if (!server.listening) await once(server, 'listening')
  for (const base of ['/ai/v1', '/v1']) {
    const url = 'http://127.0.0.1:' + server.address().port + base + '/chat/completions'
    const response = await fetch(url, asking('demo', 'Reply with exactly: pong'))
    const { choices, error } = await response.json().catch(() => ({}))
    if (choices !== undefined) return choices[0].message.content
    if (error !== undefined && error.code !== 'unknown_url') return error.code
  }
  return 'nothing'
}

async function look({ gateway, parrot, handler, choices }) {
  const seen = {}
  if (gateway !== undefined && gateway !== global) {
    seen.stranger = (await mount(gateway)(new Request('http://host/v1/models'))).status
    gateways.push(gateway)
  }
  if (choices !== undefined) seen.said = choices[0].message.content
  if (handler !== undefined) seen.said = String((await handler(new Request('http://host/ai/v1/models', { headers }))).status)
  if (parrot !== undefined) {
    const made = createGateway({ keys: { 'sk-demo': {} }, models: { parrot } })
    const response = await mount(made)(new Request('http://host/v1/chat/completions', asking('parrot', 'Pretty Polly')))
    seen.said = (await response.json()).choices[0].message.content
  }
  return seen
}

const gateways = []
const ran = []
for (const { name, file } of files) {
  const before = servers.length
  try {
    const { made } = await import('./' + file)
    const seen = await look(made)
    ran.push({ name, served: await Promise.all(servers.slice(before).map(pong)), ...seen })
  } catch (error) {
    ran.push({ name, served: [], error: String(error?.stack ?? error) })
  }
}
await Promise.all(gateways.map((gateway) => gateway.close({ graceMs: 0 })))
writeFileSync('ran.json', JSON.stringify(ran))
process.exit()
`
