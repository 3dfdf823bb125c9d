/** A TCP proxy whose connections fail as networks and servers do. */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/**
 * `refuse`: cuts all connections, new ones too. `stop`: data is delayed until the mode is `pass` again, as by a stopped
 * process. `lose`: data is lost, as by a network that drops packets; these connections stay dead.
 */
export type Mode = 'pass' | 'refuse' | 'stop' | 'lose'

export class Proxy {
  readonly #pairs = new Set<[Socket, Socket]>()
  readonly #clients = new Set<Socket>()
  readonly #server = createServer((client) => this.#accept(client))
  readonly #target: number
  #mode: Mode = 'pass'

  constructor(target: number) {
    this.#target = target
  }

  async listen(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return (this.#server.address() as AddressInfo).port
  }

  set mode(mode: Mode) {
    this.#mode = mode
    for (const [client, server] of this.#pairs) {
      if (mode === 'refuse') client.destroy()
      else if (mode === 'pass') for (const each of [client, server]) each.resume()
      else for (const each of [client, server]) each.pause()
      if (mode === 'lose') this.#pairs.delete([client, server])
    }
    if (mode === 'lose') this.#pairs.clear()
  }

  async close(): Promise<void> {
    this.mode = 'refuse'
    const closed = new Promise((resolve) => this.#server.close(resolve))
    for (const client of this.#clients) client.destroy()
    await closed
  }

  #accept(client: Socket): void {
    client.on('error', () => undefined)
    this.#clients.add(client)
    client.once('close', () => this.#clients.delete(client))
    if (this.#mode === 'refuse') return void client.destroy()
    if (this.#mode === 'lose') return void client.pause()
    const server = connect(this.#target, '127.0.0.1')
    server.on('error', () => client.destroy())
    const pair: [Socket, Socket] = [client, server]
    this.#pairs.add(pair)
    client.pipe(server).pipe(client)
    client.once('close', () => {
      this.#pairs.delete(pair)
      server.destroy()
    })
    server.once('close', () => client.destroy())
    if (this.#mode === 'stop') for (const each of pair) each.pause()
  }
}
