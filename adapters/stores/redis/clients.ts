/** Sends commands through any supported client. */

/** Sends one command, such as `send('SET', 'a', '1')`, and gives the server's reply. */
export type Send = (...words: string[]) => Promise<unknown>

/** A client or a pool of node-redis (`redis`, `@redis/client`). */
export interface NodeRedis {
  /** Sends one command. */
  sendCommand(words: string[]): Promise<unknown>
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
  sendCommand(firstKey: string | undefined, isReadonly: boolean | undefined, words: string[]): Promise<unknown>
}

/** `createSentinel` of node-redis. */
export interface NodeRedisSentinel {
  /** Only present on a sentinel client. */
  getSentinelNode(): unknown
  /** Sends one command. */
  sendCommand(isReadonly: boolean | undefined, words: string[]): Promise<unknown>
}

/** A client or a cluster of ioredis. */
export interface IoRedis {
  /** Sends one command. */
  call(command: string, ...words: string[]): Promise<unknown>
}

/** What `redis` accepts: a client, or a function that sends a command. */
export type RedisClient = Send | NodeRedis | NodeRedisCluster | NodeRedisSentinel | IoRedis

/** A client, and where it has to be told of it, how it is made to look at its cluster again. */
export interface Sender {
  readonly send: Send
  /** Only of clients that do not do so themselves in time. */
  readonly refresh?: (key: string) => Promise<unknown>
}

/** Undefined if `client` is not a supported client. */
export function senderOf(client: RedisClient): Sender | undefined {
  if (typeof client === 'function') return { send: client }
  if (typeof client !== 'object' || client === null) return undefined
  if ('call' in client && typeof client.call === 'function') {
    return { send: (command = '', ...words) => client.call(command, ...words) }
  }
  if (!('sendCommand' in client) || typeof client.sendCommand !== 'function') return undefined
  if ('getSentinelNode' in client) return { send: (...words) => client.sendCommand(false, words) }
  if ('masters' in client) return clusterSender(client)
  return { send: (...words) => client.sendCommand(words) }
}

function clusterSender(cluster: NodeRedisCluster): Sender {
  return {
    // The words of a script are EVALSHA, its digest, how many keys, and those.
    send: (...words) => cluster.sendCommand(words[3], false, words),
    async refresh(key) {
      if (!(await hasMoved(cluster, key))) return
      // It looks again when a node says that a key is elsewhere: one is asked for a key that is not its own. Which node a
      // random word leads to is open; the next one leads elsewhere.
      await cluster.sendCommand(Math.random().toString(36), false, ['GET', key])
    },
  }
}

/** Whether another node names a master that the client does not know yet. To look any earlier would be to wait for a dead one. */
async function hasMoved({ masters }: NodeRedisCluster, key: string): Promise<boolean> {
  const clients = masters.flatMap(({ client }) => (isReady(client) ? [client] : []))
  const answers = await Promise.allSettled(clients.map((client) => client.sendCommand(['GET', key])))
  return answers.some((answer) => {
    const said = answer.status === 'rejected' ? /^MOVED \d+ (\S+)$/.exec((answer.reason as Error).message) : null
    return said !== null && !masters.some(({ address }) => address === said[1])
  })
}

function isReady(client: unknown): client is NodeRedis {
  const { isReady: ready, sendCommand } = Object(client) as { isReady?: unknown; sendCommand?: unknown }
  return ready === true && typeof sendCommand === 'function'
}
