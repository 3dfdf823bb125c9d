/** Records the requests that a vendor receives for chat requests, through a gateway on a real socket. */
import { APIError, type OpenAI } from 'openai'
import type { Provider } from 'modelhatch/providers'
import type { ModelOptions } from '../../src/models/model-options.ts'
import { vendorFor } from '../hosted.ts'
import { served } from './served.ts'

/** A request body in the vendor's format, untyped. */
// oxlint-disable-next-line typescript/no-explicit-any -- tests assert the fields that they read
export type Sent = any

export interface Refusal {
  readonly status: number | undefined
  readonly code: string | null | undefined
  readonly param: string | null | undefined
  readonly message: string
}

export interface VendorRequests {
  /** The body that the vendor received. Throws if the gateway rejected the request. */
  readonly sent: (request: object) => Promise<Sent>
  /** The gateway's error. Throws if the vendor received the request. */
  readonly refused: (request: object) => Promise<Refusal>
  /** The URL of the last request to the vendor. */
  readonly url: () => string | undefined
}

/** The model is called `model`; `vendorModel` is the vendor's name for it. */
export async function vendorRequests(
  make: (baseURL: string) => Provider,
  vendorModel: string,
  options: Partial<ModelOptions> = {},
): Promise<VendorRequests> {
  const vendor = await vendorFor((_, response) => void response.writeHead(500).end())
  const { client } = await served({ model: { provider: make(vendor.baseURL), providerModel: vendorModel, ...options } })
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
      if (body !== undefined) throw new Error(`the vendor received the request: ${JSON.stringify(body)}`)
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
  throw new Error('the request succeeded although the vendor fails')
}
