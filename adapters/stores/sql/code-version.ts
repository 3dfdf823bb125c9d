/**
 * The version of the tables that this code was written for. A schema records the oldest such version that it still
 * serves: code of an earlier one refuses to use it, and any later code may.
 */
export const codeVersion = 2

/** Throws where a schema no longer serves this code. `what` names the schema for the host's log. */
export function requireServed(what: string, oldest: number, version: number = codeVersion): void {
  if (oldest <= version) return
  throw new Error(
    `${what} was changed by a newer modelhatch and serves none whose tables are older than version ${oldest}; ` +
      `this process knows version ${version}: update modelhatch here`,
  )
}
