/** The program as its user runs it: a process of its own, in a folder of its own. What differs only in data is called here. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import OpenAI from 'openai'
import { doctor, type Finding } from '../../../adapters/cli/doctor.ts'
import { load } from '../../../adapters/cli/load.ts'
import { reconcile, type ReconcileArguments } from '../../../adapters/cli/reconcile.ts'
import { serve } from '../../../adapters/cli/serve.ts'
import { sqlite } from '../../../adapters/stores/sqlite/sqlite.ts'
import { eachUnit } from '../../../src/observe/usage/units.ts'
import { scriptedVendor } from 'modelhatch/testing'
import { describe, expect, onTestFinished, test } from 'vitest'
import { sampleOf } from '../../long.ts'
import {
  hasMysql,
  hasPostgres,
  hasRedis,
  mysqlPool,
  mysqlUrl,
  ownName,
  postgresPool,
  postgresUrl,
  redisUrl,
} from '../../servers.ts'
import { sourceFlags } from '../../source-flags.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const program = join(root, 'adapters/cli/cli.ts')

function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'modelhatch-cli-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

async function ownDatabase(
  pool: { query(text: string): Promise<unknown>; end(): Promise<unknown> },
  url: string,
): Promise<string> {
  const name = ownName()
  await pool.query(`CREATE DATABASE ${name}`)
  onTestFinished(async () => {
    await pool.query(`DROP DATABASE ${name}`)
    await pool.end()
  })
  return new URL(`/${name}`, url).href
}

interface Run {
  readonly child: ChildProcess
  readonly printed: () => string
  readonly ended: Promise<unknown[]>
}

function run(folder: string, words: readonly string[], environment: Record<string, string> = {}): Run {
  const child = spawn(process.execPath, [...sourceFlags, ...words], {
    cwd: folder,
    env: { PATH: process.env['PATH'], NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'], ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece: Buffer) => (printed += piece.toString()))
  onTestFinished(() => void child.kill('SIGKILL'))
  return { child, printed: () => printed, ended: once(child, 'close') }
}

/** What a finished command has printed, and its exit code. */
async function finished(folder: string, words: readonly string[], environment?: Record<string, string>) {
  const { ended, printed } = run(folder, [program, ...words], environment)
  const [code] = await ended
  return { code, printed: printed() }
}

const urlIn = (text: string) => /http:\/\/[\w.]+:\d+[\w/]*\/v1/.exec(text)?.[0]

/** Waits until a server prints where it listens. */
async function served({ child, printed, ended }: Run): Promise<string> {
  while (urlIn(printed()) === undefined) {
    const isOver = await Promise.race([
      ended.then(() => true),
      once(child.stdout as NonNullable<typeof child.stdout>, 'data'),
    ])
    if (isOver === true) throw new Error(`it ended: ${printed()}`)
  }
  return urlIn(printed()) as string
}

async function say(baseURL: string, apiKey: string, model = 'demo'): Promise<string> {
  const client = new OpenAI({ baseURL, apiKey, maxRetries: 0 })
  const { choices } = await client.chat.completions.create({ model, messages: [{ role: 'user', content: 'Hello' }] })
  return choices[0]?.message.content ?? ''
}

async function stop({ child, ended }: Run): Promise<unknown> {
  child.kill('SIGTERM')
  const [code] = await ended
  return code
}

