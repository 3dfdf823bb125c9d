/** Imports every published entry point and prints what this changed in the process. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { changes, stateOf } from './state.ts'

const manifest = new URL('../../../../package.json', import.meta.url)
const { exports } = JSON.parse(readFileSync(manifest, 'utf8')) as { exports: Record<string, unknown> }
const modules = Object.keys(exports).filter((name) => !name.endsWith('.json'))

// Loading `node:http` defines globals, which every host has anyway.
await import('node:http')
const before = stateOf()
for (const name of modules) await import(name.replace('.', 'modelhatch'))
// This part of undici would set the dispatcher that the host's own `fetch` uses.
const loaded = Object.keys(createRequire(import.meta.url).cache)
const globalUndici = loaded.filter((path) => path.endsWith('/undici/lib/global.js'))
console.log(JSON.stringify({ modules, globalUndici, changes: changes(before, stateOf()) }))
