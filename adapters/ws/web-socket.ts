/** The part of a `WebSocket` of the package `ws` that is used. */
export interface WebSocketLike {
  readonly OPEN: number
  readonly readyState: number
  send(data: string | Uint8Array, options: typeof asText, done: (error?: Error) => void): void
  ping(data?: undefined, mask?: undefined, done?: (error?: Error) => void): void
  pong(data: Buffer, mask?: undefined, done?: (error?: Error) => void): void
  close(code: number, reason: string): void
  terminate(): void
  pause(): void
  resume(): void
  on(event: 'message', listener: (data: Buffer, isBinary: boolean) => void): this
  on(event: 'ping' | 'pong', listener: (data: Buffer) => void): this
  on(event: 'close' | 'error', listener: () => void): this
}

/** How text is sent. */
export const asText = { binary: false } as const
