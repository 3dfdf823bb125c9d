import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { olderNode, type OlderNode } from './older-node.ts'
import { installPacked, manifest, root, type Consumer } from './packed.ts'

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

beforeAll(async () => {
  consumer = await installPacked()
})
afterAll(() => consumer?.remove())

/** What can be imported: `modelhatch`, `modelhatch/express` … and the files that answer. */
const entries = Object.entries(manifest.exports)
  .filter((entry): entry is [string, Readonly<Record<string, string>>] => typeof entry[1] === 'object')
  .map(([path, targets]) => ({ name: path.replace('.', manifest.name), targets }))

describe('the packed package', () => {
  test('has every file that its exports name, types first', () => {
    for (const { name, targets } of entries) {
      expect(Object.keys(targets), name).toEqual(['modelhatch-source', 'types', 'default'])
      for (const target of Object.values(targets)) expect(consumer.files, name).toContain(target.replace('./', ''))
    }
  })

  test('exports each of its conditions from one and the same source', () => {
    for (const { targets } of entries) {
      const source = targets['modelhatch-source']?.replace(/^\.\/(.*)\.ts$/, './dist/$1')
      expect([targets['types'], targets['default']]).toEqual([`${source}.d.ts`, `${source}.js`])
    }
  })

  test('exports every adapter that is no part of another one, and of src three doors', () => {
    const exported = entries.map(({ targets }) => targets['modelhatch-source']?.replace('./', '') ?? '')
    const adapters = [...consumer.files].filter((file) => /^adapters\/[^/]+\/(?:([^/]+)\/\1|[^/]+)\.ts$/.test(file))
    const inside = [...consumer.files].filter((file) => /^adapters\/.+\.ts$/.test(file))
    const texts = inside.map((file) => readFileSync(join(consumer.installed, file), 'utf8'))
    const isPart = (file: string) => texts.some((text) => new RegExp(`'\\.{1,2}/${basename(file)}'`).test(text))
    const alone = adapters.filter((file) => !isPart(file))
    expect(exported).toEqual(expect.arrayContaining(alone))
    expect(exported.filter((file) => !file.startsWith('adapters/'))).toEqual([
      'src/index.ts',
      'src/providers/index.ts',
      'src/testing/index.ts',
    ])
  })

  test('holds sources and what is built of them, a readme and a licence; no tests, no maps to nowhere', () => {
    const tops = new Set([...consumer.files].map((file) => file.split('/')[0]))
    expect(tops).toEqual(new Set(['LICENSE', 'README.md', 'adapters', 'dist', 'package.json', 'src']))
    for (const file of consumer.files) {
      if (!file.endsWith('.d.ts')) continue
      expect(consumer.files).toContain(file.replace(/^dist\/(.*)\.d\.ts$/, '$1.ts'))
    }
  })

  test.skipIf(older === undefined)(
    `says in one sentence which Node.js it needs, on an older one (${older?.version ?? 'there is none here'})`,
    async () => {
      const { path, version } = older as OlderNode
      consumer.write('older.mjs', creating)
      expect(await consumer.nodeAt(path, 'older.mjs')).toBe(
        `TypeError: createGateway: needs Node.js 22.19 or newer, and this is ${version}.\n`,
      )
    },
  )

  test('can be imported and required, entry by entry, does nothing by itself and holds no process', async () => {
    consumer.write('load.mjs', `const names = ${JSON.stringify(entries.map(({ name }) => name))}\n${loading}`)
    expect(await consumer.node('load.mjs')).toBe('')
  })

  test('compiles into a strict consumer with the types of Express and Koa', async () => {
    consumer.write('src/every.ts', entries.map(({ name }, at) => `export * as entry${at} from '${name}'`).join('\n'))
    consumer.write('src/hosts.ts', hosts)
    consumer.write('src/globals.d.ts', globals)
    for (const [at, snippet] of snippets.entries()) consumer.write(`src/readme-${at + 1}.ts`, `${snippet}\nexport {}\n`)
    expect(snippets.length).toBeGreaterThan(8)
    expect(await consumer.compile()).toBe('')
  })

  test.each([
    ['Express', 0],
    ['Koa', 1],
  ])('serves the demo model from the first snippet for %s, as it stands in the readme', async (_, at) => {
    consumer.write(`first-${at}.ts`, snippets[at] ?? '')
    consumer.write('try.mjs', trying)
    expect(await consumer.node('--import', './try.mjs', `first-${at}.ts`)).toBe('200 pong\n')
  })
})

/** Every snippet of the readme, to be compiled as it stands there. */
const snippets = [...readFileSync(join(root, 'README.md'), 'utf8').matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(
  ([, text = '']) => text,
)

/** What a snippet that shows only a part may speak of. */
const globals = `
// The types of the AI SDK do not compile as strictly as this consumer does.
declare module '@ai-sdk/google' {
  export function createGoogleGenerativeAI(options: { apiKey?: string | undefined }): any
}
declare module '@koa/bodyparser' {
  export function bodyParser(): import('koa').Middleware
}
declare const server: import('node:http').Server
declare const gateway: import('modelhatch').Gateway
declare const app: import('express').Express
declare const pool: import('modelhatch/postgres').Queryable
declare const redisClient: { sendCommand(words: string[]): Promise<unknown> }
declare function myClaude(options: { baseURL: string }): import('modelhatch/providers').Provider
declare function myTaskStore(): import('modelhatch').TaskStore
declare function anotherHandleOn(store: import('modelhatch').TaskStore): import('modelhatch').TaskStore
`

/** Prints whatever an import has changed in its process. */
const loading = `
import { createRequire } from 'node:module'
const require = createRequire(import.meta.url)
// Zod keeps its registry there.
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

/** Lets a server listen on a free port, asks it one thing and ends. */
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
