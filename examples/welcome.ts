/** What the first examples say: how to call them, and each failed attempt. */
import { subscribe } from 'node:diagnostics_channel'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { AttemptEvent } from 'modelhatch'

/** Says how to call a gateway: what the server prints at its start, and shows at `/`. */
export function howToCall(origin: string, key: string, model: string): string {
  return `Serving ${origin}/v1 with the key ${key}. Try:

curl -N ${origin}/v1/chat/completions \\
  -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' \\
  -d '{"model": "${model}", "messages": [{"role": "user", "content": "Hello"}], "stream": true}'
`
}

/** Prints where the server listens and how to try it, then every failed attempt. The library itself prints nothing. */
export function welcome(server: Server, key: string, model: string, consoleLink?: string): void {
  const { port } = server.address() as AddressInfo
  const origin = `http://127.0.0.1:${port}`
  if (consoleLink !== undefined) console.log(`Console, by a link that works once: ${origin}${consoleLink}\n`)
  console.log(howToCall(origin, key, model))
  subscribe('modelhatch:attempt', (message) => {
    const { model, provider, outcome, error } = message as AttemptEvent
    if (outcome !== 'failed') return
    console.error(`${provider} failed for ${model}:`, (error as Error).cause ?? error)
  })
}
