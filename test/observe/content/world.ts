/** A gateway that keeps content, before a vendor of chats, and what it has kept. */
import { expect, onTestFinished } from 'vitest'
import type {
  ContentKeyStore,
  ContentOptions,
  ContentRecord,
  ContentStore,
  GatewayOptions,
  LoggedContent,
} from 'modelhatch'
import { memoryContentKeyStore, memoryContentStore } from 'modelhatch'
import { openai } from 'modelhatch/providers'
import { openaiDialect, type Script, type VendorReply } from 'modelhatch/testing'
import { scriptedDialect } from '../../../src/testing/scripted-dialect.ts'
import { hostedWith, vendorFor, type Hosted } from '../../hosted.ts'

export const encryptionKey = 'a secret of the host, 32 characters'

export interface World extends Hosted {
  readonly store: ContentStore
  readonly keyStore: ContentKeyStore
  readonly failures: unknown[]
  readonly post: (path: string, body: object | FormData, headers?: Record<string, string>) => Promise<Response>
  /** What was kept of a request, once it is written. */
  readonly kept: (response: Response) => Promise<LoggedContent>
  /** Resolves once nothing waits to be written. */
  readonly settled: () => Promise<void>
}

type Options = Omit<Partial<GatewayOptions>, 'content'> & { readonly content?: Partial<ContentOptions> }

/** `reply`: what the vendor says, or how it answers. */
export async function worldWith(
  options: Options = {},
  reply: Script | VendorReply = { text: 'Hello' },
): Promise<World> {
  const vendor = await vendorFor(
    typeof reply === 'function' ? reply : scriptedDialect(openaiDialect, () => reply).reply,
  )
  const provider = openai({ baseURL: vendor.baseURL, apiKey: 'k' })
  const [store, keyStore] = [memoryContentStore(), memoryContentKeyStore()]
  const failures: unknown[] = []
  const { content, ...rest } = options
  const world = await hostedWith({
    models: { m: provider, other: provider },
    keys: { 'sk-test': { account: 'acme' } },
    hooks: { failure: ({ error }) => void failures.push(error) },
    ...rest,
    content: { encryptionKey, store, keyStore, ...content },
  })
  const { admin } = world.gateway
  const settled = () => expect.poll(() => admin.content.counts().waiting, { timeout: 20_000 }).toBe(0)
  return {
    ...world,
    store,
    keyStore,
    failures,
    settled,
    post: (path, body, headers) =>
      fetch(`${world.url}${path}`, {
        method: 'POST',
        headers: {
          authorization: 'Bearer sk-test',
          ...(!(body instanceof FormData) && { 'content-type': 'application/json' }),
          ...headers,
        },
        body: body instanceof FormData ? body : JSON.stringify(body),
      }),
    async kept(response) {
      await response.text()
      await settled()
      const found = await admin.content.get(response.headers.get('x-request-id') ?? '')
      if (found === undefined) throw new Error(`nothing was kept: ${failures.map(causesOf).join('; ')}`)
      return found
    },
  }
}

/** A store whose calls wait until they may go on. */
export function stoppedStore(): ContentStore & { go(): void; readonly appended: ContentRecord[] } {
  const gate = Promise.withResolvers<void>()
  onTestFinished(() => gate.resolve())
  const appended: ContentRecord[] = []
  return {
    ...memoryContentStore(),
    appended,
    async append(records) {
      await gate.promise
      appended.push(...records)
    },
    go: () => gate.resolve(),
  }
}

function causesOf(error: unknown): string {
  return error instanceof Error ? `${error.message} ${causesOf(error.cause)}` : ''
}

/** The texts of a conversation or an answer. */
export function textsIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(textsIn)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, each]) =>
    name === 'text' && typeof each === 'string' ? [each] : textsIn(each),
  )
}
