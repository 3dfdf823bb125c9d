/** Who imports one vendor loads no other. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { sourceFlags } from '../source-flags.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const entries = ['openai', 'anthropic', 'gemini', 'bedrock', 'vertex', 'identity', 'demo', 'rerank', 'speech', 'videos']

/** Those of the vendors; the formats of several vendors of videos are one file. */
const vendorFile =
  /\/src\/providers\/(openai|anthropic|gemini|bedrock|vertex|identity|demo|rerank(?=\/index)|speech(?=\/index)|videos(?=\/dialects\.ts$))\//

const script = `
  import { registerHooks } from 'node:module'
  const loaded = []
  registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) })
  const names = Object.keys(await import(process.argv[1]))
  console.log(JSON.stringify({ names, loaded }))
`

interface Imported {
  readonly names: readonly string[]
  readonly vendors: readonly string[]
}

/** Each entry is imported once, in a process of its own. */
const imported = new Map<string, Promise<Imported>>()

/** What an entry exports, and the vendors that are loaded with it. */
function importing(entry: string): Promise<Imported> {
  const known = imported.get(entry) ?? importedNow(entry)
  imported.set(entry, known)
  return known
}

async function importedNow(entry: string): Promise<Imported> {
  const args = [...sourceFlags, '--disable-warning=ExperimentalWarning', '--input-type=module']
  const { stdout } = await promisify(execFile)(process.execPath, [...args, '-e', script, entry], { cwd: root })
  const { names, loaded } = JSON.parse(stdout) as { names: string[]; loaded: string[] }
  return { names, vendors: [...new Set(loaded.flatMap((url) => vendorFile.exec(url)?.[1] ?? []))].sort() }
}

test.each([
  ['modelhatch', 'createGateway', []],
  ['modelhatch/providers/custom', 'defineProvider', []],
  ['modelhatch/providers/openai', 'openai', ['openai', 'videos']],
  ['modelhatch/providers/anthropic', 'anthropic', ['anthropic']],
  ['modelhatch/providers/gemini', 'gemini', ['gemini']],
  ['modelhatch/providers/bedrock', 'bedrock', ['anthropic', 'bedrock', 'openai', 'videos']],
  ['modelhatch/providers/vertex', 'vertex', ['anthropic', 'gemini', 'openai', 'vertex', 'videos']],
  ['modelhatch/providers/identity', 'entraIdentity', ['identity']],
  ['modelhatch/providers/demo', 'demo', ['demo']],
  ['modelhatch/providers/rerank', 'cohereRerank', ['rerank']],
  ['modelhatch/providers/speech', 'elevenlabs', ['speech']],
  ['modelhatch/providers/videos', 'xaiVideo', ['videos']],
])('%s', async (entry, name, vendors) => {
  const found = await importing(entry)
  expect(found.names).toContain(name)
  expect(found.vendors).toEqual(vendors)
})

test('modelhatch/providers has what all of them have', async () => {
  const all = await importing('modelhatch/providers')
  expect(all.vendors).toEqual([...entries].sort())
  const single = await Promise.all(['custom', ...entries].map((name) => importing(`modelhatch/providers/${name}`)))
  expect(all.names.toSorted()).toEqual(single.flatMap(({ names }) => names).sort())
})
