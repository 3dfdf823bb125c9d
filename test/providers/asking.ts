/** What a vendor gets to see of a chat request, through a gateway on a real socket. */
import { APIError, type OpenAI } from 'openai'
import type { Provider } from 'modelhatch/providers'
import type { ModelOptions } from '../../src/models/registry.ts'
import { vendorFor } from '../hosted.ts'
import { served } from './served.ts'

/** A body, in the words of the vendor. Loose, for a test looks into it as deep as it likes. */
// oxlint-disable-next-line typescript/no-explicit-any -- a test reads what it expects to be there
export type Sent = any

export interface Refusal {
  readonly status: number | undefined
  readonly code: string | null | undefined
  readonly param: string | null | undefined
  readonly message: string
}

export interface Asking {
  /** The body the vendor got. Throws when the gateway refused the request. */
  readonly sent: (request: object) => Promise<Sent>
  /** The refusal. Throws when the request came through to the vendor. */
  readonly refused: (request: object) => Promise<Refusal>
  /** Where the vendor was asked last. */
  readonly url: () => string | undefined
}

/** The model is called `model`; `named` is what the vendor calls it. */
export async function asking(
  make: (baseURL: string) => Provider,
  named: string,
  options: Partial<ModelOptions> = {},
): Promise<Asking> {
  const vendor = await vendorFor((_, response) => void response.writeHead(500).end())
  const { client } = await served({ model: { provider: make(vendor.baseURL), providerModel: named, ...options } })
  const ask = async (request: object) => {
    const before = vendor.requests.length
    const error = await failure(client, { model: 'model', messages: [{ role: 'user', content: 'Hi' }], ...request })
    return { error, body: vendor.requests[before]?.json as Sent }
  }
  return {
    async sent(request) {
      const { body, error } = await ask(request)
      if (body === undefined) throw error
      return body
    },
    async refused(request) {
      const { body, error } = await ask(request)
      if (body !== undefined) throw new Error(`the vendor was asked: ${JSON.stringify(body)}`)
      const { status, code, param, message } = error
      return { status, code, param, message }
    },
    url: () => vendor.requests.at(-1)?.url,
  }
}

async function failure(client: OpenAI, request: object): Promise<APIError> {
  try {
    await client.chat.completions.create(request as never)
  } catch (error) {
    if (error instanceof APIError) return error
    throw error
  }
  throw new Error('a vendor that fails was answered for')
}
