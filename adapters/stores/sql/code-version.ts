/**
 * The version of the tables that this code was written for. Each schema records the oldest code version that it still
 * supports: older code refuses to use it.
 */
export const codeVersion = 2

/** Throws if a schema no longer supports this code. `what` names the schema in the message. */
export function requireServed(what: string, oldest: number, version: number = codeVersion): void {
  if (oldest <= version) return
  throw new Error(
    `${what} was migrated by a newer modelhatch and requires table version ${oldest} or later; ` +
      `this process has version ${version}: update modelhatch here`,
  )
}
