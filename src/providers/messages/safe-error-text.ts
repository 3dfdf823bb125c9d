/** The words of a vendor's error that a client may read. */
import { messageOf } from '../vendor-error.ts'

const longest = 2_000

/** Says something about the host's account at the vendor. */
const account =
  /\b(?:organi[sz]ations?|workspaces?|billing|credits?|plans?|api[ _-]?keys?|x-api-key|authentication|subscriptions?|invoices?)\b/i

/** Ids of requests, organisations and files, keys, addresses, and what has the form of a random id. */
const removed =
  /\b(?:https?:\/\/[^\s"')]+|[\w.+-]+@[\w-]+\.[\w.]+|(?:sk|req|org|wrkspc|user|file|acct|ws|key)[-_][\w-]{4,}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|(?:\d{1,3}\.){3}\d{1,3})\b/gi

/**
 * The text of an error object, without what identifies the host's account or the vendor's request, and with the model's
 * public name. Undefined if it has none, or if it is about the account.
 */
export function safeErrorText(error: unknown, model: string, publicModel: string): string | undefined {
  const message = messageOf(error)
  if (message.trim() === '' || account.test(message)) return undefined
  const named = model === publicModel ? message : message.replaceAll(model, () => publicModel)
  const text = printable(named.replaceAll(removed, '[removed]')).trim()
  return text.length > longest ? `${text.slice(0, longest)}…` : text
}

function printable(text: string): string {
  // oxlint-disable-next-line no-control-regex -- the vendor's text may have any character
  return text.toWellFormed().replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f]/g, ' ')
}
