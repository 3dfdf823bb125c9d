import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createGateway, type GatewayOptions } from '../../src/index.ts'
import { isRegistry } from '../../src/gateway/options/options.ts'
import { pathOf } from '../../src/http/target.ts'
import { createConsole, signInByLink } from '../console/console.ts'
import { health } from '../health/health.ts'
import { answer, type NodeRequest, type NodeResponse } from '../hosts/exchange.ts'
import { mountPath } from '../hosts/mount-path.ts'
import { prepareShutdown } from '../hosts/shutdown.ts'
import type { Loaded } from './load.ts'

/** A server that listens. */
export interface Running {
  /** The text to print: base URL, API key, the link to the console, and a command to try. */
  readonly welcome: string
  /** Completes running requests, then closes everything. */
  readonly stop: () => Promise<void>
}

/** Serves a gateway with its console and health checks. Rejects if a store cannot be used or the port is taken. */
export async function serve({ options, server: given, key, close }: Loaded): Promise<Running> {
  const gateway = createGateway(options)
  await gateway.ready()
  const path = mountPath(given.path, 'path')
  const signIn = given.console ? signInByLink() : undefined
  const site = signIn && createConsole(gateway, { authorize: signIn.authorize, signIn, gatewayUrl: path || '/' })
  const checks = health(gateway)
  let origin = ''

  /** The part that a request is for, by its path. */
  const route = (request: NodeRequest, response: NodeResponse): unknown => {
    const url = request.url ?? '/'
    const below = (prefix: string) =>
      url === prefix || url.startsWith(`${prefix}/`) ? url.slice(prefix.length) : undefined
    const console = below('/console')
    if (site !== undefined && console !== undefined) {
      if (console !== '') return answer(site, request, response, console)
      response.statusCode = 302
      response.setHeader('location', './console/')
      return response.end()
    }
    if (checks.serves(url) && url !== '/') return answer(checks, request, response, url)
    if (pathOf(url) === '/' && request.method === 'GET') return explain(response)
    return answer(gateway, request, response, url.startsWith(`${path}/`) ? url.slice(path.length) : url)
  }
  const explain = (response: NodeResponse) => {
    response.setHeader('content-type', 'text/plain; charset=utf-8')
    response.end(`modelhatch serves OpenAI's API at ${origin}${path}/v1, with a key of yours.\n`)
  }

  const server = process
    .getBuiltinModule('node:http')
    .createServer((request, response) => void route(request, response))
  await listening(server, given.port, given.host)
  origin = originOf(server)
  const shutDown = prepareShutdown(server, gateway, { graceMs: 10_000, idleMs: 500 })
  return {
    welcome: welcomeOf(options, {
      baseURL: `${origin}${path}/v1`,
      key,
      console: signIn && `${origin}/console/${signIn.link}`,
    }),
    async stop() {
      await shutDown()
      await close()
    },
  }
}

function listening(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

function originOf(server: Server): string {
  const { address, port } = server.address() as AddressInfo
  const isAny = ['0.0.0.0', '::'].includes(address)
  return `http://${isAny ? 'localhost' : address.includes(':') ? `[${address}]` : address}:${port}`
}

interface Addresses {
  readonly baseURL: string
  readonly key: string | undefined
  readonly console: string | undefined
}

/** What is printed at start, with a command to try: a chat, where a model has a name of its own, else the list of models. */
function welcomeOf({ models }: GatewayOptions, { baseURL, key = 'YOUR_KEY', console }: Addresses): string {
  const model = isRegistry(models) ? undefined : Object.keys(models).find((name) => !name.endsWith('*'))
  const body = { model, messages: [{ role: 'user', content: 'Hello' }] }
  const authorization = `-H 'Authorization: Bearer ${key}'`
  const example =
    model === undefined
      ? `curl ${baseURL}/models ${authorization}`
      : `curl ${baseURL}/chat/completions ${authorization} \\\n  -H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`
  const link = console === undefined ? '' : `\nConsole   ${console}  (this link works once)`
  return `Base URL  ${baseURL}\nAPI key   ${key}${link}\n\n${example}\n`
}
