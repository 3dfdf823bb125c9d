/** A process that imports everything that is published, and tells what that changed. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { changes, stateOf } from './state.ts'

const manifest = new URL('../../../../package.json', import.meta.url)
const { exports } = JSON.parse(readFileSync(manifest, 'utf8')) as { exports: Record<string, unknown> }
const modules = Object.keys(exports).filter((name) => !name.endsWith('.json'))

// Node's own `node:http` comes with globals, which every host has already.
await import('node:http')
const before = stateOf()
for (const name of modules) await import(name.replace('.', 'modelhatch'))
// Where undici is loaded first, this part of it decides how the host's own `fetch` works.
const loaded = Object.keys(createRequire(import.meta.url).cache)
const intruders = loaded.filter((path) => path.endsWith('/undici/lib/global.js'))
console.log(JSON.stringify({ modules, intruders, changes: changes(before, stateOf()) }))
