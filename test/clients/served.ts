/**
 * The quick start as users run it: `npm start` in a separate process, with the demo model, and with a vendor over a
 * socket as `openai/*`. By default the vendor responds like the demo model.
 */
import { Readable } from 'node:stream'
import OpenAI from 'openai'
import { createGateway } from 'modelhatch'
import { mount } from 'modelhatch/node'
import { demo } from 'modelhatch/providers'
import { scriptedVendor, type ScriptedVendor, type VendorReply } from 'modelhatch/testing'
import { runExample } from '../examples/example.ts'
import { judge, type Judge } from './judge.ts'

export interface Served extends Judge {
  readonly baseURL: string
  /** The official client; every response to it is validated. */
  readonly client: OpenAI
  readonly vendor: ScriptedVendor
  /** The vendor's default behaviour, to restore it. */
  readonly usual: VendorReply
  stop(): Promise<void>
}

export async function serve(): Promise<Served> {
  const inner = createGateway({
    keys: { 'sk-vendor': {} },
    models: { 'gpt-9': demo({ paceMs: 0 }), 'org/gpt 9': demo({ paceMs: 0 }) },
  })
  const usual: VendorReply = (request, response) => {
    const again = Object.assign(Readable.from([request.body]), {
      method: request.method,
      url: request.url,
      headers: request.headers,
      httpVersionMajor: 1,
      complete: true,
      socket: {},
    })
    mount(inner)(again, response)
  }
  const vendor = await scriptedVendor(usual)
  const example = await runExample('express', { OPENAI_API_KEY: 'sk-vendor', OPENAI_BASE_URL: vendor.baseURL })
  const { fetch, verdict } = judge()
  return {
    fetch,
    verdict,
    baseURL: example.baseURL,
    client: new OpenAI({ baseURL: example.baseURL, apiKey: 'sk-demo', maxRetries: 0, fetch }),
    vendor,
    usual,
    async stop() {
      const code = await example.stop()
      await vendor.close()
      await inner.close()
      if (code !== 0) throw new Error(`the quick start ended with ${code}: ${example.printed()}`)
    },
  }
}
