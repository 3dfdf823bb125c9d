/** Runs cells of the matrix: what a vendor receives for a request, and what the client gets for the vendor's answer. */
import { once } from 'node:events'
import { sendJson, sendSeparately } from '../../src/testing/send.ts'
import { scriptedVendor, type VendorReply } from '../../src/testing/vendor.ts'
import { clients } from './clients.ts'
import type { Answer, ClientName, Feature, Json } from './feature.ts'
import { features } from './features.ts'
import type { GatewayOptions } from '../../src/index.ts'
import type { Tree } from './tree.ts'
import { vendors, wires } from './vendors.ts'

export interface Cell {
  readonly client: ClientName
  readonly vendor: string
  readonly feature: Feature
  readonly stream: boolean
}

/** What was sent over the wires, without what changes from run to run. */
export interface Traffic {
  /** The requests that the vendor received. */
  readonly vendor: string
  /** The answers that the client got. */
  readonly client: string
  /** The last of these answers. */
  readonly answer: Answered
}

export interface Answered {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/** All cells, in a fixed order. */
export const cells: readonly Cell[] = Object.keys(clients).flatMap((name) => {
  const client = name as ClientName
  const asked = features
    .filter(({ fields }) => fields === undefined || fields[client] !== undefined)
    .filter(({ serial }) => !(serial && client === 'gemini'))
  return Object.entries(vendors).flatMap(([vendor, { undocumented = [] }]) =>
    asked
      .filter(({ name }) => !undocumented.includes(name))
      .flatMap((feature) => [false, true].map((stream) => ({ client, vendor, feature, stream }))),
  )
})

export function nameOf({ client, vendor, feature, stream }: Cell): string {
  return `${client} ${vendor} ${feature.name} ${stream ? 'stream' : 'json'}`
}

/** Cells that share a gateway, each with a model of its own: gateways are too expensive to have one for each cell. */
const batch = 200

/** Runs the cells and passes on the traffic of each. */
export async function runCells(
  tree: Tree,
  chosen: readonly Cell[],
  take: (cell: Cell, traffic: Traffic) => void,
): Promise<void> {
  const runs = new Map<string, Run>()
  const server = await scriptedVendor((request, response) => {
    server.requests.length = 0
    const [, id = '', path = ''] = /^\/([^/]+)(\/.*)$/.exec(request.url) ?? []
    return runs.get(id)?.serve({ ...request, url: path }, response)
  })
  for (let from = 0; from < chosen.length; from += batch) {
    const part = chosen.slice(from, from + batch).map((cell, index) => ({ cell, name: `m-${1_000 + index}` }))
    const models = part.map(({ cell: { vendor }, name }) => {
      const { make, model } = vendors[vendor] as (typeof vendors)[string]
      return [name, { provider: make(tree, new URL(`/${name}`, server.baseURL).href), providerModel: model }]
    })
    const gateway = tree.createGateway({
      keys: { 'sk-test': {} },
      models: Object.fromEntries(models) as GatewayOptions['models'],
      retry: { maxAttempts: 1 },
      // A busy machine may be slow.
      timeouts: { keepAliveMs: 300_000, storeMs: 60_000, authMs: 60_000 },
    })
    const handle = tree.mount(gateway)
    const rest = part.values()
    const work = async () => {
      for (const { cell, name } of rest) {
        const run = new Run(handle, cell, name)
        runs.set(name, run)
        take(cell, await run.traffic())
      }
    }
    await Promise.all(Array.from({ length: 8 }, work))
    await gateway.close({ graceMs: 0 })
  }
  await server.close()
}

const hello: Answer = { blocks: [{ text: 'Hello' }] }

type Request = Parameters<VendorReply>[0]
type Response = Parameters<VendorReply>[1]

type Handle = ReturnType<Tree['mount']>

class Run {
  readonly #handle: Handle
  readonly #cell: Cell
  readonly #model: string
  readonly #received: string[] = []
  #answer: Answer = hello

  constructor(handle: Handle, cell: Cell, model: string) {
    this.#handle = handle
    this.#cell = cell
    this.#model = model
  }

