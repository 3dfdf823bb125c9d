/** The part of `http.IncomingMessage` that upgrades use. */
export interface UpgradeRequest {
  /** The HTTP method. */
  readonly method?: string | undefined
  /** The request target. */
  readonly url?: string | undefined
  /** Such as `1.1`. */
  readonly httpVersion: string
  /** The headers, by lower-case name. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** Names and values of the headers in turn, as they were sent. */
  readonly rawHeaders: readonly string[]
  /** The connection, for the client's address. */
  readonly socket: {
    /** The client's IP address. */
    readonly remoteAddress?: string | undefined
  }
}
