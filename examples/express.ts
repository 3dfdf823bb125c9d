/** `npm start`: a gateway in Express. `PORT` sets the port, `MODELHATCH_KEY` the API key. */
import express from 'express'
import { createGateway } from 'modelhatch'
import { createConsole } from 'modelhatch/console'
import { mount } from 'modelhatch/express'
import { prepareShutdown } from 'modelhatch/node'
import { ConsoleLogin } from './console-login.ts'
import { key, models } from './models.ts'
import { welcome } from './welcome.ts'

const gateway = createGateway({ keys: { [key]: {} }, models, usage: { record: true } })
const login = new ConsoleLogin()

const app = express()
app.use(mount(gateway))
app.get('/console/sign-in', (request, response) => {
  const session = login.exchange(request.query['token'])
  if (session === undefined) return void response.status(404).end()
  response.setHeader('set-cookie', session).redirect('./')
})
app.use('/console', mount(createConsole(gateway, { authorize: login.authorize })))

const server = app.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1', (error) => {
  if (error) throw error
  welcome(server, key, 'demo', login.link)
})

const shutdown = prepareShutdown(server, gateway, { graceMs: 5_000, idleMs: 500 })

/** Completes running requests, then ends the process. */
async function stop(): Promise<void> {
  await shutdown()
  process.exit()
}
process.once('SIGTERM', () => void stop())
process.once('SIGINT', () => void stop())
