/** Child process with one server and a gateway for each way of keeping content, at a path of its own. */
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { createGateway, memoryContentStore, type ContentCounts, type ContentStore, type Gateway } from 'modelhatch'
import { mount } from 'modelhatch/express'
import { openai } from 'modelhatch/providers'
import { serveParent } from '../child.ts'
import type { ContentKind } from './run.ts'

const never = () => new Promise<never>(() => {})
const stopped: ContentStore = { ...memoryContentStore(), append: never, get: never }
const stores: Readonly<Record<ContentKind, ContentStore | undefined>> = {
  off: undefined,
  memory: memoryContentStore(),
  stopped,
}
const gateways = new Map<string, Gateway>()

serveParent({
  listen({ vendor }: { readonly vendor: string }) {
    const apps = new Map<string, RequestListener>()
    for (const [kind, store] of Object.entries(stores)) {
      const gateway = createGateway({
        models: { json: openai({ baseURL: `${vendor}/v1`, apiKey: 'sk-vendor' }) },
        keys: { 'sk-bench': {} },
        ...(store && { content: { encryptionKey: 'a secret of at least 32 characters', store } }),
      })
      gateways.set(kind, gateway)
      apps.set(kind, express().use(`/${kind}`, mount(gateway)) as RequestListener)
    }
    const server = createServer((request, response) => {
      const [, kind = ''] = (request.url ?? '').split('/', 2)
      apps.get(kind)?.(request, response)
    })
    server.keepAliveTimeout = 60_000
    return new Promise<number>((resolve) => {
      server.listen(0, '127.0.0.1', 4096, () => resolve((server.address() as AddressInfo).port))
    })
  },
  /** Microseconds of CPU of the main thread since the start. */
  cpu: () => {
    const { user, system } = process.threadCpuUsage()
    return user + system
  },
  counts: (kind: ContentKind): ContentCounts | undefined => stores[kind] && gateways.get(kind)?.admin.content.counts(),
})
