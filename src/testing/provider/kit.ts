import { createGateway, type Gateway, type Receipt } from '../../index.ts'
import type { Provider } from '../../providers/contract.ts'
import type { Dialect, Script } from '../dialects/dialect.ts'
import { askInProcess, postInProcess, type Answer, type AskOptions, type RawAnswer } from '../in-process.ts'
import { scriptedDialect } from '../scripted-dialect.ts'
import { scriptedVendor, type ScriptedVendor, type VendorReply } from '../vendor.ts'
import { plainRequest } from './scripts.ts'

export type Make = (baseURL: string) => Provider

/** A provider under test between an in-process gateway and a scripted vendor on a real socket. */
export class Kit {
  readonly provider: Provider
  readonly dialect: Dialect
  readonly #vendor: ScriptedVendor
  readonly #gateway: Gateway
  #receipt: Receipt | undefined
  #failure: unknown

  private constructor(vendor: ScriptedVendor, provider: Provider, dialect: Dialect) {
    this.provider = provider
    this.dialect = dialect
    this.#vendor = vendor
    this.#gateway = createGateway({
      keys: { 'sk-kit': {} },
      models: { model: { provider, providerModel: dialect.model } },
      retry: { maxAttempts: 1 },
      hooks: {
        receipt: (receipt) => (this.#receipt = receipt),
        failure: ({ error }) => (this.#failure = Object(error).cause ?? error),
      },
    })
  }

  static async open(make: Make, dialect: Dialect): Promise<Kit> {
    const vendor = await scriptedVendor((_, response) => void response.destroy())
    return new Kit(vendor, make(vendor.baseURL), dialect)
  }

  /** The receipt of the last request. */
  get receipt(): Receipt {
    if (this.#receipt === undefined) throw new Error('no request has ended')
    return this.#receipt
  }

  /** Sends a request that the model answers with `script`. */
  ask(script: Script, stream: boolean): Promise<Answer> {
    return this.send(scriptedDialect(this.dialect, () => script).reply, {}, stream)
  }

  /** Sends a request of another endpoint, which the model answers with `script`. */
  post(target: string, request: object, script: Script, stream: boolean): Promise<RawAnswer> {
    this.#vendor.reply = scriptedDialect(this.dialect, () => script).reply
    return postInProcess(this.#gateway, target, { ...request, ...(stream && { stream }) })
  }

  /** Sends a request that `reply` answers. */
  send(reply: VendorReply, request: object = {}, stream = true, client: AskOptions = {}): Promise<Answer> {
    this.#vendor.reply = reply
    const streamed = stream ? { stream, stream_options: { include_usage: true } } : {}
    return askInProcess(this.#gateway, { ...plainRequest, ...request, ...streamed }, client)
  }

  /** The error of a test, with what the gateway reported, which clients are not told. */
  explained(error: unknown): unknown {
    if (error instanceof Error && this.#failure !== undefined) error.cause ??= this.#failure
    return error
  }

  async close(): Promise<void> {
    await this.#gateway.close({ graceMs: 0 })
    await this.#vendor.close()
  }
}

/** Registers a test; `both` registers it for non-streaming and for streamed responses. */
export interface Register {
  (name: string, run: (kit: Kit) => Promise<void>): void
  readonly both: (name: string, run: (kit: Kit, stream: boolean) => Promise<void>) => void
}
