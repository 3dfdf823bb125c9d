/** A process that imports everything that is published, and tells what that changed. */
import { readFileSync } from 'node:fs'
import { changes, stateOf } from './state.ts'

const manifest = new URL('../../../package.json', import.meta.url)
const { exports } = JSON.parse(readFileSync(manifest, 'utf8')) as { exports: Record<string, unknown> }
const modules = Object.keys(exports).filter((name) => !name.endsWith('.json'))

const before = stateOf()
for (const name of modules.filter((each) => each !== './testing')) await import(name.replace('.', 'modelhatch'))
const between = stateOf()
// Its vendor is a server. Node's own `node:http` comes with globals, which every host has already.
await import('node:http')
const serving = stateOf()
await import('modelhatch/testing')
console.log(JSON.stringify({ modules, changes: changes(before, between), testing: changes(serving, stateOf()) }))
