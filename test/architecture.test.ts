/** The house rules that can be read off the sources: who may import whom, and what no file may hold. */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

const root = fileURLToPath(new URL('../', import.meta.url))
const {
  dependencies,
  peerDependencies,
  peerDependenciesMeta,
  exports,
  imports: chosen,
} = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  dependencies: Record<string, string>
  peerDependencies: Record<string, string>
  peerDependenciesMeta: Record<string, { readonly optional?: boolean }>
  exports: Record<string, string | { readonly 'modelhatch-source': string }>
  imports: Record<string, { readonly default: string }>
}

interface Source {
  /** Such as `src/http/body.ts`. */
  readonly path: string
  readonly text: string
  /** What it imports: paths from the top for files of ours, else the names of modules. */
  readonly imports: readonly string[]
}

const importing = /^(?:import|export)\b[^'"`;]*?\bfrom '([^']+)'|^import '([^']+)'|\bimport\('([^']+)'\)/gm

function sourcesIn(folder: string): Source[] {
  const names = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
  return (
    names
      // The page of the console has its own test.
      .filter((name) => name.endsWith('.ts') && !name.startsWith('console/page/'))
      .map((name) => {
        const path = join(folder, name)
        const text = readFileSync(join(root, path), 'utf8')
        // Imports in the snippets of comments are no imports.
        const code = text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
        const imports = [...code.matchAll(importing)].map(([, from, alone, dynamic]) => {
          const name = from ?? alone ?? dynamic ?? ''
          if (name.startsWith('#')) return normalize(chosen[name]?.default ?? name)
          return name.startsWith('.') ? normalize(join(dirname(path), name)) : name
        })
        return { path, text, imports }
      })
  )
}

/** The folder of an entry's file. */
function folderOf(entry: string): string {
  const target = exports[entry.replace('modelhatch', '.')]
  if (typeof target !== 'object') throw new Error(`the package has no entry ${entry}`)
  return dirname(normalize(target['modelhatch-source']))
}

const src = sourcesIn('src')
const adapters = sourcesIn('adapters')
const examples = sourcesIn('examples')
const isOfSite = (path: string) => path.startsWith('examples/site/')
const tests = sourcesIn('test')
const published = [...src, ...adapters]

/** Each import that breaks a rule, as `importer → imported`. */
function offences(sources: readonly Source[], allowed: (imported: string, importer: string) => boolean): string[] {
  return sources.flatMap(({ path, imports }) =>
    imports.filter((imported) => !allowed(imported, path)).map((imported) => `${path} → ${imported}`),
  )
}

function below(...folders: readonly string[]): (imported: string) => boolean {
  return (imported) => folders.some((folder) => imported === folder || imported.startsWith(`${folder}/`))
}

const isOurs = below('src', 'adapters')

/** Circles of imports, each as the way around it. Not all of them, but at least one where there are any. */
function circles(sources: readonly Source[]): string[] {
  const importsOf = new Map(sources.map(({ path, imports }) => [path, imports]))
  const done = new Set<string>()
  const found: string[] = []
  const visit = (path: string, way: readonly string[]): void => {
    const start = way.indexOf(path)
    if (start >= 0) found.push([...way.slice(start), path].join(' → '))
    if (start >= 0 || done.has(path)) return
    for (const imported of importsOf.get(path) ?? []) visit(imported, [...way, path])
    done.add(path)
  }
  for (const { path } of sources) visit(path, [])
  return found
}

/** The folders and single files of the library, top to bottom. */
const layers = [
  'adapters',
  'src/testing',
  'src/index.ts',
  'src/gateway.ts',
  'src/gateway',
  'src/admin',
  'src/endpoints',
  'src/tasks',
  'src/admission',
  'src/routing',
  'src/observe',
  'src/models',
  'src/responses',
  'src/money',
  'src/callers',
  'src/inspect',
  'src/formats',
  'src/providers',
  'src/conversation',
  'src/records',
  'src/http',
  'src/wire',
  'src/errors.ts',
  'src/bounded-cache.ts',
]

/** The optional peer dependencies of each entry of the package. Only the files of the entry's folder import them. */
const peers: Readonly<Record<string, readonly string[]>> = {
  'modelhatch/prices': ['@pydantic/genai-prices'],
  'modelhatch/ws': ['ws'],
  'modelhatch/otel': ['@opentelemetry/api'],
  'modelhatch/metrics': ['prom-client'],
  'modelhatch/oidc': ['openid-client'],
}

const node = (imported: string) => imported.startsWith('node:')
const dependency = (imported: string) => Object.hasOwn(dependencies, imported.split('/')[0] ?? '')

describe('imports', () => {
  test('are found at all', () => {
    expect(src.length).toBeGreaterThan(50)
    expect(src.find(({ path }) => path === 'src/gateway.ts')?.imports).toContain('src/gateway/assembly/assemble.ts')
  })

  test('of src: itself, Node and the few dependencies; no framework and no database', () => {
    expect(offences(src, (imported) => below('src')(imported) || node(imported) || dependency(imported))).toEqual([])
    const used = src.flatMap(({ imports }) => imports.filter(dependency).map((name) => name.split('/')[0]))
    expect(new Set(used)).toEqual(new Set(['busboy', 'lru-cache', 'undici', 'zod']))
    expect(new Set(Object.keys(dependencies))).toEqual(new Set(used))
  })

  test('of adapters: src, each other, Node, and the optional peers of their own entry', () => {
    const peersOf = (importer: string) => {
      const entry = Object.keys(peers).find((name) => below(folderOf(name))(importer))
      return entry === undefined ? [] : (peers[entry] ?? [])
    }
    const allowed = (imported: string, importer: string) =>
      below('src', 'adapters')(imported) || node(imported) || peersOf(importer).includes(imported)
    expect(offences(adapters, allowed)).toEqual([])
  })

  test('of optional peers: each is declared as one, and no other entry reaches it', () => {
    expect(new Set(Object.values(peers).flat())).toEqual(new Set(Object.keys(peerDependencies)))
    for (const name of Object.keys(peerDependencies)) expect(peerDependenciesMeta[name]).toEqual({ optional: true })
    for (const entry of Object.keys(peers)) {
      const inside = below(folderOf(entry))
      const others = published.filter(({ path }) => !inside(path))
      expect(offences(others, (imported) => !inside(imported))).toEqual([])
    }
  })

  test('of stores: what a store outside the project can import too, and small parts that it can do without', () => {
    const stores = adapters.filter(({ path }) => /^adapters\/stores\/\w+\//.test(path))
    expect(stores.length).toBeGreaterThan(20)
    const small = below('src/records/known-options.ts', 'src/errors.ts', 'src/http/deadline.ts')
    const allowed = (imported: string) => !below('src')(imported) || imported === 'src/index.ts' || small(imported)
    expect(offences(stores, allowed)).toEqual([])
  })

  test('of entries: each name on its own, or another entry as a whole, so that nothing is published by accident', () => {
    const paths = Object.values(exports).flatMap((target) =>
      typeof target === 'string' ? [] : [normalize(target['modelhatch-source'])],
    )
    const entries = published.filter(({ path }) => paths.includes(path))
    expect(entries.length).toBeGreaterThan(10)
    const whole = entries.flatMap(({ path, text }) =>
      [...text.matchAll(/^export (?:type )?\*.*? from '([^']+)'/gm)].map(([, from = '']) => ({
        path,
        imports: [normalize(join(dirname(path), from))],
        text,
      })),
    )
    expect(whole.length).toBeGreaterThan(0)
    expect(offences(whole, (imported) => paths.includes(imported))).toEqual([])
  })

  test('of examples: what a reader of the documentation can import', () => {
    // The site is made of the repository, with a tool that wants default exports.
    const programs = examples.filter(({ path }) => !isOfSite(path))
    expect(offences(programs, (imported) => !below('src', 'adapters', 'test', 'dist')(imported))).toEqual([])
  })

  test('of http and wire: nothing from the other folders', () => {
    const within = (folder: string) => src.filter(({ path }) => path.startsWith(`src/${folder}/`))
    const http = below('src/http', 'src/errors.ts')
    expect(offences(within('http'), (imported) => http(imported) || node(imported) || dependency(imported))).toEqual([])
    expect(offences(within('wire'), below('src/wire'))).toEqual([])
    expect(src.find(({ path }) => path === 'src/errors.ts')?.imports).toEqual([])
  })

  test('of providers: conversations, wire formats and HTTP, nothing about callers or what happens with the response', () => {
    const providers = src.filter(({ path }) => path.startsWith('src/providers/'))
    const http = below('src/conversation', 'src/wire', 'src/http', 'src/errors.ts', 'src/bounded-cache.ts')
    const known = (imported: string) =>
      http(imported) || below('src/providers', 'src/records/known-options.ts')(imported)
    const allowed = (imported: string) => known(imported) || node(imported) || dependency(imported)
    expect(offences(providers, allowed)).toEqual([])
  })

  test('of endpoints: the gateway alone, and what puts it together', () => {
    const inner = below('src/endpoints', 'src/gateway.ts', 'src/gateway')
    const others = src.filter(({ path }) => !inner(path) && path !== 'src/index.ts')
    expect(offences(others, (imported) => !inner(imported))).toEqual([])
  })

  test('go downwards: each folder imports itself and those below it in the list', () => {
    const layerOf = (path: string) => layers.findIndex((layer) => below(layer)(path))
    expect(published.map(({ path }) => path).filter((path) => layerOf(path) < 0)).toEqual([])
    expect(layers.filter((layer) => !published.some(({ path }) => below(layer)(path)))).toEqual([])
    const upwards = ({ path, imports }: Source) =>
      imports.filter((each) => isOurs(each) && layerOf(each) < layerOf(path))
    expect(published.flatMap((source) => upwards(source).map((each) => `${source.path} → ${each}`))).toEqual([])
  })

  test('of folders make at most ten levels', () => {
    const placeOf = (path: string) => (path.startsWith('src/') ? path.split('/').slice(0, 2).join('/') : 'adapters')
    const below = new Map<string, Set<string>>()
    for (const { path, imports } of published) {
      const places = below.get(placeOf(path)) ?? new Set()
      below.set(placeOf(path), places)
      for (const each of imports.filter(isOurs)) if (placeOf(each) !== placeOf(path)) places.add(placeOf(each))
    }
    const levelOf = (place: string): number => 1 + Math.max(0, ...[...(below.get(place) ?? [])].map(levelOf))
    expect([...below.keys()].filter((place) => !place.endsWith('.ts')).length).toBeLessThanOrEqual(20)
    expect(levelOf('adapters')).toBeLessThanOrEqual(10)
  })

  test('make no circles, not even for types', () => {
    expect(circles([...published, ...examples])).toEqual([])
  })

  test('of contracts: types only, for they promise and do nothing', () => {
    const contracts = src.filter(({ path }) => path.endsWith('/contract.ts'))
    expect(contracts.length).toBeGreaterThan(3)
    expect(contracts.filter(({ text }) => /^import (?!type\b)/m.test(text)).map(({ path }) => path)).toEqual([])
  })
})

