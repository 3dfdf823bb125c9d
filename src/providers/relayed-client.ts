/** A client whose requests are answered by a function: nothing is sent to the vendor. */
import { Client, type ClientOptions, type VendorRequest } from './client.ts'
import { TimeLimit } from '../http/time-limit.ts'
import type { RelayedRequest, RelayedResponse } from './batches.ts'
import { Transfer } from './transfer.ts'

const answered = { 'content-type': 'application/json' }
const unlimited = {
  firstByte: new TimeLimit(Infinity),
  idle: new TimeLimit(Infinity),
  settling: new TimeLimit(Infinity),
}
/** Nothing can be paused or cut: all is there. */
const controller = {
  aborted: false,
  paused: false,
  reason: null,
  rawHeaders: null,
  abort() {},
  pause() {},
  resume() {},
}

export class RelayedClient extends Client {
  readonly #relay: (request: RelayedRequest) => RelayedResponse

  constructor(options: ClientOptions, relay: (request: RelayedRequest) => RelayedResponse) {
    super({ ...options, credentials: undefined })
    this.#relay = relay
  }

  override async send({ path, body, signal, sent, whole }: VendorRequest): Promise<Transfer> {
    if (!(body instanceof Uint8Array)) throw new TypeError('a request of a batch must be JSON')
    const { status, body: bytes } = this.#relay({ path, body })
    const transfer = new Transfer({ signal, sent, whole, bounds: { ...unlimited, streamBytes: Infinity } })
    transfer.onResponseStart(controller, status, answered)
    transfer.onResponseData(controller, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
    transfer.onResponseEnd()
    return transfer.begun
  }
}