  async traffic(): Promise<Traffic> {
    const { feature, client: name } = this.#cell
    const client = clients[name]
    const { turns = [{ role: 'user', parts: [{ text: 'Hi' }] }], next, answer = hello } = feature
    const entries = turns.flatMap((turn) => client.entries(turn))
    const answers = [await this.#ask(entries, answer)]
    const [first] = answers as [Answered]
    if (next !== undefined && first.status === 200) {
      const made = client.back(wholeOf(this.#cell, first))
      const more = next.flatMap((turn) => client.entries(turn))
      answers.push(await this.#ask([...entries, ...made, ...more], hello))
    }
    const normal = normaliser(vendors[this.#cell.vendor]?.model ?? '')
    return {
      vendor: normal(this.#received.join('\n\n')),
      client: normal(answers.map(shown).join('\n\n')),
      answer: answers.at(-1) as Answered,
    }
  }

  async #ask(entries: readonly Json[], answer: Answer): Promise<Answered> {
    const { feature, client, stream } = this.#cell
    const { path, headers, body } = clients[client]
    this.#answer = answer
    const named = client === 'gemini' ? {} : { model: this.#model, ...(stream && { stream }) }
    const request = { ...named, ...body(entries, feature) }
    if (!stream) Reflect.deleteProperty(request, 'stream_options')
    const response = await this.#handle(
      new Request(`http://gateway.test${path(this.#model, stream)}`, {
        method: 'POST',
        headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json', ...headers },
        body: JSON.stringify(request),
      }),
    )
    return { status: response.status, headers: response.headers, text: await response.text() }
  }

  async serve({ method, url, headers, body, json }: Request, response: Response): Promise<void> {
    const lines = Object.entries(headers).filter(([name]) => !unsteady.has(name))
    this.#received.push([`${method} ${url}`, ...lines.map((line) => line.join(': ')), '', body.toString()].join('\n'))
    const wire = wires.find(({ serves }) => serves(url))
    if (wire === undefined) return void response.writeHead(404).end('{}')
    const answer = this.#answer
    const { model = /models\/(?<name>[^:]+):/.exec(url)?.groups?.['name'], stream } = json as Json
    const { error, cut, split } = answer
    const streamed = wire.streams?.(url) ?? stream === true
    if (error !== undefined || (cut === 'error' && !streamed)) {
      const reply = wire.errors.errorReply(error ?? 'broken', 'a secret of the vendor')
      return sendJson(response, reply.status, reply.body, reply.headers)
    }
    if (!streamed) {
      const whole = JSON.stringify(wire.body(answer, model))
      return sendJson(response, 200, cut === undefined ? whole : whole.slice(0, whole.length / 2))
    }
    const all = wire.frames(answer, model)
    const frames = cut === undefined ? all : all.slice(0, Math.ceil(all.length / 2))
    if (cut === 'error') frames.push(wire.errors.errorFrame('a secret of the vendor'))
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    if (!split) return void response.end(frames.join(''))
    for (const piece of splitBytes(Buffer.from(frames.join('')))) await sendSeparately(response, piece)
    response.end()
    await once(response, 'close')
  }
}

/** Headers of the connection and of the credentials, and those that differ from run to run. */
const unsteady = new Set(
  'host connection content-length user-agent date x-request-id request-id authorization api-key x-api-key x-goog-api-key'.split(
    ' ',
  ),
)

export function framesOf(text: string): string[] {
  return text.split('\n').flatMap((line) => (line.startsWith('data: ') ? [line.slice('data: '.length)] : []))
}

/** The answer as one object, also if it was streamed. */
export function wholeOf({ client, stream }: Cell, { text }: Answered): Json {
  return stream ? clients[client].whole(framesOf(text)) : JSON.parse(text)
}

function shown({ status, headers, text }: Answered): string {
  const lines = [...headers].filter(([name]) => !unsteady.has(name))
  return [String(status), ...lines.map((line) => line.join(': ')), '', text].join('\n')
}

/** Pieces that end after the first byte of each character of several bytes. */
function splitBytes(bytes: Buffer): Buffer[] {
  const cuts = [...bytes.keys()].filter((at) => (bytes[at] as number) >= 0xc0).map((at) => at + 1)
  return [0, ...cuts].map((from, index) => bytes.subarray(from, cuts[index]))
}

/** Replaces generated ids by numbers in the order of their first occurrence, the time, and the names of the model. */
function normaliser(model: string): (text: string) => string {
  const ids = new Map<string, string>()
  const numberOf = (id: string) => {
    if (!ids.has(id)) ids.set(id, `#${ids.size + 1}`)
    return ids.get(id) as string
  }
  return (text) =>
    text
      .replaceAll(/\bm-1\d{3}\b/g, 'm')
      .replaceAll(model, 'theirs')
      .replaceAll(/(?<=\b[a-z]+[_-]|"responseId":")[0-9a-f]{24,40}(?![0-9a-f])/g, numberOf)
      .replaceAll(/\b1[789]\d{8}(?:\d{3})?\b/g, (time) => (time.startsWith('1700000000') ? time : 'now'))
      // The name of a conversation depends on that of the model.
      .replaceAll(/(?<="prompt_cache_key":"|x-grok-conv-id: )[0-9a-f]{32}/g, 'conversation')
      // The maker of a response contains a hash of the vendor's address. Envelopes for Google's clients are in base64.
      .replaceAll(/(?<="thoughtSignature":")bWgx[\w+/]+=*/g, (data) => Buffer.from(data, 'base64').toString())
      .replaceAll(/(?<=mh1\.openai-|"maker":"openai-)[\w-]{3}(?=[."])/g, '***')
}