describe('files', () => {
  const all = [...published, ...examples, ...tests]

  test('have at most 300 lines', () => {
    const long = [...published, ...examples].filter(({ text }) => text.split('\n').length > 301)
    expect(long.map(({ path }) => path)).toEqual([])
  })

  test('are in folders whose names say what is in them', () => {
    const vague = /(?:^|\/)(?:utils?|helpers?|common|shared|lib|misc|core)\//
    expect(all.map(({ path }) => path).filter((path) => vague.test(path))).toEqual([])
  })

  test('have named exports only', () => {
    const named = all.filter(({ path }) => path !== 'test/vitest.config.ts' && !isOfSite(path))
    const defaults = named.filter(({ text }) => /^export default\b|\bas default\b/m.test(text))
    expect(defaults.map(({ path }) => path)).toEqual([])
  })

  test('of SQLite name or count the places of their statements: Node 22.19 cannot bind those with a number', () => {
    const sqlite = published.filter(({ path }) => path.startsWith('adapters/stores/sqlite/'))
    expect(sqlite.length).toBeGreaterThan(5)
    expect(sqlite.filter(({ text }) => /[ (,]\?\d/.test(text)).map(({ path }) => path)).toEqual([])
  })

  test('of the library leave the process of their host alone; the program has its own', () => {
    const meddling =
      /\bprocess\.(?:on|once|exit|env|exitCode|emitWarning|abort|kill|chdir)\b|\bconsole\.(?!ts')|\bglobalThis\.\w+ =/
    const library = published.filter(({ path }) => path !== 'adapters/cli/cli.ts')
    const found = library.flatMap(({ path, text }) => {
      return text
        .split('\n')
        .filter((line) => meddling.test(line) && !/^\s*(?:\*|\/\/)/.test(line))
        .map((line) => `${path}: ${line.trim()}`)
    })
    expect(found).toEqual([])
  })

  test('of the library do nothing when they are imported: no timer, no listener, no connection', () => {
    const starting =
      /^(?:(?:export )?const \w+.*= )?(?:await |setInterval|setTimeout|setImmediate|queueMicrotask|createServer|new (?:Pool|Agent|Worker))\b/m
    expect(published.filter(({ text }) => starting.test(text)).map(({ path }) => path)).toEqual([])
  })
})
