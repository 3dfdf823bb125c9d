/** `npm run start:koa`: a gateway in Koa. `PORT` sets the port, `MODELHATCH_KEY` the API key. */
import Koa from 'koa'
import { createGateway } from 'modelhatch'
import { createConsole, signInByLink } from 'modelhatch/console'
import { mount } from 'modelhatch/koa'
import { prepareShutdown } from 'modelhatch/node'
import { key, models } from './models.ts'
import { howToCall, welcome } from './welcome.ts'

const gateway = createGateway({ keys: { [key]: {} }, models, usage: { record: true } })
const signIn = signInByLink()

const app = new Koa()
app.use(mount(gateway))
app.use(mount('/console', createConsole(gateway, { authorize: signIn.authorize, signIn })))
app.use((context) => {
  if (context.path === '/') context.body = howToCall(`${context.protocol}://${context.host}`, key, 'demo')
})

const server = app.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1', () =>
  welcome(server, key, 'demo', `/console/${signIn.link}`),
)

const shutdown = prepareShutdown(server, gateway, { graceMs: 5_000, idleMs: 500 })

/** Completes running requests, then ends the process. */
async function stop(): Promise<void> {
  await shutdown()
  process.exit()
}
process.once('SIGTERM', () => void stop())
process.once('SIGINT', () => void stop())
