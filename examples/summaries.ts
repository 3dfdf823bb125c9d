/**
 * An endpoint of your own: `POST /v1/summaries`, for every model that chats, with a unit of its own in the price.
 *
 *     npm run example examples/summaries.ts
 */
import { createServer } from 'node:http'
import { askChat, createGateway, defineEndpoint } from 'modelhatch'
import { mount } from 'modelhatch/node'
import { demo } from 'modelhatch/providers'
import * as z from 'zod'
import { welcome } from './welcome.ts'

const summaries = defineEndpoint({
  method: 'POST',
  path: '/v1/summaries',
  name: 'summaries',
  makes: 'text',
  lengthFields: ['max_tokens'],
  schema: z.looseObject({
    model: z.string(),
    documents: z.array(z.string()).min(1).max(100),
    max_tokens: z.int().min(1).optional(),
  }),
  // Held before the model is called.
  units: ({ field }) => ({ own: { document: (field('documents') as string[]).length } }),
  async ask(provider, call, context) {
    const { documents, max_tokens: limit } = call.request
    const content = `Summarise these documents:\n\n${documents.join('\n\n')}`
    const chat = { messages: [{ role: 'user' as const, content }], ...(limit !== undefined && { max_tokens: limit }) }
    const { choices } = await askChat(provider, call, context, chat)
    // Charged, beside the tokens.
    context.meter.units = { own: { document: documents.length } }
    return { object: 'summary', summary: choices[0]?.message.content ?? '' }
  },
})

const gateway = createGateway({
  keys: { 'sk-demo': { account: 'demo' } },
  models: { demo: { provider: demo(), price: { input: '1', output: '2', units: { document: '0.01' } } } },
  endpoints: [summaries],
  billing: { currency: 'EUR' },
})
await gateway.admin.accounts.topUp({ account: 'demo', amount: '10', reference: 'start' })

const server = createServer(mount(gateway))
server.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1', () => welcome(server, 'sk-demo', 'demo'))

process.once('SIGTERM', () => void gateway.close().then(() => server.close()))
process.once('SIGINT', () => void gateway.close().then(() => server.close()))
