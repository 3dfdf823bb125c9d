import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { calmly } from '../cpu-time.ts'
import { documents } from '../documents.ts'
import { thorough } from '../long.ts'
import { olderNode, type OlderNode } from './older-node.ts'
import { installPacked, manifest, root, type Consumer } from './packed.ts'
import { globals, runSnippets, runSuites, snippets } from './snippets.ts'

let consumer: Consumer
const older = olderNode()

const creating = `import { createGateway } from 'modelhatch'
import { demo } from 'modelhatch/providers'
try {
  createGateway({ models: { demo: demo() } })
} catch (error) {
  console.log(String(error))
}
`

/** The entries, such as `modelhatch/express`, and their files. */
const entries = Object.entries(manifest.exports)
  .filter((entry): entry is [string, Readonly<Record<string, string>>] => typeof entry[1] === 'object')
  .map(([path, targets]) => ({ name: path.replace('.', manifest.name), targets }))

// Building and installing takes half a minute of CPU time: CI does it.
describe.runIf(thorough)('the packed package', () => {
  beforeAll(async () => {
    consumer = await installPacked()
  })
  afterAll(() => consumer?.remove())

  test('has every file that its exports name, types first', () => {
    for (const { name, targets } of entries) {
      expect(Object.keys(targets), name).toEqual(['modelhatch-source', 'types', 'default'])
      for (const condition of ['types', 'default'])
        expect(consumer.files, name).toContain(targets[condition]?.replace('./', ''))
    }
  })

  test('names the files of an entry as the entry', () => {
    for (const { name, targets } of entries) {
      const file = `./dist/${name === manifest.name ? 'index' : name.slice(manifest.name.length + 1)}`
      expect([targets['types'], targets['default']]).toEqual([`${file}.d.ts`, `${file}.js`])
    }
  })

  test('exports every adapter that is not part of another one, and the entries of src', () => {
    const exported = entries.map(({ targets }) => targets['modelhatch-source']?.replace('./', '') ?? '')
    const inside = globSync('adapters/**/*.ts', { cwd: root })
    const adapters = inside.filter((file) => /^adapters\/[^/]+\/(?:([^/]+)\/\1|[^/]+)\.ts$/.test(file))
    const texts = inside.map((file) => readFileSync(join(root, file), 'utf8'))
    const isPart = (file: string) =>
      Object.values(manifest.imports).some((targets) => targets['default'] === `./${file}`) ||
      texts.some((text) => new RegExp(`'\\.{1,2}/(?:[\\w-]+/)?${basename(file)}'`).test(text))
    // The program is in `bin`.
    const alone = adapters.filter((file) => !isPart(file) && file !== 'adapters/cli/cli.ts')
    expect(exported).toEqual(expect.arrayContaining(alone))
    expect(exported.filter((file) => !file.startsWith('adapters/'))).toEqual([
      'src/index.ts',
      'src/providers/index.ts',
      'src/providers/openai/index.ts',
      'src/providers/anthropic/index.ts',
      'src/providers/gemini/index.ts',
      'src/providers/identity/index.ts',
      'src/providers/vertex/index.ts',
      'src/providers/bedrock/index.ts',
      'src/providers/demo/index.ts',
      'src/providers/rerank/index.ts',
      'src/providers/speech/index.ts',
      'src/providers/videos/index.ts',
      'src/providers/custom.ts',
      'src/testing/index.ts',
      'src/admin/api/index.ts',
    ])
  })

  test('contains the build, guides, examples and a licence, and neither sources, tests nor maps', () => {
    const tops = new Set([...consumer.files].map((file) => file.split('/')[0]))
    expect(tops).toEqual(new Set(['LICENSE', 'README.md', 'adapters', 'dist', 'examples', 'package.json', 'src']))
    const rest = [...consumer.files].filter(
      (file) => !/^(?:dist|examples)\/.*(?<!\.map)$|(?:^|\/)README\.md$/.test(file),
    )
    expect(rest.sort()).toEqual(['LICENSE', 'package.json'])
  })

  test('is small: at most 250 files, 1,100 kB packed', () => {
    expect(consumer.files.size).toBeLessThanOrEqual(250)
    expect(consumer.bytes).toBeLessThanOrEqual(1_100_000)
  })

  test('starts with few files, and without undici, whether its own or the one inside Node', async () => {
    consumer.write('loaded.mjs', listing)
    const loaded = JSON.parse(await consumer.node('loaded.mjs')) as string[]
    expect(loaded.filter((url) => url.includes(`/${manifest.name}/dist/`)).length).toBeLessThanOrEqual(15)
    expect(loaded.filter((url) => url.includes('undici'))).toEqual([])
  })

  test('says in editors what the sources say, and names its functions in stack traces', async () => {
    const declared = readFileSync(join(consumer.installed, 'dist/express.d.ts'), 'utf8')
    const [, docstring = ''] =
      /(\/\*\*(?:(?!\*\/)[^])*\*\/)\nexport function mount\b/.exec(
        readFileSync(join(root, 'adapters/hosts/express.ts'), 'utf8'),
      ) ?? []
    expect(declared).toContain(`${docstring}\nexport declare function mount`)
    consumer.write(
      'trace.mjs',
      `import { createGateway } from 'modelhatch'\ntry { createGateway({}) } catch (error) { console.log(error.stack) }`,
    )
    expect(await consumer.node('trace.mjs')).toMatch(/^TypeError: createGateway[^]*\n {4}at createGateway \(/)
  })

  test.skipIf(older === undefined)(
    `names the required Node.js version on an older one (${older?.version ?? 'none on this machine'})`,
    async () => {
      const { path, version } = older as OlderNode
      consumer.write('older.mjs', creating)
      expect(await consumer.nodeAt(path, 'older.mjs')).toBe(
        `TypeError: createGateway: needs Node.js 22.19 or newer, and this is ${version}.\n`,
      )
    },
  )

  test('can be imported and required, entry by entry, without side effects', async () => {
    consumer.write('load.mjs', `const names = ${JSON.stringify(entries.map(({ name }) => name))}\n${loading}`)
    expect(await consumer.node('load.mjs')).toBe('')
  })

  test('compiles in a strict consumer with the types of Express and Koa', async () => {
    consumer.write('src/every.ts', entries.map(({ name }, at) => `export * as entry${at} from '${name}'`).join('\n'))
    consumer.write('src/hosts.ts', hosts)
    consumer.write('src/globals.d.ts', globals)
    for (const { name, code } of snippets) {
      consumer.write(`src/${name.replace(/\W+/g, '-')}.ts`, `${code}\nexport {}\n`)
    }
    expect(snippets.length).toBeGreaterThan(25)
    expect(await consumer.compile()).toBe('')
  })

  test('runs every snippet of the readme and the guides', async () => {
    const ran = await runSnippets(consumer)
    expect(ran.filter(({ error }) => error !== undefined)).toEqual([])
    expect(ran.length).toBeGreaterThan(20)
    const served = ran.flatMap((each) => each.served)
    expect(served.length).toBeGreaterThan(3)
    // The guide of the admin API makes its keys over HTTP, that of coding agents has models of vendors, a recipe has no keys.
    const refused = ['invalid_api_key', 'invalid_api_key', 'model_not_found']
    expect(served.filter((said) => said !== 'pong').sort()).toEqual(refused)
    // One gateway's `authenticate` throws its own error, and one has closed.
    const strangers = ran.flatMap(({ stranger }) => stranger ?? [])
    expect(strangers.length).toBeGreaterThan(8)
    expect(strangers.filter((status) => status !== 401)).toEqual([429, 503])
    const said = ran.flatMap((each) => each.said ?? [])
    expect(said.sort()).toEqual(['200', '200', expect.stringMatching(/^Hello! I am the demo model/), 'Pretty Polly '])
  })

  test('runs the conformance suites of the guides under node’s own runner', async () => {
    const suites = await runSuites(consumer)
    expect(suites.length).toBeGreaterThan(thorough ? 2 : 0)
    for (const { name, report } of suites) {
      expect(report, name).toMatch(/# pass [1-9]\d+/)
      expect(report, name).toContain('# fail 0')
    }
  })

  test.each([
    ['Express', "import express from 'express'"],
    ['Koa', "import Koa from 'koa'"],
  ])('serves the demo model from the quick start for %s, exactly as it is in the readme', async (name, first) => {
    consumer.write(`first-${name}.ts`, snippets.find(({ code }) => code.startsWith(first))?.code ?? '')
    consumer.write('try.mjs', trying)
    expect(await consumer.node('--import', './try.mjs', `first-${name}.ts`)).toBe('200 pong\n')
  })

  test('serves the console with the files of its bundle', async () => {
    consumer.write('console.mjs', showing)
    const files = 'early.js icon.svg style.css main.js'
    expect(await consumer.node('console.mjs')).toBe(`${files}: 200 words/en.js: 200\n`)
  })

  test('serves the demo model with its program in an empty folder, within five seconds', async () => {
    const before = performance.now()
    consumer.write('program.mjs', running(join(consumer.installed, 'dist/cli.js')))
    expect(await consumer.node('program.mjs')).toMatch(/^200 .*demo model/)
    expect(calmly(performance.now() - before, 5_000)).toBeLessThan(5_000)
  })

  test('contains every guide and the examples', () => {
    // The guide to the source is for those who have the source.
    const guides = documents.filter(({ path }) => path !== 'src/README.md')
    for (const { path } of guides) expect(consumer.files).toContain(path)
    expect([...consumer.files].filter((path) => path.startsWith('examples/')).length).toBeGreaterThan(8)
  })
})

/** Starts the program, sends what it says one can try, and prints the response. */
const running = (file: string) => `
import { spawn } from 'node:child_process'
import { once } from 'node:events'
const child = spawn(process.execPath, [${JSON.stringify(file)}, '--port', '0'], { stdio: ['ignore', 'pipe', 'inherit'] })
let printed = ''
while (!/curl .*-d/s.test(printed)) printed += (await once(child.stdout, 'data'))[0]
const [, url, key] = /curl (\\S+) -H 'Authorization: Bearer (\\S+)'/.exec(printed)
const [, body] = /-d '(.*)'/.exec(printed)
const headers = { authorization: 'Bearer ' + key, 'content-type': 'application/json' }
const response = await fetch(url, { method: 'POST', headers, body })
console.log(response.status, (await response.json()).choices[0].message.content)
child.kill()
`

/** Prints what an import has changed in its process. */
const loading = `
import { createRequire } from 'node:module'
const require = createRequire(import.meta.url)
// Zod shares its registry between its copies through globals.
const globals = () => Object.keys(globalThis).filter((key) => !key.startsWith('__zod'))
const listeners = () => process.eventNames().flatMap((name) => process.listeners(name))
const resources = () => process.getActiveResourcesInfo().filter((kind) => /timer|tcp|immediate/i.test(kind))
const state = () => [globals().join(), listeners().length, resources().join()].join(' | ')
const before = state()
for (const name of names) {
  const imported = await import(name)
  if (require(name) !== imported) console.log(name, 'exists twice')
  if ('default' in imported) console.log(name, 'has a default export')
}
if (state() !== before) console.log(before, 'became', state())
`

/** Prints what the imports of the quick start load. */
const listing = `
import { registerHooks } from 'node:module'
const loaded = []
registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) })
for (const name of ['express', 'modelhatch', 'modelhatch/express', 'modelhatch/providers']) await import(name)
console.log(JSON.stringify([...loaded, ...process.moduleLoadList]))
`

/** Makes a server listen on a free port, sends it one request and exits. */
const trying = `
import { Server } from 'node:net'
const listen = Server.prototype.listen
Server.prototype.listen = function () {
  return listen.call(this, 0, '127.0.0.1', async () => {
    const response = await fetch('http://127.0.0.1:' + this.address().port + '/ai/v1/chat/completions', {
      method: 'POST',
      headers: { authorization: 'Bearer sk-demo', 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'demo', messages: [{ role: 'user', content: 'Reply with exactly: pong' }] }),
    })
    const { choices } = await response.json()
    console.log(response.status, choices[0].message.content)
    process.exit()
  })
}
`

/** Asks a console for its document and all files that it names. */
const showing = `
import { createGateway } from 'modelhatch'
import { createConsole } from 'modelhatch/console'
import { mount } from 'modelhatch/fetch'
import { demo } from 'modelhatch/providers'
const site = createConsole(createGateway({ keys: { a: {} }, models: { demo: demo() } }), { authorize: () => ({ role: 'admin' }) })
const ask = (path) => mount(site)(new Request('http://localhost/' + path, { headers: { host: 'localhost' } }))
const html = await (await ask('')).text()
const names = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, name]) => name)
const statuses = new Set(await Promise.all(names.map(async (name) => (await ask(name)).status)))
const base = names[0].split('/').slice(0, 2).join('/')
const shown = names.map((name) => name.slice(base.length + 1)).join(' ')
console.log(shown + ': ' + [...statuses].join() + ' words/en.js: ' + (await ask(base + '/words/en.js')).status)
`

const hosts = `
import { createServer } from 'node:http'
import { createServer as createServer2 } from 'node:http2'
import express, { Router } from 'express'
import Koa from 'koa'
import { createGateway, type Gateway, type GatewayOptions } from 'modelhatch'
import { mount as mountExpress } from 'modelhatch/express'
import { mount as mountFetch } from 'modelhatch/fetch'
import { mount as mountKoa } from 'modelhatch/koa'
import { mount as mountNode } from 'modelhatch/node'
import { demo, type Provider } from 'modelhatch/providers'

const provider: Provider = demo()
const options: GatewayOptions = { keys: { a: {} }, models: { demo: provider } }
const gateway: Gateway = createGateway(options)
express().use(mountExpress(gateway)).use('/ai', mountExpress(gateway))
Router().use('/ai', mountExpress(gateway))
new Koa().use(mountKoa(gateway)).use(mountKoa('/ai', gateway))
createServer(mountNode(gateway))
createServer2(mountNode(gateway))
export const answer: (request: Request) => Promise<Response> = mountFetch(gateway)
`
