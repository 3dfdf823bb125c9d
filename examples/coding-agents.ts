/**
 * A gateway for coding agents, and a page where developers get what to paste for each of them,
 * with the models that their key may use.
 *
 *     npm run example examples/coding-agents.ts
 *
 * `PUBLIC_URL` is the address that developers use, `MODELHATCH_KEY` their key (`sk-demo`).
 */
import express from 'express'
import { createGateway } from 'modelhatch'
import { agentClients, agentSetup, type AgentModel } from 'modelhatch/agents'
import { mount } from 'modelhatch/express'
import { mount as mountFetch } from 'modelhatch/fetch'
import { prepareShutdown } from 'modelhatch/node'
import { upgrades } from 'modelhatch/ws'
import { key, models } from './models.ts'

/** The demo model, and those of the vendors whose keys are set. */
const chatting = Object.keys(models).filter((name) => name === 'demo' || name.endsWith('/*'))

const gateway = createGateway({
  keys: { [key]: { group: 'developers' } },
  groups: { developers: { models: [...chatting, 'claude-demo'] } },
  models: {
    ...models,
    // Claude Code lists only names that begin with `claude` or `anthropic`.
    'claude-demo': { route: ['demo'] },
  },
})

/** The models of a key, as the gateway lists them. Undefined if the key is not valid. */
async function modelsOf(apiKey: string): Promise<AgentModel[] | undefined> {
  const headers = new Headers()
  try {
    headers.set('authorization', `Bearer ${apiKey}`)
  } catch {
    return undefined
  }
  const response = await mountFetch(gateway)(new Request('http://gateway/v1/models', { headers }))
  if (response.status === 401) return undefined
  if (!response.ok) throw new Error(`the model list failed with ${response.status}`)
  const { data } = (await response.json()) as { data: { id: string; context_window?: number }[] }
  return data.map(({ id, context_window: contextWindow }) => ({ id, ...(contextWindow && { contextWindow }) }))
}

const app = express()
app.use('/ai', mount(gateway))
app.use((_, response, next) => {
  response.set({
    'cache-control': 'no-store',
    'content-security-policy': "default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  })
  next()
})
app.get('/', (_, response) => void response.type('html').send(page('')))
// The key is in the body of the request: addresses end up in logs and histories.
app.post('/', express.urlencoded({ extended: false, limit: '10kb' }), async (request, response) => {
  const { apiKey, client } = request.body as Record<string, unknown>
  const agent = agentClients.find((each) => each.client === client)
  const found = typeof apiKey === 'string' && agent ? await modelsOf(apiKey) : undefined
  response.type('html')
  if (!agent || found === undefined) return void response.status(401).send(page('<p>This key is not valid.</p>'))
  if (found.length === 0) return void response.status(403).send(page('<p>This key may not use any model.</p>'))
  const setup = agentSetup({
    client: agent.client,
    baseURL: `${publicUrl}/ai`,
    apiKey: apiKey as string,
    models: found,
    webSockets: true,
  })
  const names = found.map(({ id }) => `<li>${escaped(id)}`).join('')
  response.send(
    page(`<h2>${escaped(agent.name)}</h2>
<p>Paste this into a terminal, and then start <code>${escaped(setup.command)}</code>:</p>
<pre>${escaped(setup.paste)}</pre>
<p>Your models:</p><ul>${names}</ul>`),
  )
})

function page(content: string): string {
  const options = agentClients.map(({ client, name }) => `<option value="${escaped(client)}">${escaped(name)}`)
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>Coding agents</title><h1>Coding agents</h1>
<form method="post" action="/"><label>API key <input type="password" name="apiKey" autocomplete="off" required></label>
<label>Agent <select name="client">${options.join('')}</select></label> <button>Show</button></form>
${content}`
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? '')
}

let publicUrl = process.env['PUBLIC_URL'] ?? ''
const server = app.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1', (error) => {
  if (error) throw error
  const { port } = server.address() as { port: number }
  publicUrl ||= `http://127.0.0.1:${port}`
  console.log(`Open http://127.0.0.1:${port} and enter the key ${key}`)
})
server.on('upgrade', upgrades('/ai', gateway))

const shutdown = prepareShutdown(server, gateway, { graceMs: 5_000, idleMs: 500 })
process.once('SIGTERM', () => void shutdown().then(() => process.exit()))
