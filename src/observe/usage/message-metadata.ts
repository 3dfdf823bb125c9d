/** Who is behind a request for a message, by its field `metadata`. */
import { objectIn } from '../../http/json.ts'

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
  const ids = objectIn(id)
  return ids === undefined
    ? { user: id }
    : { user: ids['account_uuid'] || ids['device_id'], session: ids['session_id'] }
}
