/** Child process with the clients: raw sockets that know just enough HTTP to find the end of a response. */
import { connect, type Socket } from 'node:net'
import { serveParent } from './child.ts'
import { scenarioNamed } from './traffic.ts'

/** How long the load lasts: milliseconds, or a number of requests. */
export type Span = { readonly forMs: number } | { readonly requests: number }

export type Load = Span & {
  readonly port: number
  /** The mount path of the server. */
  readonly mount: string
  readonly scenario: string
  /** The name of the model in the requests. */
  readonly model: string
}

/** Requests of a single client. */
interface Repeated {
  readonly port: number
  readonly mount: string
  readonly scenario: string
  readonly count: number
}

const idle = new Map<number, Connection[]>()

/** One client: a kept-alive connection that sends one request after the other. */
class Connection {
  readonly #socket: Socket
  #answer: PromiseWithResolvers<Buffer> | undefined
  #pieces: Buffer[] = []
  #size = 0
  /** Bytes of the whole response; NaN before its headers, Infinity if only its last bytes show the end. */
  #expected = Number.NaN

  constructor(port: number) {
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true })
    this.#socket.on('data', (piece) => this.#take(piece))
    this.#socket.on('error', (error) => this.#answer?.reject(error))
    this.#socket.on('close', () => this.#answer?.reject(new Error('the connection was closed')))
  }

  get isOpen(): boolean {
    return !this.#socket.destroyed
  }

  send(request: Buffer): Promise<Buffer> {
    this.#answer = Promise.withResolvers()
    this.#socket.write(request)
    return this.#answer.promise
  }

  /** Resolves with the first bytes of a response that continues. */
  hold(request: Buffer): Promise<void> {
    this.#socket.write(request)
    return new Promise((resolve, reject) => {
      this.#socket.removeAllListeners('data')
      this.#socket.once('data', () => resolve())
      this.#socket.once('close', () => reject(new Error('the connection was closed')))
      this.#socket.resume()
    })
  }

  close(): void {
    this.#socket.destroy()
  }

  #take(piece: Buffer): void {
    this.#pieces.push(piece)
    this.#size += piece.length
    if (Number.isNaN(this.#expected)) this.#readHead()
    const whole = this.#expected === Infinity ? this.#endsWith('0\r\n\r\n') : this.#size >= this.#expected
    if (!whole) return
    const answer = this.#pieces.length === 1 ? piece : Buffer.concat(this.#pieces)
    this.#pieces = []
    this.#size = 0
    this.#expected = Number.NaN
    this.#answer?.resolve(answer)
  }

  #readHead(): void {
    const [first = Buffer.alloc(0)] = this.#pieces
    const end = first.indexOf('\r\n\r\n')
    if (end < 0) throw new Error('the headers of a response arrived in pieces')
    const length = /content-length: (\d+)/i.exec(first.toString('latin1', 0, end))?.[1]
    this.#expected = length === undefined ? Infinity : end + 4 + Number(length)
  }

  #endsWith(text: string): boolean {
    const last = this.#pieces.at(-1) as Buffer
    const tail = last.length < text.length ? Buffer.concat(this.#pieces.slice(-8)) : last
    return tail.toString('latin1', tail.length - text.length) === text
  }
}

function requestOf(mount: string, json: string, path: string = '/v1/chat/completions'): Buffer {
  const body = Buffer.from(json)
  const head = [
    `POST ${mount}${path} HTTP/1.1`,
    'host: 127.0.0.1',
    'authorization: Bearer sk-bench',
    'accept: application/json',
    'user-agent: OpenAI/JS 7.55.0',
    'x-stainless-lang: js',
    'x-stainless-retry-count: 0',
    'content-type: application/json',
    `content-length: ${body.length}`,
  ]
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body])
}

function connectionsTo(port: number, count: number): Connection[] {
  const open = (idle.get(port) ?? []).filter((connection) => connection.isOpen)
  const taken = open.splice(0, count)
  idle.set(port, open)
  while (taken.length < count) taken.push(new Connection(port))
  return taken
}

/** Checks a response: one that is too short or of another kind would make the server look cheap. */
function verify(answer: Buffer, scenario: string, chunks: number): void {
  const text = withoutChunking(answer.toString('latin1'))
  const deltas = text.split('"content":" scatter"').length - 1
  const complete = chunks === 0 ? text.includes('"usage"') : deltas === chunks && text.includes('data: [DONE]')
  if (text.startsWith('HTTP/1.1 200') && complete) return
  throw new Error(`${scenario}: unexpected response: ${text.slice(0, 600)}`)
}

/** Joins the chunks of a chunked body, which may be split anywhere. */
function withoutChunking(answer: string): string {
  const head = answer.indexOf('\r\n\r\n') + 4
  let text = answer.slice(0, head)
  if (!/transfer-encoding: chunked/i.test(text)) return answer
  for (let at = head; at < answer.length;) {
    const line = answer.indexOf('\r\n', at)
    const size = Number.parseInt(answer.slice(at, line), 16)
    text += answer.slice(line + 2, line + 2 + size)
    at = line + 4 + size
  }
  return text
}

const held: Connection[] = []

serveParent({
  /** Resolves with the number of completed requests. */
  run: async (load: Load) => {
    const { port, mount, scenario, model } = load
    const { concurrency, body, chunks, path } = scenarioNamed(scenario)
    const request = requestOf(mount, body(model), path)
    const connections = connectionsTo(port, concurrency)
    const end = 'forMs' in load ? performance.now() + load.forMs : Infinity
    const most = 'requests' in load ? load.requests : Infinity
    let begun = connections.length
    await Promise.all(
      connections.map(async (connection) => {
        verify(await connection.send(request), scenario, chunks)
        for (; begun < most && performance.now() < end; begun++) await connection.send(request)
      }),
    )
    idle.set(port, [...(idle.get(port) ?? []), ...connections])
    return begun
  },
  /** Milliseconds of each of `count` sequential requests. */
  time: async ({ port, mount, scenario, count }: Repeated) => {
    const { body, chunks, path } = scenarioNamed(scenario)
    const request = requestOf(mount, body(scenario), path)
    const [connection] = connectionsTo(port, 1) as [Connection]
    const times: number[] = []
    while (times.length < count) {
      const began = performance.now()
      const answer = await connection.send(request)
      times.push(performance.now() - began)
      if (times.length === 1) verify(answer, scenario, chunks)
    }
    idle.set(port, [...(idle.get(port) ?? []), connection])
    return times
  },
  /** Opens streams that stay open, a few at a time. */
  hold: async ({ port, mount, count }: { port: number; mount: string; count: number }) => {
    const body = JSON.stringify({ model: 'held', stream: true, messages: [{ role: 'user', content: 'Go on.' }] })
    const request = requestOf(mount, body)
    for (let opened = 0; opened < count; opened += 50) {
      const batch = Array.from({ length: 50 }, () => new Connection(port))
      held.push(...batch)
      await Promise.all(batch.map((connection) => connection.hold(request)))
    }
  },
  release: () => held.splice(0).forEach((connection) => connection.close()),
})
