/** Implements `VideoProvider` for a vendor's HTTP API. */
import { GatewayError } from '../../errors.ts'
import { fieldsOf, type Json, type Fields } from '../../wire/json.ts'
import { readJsonObject, requireSuccess } from '../answer.ts'
import { jsonBody, type Client } from '../client.ts'
import { unreadable } from '../failure.ts'
import type { Transfer } from '../transfer.ts'
import { vendorError } from '../vendor-error.ts'
import type { VideoContext, VideoProvider } from '../video.ts'
import { contentOf, requireFound } from './content.ts'
import type { JobRequest, VideoDialect } from './dialect.ts'
import { anonymousClient, download } from './download.ts'

/** Maximum size of a status response, in bytes. */
export const usualBytes: number = 1024 * 1024

export function httpVideo(client: Client, dialect: VideoDialect): VideoProvider {
  const { cancel, content, fault, limits, large = false } = dialect
  return {
    submit: dialect.submit,
    ...(limits && { limits }),
    async start(call) {
      const ask = dialect.start(call)
      const headers = dialect.submit === 'token' ? { ...ask.headers, 'idempotency-key': call.token } : ask.headers
      const transfer = await askVendor(client, { ...ask, headers }, call)
      const fields = { openModel: call.openModel, field: (name: string) => call.request[name] }
      if (transfer.status !== 202) await requireSuccess(transfer, fields, fault)
      const { value } = await readJsonObject(transfer, large ? client.answerBytes : usualBytes)
      const status = dialect.errorIn?.(value as Fields)
      if (status !== undefined) throw vendorError({ status, openModel: call.openModel, sent: fields.field })
      const id = dialect.idOf(value as Fields)
      if (id === undefined) throw unreadable("the vendor's response has no job id", 'next')
      return { id }
    },
    async check(operation, context) {
      const transfer = await askVendor(client, dialect.check(idOf(operation, dialect)), context)
      requireFound(transfer)
      if (transfer.status !== 202) await requireSuccess(transfer, undefined, fault)
      const { value } = await readJsonObject(transfer, large ? client.answerBytes : usualBytes)
      const error = dialect.errorIn?.(value as Fields)
      if (error !== undefined) throw vendorError({ status: error, openModel: false })
      const status = dialect.statusOf(value as Fields, transfer.status)
      if (status.state === 'failed' || status.operation === undefined) return status
      return { ...status, operation: { ...Object(operation), ...Object(status.operation) } as Json }
    },
    ...(cancel && {
      async cancel(operation: Json, context: VideoContext) {
        const transfer = await askVendor(client, cancel(idOf(operation, dialect)), context)
        transfer.fail(new Error('the response to a cancellation is not read'))
      },
    }),
    ...(content && {
      async content(operation: Json, { signal, range }: VideoContext & { range?: string | undefined }) {
        const { headers, ...ask } = content(idOf(operation, dialect))
        const ranged = range === undefined ? headers : { ...headers, range }
        const transfer = await askVendor(client, { ...ask, headers: ranged }, { signal })
        const location = transfer.header('location')
        if (transfer.status < 300 || transfer.status >= 400 || location === undefined) return contentOf(transfer)
        transfer.fail(new Error('the response is a redirect'))
        // Follows the redirect without our key.
        const inside = client.origin.startsWith('http:')
        return download(URL.parse(location, client.origin), { signal, range }, (url) => anonymousClient(url, inside))
      },
    }),
  }
}

/** The id of a job, encoded for a path. */
export function idOf(operation: Json, { pathOf = encodeURIComponent }: VideoDialect): string {
  const { id } = fieldsOf(operation)
  if (typeof id !== 'string') throw new GatewayError('not_found')
  return pathOf(id)
}

export async function askVendor(
  client: Client,
  { body, headers, ...rest }: JobRequest,
  { signal, headers: added }: VideoContext,
): Promise<Transfer> {
  const sent = body && {
    body: Buffer.from(JSON.stringify(body)),
    headers: { ...jsonBody, ...headers },
  }
  return client.send({ ...rest, headers, ...sent, added, signal })
}
