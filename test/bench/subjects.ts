/** The servers under test, one per row of the tables. */
import { hasPostgres, hasRedis } from '../servers.ts'
import type { Target } from './load.ts'

export type Kind =
  | 'relay'
  | 'node'
  | 'express'
  | 'metered'
  | 'crowded'
  | 'postgres'
  | 'redis'
  | 'koa'
  | 'proxy'
  | 'by-hand'

export interface Subject {
  readonly name: string
  readonly kind: Kind
  /** Whether its models have another name at the vendor. */
  readonly renamed?: boolean
  /** Another version of Node than this process: the path of its executable. */
  readonly node?: string
}

/** The baseline. */
export const relay: Subject = { name: 'bare undici relay', kind: 'relay' }

/** Calls open, and accounts, of the crowded server. */
export const crowd = { places: 1_000, accounts: 1_000 } as const

export const subjects: readonly Subject[] = [
  relay,
  { name: 'modelhatch on node:http', kind: 'node' },
  { name: 'modelhatch in Express 5', kind: 'express' },
  { name: 'modelhatch in Express 5, model renamed', kind: 'express', renamed: true },
  { name: 'modelhatch in Express 5, limits and prices', kind: 'metered' },
  { name: 'the same with 1,000 calls open and 1,000 accounts', kind: 'crowded' },
  { name: 'modelhatch in Express 5, limits and prices on Postgres', kind: 'postgres' },
  { name: 'modelhatch in Express 5, limits and prices on Redis', kind: 'redis' },
  { name: 'modelhatch in Koa 3', kind: 'koa' },
  { name: 'modelhatch in Koa 3, model renamed', kind: 'koa', renamed: true },
  { name: 'http-proxy-middleware 4 in Express 5', kind: 'proxy' },
  { name: 'a route with the openai package in Express 5', kind: 'by-hand' },
]

/** Whether this machine has the database that a kind of server needs. */
export function canRun(kind: Kind): boolean {
  if (kind === 'postgres') return hasPostgres
  return kind !== 'redis' || hasRedis
}

/** How clients reach a server of this kind. */
export function targetOf(kind: Kind, ...ports: number[]): Target {
  // A path for servers in a framework, as in production, and the root for plain ones.
  const mount = kind === 'relay' || kind === 'node' ? '' : '/ai'
  return { ports, mount, accounts: kind === 'crowded' ? crowd.accounts : undefined }
}
