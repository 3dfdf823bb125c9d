/** Prints where the server listens and how to try it, then every failed attempt. The library itself prints nothing. */
import { subscribe } from 'node:diagnostics_channel'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { AttemptEvent } from 'modelhatch'

export function welcome(server: Server, key: string, model: string): void {
  const { port } = server.address() as AddressInfo
  const baseURL = `http://127.0.0.1:${port}/v1`
  console.log(`Serving ${baseURL} with the key ${key}. Try:

curl -N ${baseURL}/chat/completions \\
  -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' \\
  -d '{"model": "${model}", "messages": [{"role": "user", "content": "Hello"}], "stream": true}'
`)
  subscribe('modelhatch:attempt', (message) => {
    const { model, provider, outcome, error } = message as AttemptEvent
    if (outcome !== 'failed') return
    console.error(`${provider} failed for ${model}:`, (error as Error).cause ?? error)
  })
}
