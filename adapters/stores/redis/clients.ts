/** Sends commands through any supported client. */

/** Sends one command, such as `send('SET', 'a', '1')`, and resolves to the server's reply. */
export type Send = (...args: string[]) => Promise<unknown>

/** A client or a pool of node-redis (`redis`, `@redis/client`). */
export interface NodeRedis {
  /** Sends one command. */
  sendCommand(args: string[]): Promise<unknown>
}

/** `createCluster` of node-redis. */
export interface NodeRedisCluster {
  /** The master nodes. */
  readonly masters: readonly {
    /** Host and port. */
    readonly address: string
    /** The client of the node, once connected. */
    readonly client?: unknown
  }[]
  /** Sends one command. */
  sendCommand(firstKey: string | undefined, isReadonly: boolean | undefined, args: string[]): Promise<unknown>
}

/** `createSentinel` of node-redis. */
export interface NodeRedisSentinel {
  /** Only present on a sentinel client. */
  getSentinelNode(): unknown
  /** Sends one command. */
  sendCommand(isReadonly: boolean | undefined, args: string[]): Promise<unknown>
}

/** A client or a cluster of ioredis. */
export interface IoRedis {
  /** Sends one command. */
  call(command: string, ...args: string[]): Promise<unknown>
}

/** A client for `redis`, or a function that sends a command. */
export type RedisClient = Send | NodeRedis | NodeRedisCluster | NodeRedisSentinel | IoRedis

/** Sends commands through a client and, if the client needs it, refreshes its view of the cluster. */
export interface Sender {
  readonly send: Send
  /** Only for clients that do not notice in time that another node serves `key`. */
  readonly refresh?: (key: string) => Promise<unknown>
  /** Whether the client is one of a cluster. If not known, the first error of the server shows it. */
  readonly spread?: boolean
}

/** Undefined if `client` is not a supported client. */
export function senderOf(client: RedisClient): Sender | undefined {
  if (typeof client === 'function') return { send: client }
  if (typeof client !== 'object' || client === null) return undefined
  if ('call' in client && typeof client.call === 'function') {
    const spread = 'isCluster' in client && client.isCluster === true
    return { send: (command = '', ...args) => client.call(command, ...args), spread }
  }
  if (!('sendCommand' in client) || typeof client.sendCommand !== 'function') return undefined
  if ('masters' in client) return clusterSender(client)
  const node: TakesOptions = client
  const first = 'getSentinelNode' in client ? [false] : []
  return { send: (...args) => node.sendCommand(...first, args, ...optionsIf(isReady(client))) }
}

/** A client of node-redis, which takes the options of a command as the last argument. */
interface TakesOptions {
  sendCommand(...args: unknown[]): Promise<unknown>
}

/**
 * By default, node-redis makes an `AbortSignal` with a timer for each command, to drop it if it cannot be written within five
 * seconds. It is of use only while there is no connection, and costs more than sending the command.
 */
const withoutSignal: readonly object[] = [{ timeout: 0 }]

function optionsIf(isConnected: boolean): readonly object[] {
  return isConnected ? withoutSignal : []
}

function clusterSender(cluster: NodeRedisCluster): Sender {
  const node: TakesOptions = cluster
  return {
    spread: true,
    // The arguments of a script are EVALSHA, its digest, the number of keys, and the keys.
    send: (...args) => {
      const { masters } = cluster
      const isConnected = masters.length > 0 && masters.every(({ client }) => isReady(client))
      return node.sendCommand(args[3], false, args, ...optionsIf(isConnected))
    },
    async refresh(key) {
      if (!(await hasMoved(cluster, key))) return
      // The client reloads the cluster's topology when a node replies MOVED. The random routing key sends this command to a
      // node that probably does not serve `key`; if it does, the next refresh tries another.
      await cluster.sendCommand(Math.random().toString(36), false, ['GET', key])
    },
  }
}

/** Whether a node names a new master for `key`. Before there is one, a reload would wait for the dead master. */
async function hasMoved({ masters }: NodeRedisCluster, key: string): Promise<boolean> {
  const clients = masters.flatMap(({ client }) => (isReady(client) ? [client] : []))
  const replies = await Promise.allSettled(clients.map((client) => client.sendCommand(['GET', key])))
  return replies.some((reply) => {
    const moved = reply.status === 'rejected' ? /^MOVED \d+ (\S+)$/.exec((reply.reason as Error).message) : null
    return moved !== null && !masters.some(({ address }) => address === moved[1])
  })
}

function isReady(client: unknown): client is NodeRedis {
  const { isReady: ready, sendCommand } = Object(client) as { isReady?: unknown; sendCommand?: unknown }
  return ready === true && typeof sendCommand === 'function'
}