describe('modelhatch', () => {
  test('serves the demo models, a console and health checks in an empty folder, and ends with a signal', async () => {
    const running = run(emptyFolder(), [program], { PORT: '0' })
    const baseURL = await served(running)
    const key = /sk-[\w-]{24}/.exec(running.printed())?.[0] ?? ''
    expect(await say(baseURL, key)).toContain('Hello')
    const origin = new URL(baseURL).origin
    const statusOf = async (path: string) => (await fetch(origin + path, { redirect: 'manual' })).status
    expect(await (await fetch(origin)).text()).toContain(baseURL)
    expect(await Promise.all(['/healthz', '/console', '/console/', '/nothing'].map(statusOf))).toEqual([
      200, 302, 404, 404,
    ])
    const link = /http\S+sign-in\S+/.exec(running.printed())?.[0] ?? ''
    expect((await fetch(link, { redirect: 'manual' })).status).toBe(302)
    expect(await stop(running)).toBe(0)
  })

  test('reads its configuration from a file, which comes before the environment, and variables from .env', async () => {
    const folder = emptyFolder()
    mkdirSync(join(folder, 'node_modules'))
    symlinkSync(root, join(folder, 'node_modules/modelhatch'))
    writeFileSync(join(folder, '.env'), 'MODELHATCH_KEY=sk-of-the-file')
    writeFileSync(
      join(folder, 'modelhatch.config.ts'),
      [
        "import { defineConfig } from 'modelhatch/config'",
        "import { demo } from 'modelhatch/providers'",
        'const port: number = 0',
        "export default defineConfig({ models: { mine: demo() }, server: { port, path: '/ai', console: false } })",
      ].join('\n'),
    )
    const running = run(folder, [program], { PORT: '1', OPENAI_API_KEY: 'sk-unused' })
    const baseURL = await served(running)
    expect(baseURL).toMatch(/\/ai\/v1$/)
    expect(await say(baseURL, 'sk-of-the-file', 'mine')).toContain('Hello')
    expect((await fetch(new URL('/console/', baseURL))).status).toBe(404)
    expect(await stop(running)).toBe(0)
  })

  // A database of its own, because the program takes the default names of tables.
  const databases: [name: string, isThere: boolean, urlOf: (folder: string) => Promise<string>][] = [
    ['SQLite', true, async (folder) => `sqlite:${join(folder, 'gateway.db')}`],
    ['Postgres', hasPostgres, () => ownDatabase(postgresPool(1), postgresUrl)],
    ['MySQL', hasMysql, () => ownDatabase(mysqlPool(1), mysqlUrl)],
    ['Redis', hasRedis, async () => new URL('/9', redisUrl).href],
  ]
  test.each(databases.filter(([, isThere]) => isThere))('keeps its data in %s', async (_, __, urlOf) => {
    const folder = emptyFolder()
    const url = await urlOf(folder)
    const environment = { PORT: '0', DATABASE_URL: url, MODELHATCH_KEY: 'sk-test' }
    const { welcome, stop: end } = await serve(await load({ folder, environment }))
    expect(await say(urlIn(welcome) ?? '', 'sk-test')).toContain('Hello')
    await end()
    expect(existsSync(join(folder, 'gateway.db'))).toBe(url.startsWith('sqlite'))
  })

  test.each([
    ['an unknown database', [], { DATABASE_URL: 'oracle://x' }, 'DATABASE_URL must begin with'],
    ['an unknown command', ['serv'], {}, 'modelhatch doctor'],
    ['an unknown option', ['--prot', '1'], {}, "Unknown option '--prot'"],
  ])('says what is wrong with %s', async (_, words, environment, message) => {
    const { code, printed } = await finished(emptyFolder(), words, environment)
    expect([code, printed]).toEqual([1, expect.stringContaining(message)])
  })

  test('takes a variable that is empty for one that is not set', async () => {
    const { server } = await load({ folder: emptyFolder(), environment: { HOST: '', PORT: '' } })
    expect(server).toMatchObject({ host: '127.0.0.1', port: 3000 })
  })

  test.each(['web', '-1', '99999', '1.5'])('says that PORT=%s is no port', async (PORT) => {
    await expect(load({ folder: emptyFolder(), environment: { PORT } })).rejects.toThrow('"port" must be a port')
  })

  test('ends although the client of the database fails to', async () => {
    const folder = emptyFolder()
    mkdirSync(join(folder, 'node_modules/pg'), { recursive: true })
    const client =
      'exports.Pool = class { query() {} connect() {} on() {} end() { return Promise.reject(new Error("lost")) } }'
    writeFileSync(join(folder, 'node_modules/pg/index.js'), client)
    const { close } = await load({ folder, environment: { DATABASE_URL: 'postgres://nowhere' } })
    await close()
  })

  test('says that a file is missing', async () => {
    await expect(load({ folder: emptyFolder(), environment: {}, file: 'none.ts' })).rejects.toThrow('There is no file')
  })
})

