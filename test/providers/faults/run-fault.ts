/** Sends one request through a complete gateway to a failing vendor, and returns all that the gateway produces. */
import type { GatewayOptions, Receipt } from 'modelhatch'
import { openai, type OpenAIOptions, type Provider } from 'modelhatch/providers'
import { expect } from 'vitest'
import { hostedWith } from '../../hosted.ts'
import { canary, expectNoCanary, recordChannels } from './canary.ts'
import { rawVendor, type RawVendor, type Script } from './raw-vendor.ts'

export interface Fault {
  readonly vendor: Script
  readonly provider?: OpenAIOptions
  readonly gateway?: Partial<GatewayOptions>
  readonly request?: { readonly model?: string; readonly [field: string]: unknown }
  /** The models of the gateway. Default: `m` at the vendor. */
  readonly models?: (provider: Provider) => GatewayOptions['models']
  /** `Line.released` resolves once the client has received this text. */
  readonly releaseAt?: string
}

export interface FaultResult {
  readonly status: number
  /** Without `date` and the connection headers. */
  readonly headers: Record<string, string>
  readonly text: string
  readonly receipt: Receipt
  readonly vendor: RawVendor
  /** The messages on the failure channel. */
  readonly failures: unknown[]
}

/**
 * Sends the request, streaming or not. Fails unless there is exactly one receipt, no secret leaks anywhere, and the host
 * still serves afterwards.
 */
export async function runFault(fault: Fault, stream: boolean): Promise<FaultResult> {
  const messages = recordChannels()
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
  const request = { model: 'm', messages: [{ role: 'user', content: 'Hi' }], ...(stream && { stream }) }
  const body = JSON.stringify({ ...request, ...fault.request })
  const response = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body })
  let text = ''
  const decoder = new TextDecoder()
  for await (const piece of response.body as ReadableStream<Uint8Array>) {
    text += decoder.decode(piece, { stream: true })
    if (fault.releaseAt !== undefined && text.includes(fault.releaseAt)) release.resolve()
  }

  const published = await receipt()
  const alive = await fetch(`${url}/v1/models`, { headers: { authorization: headers.authorization } })
  expect(alive.status, 'the host still serves').toBe(200)
  await alive.arrayBuffer()
  expect(receipts, 'one receipt').toEqual([published])
  expect(published).toMatchObject({ id: response.headers.get('x-request-id'), account: 'payer', stream })
  expectNoCanary('response', text, Object.fromEntries(response.headers))
  expectNoCanary('receipt', published)
  expectNoCanary('channels', ...messages)
  // Requests of earlier tests may end in this process meanwhile.
  const own = messages.filter((message) => (message as { id: string }).id === published.id)
  const failures = own.filter((message) => !receipts.includes(message as Receipt))
  for (const failure of failures) expectNoCanary('failure', (failure as { error: unknown }).error)
  return { status: response.status, headers: ownHeaders(response.headers), text, receipt: published, vendor, failures }
}

function ownHeaders(headers: Headers): Record<string, string> {
  const { date, connection, 'keep-alive': _, 'transfer-encoding': __, ...own } = Object.fromEntries(headers)
  expect(date).toBeDefined()
  expect(connection).toBeDefined()
  return own
}
