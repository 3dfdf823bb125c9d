/**
 * The demo model for clients in this process: once made from chats, and once behind a vendor with the real format of
 * every endpoint, to distinguish what is passed through from what is made from a chat.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createGateway, type GatewayOptions } from 'modelhatch'
import { mount } from 'modelhatch/node'
import { demo, openai } from 'modelhatch/providers'

export interface TwoGateways {
  readonly baseURL: string
  close(): Promise<void>
}

/** `demo` is made from chats; `passed` is passed through. */
export async function twoGateways(): Promise<TwoGateways> {
  const local = demo({ paceMs: 0 })
  const inner = await served({ models: { passed: local } })
  const vendor = openai({ baseURL: inner.baseURL, apiKey: 'sk-test', responses: true })
  const outer = await served({ models: { demo: local, passed: vendor } })
  return {
    baseURL: outer.baseURL,
    async close() {
      await outer.close()
      await inner.close()
    },
  }
}

async function served(options: GatewayOptions): Promise<TwoGateways> {
  const gateway = createGateway({ keys: { 'sk-test': {} }, ...options })
  const server = createServer(mount(gateway))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    async close() {
      server.closeAllConnections()
      await Promise.all([gateway.close({ graceMs: 0 }), new Promise((resolve) => server.close(resolve))])
    },
  }
}
