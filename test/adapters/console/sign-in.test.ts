import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { createGateway } from 'modelhatch'
import { createConsole, signInByLink, type ConsoleOptions } from 'modelhatch/console'
import { mount } from 'modelhatch/express'
import { demo } from 'modelhatch/providers'
import { describe, expect, onTestFinished, test } from 'vitest'
import { hasChromium, launch } from './browser.ts'

const gateway = createGateway({ keys: { 'sk-test': {} }, models: { demo: demo() } })

/** The URL of a console below `/a/console`. */
async function serve(options: ConsoleOptions): Promise<string> {
  const app = express().use('/a/console', mount(createConsole(gateway, options)))
  const server = createServer(app as RequestListener).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  onTestFinished(() => server.close().closeAllConnections())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/a/console/`
}

const visit = (url: string, headers = {}) => fetch(url, { headers, redirect: 'manual' })

describe('a visitor who is nobody', () => {
  test('reads that the session is missing, on a page without anything else', async () => {
    const url = await serve({ authorize: () => undefined })
    const response = await visit(url)
    expect([response.status, response.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8'])
    expect(await response.text()).toContain('You are not signed in')
    expect((await visit(`${url}sign-in`)).status).toBe(404)
    expect((await visit(`${url}api/me`)).status).toBe(404)
  })

  test('is sent to the sign-in of the host', async () => {
    const url = await serve({ authorize: () => undefined, signIn: '/login?from=console' })
    const response = await visit(url)
    expect([response.status, response.headers.get('location')]).toEqual([302, '/login?from=console'])
  })
})

test('a link signs one browser in, once, and only for the folder of the console', async () => {
  const signIn = signInByLink()
  const url = await serve({ authorize: signIn.authorize, signIn })
  expect(await (await visit(url)).text()).toContain('prints a link')
  expect((await visit(`${url}sign-in?token=${'A'.repeat(32)}`)).status).toBe(404)
  const opened = await visit(url + signIn.link)
  const [session = '', ...rules] = (opened.headers.get('set-cookie') ?? '').split('; ')
  expect([opened.status, opened.headers.get('location')]).toEqual([302, './'])
  expect(rules).toEqual(['HttpOnly', 'SameSite=Lax'])
  expect((await visit(url, { cookie: session })).status).toBe(200)
  const again = await visit(url + signIn.link)
  expect([again.status, await again.text()]).toEqual([404, expect.stringContaining('This link does not work')])
  // With the session, the link leads to the console again.
  expect((await visit(url + signIn.link, { cookie: session })).headers.get('location')).toBe('./')
})

test.skipIf(!hasChromium)('a page whose session has ended says so, and leads to the sign-in', async () => {
  let isSignedIn = true
  const url = await serve({ authorize: () => (isSignedIn ? { role: 'admin' } : undefined), signIn: '/login' })
  const browser = await launch()
  onTestFinished(() => browser.close())
  const page = await browser.newPage()
  await page.goto(`${url}#/models`)
  await page.getByRole('row', { name: 'demo' }).waitFor()
  isSignedIn = false
  await page.getByRole('link', { name: 'Videos' }).click()
  await page.getByText('Your session has ended').waitFor()
  expect(await page.getByRole('link', { name: 'Sign in' }).getAttribute('href')).toBe('/login')
})

test('an unknown option is refused in the name of the function that got it', () => {
  const options = { authorize: () => undefined, gatewayURI: '/ai' } as ConsoleOptions
  expect(() => createConsole(gateway, options)).toThrow(/^createConsole: unknown option "gatewayURI"/)
})
