/** The storage that `DATABASE_URL` names, with the client that is installed. */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ignore } from '../../src/http/ignore.ts'
import type { StorageBundle } from '../../src/index.ts'

export interface OpenDatabase {
  readonly storage: StorageBundle
  readonly close: () => Promise<unknown>
}

/** A client of a database, as it is used here. */
interface Client {
  on?(event: 'error', listener: () => void): unknown
  end?(): Promise<unknown>
  quit?(): Promise<unknown>
}
type Factory = (options: unknown) => Client
/** A module with the constructors or functions that make clients. */
type Module = Readonly<Record<string, (new (options: unknown) => Client) & Factory>>

/** Opens the storage of a URL. Throws an `Error` that says what to install, or which forms there are. */
export async function openDatabase(url: string, folder: string): Promise<OpenDatabase> {
  const [, scheme = ''] = /^(\w+):/.exec(url) ?? []
  switch (scheme) {
    case 'postgres':
    case 'postgresql': {
      const { Pool } = await moduleOf(['pg'], folder)
      const pool = new (Pool as NonNullable<typeof Pool>)({ connectionString: url, connectionTimeoutMillis: 2_000 })
      const { postgres } = await import('../stores/postgres/postgres.ts')
      return opened(postgres(pool as Parameters<typeof postgres>[0]), pool)
    }
    case 'mysql':
    case 'mariadb': {
      const { createPool } = await moduleOf(['mysql2/promise', 'mariadb'], folder)
      const pool = (createPool as Factory)(url)
      const { mysql } = await import('../stores/mysql/mysql.ts')
      return opened(mysql(pool as Parameters<typeof mysql>[0]), pool)
    }
    case 'redis':
    case 'rediss': {
      const { Redis } = await moduleOf(['ioredis'], folder)
      const client = new (Redis as NonNullable<typeof Redis>)(url)
      const { redis } = await import('../stores/redis/redis.ts')
      return opened(redis(client as Parameters<typeof redis>[0]), client)
    }
    case 'sqlite':
    case 'file': {
      const { sqlite } = await import('../stores/sqlite/sqlite.ts')
      return { storage: sqlite(url.replace(/^\w+:(?:\/\/)?/, '')), close: async () => undefined }
    }
    default:
      throw new Error(
        'DATABASE_URL must begin with postgres:, mysql:, mariadb:, redis: or sqlite:, such as sqlite:gateway.db',
      )
  }
}

function opened(storage: StorageBundle, client: Client): OpenDatabase {
  // A client reports lost connections to a listener too. The store reports what fails because of them.
  client.on?.('error', ignore)
  const close = async () => (client.quit === undefined ? client.end?.() : client.quit())
  // Of a lost connection it fails, which must not look like a failure of what was done before.
  return { storage, close: () => close().catch(ignore) }
}

/** The first of the modules that is installed: in the project, or beside this package. */
async function moduleOf(names: readonly string[], folder: string): Promise<Module> {
  for (const name of names) {
    for (const from of [pathToFileURL(join(folder, 'package.json')), import.meta.url]) {
      try {
        const path = createRequire(from).resolve(name)
        const loaded = (await import(pathToFileURL(path).href)) as Module & { readonly default?: Module }
        return { ...loaded.default, ...loaded }
      } catch (error) {
        if ((error as { code?: string }).code !== 'MODULE_NOT_FOUND') throw error
      }
    }
  }
  throw new Error(`DATABASE_URL needs a client of the database: npm install ${names[0]?.split('/')[0]}`)
}
