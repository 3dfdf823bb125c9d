/** A process that imports everything that is published, and tells what that changed. */
import { readFileSync } from 'node:fs'
import { changes, stateOf } from './state.ts'

const manifest = new URL('../../../package.json', import.meta.url)
const { exports } = JSON.parse(readFileSync(manifest, 'utf8')) as { exports: Record<string, unknown> }
const modules = Object.keys(exports).filter((name) => !name.endsWith('.json'))

// What every host has loaded already comes with globals of its own.
await import('node:http')
const before = stateOf()
for (const name of modules) await import(name.replace('.', 'modelhatch'))
console.log(JSON.stringify({ modules, changes: changes(before, stateOf()) }))
