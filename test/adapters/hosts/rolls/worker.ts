/** A worker of the cluster: the gateway and a route of the host, with the shutdown that the readme recommends. */
import express from 'express'
import Koa from 'koa'
import type { Server } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { createGateway } from 'modelhatch'
import { mount as mountExpress } from 'modelhatch/express'
import { mount as mountKoa } from 'modelhatch/koa'
import { prepareShutdown } from 'modelhatch/node'
import { demo } from 'modelhatch/providers'

const gateway = createGateway({ keys: { 'sk-demo': {} }, models: { demo: demo({ paceMs: 5 }) } })

function onExpress(port: number): Server {
  const app = express().use('/ai', mountExpress(gateway))
  app.get('/own', (_request, response) => void pause(20).then(() => response.send('own')))
  return app.listen(port, '127.0.0.1')
}

function onKoa(port: number): Server {
  const app = new Koa().use(mountKoa('/ai', gateway))
  app.use(async (context) => {
    await pause(20)
    context.body = 'own'
  })
  return app.listen(port, '127.0.0.1')
}

const port = Number(process.env['PORT'])
const server = process.env['HOST'] === 'koa' ? onKoa(port) : onExpress(port)

const shutdown = prepareShutdown(server, gateway, {
  graceMs: 10_000,
  idleMs: Number(process.env['IDLE_MS']),
})

async function stop(): Promise<void> {
  await shutdown()
  process.exit()
}
process.once('SIGTERM', () => void stop())
