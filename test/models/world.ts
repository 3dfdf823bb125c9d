/** A gateway over a vendor that records what it is sent. */
import type { Provider } from 'modelhatch/providers'
import { expect } from 'vitest'
import type { ModelOptions } from '../../src/models/model-options.ts'
import { hostedWith, vendorFor } from '../hosted.ts'

export type Fields = Readonly<Record<string, unknown>>

export const messages = [{ role: 'user', content: 'Hi' }]
const bases: Readonly<Record<string, Fields>> = {
  '/chat/completions': { messages },
  '/responses': { input: 'Hi' },
  '/messages': { messages },
  '/embeddings': { input: 'Hi' },
  '/moderations': { input: 'Hi' },
}

/** The vendor rejects everything: the tests look at whether it is called, and with what. */
export async function world(make: (baseURL: string) => Provider, options: Partial<ModelOptions> = {}) {
  const vendor = await vendorFor((_, response) => void response.writeHead(400, { connection: 'close' }).end('{}'))
  const hosted = await hostedWith({
    models: { m: { provider: make(vendor.baseURL), providerModel: 'theirs', ...options } },
    retry: { maxAttempts: 1 },
    sizes: { uploadMemoryBytes: 1_024 },
  })
  return {
    ...hosted,
    vendor,
    sent: () => vendor.requests.at(-1)?.json as Fields | undefined,
    text: () => vendor.requests.at(-1)?.body.toString() ?? '',
    /** The `param` of the rejection; undefined if the vendor was called. */
    ask: async (fields: Fields | string, path = '/chat/completions') => {
      const before = vendor.requests.length
      const whole = JSON.stringify({ model: 'm', ...(bases[path] ?? { prompt: 'Hi' }) })
      const body = typeof fields === 'string' ? fields : JSON.stringify(fields)
      const response = await fetch(`${hosted.url}/v1${path}`, {
        method: 'POST',
        headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
        body: body === '{}' ? whole : `${whole.slice(0, -1)},${body.slice(1)}`,
      })
      const { error } = (await response.json()) as { error: { param?: string | null; code?: string; message: string } }
      if (vendor.requests.length > before) return undefined
      expect([response.status, error.code ?? 'unsupported_parameter']).toEqual([400, 'unsupported_parameter'])
      // Errors in Anthropic's format name it in the message.
      return error.param ?? /"([^"]+)", because/.exec(error.message)?.[1] ?? error.message
    },
  }
}
