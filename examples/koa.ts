/** `npm run start:koa`: a gateway in Koa. `PORT` sets the port, `MODELHATCH_KEY` the API key. */
import Koa from 'koa'
import { createGateway } from 'modelhatch'
import { createConsole } from 'modelhatch/console'
import { mount } from 'modelhatch/koa'
import { prepareShutdown } from 'modelhatch/node'
import { ConsoleLogin } from './console-login.ts'
import { key, models } from './models.ts'
import { welcome } from './welcome.ts'

const gateway = createGateway({ keys: { [key]: {} }, models, usage: { record: true } })
const login = new ConsoleLogin()

const app = new Koa()
app.use(mount(gateway))
app.use(async (context, next) => {
  const session = context.path === '/console/sign-in' ? login.exchange(context.query['token']) : undefined
  if (session === undefined) return next()
  context.set('set-cookie', session)
  context.redirect('./')
})
app.use(mount('/console', createConsole(gateway, { authorize: login.authorize })))

const server = app.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1', () =>
  welcome(server, key, 'demo', login.link),
)

const shutdown = prepareShutdown(server, gateway, { graceMs: 5_000, idleMs: 500 })

/** Completes running requests, then ends the process. */
async function stop(): Promise<void> {
  await shutdown()
  process.exit()
}
process.once('SIGTERM', () => void stop())
process.once('SIGINT', () => void stop())
