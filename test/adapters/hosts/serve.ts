/** Servers for single tests, and requests to them. */
import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { patient } from '../../hosted.ts'
import { jsonHeaders, question } from './gateway.ts'

type Listener = (request: never, response: never) => unknown

/** Serves on a free port until the test ends, and returns the base URL. */
export async function serve(listener: Listener, options: ServerOptions = {}): Promise<string> {
  const server: Server = createServer({ ...patient, ...options }, listener as RequestListener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => server.close().closeAllConnections())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

export function post(body: string | Uint8Array, headers: Record<string, string> = {}): RequestInit {
  return { method: 'POST', headers: { ...jsonHeaders, ...headers }, body: body as never }
}

export const chat: string = JSON.stringify(question)
