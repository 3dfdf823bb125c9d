/**
 * Keys, limits, balances, video tasks, responses and the answers to repeated requests in Redis (7 or later, or Valkey):
 * `createGateway({ storage: redis(client) })`. `client` is one of node-redis or ioredis as it is, a cluster's as well, or a
 * function that sends a command: `(...words) => client.sendCommand(words)`.
 *
 * Every call is one script, and so one atomic step and one round trip. All keys carry one hash tag: on a cluster they live
 * on one node, and a function that must name a key for the routing finds it as the fourth word. (`TIME` has none: any
 * node will do.) A command that a cluster refuses while a replica takes over is sent again for a while.
 *
 * Limits and keys are what Redis is good at. Balances are as safe as Redis is set up to be: without an append-only file,
 * or with an asynchronous replica that takes over, the last calls before a crash may be forgotten. Where money is meant,
 * keep it text: `storage: { ...postgres(pool), limits: redis(client).limits }`. Usage records, which are asked for by
 * time and summed up, are not kept here.
 *
 * Responses and answers take their memory for as long as they are kept: `responseAgeMs` here, `idempotency.keepMs` and
 * `.maxBytes` of the gateway. None of all this may be evicted (`maxmemory-policy noeviction`).
 */
import type { StorageBundle } from '../index.ts'
import { redisIdempotency } from './idempotency.ts'
import { age, checkKnown, count, text } from '../../../src/validation/known-options.ts'
import { redisJoint } from './joint.ts'
import { redisKeys } from './keys.ts'
import { redisLedger } from './ledger.ts'
import { redisLimits } from './limits.ts'
import { redisResponses } from './responses.ts'
import { senderOf, type RedisClient } from './clients.ts'
import { patient } from './failover.ts'
import { Scripts } from './scripts.ts'
import { taskStore } from './tasks.ts'

export type { IoRedis, NodeRedis, NodeRedisCluster, NodeRedisSentinel, RedisClient, Send } from './clients.ts'

/** Options of `redis`. */
export interface RedisOptions {
  /** What the name of every key begins with. Gateways with the same prefix share what they keep. Default `modelhatch`. */
  readonly prefix?: string
  /** Lines of an account's books kept at most; older ones are kept as sums only. Default 10,000. */
  readonly entries?: number
  /** Milliseconds for which a response is kept. Default 86,400,000: a day, for all of it is held in memory. */
  readonly responseAgeMs?: number
}

/** All stores but `usage`, in one Redis. */
export type RedisStorage = StorageBundle & Required<Omit<StorageBundle, 'usage' | 'close'>>

/** Stores limits, keys, ledger, tasks, idempotency and responses in Redis 7 or later: `storage: redis(client)`, with a client of
 * node-redis or ioredis, or a function that sends one command. The client remains the host's to close. */
export function redis(client: RedisClient, options: RedisOptions = {}): RedisStorage {
  const { prefix = 'modelhatch', entries = 10_000, responseAgeMs = 86_400_000 } = options
  const sender = senderOf(client)
  if (sender === undefined) {
    throw new TypeError('redis: needs a client of node-redis or ioredis, or a function that sends a command')
  }
  checkKnown('redis', options, { prefix: text, entries: count, responseAgeMs: age })
  if (!/^[\w.:-]{1,64}$/.test(prefix)) {
    throw new TypeError(`redis: the prefix "${prefix}" must be of letters, digits, "_", ".", ":" and "-"`)
  }
  const base = `{${prefix}}:`
  const send = patient(sender, base)
  const scripts = new Scripts(send, base)
  const limits = redisLimits(scripts)
  const ledger = redisLedger(scripts, entries)
  return {
    keys: redisKeys(scripts),
    limits,
    ledger,
    tasks: taskStore(send, base),
    idempotency: redisIdempotency(scripts),
    responses: redisResponses(scripts, responseAgeMs),
    joint: redisJoint(scripts, limits, ledger, entries),
  }
}
