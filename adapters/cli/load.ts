import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { GatewayOptions } from '../../src/index.ts'
import { checkKnown, flag, text, type Rule } from '../../src/records/known-options.ts'
import type { Config, ServerOptions } from './config.ts'
import { openDatabase } from './database.ts'
import { keyOf, modelsOf, type Environment } from './environment.ts'

const names = ['ts', 'mts', 'js', 'mjs'].map((ending) => `modelhatch.config.${ending}`)

/** What is served, and how. */
export interface Loaded {
  readonly options: GatewayOptions
  readonly server: Required<ServerOptions>
  /** The configuration file, if there is one. */
  readonly file: string | undefined
  /** A key of clients, where the program has made or read one. */
  readonly key: string | undefined
  /** Closes the database client. */
  readonly close: () => Promise<unknown>
}

/** Where to look for the configuration. */
export interface Place {
  readonly folder: string
  readonly environment: Environment
  /** The path of the configuration file. Default: `modelhatch.config.ts` or `.js` in the folder, if there is one. */
  readonly file?: string | undefined
}

/** Reads the configuration file and the environment. What the file says comes first. */
export async function load({ folder, environment, file: given }: Place): Promise<Loaded> {
  const file = given === undefined ? names.map((name) => join(folder, name)).find(existsSync) : resolve(folder, given)
  const { server = {}, ...config } = file === undefined ? {} : await configOf(file)
  const { DATABASE_URL: url, PORT, HOST } = environment
  // An empty HOST would listen on all addresses.
  const listening = { port: Number(PORT || 3000), host: HOST || '127.0.0.1', ...server }
  checkKnown('server', listening, { port, host: text, path: text, console: flag })
  const hasOwnKeys = config.keys !== undefined || config.authenticate !== undefined
  const key = hasOwnKeys ? undefined : keyOf(environment)
  const database = config.storage === undefined && url ? await openDatabase(url, folder) : undefined
  return {
    options: {
      ...(key !== undefined && { keys: { [key]: {} } }),
      usage: { record: true },
      ...(database && { storage: database.storage }),
      ...config,
      models: config.models ?? modelsOf(environment),
    },
    server: { path: '', console: true, ...listening },
    file,
    key,
    close: async () => database?.close(),
  }
}

async function configOf(file: string): Promise<Config> {
  if (!existsSync(file)) throw new Error(`There is no file ${file}.`)
  const { default: config } = (await import(pathToFileURL(file).href)) as { default?: unknown }
  if (typeof config === 'object' && config !== null) return config
  throw new Error(`${file} must have a default export: export default defineConfig({ … })`)
}

const port: Rule = {
  is: (value) => Number.isInteger(value) && (value as number) >= 0 && (value as number) < 65_536,
  must: 'must be a port: an integer from 0 to 65535',
}
