import type { Reply } from '../../http/exchange.ts'

/** The reply with the id of the request; for a client of Anthropic's API also by the name that it knows. */
export function finished(
  id: string,
  forAnthropic: boolean,
  reply: Reply,
  more?: Readonly<Record<string, string>>,
): Reply {
  const { status, body } = reply
  const headers: Record<string, string> = { ...reply.headers, ...more, 'x-request-id': id }
  if (forAnthropic) headers['request-id'] = id
  return { status, headers, body }
}
