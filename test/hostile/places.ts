/** Settings shared by the process under attack and the attackers. */
export interface Places {
  /** Base URLs of a well-behaved vendor, a hostile one, and one that records its requests. */
  readonly good: string
  readonly hostile: string
  readonly recording: string
  readonly vendorKey: string
}

/** Part of every key and secret; must never appear in a response. */
export const secret = 'canary'
export const keyOf = (account: string): string => `sk-${secret}-${account}`

export const hostNames = ['Express 5', 'Koa 3', 'fetch'] as const
export type HostName = (typeof hostNames)[number]

export type Gate = 'open' | 'paid'

export interface Port {
  readonly port: number
  /** The mount path. */
  readonly path: string
}

export type Ports = Readonly<Record<Gate, Readonly<Record<HostName, Port>>>>
