/** A gateway on a real socket, with the official client pointed at it. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createGateway, type GatewayOptions, type Receipt } from 'modelhatch'
import { mount } from 'modelhatch/node'
import OpenAI from 'openai'
import { onTestFinished } from 'vitest'

export interface Served {
  /** Such as `http://127.0.0.1:40123/v1`. */
  readonly url: string
  readonly client: OpenAI
  readonly receipts: Receipt[]
}

export async function served(models: GatewayOptions['models'], options: Partial<GatewayOptions> = {}): Promise<Served> {
  const receipts: Receipt[] = []
  const gateway = createGateway({
    models,
    keys: { 'sk-test': {} },
    retry: { tries: 1 },
    hooks: { receipt: (receipt) => void receipts.push(receipt) },
    ...options,
  })
  const server = createServer(mount(gateway))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    await gateway.close({ graceMs: 0 })
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  return { url, receipts, client: new OpenAI({ apiKey: 'sk-test', baseURL: url, maxRetries: 0 }) }
}
