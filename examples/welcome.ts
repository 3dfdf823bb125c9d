/** Prints where the server listens and how to try it, then every failed attempt. The library itself prints nothing. */
import { subscribe } from 'node:diagnostics_channel'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { AttemptEvent } from 'modelhatch'

export function welcome(server: Server, key: string, model: string, consoleLink?: string): void {
  const { port } = server.address() as AddressInfo
  const origin = `http://127.0.0.1:${port}`
  const baseURL = `${origin}/v1`
  const pages = consoleLink === undefined ? '' : `\nConsole, by a link that works once: ${origin}${consoleLink}\n`
  console.log(`Serving ${baseURL} with the key ${key}.${pages} Try:

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
