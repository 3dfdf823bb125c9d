/** The end of a host as the readme advises it: the gateway first, then the server. */
import express from 'express'
import Koa from 'koa'
import { createServer, Agent, request, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createGateway, type Gateway } from 'modelhatch'
import { mount as mountExpress } from 'modelhatch/express'
import { mount as mountKoa } from 'modelhatch/koa'
import { mount as mountNode } from 'modelhatch/node'
import { demo } from 'modelhatch/providers'

const hosts: [string, (gateway: Gateway) => RequestListener][] = [
  ['express', (gateway) => express().use(mountExpress(gateway))],
  ['koa', (gateway) => new Koa().use(mountKoa(gateway)).callback()],
  ['node', (gateway) => mountNode(gateway)],
]

test.each(hosts)('%s: a server closed after the gateway waits for no idle connection', async (_, listenerFor) => {
  const gateway = createGateway({ keys: { 'sk-demo': {} }, models: { demo: demo({ paceMs: 1 }) } })
  const server = createServer(listenerFor(gateway))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const agent = new Agent({ keepAlive: true })
  const asked = request({
    agent,
    port: (server.address() as AddressInfo).port,
    method: 'POST',
    path: '/v1/chat/completions',
    headers: { authorization: 'Bearer sk-demo', 'content-type': 'application/json' },
  })
  asked.end(JSON.stringify({ model: 'demo', messages: [{ role: 'user', content: 'Count to 20' }], stream: true }))
  const said = await new Promise<string>((resolve, reject) => {
    asked.on('error', reject)
    asked.on('response', (response) => {
      let text = ''
      let closing: Promise<void> | undefined
      response.setEncoding('utf8')
      response.on('data', (piece: string) => {
        text += piece
        // While the answer is under way.
        closing ??= gateway.close().then(() => void server.close())
      })
      response.on('end', () => void closing?.then(() => resolve(text)))
    })
  })
  expect(said).toMatch(/data: \[DONE\]\n\n$/)
  const ended = new Promise<string>((resolve) => server.on('close', () => resolve('closed')))
  // Five seconds is the time for which a server keeps an idle connection.
  expect(await Promise.race([ended, pause(2_000, 'still open', { ref: false })])).toBe('closed')
  agent.destroy()
})
