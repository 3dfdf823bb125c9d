/** Gateways and vendors for one test: real servers on loopback, closed when the test ends. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { mount } from '../adapters/hosts/node.ts'
import { createGateway, type Gateway, type GatewayOptions, type Receipt } from '../src/index.ts'
import { scriptedVendor, type ScriptedVendor, type VendorReply } from '../src/testing/vendor.ts'
import { storeTimeouts } from './patience.ts'

/** On a busy machine, a short keep-alive closes connections just as the client reuses them. */
export const patient = { keepAliveTimeout: 600_000 } as const

/** Serves a gateway on a plain `node:http` server and returns the URL before `/v1`. */
export async function hosted(gateway: Gateway): Promise<string> {
  const server = createServer(patient, mount(gateway))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await Promise.all([gateway.close({ graceMs: 0 }), new Promise((resolve) => server.close(resolve))])
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

export async function vendorFor(reply: VendorReply): Promise<ScriptedVendor> {
  const vendor = await scriptedVendor(reply)
  onTestFinished(() => vendor.close())
  return vendor
}

export interface Hosted {
  readonly url: string
  readonly gateway: Gateway
  /** All receipts so far. */
  readonly receipts: Receipt[]
  /** Resolves with the next receipt that was not returned before. */
  readonly receipt: () => Promise<Receipt>
}

/** Serves a gateway with the key `sk-test` and collects its receipts. */
export async function hostedWith(options: GatewayOptions): Promise<Hosted> {
  const receipts: Receipt[] = []
  let taken = 0
  let wake: (() => void) | undefined
  const gateway = createGateway({
    keys: { 'sk-test': {} },
    ...options,
    timeouts: { ...storeTimeouts, ...options.timeouts },
    hooks: {
      ...options.hooks,
      receipt(each) {
        receipts.push(each)
        options.hooks?.receipt?.(each)
        wake?.()
      },
    },
  })
  const receipt = async () => {
    while (receipts.length <= taken) await new Promise<void>((resolve) => (wake = resolve))
    return receipts[taken++] as Receipt
  }
  return { url: await hosted(gateway), gateway, receipts, receipt }
}

/** Sends a chat request with the key `sk-test`. */
export function askChat(url: string, body: object = {}, init: RequestInit = {}): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi' }], ...body }),
    ...init,
  })
}
