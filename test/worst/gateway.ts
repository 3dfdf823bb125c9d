/** A gateway to send the worst inputs to: the demo model, and a model of each vendor whose answers are as small as they may be. */
import { createServer, request, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createGateway } from 'modelhatch'
import { mount } from 'modelhatch/node'
import { anthropic, demo, gemini, openai } from 'modelhatch/providers'

export interface WorstGateway {
  /** Sends a body, reads the answer to its end, and resolves to its status. */
  readonly send: (path: string, contentType: string, body: Buffer) => Promise<number>
  readonly close: () => Promise<void>
}

/** The model that answers at a path, besides the demo. */
export const vendorModels: Readonly<Record<string, readonly string[]>> = {
  '/v1/chat/completions': ['openai', 'anthropic', 'gemini'],
  '/v1/responses': ['openai', 'responses', 'anthropic', 'gemini'],
  '/v1/completions': ['openai', 'anthropic'],
  '/v1/embeddings': ['openai', 'gemini'],
  '/v1/images/generations': ['openai', 'gemini'],
  '/v1/images/edits': ['openai', 'gemini'],
  '/v1/audio/transcriptions': ['openai'],
}

export async function worstGateway(): Promise<WorstGateway> {
  const vendor = await listening(answerSmall)
  const baseURL = `http://127.0.0.1:${portOf(vendor)}/v1`
  const compatible = openai({ baseURL, apiKey: 'sk-vendor' })
  const gateway = createGateway({
    keys: { 'sk-worst': {} },
    models: {
      demo: demo({ paceMs: 0, videoSeconds: 0 }),
      openai: compatible,
      anthropic: anthropic({ baseURL, apiKey: 'sk-vendor' }),
      gemini: gemini({ baseURL, apiKey: 'sk-vendor' }),
    },
  })
  const server = await listening(mount(gateway))
  return {
    send: (path, contentType, body) => send(portOf(server), path, contentType, body),
    async close() {
      server.closeAllConnections()
      await gateway.close({ graceMs: 0 })
      vendor.closeAllConnections()
      await Promise.all([server, vendor].map((each) => new Promise((resolve) => each.close(resolve))))
    },
  }
}

const answerSmall: RequestListener = (incoming, response) => {
  response.on('error', () => undefined)
  incoming.on('error', () => undefined)
  incoming.on('end', () =>
    response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":{"message":"no"}}'),
  )
  incoming.resume()
}

function send(port: number, path: string, contentType: string, body: Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: 'Bearer sk-worst', 'content-type': contentType, 'content-length': body.length }
    const call = request({ port, host: '127.0.0.1', path, method: 'POST', headers, agent: false }, (answer) => {
      answer.on('error', reject)
      answer.on('end', () => resolve(answer.statusCode ?? 0))
      answer.resume()
    })
    call.on('error', reject)
    call.end(body)
  })
}

function listening(listener: RequestListener): Promise<Server> {
  const server = createServer(listener)
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)))
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port
}
