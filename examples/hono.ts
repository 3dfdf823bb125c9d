/** `npm run example examples/hono.ts`: a gateway in Hono on Node.js. `PORT` sets the port, `MODELHATCH_KEY` the API key. */
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import type { Server } from 'node:http'
import { createGateway } from 'modelhatch'
import { createConsole, signInByLink } from 'modelhatch/console'
import { mount } from 'modelhatch/fetch'
import { prepareShutdown } from 'modelhatch/node'
import { key, models } from './models.ts'
import { howToCall, welcome } from './welcome.ts'

const gateway = createGateway({ keys: { [key]: {} }, models, usage: { record: true } })
const signIn = signInByLink()
const answer = mount(gateway)
const show = mount(createConsole(gateway, { authorize: signIn.authorize, signIn }), { prefix: '/console' })

const app = new Hono()
app.all('/v1/*', ({ req }) => answer(req.raw))
app.all('/console/*', ({ req }) => show(req.raw))
app.get('/', ({ req, text }) => text(howToCall(new URL(req.url).origin, key, 'demo')))

const server = serve({ fetch: app.fetch, port: Number(process.env['PORT'] ?? 3000), hostname: '127.0.0.1' }, () =>
  welcome(server, key, 'demo', `/console/${signIn.link}`),
) as Server

const shutdown = prepareShutdown(server, gateway, { graceMs: 5_000, idleMs: 500 })

/** Completes running requests, then ends the process. */
async function stop(): Promise<void> {
  await shutdown()
  process.exit()
}
process.once('SIGTERM', () => void stop())
process.once('SIGINT', () => void stop())
