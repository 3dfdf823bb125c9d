import { batchedAdmission, batchedLimits } from '../batched-admission.ts'
import type { StorageBundle } from '../index.ts'
import { redisIdempotency } from './idempotency.ts'
import { age, checkKnown, count, text } from '../../../src/records/known-options.ts'
import { Calls } from './calls.ts'
import { redisChanges } from './changes.ts'
import { redisKeys } from './keys.ts'
import { KeyBases, requiringLayout } from './key-bases.ts'
import { Leases } from './leases.ts'
import { redisLedger } from './ledger.ts'
import { redisAuditLog } from './audit-log.ts'
import { redisRegistry } from './registry.ts'
import { redisResponses } from './responses.ts'
import { redisVendorKeys } from './vendor-keys.ts'
import { senderOf, type RedisClient } from './clients.ts'
import { retrying } from './failover.ts'
import { Scripts } from './scripts.ts'
import { redisTasks } from './tasks.ts'

export type { IoRedis, NodeRedis, NodeRedisCluster, NodeRedisSentinel, RedisClient, Send } from './clients.ts'

/** Options of `redis`. */
export interface RedisOptions {
  /** The prefix of all keys. Gateways with the same prefix share their data. Default `modelhatch`. */
  readonly prefix?: string
  /** Maximum number of ledger entries kept per account; older ones are kept as sums only. Default 10,000. */
  readonly entries?: number
  /** Milliseconds for which stored responses are kept, in memory. Default 86,400,000: one day. */
  readonly responseAgeMs?: number
}

/** Every store of a bundle except those of usage and content, in one Redis. */
export type RedisStorage = StorageBundle & Required<Omit<StorageBundle, 'usage' | 'content' | 'contentKeys' | 'close'>>

/**
 * Stores keys, limits, balances, video tasks, responses and idempotent responses in Redis 7 or later, or Valkey. `client` is a
 * client or cluster of node-redis or ioredis, or a function that sends a command: `(...args) => client.sendCommand(args)`.
 * The host opens and closes the client. Throws a `TypeError` for invalid arguments or options.
 *
 * Every call is one atomic script, in one round trip; calls of one turn of the event loop share it, and where calls of an account
 * follow each other closely, one draws for several. On a cluster the accounts are spread over all nodes by hash tags. A call with
 * caps or limits that accounts share takes two steps there, see `LimitStore`, and draws for itself alone. A function that routes
 * commands finds a key in the fourth argument (`TIME` has none and may go to any node). During a failover, commands that the
 * cluster rejects are retried for up to 1.8 seconds.
 *
 * Balances are only as safe as the Redis configuration: without an append-only file, or after a failover to an asynchronous
 * replica, the last writes before a crash may be lost. To keep money in Postgres, use
 * `storage: { ...postgres(pool), limits: redis(client).limits }`. Usage records and content are not stored in Redis.
 *
 * Responses use memory for as long as they are kept: see `responseAgeMs`, and `idempotency.keepMs` and `idempotency.maxBytes`
 * of the gateway. A server that evicts keys is refused: set `maxmemory-policy noeviction`.
 */
export function redis(client: RedisClient, options: RedisOptions = {}): RedisStorage {
  const { prefix = 'modelhatch', entries = 10_000, responseAgeMs = 86_400_000 } = options
  const sender = senderOf(client)
  if (sender === undefined) {
    throw new TypeError('redis: needs a client of node-redis or ioredis, or a function that sends a command')
  }
  checkKnown('redis', options, { prefix: text, entries: count, responseAgeMs: age })
  if (!/^[\w.:-]{1,64}$/.test(prefix)) {
    throw new TypeError(`redis: the prefix "${prefix}" must be 1 to 64 letters, digits, "_", ".", ":" or "-"`)
  }
  const keyBases = new KeyBases(prefix)
  const send = requiringLayout(retrying(sender), prefix)
  const scripts = new Scripts(send, sender.spread === true)
  const calls = new Calls(scripts, keyBases, entries)
  const leases = new Leases(scripts, keyBases)
  const keysBase = keyBases.base('keys')
  const changes = redisChanges(scripts, keysBase)
  const limits = batchedLimits(calls, (holders, leaseMs) => leases.renewPlaces(holders, leaseMs))
  const ledger = redisLedger({ scripts, keyBases, calls, leases, kept: entries })
  return {
    keys: redisKeys(scripts, keysBase, changes),
    limits,
    ledger,
    tasks: redisTasks(scripts, keyBases.base('tasks')),
    background: redisTasks(scripts, keyBases.base('background')),
    batches: redisTasks(scripts, keyBases.base('batches')),
    fileBatches: redisTasks(scripts, keyBases.base('file-batches')),
    files: redisTasks(scripts, keyBases.base('files')),
    idempotency: redisIdempotency(scripts, keyBases),
    responses: redisResponses(scripts, keyBases, responseAgeMs),
    audit: redisAuditLog(scripts, keyBases),
    vendorKeys: redisVendorKeys(scripts, keyBases),
    registry: redisRegistry(scripts, keysBase, changes),
    admission: batchedAdmission(calls, limits, ledger),
  }
}
