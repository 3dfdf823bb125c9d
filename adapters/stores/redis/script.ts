/** Runs a Lua script by its digest; sends the source if the server does not have it yet. */
import { createHash } from 'node:crypto'
import type { Send } from './clients.ts'

export interface Script {
  (keys: readonly string[], ...values: (string | number)[]): Promise<unknown>
}

export function script(send: Send, lua: string): Script {
  const digest = createHash('sha1').update(lua).digest('hex')
  return async (keys, ...values) => {
    const args = [String(keys.length), ...keys, ...values.map(String)]
    try {
      return await send('EVALSHA', digest, ...args)
    } catch (error) {
      if (!/NOSCRIPT/.test(error instanceof Error ? error.message : '')) throw error
      return send('EVAL', lua, ...args)
    }
  }
}
