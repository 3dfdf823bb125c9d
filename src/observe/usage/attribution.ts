import type { Caller } from '../../callers/contract.ts'
import { isName, longestUser } from '../../callers/users-and-tags.ts'
import { header, type Exchange } from '../../http/exchange.ts'
import { isMessages } from '../../http/target.ts'
import type { Receipt } from '../../money/receipt.ts'
import type { UsageOptions } from './options.ts'
import { objectOf } from '../../conversation/json.ts'

/** Whom the usage of a request is attributed to. */
export type Attribution = Pick<Receipt, 'user' | 'session' | 'agent' | 'tags'>

const longestSession = 256
const agentHeader = 'x-claude-code-agent-id'
const defaultSessionHeaders = ['x-claude-code-session-id', 'session-id', 'session_id', 'x-session-id']

/** Reads whom a request is attributed to. `field` returns the value of a top-level field of its body. */
type Attribute = (
  exchange: Pick<Exchange, 'headers' | 'target'>,
  caller: Pick<Caller, 'user' | 'tags'>,
  field: (name: string) => unknown,
) => Attribution

/** Values of requests that are empty, too long or not storable are ignored, because clients choose them. */
export function attributing(options: UsageOptions = {}): Attribute {
  const { user: source = 'field', sessionHeaders = defaultSessionHeaders } = options
  return (exchange, caller, field) => {
    const attribution: { -readonly [Name in keyof Attribution]: Attribution[Name] } = {}
    const named = isMessages(exchange.target) ? namesIn(field('metadata')) : undefined
    const user = caller.user ?? userOf(source, exchange, field) ?? (source === 'field' ? userIn(named) : undefined)
    if (user !== undefined) attribution.user = user
    for (const name of sessionHeaders) {
      const session = header(exchange, name)
      if (!isName(session, longestSession)) continue
      attribution.session = session
      break
    }
    const session = named?.session
    if (attribution.session === undefined && sessionHeaders.length > 0 && isName(session, longestSession)) {
      attribution.session = session
    }
    const agent = attribution.session === undefined ? undefined : header(exchange, agentHeader)
    if (isName(agent, longestSession)) attribution.agent = agent
    const { tags } = caller
    if (tags !== undefined && tags.length > 0) attribution.tags = tags
    return attribution
  }
}

function userIn({ user }: Named = {}): string | undefined {
  return isName(user, longestUser) ? user : undefined
}

function userOf(
  source: NonNullable<UsageOptions['user']>,
  exchange: Pick<Exchange, 'headers'>,
  field: (name: string) => unknown,
): string | undefined {
  if (source === 'none') return undefined
  const named = source === 'field' ? field('user') : header(exchange, source.header)
  if (isName(named, longestUser)) return named
  const identifier = source === 'field' ? field('safety_identifier') : undefined
  return isName(identifier, longestUser) ? identifier : undefined
}

/** What the field names. The values are the client's and not checked. */
export interface Named {
  readonly user?: unknown
  readonly session?: unknown
}

/** Longer than any client writes. */
const longest = 2_048

/** Of earlier versions of Claude Code. */
const joined = /^user_([^_]+)_account_([^_]*)_session_(.+)$/

/** `user_id` is a name; Claude Code writes the ids of device, account and session into it. */
export function namesIn(metadata: unknown): Named {
  const { user_id: id } = Object(metadata) as { user_id?: unknown }
  if (typeof id !== 'string' || id.length > longest) return {}
  const [, device, account, session] = joined.exec(id) ?? []
  if (device !== undefined) return { user: account || device, session }
  if (!id.startsWith('{')) return { user: id }
  const ids = objectOf(id)
  return ids === undefined
    ? { user: id }
    : { user: ids['account_uuid'] || ids['device_id'], session: ids['session_id'] }
}
