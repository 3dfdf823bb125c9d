/** One request through a whole gateway to a vendor that fails, and everything that comes of it. */
import type { GatewayOptions, Receipt } from 'modelhatch'
import { openai, type OpenAIOptions, type Provider } from 'modelhatch/providers'
import { expect } from 'vitest'
import { hostedWith } from '../../hosted.ts'
import { canary, expectNoCanary, overheard } from './canary.ts'
import { rawVendor, type RawVendor, type Script } from './raw-vendor.ts'

export interface Fault {
  readonly vendor: Script
  readonly provider?: OpenAIOptions
  readonly gateway?: Partial<GatewayOptions>
  readonly request?: { readonly model?: string; readonly [field: string]: unknown }
  /** The models of the gateway. Default: `m` is the vendor's. */
  readonly models?: (provider: Provider) => GatewayOptions['models']
  /** The vendor's line is released when the client has got this text. */
  readonly releaseAt?: string
}

export interface Met {
  readonly status: number
  /** Without those of the connection. */
  readonly headers: Record<string, string>
  readonly text: string
  readonly receipt: Receipt
  readonly vendor: RawVendor
  /** What was published of the failure. */
  readonly failures: unknown[]
}

/**
 * Asks once, as a client that waits or that streams. Fails when there is not exactly one receipt, when a secret gets
 * out anywhere, or when the host does not serve on.
 */
export async function meet(fault: Fault, stream: boolean): Promise<Met> {
  const heard = overheard()
  const release = Promise.withResolvers<void>()
  const vendor = await rawVendor(fault.vendor, release.promise)
  const { vendorKey: apiKey, organization, project } = canary
  const provider = openai({ baseURL: vendor.baseURL, apiKey, organization, project, ...fault.provider })
  const { url, receipts, receipt } = await hostedWith({
    models: fault.models?.(provider) ?? { m: provider },
    keys: { [canary.clientKey]: { account: 'payer' } },
    retry: { maxAttempts: 1 },
    ...fault.gateway,
  })

  const headers = { authorization: `Bearer ${canary.clientKey}`, 'content-type': 'application/json' }
  const question = { model: 'm', messages: [{ role: 'user', content: 'Hi' }], ...(stream && { stream }) }
  const body = JSON.stringify({ ...question, ...fault.request })
  const response = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body })
  let text = ''
  const decoder = new TextDecoder()
  for await (const piece of response.body as ReadableStream<Uint8Array>) {
    text += decoder.decode(piece, { stream: true })
    if (fault.releaseAt !== undefined && text.includes(fault.releaseAt)) release.resolve()
  }

  const told = await receipt()
  const alive = await fetch(`${url}/v1/models`, { headers: { authorization: headers.authorization } })
  expect(alive.status, 'the host serves on').toBe(200)
  await alive.arrayBuffer()
  expect(receipts, 'one receipt').toEqual([told])
  expect(told).toMatchObject({ id: response.headers.get('x-request-id'), account: 'payer', stream })
  expectNoCanary('answer', text, Object.fromEntries(response.headers))
  expectNoCanary('receipt', told)
  expectNoCanary('channels', ...heard)
  const failures = heard.filter((message) => !receipts.includes(message as Receipt))
  for (const failure of failures) expectNoCanary('failure', (failure as { error: unknown }).error)
  return { status: response.status, headers: ownHeaders(response.headers), text, receipt: told, vendor, failures }
}

function ownHeaders(headers: Headers): Record<string, string> {
  const { date, connection, 'keep-alive': _, 'transfer-encoding': __, ...own } = Object.fromEntries(headers)
  expect(date).toBeDefined()
  expect(connection).toBeDefined()
  return own
}
