/**
 * Which requests belong to one conversation. They go to the same deployment, because its vendor has cached their beginning.
 * The choice needs no store: every process, also after a restart, makes the same one.
 */
import { hash } from 'node:crypto'
import { draw, seedOf, type Seed } from '../conversation/draws.ts'
import { header, type Exchange } from '../http/exchange.ts'
import type { Deployment } from '../models/contract.ts'
import { boundedCache } from '../bounded-cache.ts'

/** Names of conversations that clients send, in the order of precedence. */
const fields = ['prompt_cache_key', 'session_id']
const headers = [
  'x-session-id',
  'x-session-affinity',
  'x-claude-code-session-id',
  'session-id',
  'session_id',
  'thread-id',
]
const lastHeader = 'x-grok-conv-id'

/** Longer names are ignored. */
const longestName = 255

/** What a conversation is known by. */
export interface ConversationSigns {
  readonly exchange: Pick<Exchange, 'headers'>
  /** The value of a top-level field of the body. */
  readonly field: (name: string) => unknown
  /** The session that the request is attributed to. */
  readonly session: string | undefined
}

/** The name of the conversation of a request, if the client sends one. */
export function namedConversation({ exchange, field, session }: ConversationSigns): string | undefined {
  for (const name of fields) {
    const value = field(name)
    if (isName(value)) return value
  }
  for (const name of headers) {
    const value = header(exchange, name)
    if (isName(value)) return value
  }
  const last = header(exchange, lastHeader)
  if (isName(session)) return session
  return isName(last) ? last : undefined
}

/** Whether the client wants its requests to stay together. */
export function wantsAffinity(exchange: Pick<Exchange, 'headers'>): boolean {
  return header(exchange, 'x-modelhatch-affinity')?.toLowerCase() !== 'none'
}

/** The name by which a vendor keeps the prompts of a conversation together. Reveals nothing that the client sent. */
export function promptCacheKeyOf(conversation: string): string {
  return hash('sha256', conversation).slice(0, 32)
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= longestName
}

/** Clients choose the model names of open deployments. */
const mostSeeds = 1_000
const seeds = boundedCache<string, Seed>(mostSeeds)

/**
 * For each deployment, a number from 0 to 1 that depends on nothing but the conversation and that deployment (rendezvous
 * hashing): one that leaves moves only its own conversations, and gets them back.
 */
export function drawsFor(conversation: string): (deployment: Deployment, nth: number) => number {
  const own = seedOf(conversation)
  return ({ provider, model }, nth) => {
    const name = `${provider.name}\0${provider.origin ?? ''}\0${model}\0${nth}`
    let seed = seeds.get(name)
    if (seed === undefined) seeds.set(name, (seed = seedOf(name)))
    return draw(own, seed)
  }
}
