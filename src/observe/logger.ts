/**
 * A logger of the host, such as one of pino, winston or bunyan, or `console`. One with `child` and without `transports`, such
 * as pino and bunyan, is called with (fields, message); any other, such as winston and `console`, with (message, fields).
 */
export interface Logger {
  /** For what is as it should be again. Default: nothing is logged at this level. */
  info?(first: string | object, second: string | object): unknown
  /** For failures that a client need not have noticed. */
  warn(first: string | object, second: string | object): unknown
  /** For failures that a client has noticed, and for faults of the gateway and its stores. */
  error(first: string | object, second: string | object): unknown
}

export type Level = 'info' | 'warn' | 'error'

/** Writes one line. Never throws. */
export type Write = (level: Level, message: string, fields: object) => void

/** Calls a logger in the order of arguments that it expects. */
export function writerTo(logger: Logger): Write {
  const hasFieldsFirst = typeof (logger as { child?: unknown }).child === 'function' && !('transports' in logger)
  return (level, message, fields) => {
    try {
      if (hasFieldsFirst) logger[level]?.(fields, message)
      else logger[level]?.(message, fields)
    } catch {
      // A logger that fails must not affect a request, and there is nowhere to report it.
    }
  }
}
