/** What the attacked process and its attackers both know. */
export interface Places {
  /** Base URLs: of a vendor that behaves, of one that does not, and of one that writes down what it gets. */
  readonly good: string
  readonly hostile: string
  readonly recording: string
  readonly vendorKey: string
}

/** Part of every key and secret: it must never be seen in an answer. */
export const secret = 'canary'
export const keyOf = (account: string): string => `sk-${secret}-${account}`

export const hostNames = ['Express 5', 'Koa 3', 'fetch'] as const
export type HostName = (typeof hostNames)[number]

export type Gate = 'open' | 'paid'

export interface Port {
  readonly port: number
  /** What stands before `/v1`. */
  readonly path: string
}

export type Ports = Readonly<Record<Gate, Readonly<Record<HostName, Port>>>>