describe('modelhatch doctor', () => {
  test('names what is wrong, and fails', async () => {
    const vendor = await scriptedVendor((_, response) => void response.writeHead(401).end('{}'))
    onTestFinished(() => vendor.close())
    const access = { OPENAI_API_KEY: 'sk-wrong', OPENAI_BASE_URL: vendor.baseURL }
    const { code, printed } = await finished(emptyFolder(), ['doctor'], access)
    expect([code, printed]).toEqual([1, expect.stringMatching(/ok +every store works\nFAIL .*vendor openai.* 401/)])
  })

  test('prints likely mistakes, which fail nothing', async () => {
    const folder = emptyFolder()
    writeFileSync(join(folder, 'modelhatch.config.mjs'), 'export default { models: {} }')
    const { code, printed } = await finished(folder, ['doctor'])
    expect([code, printed]).toEqual([0, expect.stringMatching(/ok +the options are valid\nwarn +models is empty.*Add/)])
  })

  test('passes where all is right', async () => {
    const vendor = await scriptedVendor((_, response) => void response.end('{"data":[{"id":"gpt-9"}]}'))
    onTestFinished(() => vendor.close())
    const environment = { OPENAI_API_KEY: 'sk-right', OPENAI_BASE_URL: vendor.baseURL }
    const findings: Finding[] = []
    for await (const finding of doctor({ folder: emptyFolder(), environment })) findings.push(finding)
    expect(findings.filter(({ level }) => level === 'fail')).toEqual([])
    expect(findings.at(-1)?.text).toBe('every vendor lists its models')
  })
})

describe('modelhatch init', () => {
  test.each(sampleOf(['express', 'koa', 'hono'], 2))('writes a project for %s that runs', async (host) => {
    const folder = join(emptyFolder(), 'my gateway')
    expect((await finished(root, ['init', folder, '--host', host])).code).toBe(0)
    for (const name of ['modelhatch', 'express', 'koa', 'hono', '@hono/node-server']) {
      const link = join(folder, 'node_modules', name)
      mkdirSync(dirname(link), { recursive: true })
      symlinkSync(name === 'modelhatch' ? root : join(root, 'node_modules', name), link)
    }
    const running = run(folder, [`${host}.ts`], { PORT: '0', MODELHATCH_KEY: 'sk-test' })
    expect(await say(await served(running), 'sk-test')).toContain('Hello')
    expect(await stop(running)).toBe(0)
    const again = await finished(root, ['init', folder, '--host', host])
    expect([again.code, again.printed]).toEqual([1, expect.stringContaining('exists already')])
  })
})

describe('modelhatch reconcile', () => {
  test('prints where books and bill differ, and ends with 1 if too much is unexplained', async () => {
    const folder = emptyFolder()
    const storage = sqlite(join(folder, 'gateway.db'))
    const startedAt = Date.parse('2026-11-02T12:00:00Z')
    const record = { id: 'req_1', account: 'a', group: 'default', endpoint: 'chat.completions', model: 'm' } as const
    const tokens = { ...eachUnit(() => 0), promptTokens: 1_000, completionTokens: 500 }
    const made = {
      provider: 'house',
      providerModel: 'm',
      outcome: 'completed',
      stream: false,
      basis: 'reported',
    } as const
    const costs = { cost: 0n, overage: 0n, vendorCost: 1_500_000n }
    await storage.usage.append([{ ...record, ...tokens, ...made, ...costs, startedAt, totalMs: 1 }])
    await storage.close()
    const bill = (cost: string) =>
      `day,model,requests,input_tokens,cached_tokens,output_tokens,cost\n2026-11-02,m,1,1000,0,500,${cost}\n`
    writeFileSync(join(folder, 'equal.csv'), bill('0.0015'))
    writeFileSync(join(folder, 'higher.csv'), bill('0.002'))
    const question = { vendor: 'house', from: '2026-11-01', to: '2026-12-01' }
    const environment = { DATABASE_URL: 'sqlite:gateway.db' }
    const words = Object.entries(question).flatMap(([name, value]) => [`--${name}`, value])
    const higher = await finished(folder, ['reconcile', ...words, '--csv', 'higher.csv'], environment)
    expect(higher.printed).toContain('2026-11-02  m  books 0.0015  bill 0.002')
    expect(higher.code).toBe(1)
    const ask = (options: ReconcileArguments) =>
      reconcile({ folder, environment: { DATABASE_URL: `sqlite:${join(folder, 'gateway.db')}` } }, options)
    const equal = await ask({ ...question, csv: join(folder, 'equal.csv') })
    expect(equal).toMatchObject({
      code: 0,
      lines: [expect.stringMatching(/difference 0$/), expect.any(String)] as string[],
    })
    expect((await ask({ ...question, csv: join(folder, 'higher.csv'), tolerance: '0.3' })).code).toBe(0)
    await expect(ask({ vendor: 'house' })).rejects.toThrow('reconcile needs --vendor')
    await expect(ask(question)).rejects.toThrow('--csv FILE')
  })
})
