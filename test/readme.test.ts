/** The readme and the guides are promises too: their tables say what the sources say, and their links lead somewhere. */
import { existsSync, globSync, readdirSync } from 'node:fs'
import { dirname, join, matchesGlob, normalize } from 'node:path'
import { describe, expect, test } from 'vitest'
import { GatewayError, type ErrorCode } from 'modelhatch'
import * as stores from 'modelhatch/stores'
import * as kits from 'modelhatch/testing'
import { fileBatchEndpoints } from '../src/endpoints/batches/files/endpoints.ts'
import type { FileBatches } from '../src/endpoints/batches/files/file-batches.ts'
import { messageBatchEndpoints } from '../src/endpoints/batches/messages/endpoints.ts'
import type { MessageBatches } from '../src/endpoints/batches/messages/message-batches.ts'
import { fileEndpoints } from '../src/endpoints/files/endpoints.ts'
import type { Files } from '../src/endpoints/files/files.ts'
import { ownEndpoints } from '../src/endpoints/routes.ts'
import { routes as adminRoutes } from '../src/admin/api/routes.ts'
import { presets } from '../src/providers/openai/presets.ts'
import {
  documentAt,
  documents,
  inCode,
  marked,
  members,
  numericDefaults,
  root,
  rows,
  section,
  snippets,
  textOf,
  withoutCode,
} from './documents.ts'

const readme = documentAt('README.md')
const reference = documentAt('src/gateway/options/README.md')

const manifest = JSON.parse(textOf('package.json')) as {
  scripts: Record<string, string>
  dependencies: Record<string, string>
  exports: Record<string, unknown>
  engines: { node: string }
  files: string[]
  repository: { url: string }
  homepage: string
  bugs: string
}

/** The first cells of the tables in a text, as far as they are code. */
function firstCells(text: string): string[] {
  return rows(text).flatMap(([first]) => inCode(first))
}

/** Holds the second column of a table against the defaults that the docstrings state. */
function expectDefaults(text: string, name: string, prefix: string): void {
  for (const [option, value] of numericDefaults(name)) {
    const isIt = (code: string) => code === prefix + option || code === `${prefix}defaults.${option}`
    const row = rows(text).find(([first]) => inCode(first).some(isIt))
    expect(row?.[1], `the default of ${prefix}${option}`).toContain(value)
  }
}

test('the table of errors has every code, with its status', () => {
  const listed = rows(section(reference, 'Errors')).flatMap(([status, codes]) =>
    inCode(codes).map((code) => `${code} ${status}`),
  )
  const union = /export type ErrorCode =\n([\s\S]*?)\n\n/.exec(textOf('src/errors.ts'))?.[1] ?? ''
  const codes = [...union.matchAll(/'(\w+)'/g)].map(([, code]) => code as ErrorCode)
  expect(codes.length).toBeGreaterThan(10)
  expect(new Set(listed)).toEqual(new Set(codes.map((code) => `${code} ${new GatewayError(code).status}`)))
})

test('the table of likely mistakes has every code', () => {
  const union = /export type WarningCode =\n([\s\S]*?)\n\n/.exec(textOf('src/records/warning.ts'))?.[1] ?? ''
  const codes = [...union.matchAll(/'(\w+)'/g)].map(([, code]) => code)
  expect(new Set(firstCells(section(reference, 'Likely mistakes')))).toEqual(new Set(codes))
})

describe('the guide to the source', () => {
  const guide = documentAt('src/README.md')

  test('maps every folder and file of src', () => {
    const mapped = rows(section(guide, 'Map')).flatMap(([, folder]) => inCode(folder))
    expect(mapped.filter((name) => name !== '../adapters').sort()).toEqual(
      readdirSync(`${root}src`)
        .filter((name) => name !== 'README.md')
        .sort(),
    )
  })

  test.each(rows(section(guide, 'Glossary')).map(([noun, , folder]) => [inCode(noun), inCode(folder)] as const))(
    'explains %s, which %s declares',
    ([noun = ''], [folder = '']) => {
      const files = globSync(`src/${folder}/**/*.ts`, { cwd: root })
      const declaration = new RegExp(`^export (?:abstract )?(?:class|interface|type) ${noun}\\b`, 'm')
      expect(files.filter((file) => declaration.test(textOf(file)))).toHaveLength(1)
    },
  )
})

