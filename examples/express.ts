/** `npm start`: a gateway in Express. `PORT` sets the port, `MODELHATCH_KEY` the API key. */
import express from 'express'
import { createGateway } from 'modelhatch'
import { createConsole, signInByLink } from 'modelhatch/console'
import { mount } from 'modelhatch/express'
import { prepareShutdown } from 'modelhatch/node'
import { key, models } from './models.ts'
import { howToCall, welcome } from './welcome.ts'

const gateway = createGateway({ keys: { [key]: {} }, models, usage: { record: true } })
const signIn = signInByLink()

const app = express()
app.use(mount(gateway))
app.use('/console', mount(createConsole(gateway, { authorize: signIn.authorize, signIn })))
app.get('/', ({ protocol, host }, response) => {
  response.type('text').send(howToCall(`${protocol}://${host}`, key, 'demo'))
})

const server = app.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1', (error) => {
  if (error) throw error
  welcome(server, key, 'demo', `/console/${signIn.link}`)
})

const shutdown = prepareShutdown(server, gateway, { graceMs: 5_000, idleMs: 500 })

/** Completes running requests, then ends the process. */
async function stop(): Promise<void> {
  await shutdown()
  process.exit()
}
process.once('SIGTERM', () => void stop())
process.once('SIGINT', () => void stop())
