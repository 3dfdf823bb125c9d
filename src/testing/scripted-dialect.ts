import type { Dialect, DialectRequest, Script } from './dialects/dialect.ts'
import { sendFrames, sendJson } from './send.ts'
import type { VendorReply, VendorRequest } from './vendor.ts'

/** A vendor's request handler and the requests it has received. */
export interface ScriptedDialect {
  /** Pass it to `scriptedVendor`. */
  readonly reply: VendorReply
  /** The requests received so far, oldest first. Rejected requests are not included. */
  readonly requests: DialectRequest[]
}

/**
 * Answers requests in a vendor's format, streamed or not as each request asks. Requests that the vendor would reject get
 * its 400 error.
 *
 * @param plan What the model says to a request.
 * @example
 * ```ts
 * const { reply, requests } = scriptedDialect(openaiDialect, () => ({ text: 'Hello' }))
 * const vendor = await scriptedVendor(reply)
 * const provider = openai({ baseURL: vendor.baseURL, apiKey: 'any' })
 * ```
 */
export function scriptedDialect(
  dialect: Dialect,
  plan: (parsed: DialectRequest, request: VendorRequest) => Script,
): ScriptedDialect {
  const requests: DialectRequest[] = []
  return {
    requests,
    reply(request, response) {
      let parsed: DialectRequest
      try {
        parsed = dialect.parse(request)
      } catch (error) {
        const { status, body, headers } = dialect.errorReply('invalid', (error as Error).message)
        return sendJson(response, status, body, headers)
      }
      requests.push(parsed)
      const script = plan(parsed, request)
      if (parsed.stream) sendFrames(response, dialect.stream(script).frames)
      else sendJson(response, 200, dialect.body(script))
    },
  }
}
