/** `npm run start:koa`: a gateway on Koa. `PORT` says where it listens, `MODELHATCH_KEY` which key it lets in. */
import Koa from 'koa'
import { createGateway } from 'modelhatch'
import { mount } from 'modelhatch/koa'
import { prepareShutdown } from 'modelhatch/node'
import { key, models } from './models.ts'
import { welcome } from './welcome.ts'

const gateway = createGateway({ keys: { [key]: {} }, models })

const app = new Koa()
app.use(mount(gateway))

const server = app.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1', () => welcome(server, key, 'demo'))

const shutdown = prepareShutdown(server, gateway, { graceMs: 5_000, idleMs: 500 })

/** Requests under way come to an end before the process does. */
async function stop(): Promise<void> {
  await shutdown()
  process.exit()
}
process.once('SIGTERM', () => void stop())
process.once('SIGINT', () => void stop())
