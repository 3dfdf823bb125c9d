/** Child process with one server that has an app for each kind of telemetry, at a path of its own. */
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { createGateway } from 'modelhatch'
import { mount } from 'modelhatch/express'
import { openai } from 'modelhatch/providers'
import { serveParent } from '../child.ts'
import { kinds, telemetryOf } from './kinds.ts'

serveParent({
  listen({ vendor, collector }: { readonly vendor: string; readonly collector: string }) {
    // An app each: Express would try the paths of the earlier ones for every request.
    const apps = new Map<string, RequestListener>()
    for (const kind of kinds) {
      const provider = openai({ baseURL: `${vendor}/v1`, apiKey: 'sk-vendor' })
      const models = { json: provider, sse50: provider }
      const gateway = createGateway({ models, keys: { 'sk-bench': {} }, telemetry: telemetryOf(kind, collector) })
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
  /**
   * Microseconds of CPU of the main thread since the start, including system time. The engine's other threads compile and
   * collect what an earlier gateway has left.
   */
  cpu: () => {
    const { user, system } = process.threadCpuUsage()
    return user + system
  },
})
