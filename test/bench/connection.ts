/** A client of the benchmark: one kept-alive connection, with just enough HTTP to find the end of a response. */
import { connect, type Socket } from 'node:net'

export class Connection {
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

  /** Resolves with the whole response. */
  send(head: Buffer, body: Buffer): Promise<Buffer> {
    this.#answer = Promise.withResolvers()
    this.#write(head, body)
    return this.#answer.promise
  }

  /** Resolves with the first bytes of a response that continues. */
  hold(head: Buffer, body: Buffer): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#socket.removeAllListeners('data')
      this.#socket.once('data', (piece) => {
        if (piece.toString('latin1', 0, 12) === 'HTTP/1.1 200') resolve()
        else reject(new Error(`unexpected response: ${piece.toString('latin1', 0, 600)}`))
      })
      this.#socket.once('close', () => reject(new Error('the connection was closed')))
      this.#write(head, body)
      this.#socket.resume()
    })
  }

  close(): void {
    this.#socket.destroy()
  }

  /** In one write of the system. */
  #write(head: Buffer, body: Buffer): void {
    this.#socket.cork()
    this.#socket.write(head)
    this.#socket.write(body)
    this.#socket.uncork()
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

const idle = new Map<number, Connection[]>()

/** Open connections to a port, new ones where too few are idle. */
export function connectionsTo(port: number, count: number): Connection[] {
  const open = (idle.get(port) ?? []).filter((connection) => connection.isOpen)
  const taken = open.splice(0, count)
  idle.set(port, open)
  while (taken.length < count) taken.push(new Connection(port))
  return taken
}

/** Keeps connections for `connectionsTo`. */
export function release(port: number, ...connections: Connection[]): void {
  const open = idle.get(port)
  if (open === undefined) idle.set(port, connections)
  else open.push(...connections)
}