test('the error in the reference has the format of errors', () => {
  const [shown] = snippets.filter(({ language }) => language === 'json')
  const { error } = JSON.parse(shown?.code ?? '') as { error: object }
  expect(Object.keys(error)).toEqual(Object.keys(new GatewayError('server_error').toJSON().error))
})

/** The interfaces that an interface extends. */
const inherited: Readonly<Record<string, readonly string[]>> = {
  KeyOptions: ['KeyProperties'],
  ModelOptions: ['ModelProperties'],
  GroupOptions: ['Group'],
  Rate: ['ScopedRate'],
  PriceOptions: ['TokenPrices', 'TieredTokenPrices', 'CountedPrices'],
}

/** The members that an interface has of another. */
const picked: Readonly<Record<string, readonly string[]>> = { AttemptEvent: ['provider', 'providerModel', 'ms'] }

describe('a table of options has every option, and no other:', () => {
  test.each([
    ['src/gateway/options/README.md', 'Options', 'RetryOptions', 'retry.'],
    ['src/gateway/options/README.md', 'Options', 'BreakerOptions', 'breaker.'],
    ['src/gateway/options/README.md', 'Options', 'KeyCacheOptions', 'keyCache.'],
    ['src/gateway/options/README.md', 'Sizes and timeouts', 'Sizes', 'sizes.'],
    ['src/gateway/options/README.md', 'Sizes and timeouts', 'Timeouts', 'timeouts.'],
    ['src/models/README.md', 'Models', 'ModelOptions', ''],
    ['src/callers/README.md', 'API keys', 'KeyOptions', ''],
    ['src/callers/README.md', 'Groups', 'GroupOptions', ''],
    ['src/money/limits/README.md', 'Rate limits', 'Rate', ''],
    ['src/money/limits/README.md', 'Options', 'LimitOptions', 'limits.'],
    ['src/money/README.md', 'Prices', 'PriceOptions', ''],
    ['src/money/README.md', 'Clients that disconnect', 'DisconnectPolicy', ''],
    ['src/money/README.md', 'Usage records', 'UsageOptions', 'usage.'],
    ['src/admission/idempotency/README.md', 'Options', 'IdempotencyOptions', 'idempotency.'],
    ['src/admission/cache/README.md', 'Answer cache', 'CacheOptions', 'cache.'],
    ['src/tasks/README.md', 'Options', 'TaskOptions', 'tasks.'],
    ['src/observe/README.md', 'Receipts', 'Receipt', ''],
    ['src/observe/README.md', 'Attempts', 'AttemptEvent', ''],
    ['src/observe/README.md', 'Failures', 'Failure', ''],
    ['adapters/README.md', 'Shutdown', 'ShutdownOptions', ''],
    ['src/admin/api/README.md', 'Options', 'AdminApiOptions', ''],
  ])('%s, %s: %s', (guide, title, name, prefix) => {
    const options = members(name).map((option) => prefix + option)
    const known = [...options, ...(inherited[name] ?? []).flatMap(members), ...(picked[name] ?? [])]
    expect(known.length).toBeGreaterThan(1)
    const listed = firstCells(section(documentAt(guide), title)).filter((option) => option.startsWith(prefix))
    expect(listed.filter((option) => !known.includes(option) && !/[ "{]/.test(option))).toEqual([])
    expect(known.filter((option) => !listed.includes(option))).toEqual([])
    expectDefaults(section(documentAt(guide), title), name, prefix)
  })

  test('of the gateway and its hooks', () => {
    const listed = firstCells(section(reference, 'Options')).map((option) => option.replace(/\..*/, ''))
    expect(new Set(listed)).toEqual(new Set(members('GatewayOptions')))
    const hooks = rows(marked(documentAt('src/observe/README.md'), 'channels')).flatMap((cells) => inCode(cells[1]))
    expect(hooks.sort()).toEqual(members('Hooks').sort())
  })

  test('of billing, with its defaults', () => {
    const listed = firstCells(section(documentAt('src/money/README.md'), 'Options'))
    const options = members('BillingOptions')
    expect(new Set(listed.map((option) => option.split('.')[1]))).toEqual(new Set(options))
    const defaults = /defaults\?: CountedUnits & \{([\s\S]*?)\n {2}\}/.exec(textOf('src/money/options.ts'))?.[1] ?? ''
    const names = [...defaults.matchAll(/^ {4}readonly (\w+)/gm)].map(([, name]) => `billing.defaults.${name}`)
    expect(names.length).toBeGreaterThan(2)
    expect(listed).toEqual(expect.arrayContaining(names))
    expectDefaults(section(documentAt('src/money/README.md'), 'Options'), 'BillingOptions', 'billing.')
    expect(numericDefaults('BillingOptions').length).toBeGreaterThan(1)
  })

  test('of the stores', () => {
    const listed = firstCells(section(documentAt('adapters/stores/README.md'), 'Choosing a database')).join()
    for (const name of ['PostgresOptions', 'RedisOptions', 'SqliteOptions']) {
      for (const option of members(name)) expect(listed).toMatch(new RegExp(`\\b${option}\\b`))
    }
  })
})

test('the table of endpoints is the table of routes', () => {
  const ofBatches = [...messageBatchEndpoints({} as MessageBatches), ...fileBatchEndpoints({} as FileBatches)]
  const routes = [...ownEndpoints, ...ofBatches, ...fileEndpoints({} as Files)].flatMap(({ method, path }) =>
    [path].flat().map((each) => `${method} ${each.replaceAll('*', '{id}').replace('/models:', '/models/{id}:')}`),
  )
  expect(routes.length).toBeGreaterThan(20)
  const second = routes.filter((route) => route.includes('/v1/video/'))
  expect(documentAt('src/tasks/README.md').text).toContain('/v1/video/generations')
  const listed = rows(marked(readme, 'endpoints')).flatMap(([endpoints]) => inCode(endpoints))
  expect(listed.sort()).toEqual(routes.filter((route) => !second.includes(route)).sort())
})

test('the table of the admin API is the table of its routes', () => {
  const listed = rows(marked(documentAt('src/admin/api/README.md'), 'admin-routes')).flatMap(([first]) => inCode(first))
  expect(listed.sort()).toEqual(adminRoutes.map(({ method, path }) => `${method} ${path}`).sort())
})

test('the walk of a request names folders, and each step that src has', () => {
  const folders = rows(marked(readme, 'walk')).flatMap((cells) => inCode(cells[2]))
  expect(folders.filter((folder) => !existsSync(join(root, folder)))).toEqual([])
  for (const folder of ['endpoints', 'callers', 'admission', 'http', 'money', 'models', 'routing', 'providers']) {
    expect(folders).toContain(`src/${folder}`)
  }
})

test('the channels are those that are published on', () => {
  const files = globSync('src/**/*.ts', { cwd: root }).filter((path) => !path.startsWith('src/testing/'))
  const published = files.flatMap((path) =>
    [...textOf(path).matchAll(/\bchannel(?:<\w+>)?\('(modelhatch:\w+)'\)/g)].map(([, channel = '']) => channel),
  )
  expect(published.length).toBeGreaterThan(3)
  expect(firstCells(marked(documentAt('src/observe/README.md'), 'channels')).sort()).toEqual(published.sort())
})

test('presets, demo models, conformance tests, what stores share and examples are all listed', () => {
  const providers = documentAt('src/providers/README.md')
  const listed = marked(providers, 'presets').replace(/\([^)]*\)/g, '')
  expect(inCode(listed).sort()).toEqual(Object.keys(presets).sort())
  const entries = Object.keys(manifest.exports).flatMap((name) => /^\.(\/providers\/.*)/.exec(name)?.[1] ?? [])
  expect(firstCells(marked(providers, 'entries'))).toEqual(
    expect.arrayContaining(entries.map((name) => `modelhatch${name}`)),
  )
  const names = [...textOf('src/providers/demo/demo.ts').matchAll(/'(demo-[\w-]+)'/g)].map(([, name = '']) => name)
  expect(names.length).toBeGreaterThan(3)
  for (const name of names) expect(firstCells(section(providers, 'The demo model'))).toContain(name)
  const suites = Object.keys(kits).filter((name) => /^test(?!Provider)[A-Z]/.test(name))
  expect(firstCells(marked(documentAt('src/testing/README.md'), 'kits')).sort()).toEqual(suites.sort())
  const shared = firstCells(marked(documentAt('adapters/stores/README.md'), 'stores'))
  expect(shared.sort()).toEqual(Object.keys(stores).sort())
  const examples = globSync('examples/*.ts', { cwd: root }).map((path) => path.slice('examples/'.length))
  const parts = ['models.ts', 'welcome.ts']
  expect(firstCells(marked(documentAt('examples/README.md'), 'examples')).sort()).toEqual(
    examples.filter((name) => !parts.includes(name)).sort(),
  )
})

describe('links', () => {
  /** What npm packs; links on its page lead to the same paths at GitHub. */
  const isPacked = (path: string) =>
    ['README.md', 'LICENSE'].includes(path) ||
    manifest.files.some((pattern) => path.startsWith(`${pattern}/`) || matchesGlob(path, pattern))

  test.each(documents.map((document) => [document.path, document] as const))(
    'of %s lead somewhere',
    (path, { text }) => {
      const lost = [...withoutCode(text).matchAll(/\]\(([^)]+)\)/g)].flatMap(([, link = '']) => {
        if (link.startsWith('https://')) return []
        const [file = '', anchor] = link.split('#')
        const target = file === '' ? path : normalize(join(dirname(path), file))
        if (!existsSync(join(root, target)) || !isPacked(target)) return [link]
        const known = documents.find((document) => document.path === target)?.anchors
        return anchor === undefined || known?.includes(anchor) === true ? [] : [link]
      })
      expect(lost).toEqual([])
    },
  )

  test('lead to every guide, from the readme', () => {
    const linked = new Set([...readme.text.matchAll(/\]\(([^)#]+)/g)].map(([, target]) => target))
    expect(documents.map(({ path }) => path).filter((path) => path !== 'README.md' && !linked.has(path))).toEqual([])
  })

  test('to the repository are those of the package', () => {
    const { repository, homepage, bugs } = manifest
    const project = 'https://github.com/modelhatch/modelhatch'
    expect([repository.url, homepage, bugs]).toEqual([`git+${project}.git`, `${project}#readme`, `${project}/issues`])
    const others = documents.flatMap(({ text }) => [...text.matchAll(/https:\/\/github\.com\/[\w-]+\/[\w-]+/g)])
    expect(new Set(others.map(([url]) => url))).toEqual(new Set([project]))
    expect(readme.text).toContain(`(${bugs})`)
  })

  test('paths and scripts that are named in the text are there', () => {
    for (const { path, text } of documents) {
      const named = [...text.matchAll(/`(?:src|adapters|examples|test)\/[\w./-]*[\w/]`/g)].map(
        ([code]) => inCode(code)[0],
      )
      expect(
        named.filter((each) => !existsSync(join(root, each ?? ''))),
        path,
      ).toEqual([])
      const ran = [...text.matchAll(/npm run (?:example )?([\w:./-]+)/g)].map(([, name = '']) => name)
      const isThere = (name: string) => Object.hasOwn(manifest.scripts, name) || existsSync(join(root, name))
      expect(
        ran.filter((name) => !isThere(name)),
        path,
      ).toEqual([])
    }
    expect(readme.text).toContain('npm run check')
  })
})

describe('the readme', () => {
  test('is short', () => expect(readme.text.split('\n').length).toBeLessThan(280))

  test('names the dependencies and the Node.js that the package has', () => {
    const [, number, list] = /^(\w+) runtime dependencies: (.*?)\. /m.exec(readme.text) ?? []
    const names = inCode(list)
    expect(names).toEqual(Object.keys(manifest.dependencies))
    expect(number).toBe(['No', 'One', 'Two', 'Three', 'Four', 'Five', 'Six'][names.length])
    expect(readme.text).toContain(`Node.js ${manifest.engines.node.replace('>=', '').replace(/\.0$/, '')} or newer`)
  })

  test('says how to contribute, how to report a vulnerability, and what has changed', () => {
    expect(readme.anchors).toEqual(expect.arrayContaining(['contributing', 'reporting-a-vulnerability', 'changes']))
    const { version } = JSON.parse(textOf('package.json')) as { version: string }
    expect(section(readme, 'Changes')).toContain(`**${version}**`)
  })
})

test('every guide uses the words of the field', () => {
  const dialect = /\b(?:nobody|whoever|lest|told|earnest|comes to|stands for|what becomes of|is over|at hand|purse)\b/gi
  const found = documents.flatMap(({ path, text }) => (text.match(dialect) ?? []).map((word) => `${path}: ${word}`))
  expect(found).toEqual([])
})
