/** A connection that carries several calls one after another, such as a WebSocket. */
export interface Connection {
  /** The socket that it uses. */
  readonly socket: object
  /** Whether a call is in progress. */
  readonly isBusy: boolean
  /** Closes the connection, once the call in progress has ended. Must not throw. */
  retire(): void
}

/** The open connections of a gateway. */
export class Connections {
  readonly #open = new Map<object, Connection>()
  #retired = false

  /** Whether connections are closed because of a shutdown: no new ones may be added. */
  get isRetired(): boolean {
    return this.#retired
  }

  /** Adds a connection until `remove`. */
  add(connection: Connection): void {
    this.#open.set(connection.socket, connection)
    if (this.#retired) connection.retire()
  }

  /** Removes a connection that was closed. */
  remove(connection: Connection): void {
    this.#open.delete(connection.socket)
  }

  /** Whether a socket belongs to a connection with a call in progress. */
  isBusy(socket: object): boolean {
    return this.#open.get(socket)?.isBusy === true
  }

  /** Closes all connections, each once its call in progress has ended. For shutdowns; further calls do nothing. */
  retire(): void {
    if (this.#retired) return
    this.#retired = true
    for (const connection of this.#open.values()) connection.retire()
  }
}
