/** The baseline: a relay that passes bytes on unread, as cheaply as Node and undici can. */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { Pool, type Dispatcher } from 'undici'

export function relay(vendor: string): RequestListener {
  const pool = new Pool(vendor, { connections: null, headersTimeout: 0, bodyTimeout: 0 })
  return (request, response) => {
    const { method = 'GET', url = '/', headers } = request
    const body = method === 'GET' ? null : request
    const forwarded = { ...headers, host: undefined, connection: undefined }
    pool.dispatch({ method, path: url, headers: forwarded, body }, new Passage(request, response))
  }
}

class Passage implements Dispatcher.DispatchHandler {
  readonly #response: ServerResponse
  #controller: Dispatcher.DispatchController | undefined

  constructor(request: IncomingMessage, response: ServerResponse) {
    this.#response = response
    request.on('error', () => undefined)
    response.on('drain', () => this.#controller?.resume())
    response.on('close', () => {
      if (!response.writableFinished) this.#controller?.abort(new Error('the client has disconnected'))
    })
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: Record<string, string | string[]>): void {
    delete headers['connection']
    delete headers['keep-alive']
    delete headers['transfer-encoding']
    this.#response.writeHead(status, headers)
  }

  onResponseData(controller: Dispatcher.DispatchController, piece: Buffer): void {
    if (!this.#response.write(piece)) controller.pause()
  }

  onResponseEnd(): void {
    this.#response.end()
  }

  onResponseError(): void {
    this.#response.destroy()
  }
}
