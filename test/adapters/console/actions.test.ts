/** Each action of the console, end to end, in Express and Koa below a path of two segments. */
import { mkdtempSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { sqlite } from 'modelhatch/sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { long } from '../../long.ts'
import { hasChromium, launch } from './browser.ts'
import { openStage, serveConsole, type Served, type Stage } from './stage.ts'
import { visit, type Visit } from './visit.ts'

let browser: Browser
beforeAll(async () => {
  if (hasChromium) browser = await launch()
})
afterAll(() => browser?.close())

describe.skipIf(!hasChromium).each(['Express', 'Koa'] as const)('in %s', (host) => {
  let folder: string
  let stage: Stage
  let served: Served
  let admin: Visit
  let page: Page
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'console-'))
    stage = await openStage(sqlite(join(folder, 'gateway.db')), 60)
    served = await serveConsole(host, stage.gateway)
    admin = await visit(browser, served.url, 'admin', { acceptDownloads: true })
    page = admin.page
  })
  afterAll(async () => {
    await served?.close()
    await stage?.gateway.close({ graceMs: 0 })
    rmSync(folder, { recursive: true, force: true })
  })

  // The short form takes some actions in both: those that read, those that write, and a download.
  const testOnce = test.skipIf(host !== 'Express' && !long)

  const button = (name: string) => page.getByRole('button', { name, exact: true })
  const inDialog = (name: string) => page.getByRole('dialog').getByRole('button', { name, exact: true })
  const statusWith = async (key: string) =>
    (await fetch(new URL('/ai/v1/models', served.url), { headers: { authorization: `Bearer ${key}` } })).status

  testOnce('a key of the options has no actions, and a key of an unknown account needs consent', async () => {
    await admin.go('#/keys')
    const row = page.getByRole('row', { name: 'deployed' })
    await row.getByText('in the options').waitFor()
    expect(await row.getByRole('button').count()).toBe(0)
    await button('Create key').click()
    await page.getByLabel('Account', { exact: true }).last().fill('acne')
    await page.getByRole('dialog').getByLabel('Group').selectOption('trial')
    await inDialog('Create').click()
    await page.getByRole('dialog').getByText('There is no account "acne"').waitFor()
    await page.getByLabel('Open the account if there is none').check()
    await inDialog('Create').click()
    await page.locator('#new-key').waitFor()
    await button('I have stored it').click()
    expect(await stage.gateway.admin.accounts.find('acne')).toMatchObject({ balance: '0' })
  })

  test('a key is created, shown once, changed, rotated and revoked', async () => {
    await admin.go('#/keys')
    await button('Create key').click()
    await page.getByLabel('Account', { exact: true }).last().fill('acme')
    await page.getByLabel('Name').fill('notebook')
    await page.getByRole('dialog').getByLabel('Group').selectOption('trial')
    await page.getByText('Limits').last().click()
    await page.getByLabel('Requests', { exact: true }).fill('30/min')
    await page.getByLabel('At the same time').fill('2')
    await page.getByText('Restrictions and attribution').click()
    await page.getByLabel('IP addresses').fill('127.0.0.1, 10.0.0.0/8')
    await inDialog('Create').click()
    const shown = page.locator('#new-key')
    const key = await shown.innerText()
    expect(key).toMatch(/^sk-[\w-]{20,}/)
    expect(await statusWith(key)).toBe(200)
    await page.getByLabel('Use it from').selectOption('Claude Code')
    await page.getByRole('dialog').locator('pre', { hasText: key }).getByText('ANTHROPIC_').waitFor()
    await page.getByLabel('Use it from').selectOption('curl')
    await page.getByRole('dialog').locator('pre', { hasText: key }).getByText('/ai/v1/chat/completions').waitFor()
    await inDialog('Try it').click()
    await page
      .getByRole('dialog')
      .getByText(/^(?:gpt-mini|gemini-flash): \S/)
      .waitFor()
    await button('I have stored it').click()
    await page.getByText('30 requests/min, 2 at once, addresses: 2').waitFor()
    expect(await page.content()).not.toContain(key)

    await button('Edit: notebook').click()
    await page.getByLabel('Name').fill('workstation')
    await page.getByLabel('IP addresses').fill('')
    await inDialog('Save').click()
    await page.getByText('30 requests/min, 2 at once', { exact: true }).waitFor()
    const [record] = (await stage.gateway.admin.keys.search({ text: 'workstation' })).items
    expect(record).toMatchObject({ account: 'acme', group: 'trial', rate: { requests: '30/min', concurrent: 2 } })
    expect(record?.addresses).toBeUndefined()

    await button('Rotate: workstation').click()
    await page.getByLabel('The old key works for another').selectOption('3600000')
    await inDialog('Rotate').click()
    const rotated = await shown.innerText()
    await button('I have stored it').click()
    expect(rotated).not.toBe(key)
    expect([await statusWith(key), await statusWith(rotated)]).toEqual([200, 200])

    await button('Revoke: workstation').first().click()
    await inDialog('Revoke').click()
    await page.getByText('The key is revoked').waitFor()
    expect(await statusWith(rotated)).toBe(401)
    await expect.poll(() => page.getByRole('row').filter({ hasText: 'workstation' }).count()).toBe(1)
    await page.getByLabel('State').selectOption('revoked')
    await page.getByRole('row').filter({ hasText: 'workstation' }).getByText('Revoked').waitFor()
  })

  testOnce('what the form of a key shows less of than there is stays as it is, unless it is changed', async () => {
    const { keys } = stage.gateway.admin
    const { record } = await keys.create({
      account: 'acme',
      group: 'trial',
      name: 'odd',
      tags: ['team one'],
      expiresAt: Date.now() + 86_412_345,
      caps: [{ name: 'key-monthly', period: 'month', money: '5', calls: 9, thresholds: [0.5] }],
    })
    const stored = async () => (await keys.list('acme')).find(({ id }) => id === record.id)
    await admin.go('#/keys')
    await button('Edit: odd').click()
    await page.getByRole('dialog').getByLabel('Name').fill('even')
    await inDialog('Save').click()
    await button('Edit: even').waitFor()
    expect(await stored()).toEqual({ ...record, name: 'even' })
    await button('Edit: even').click()
    await page.getByRole('dialog').getByLabel('Tags').fill('team one, two')
    await page.getByRole('dialog').getByLabel('Money per month').fill('6')
    await inDialog('Save').click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    const caps = [{ ...record.caps?.[0], money: '6' }]
    expect(await stored()).toEqual({ ...record, name: 'even', tags: ['team one', 'two'], caps })
  })

  testOnce('invalid input is explained beside the form, and nothing is lost', async () => {
    await admin.go('#/keys')
    await button('Create key').click()
    await page.getByLabel('Account', { exact: true }).last().fill('acme')
    await page.getByLabel('Expires').fill('2001-01-01T00:00')
    await inDialog('Create').click()
    const refused = page.locator('[aria-invalid]')
    await refused.waitFor()
    expect(await refused.getAttribute('aria-describedby')).toMatch(/refusal.*hint/)
    const said = page.getByRole('dialog').locator('.negative')
    expect(await said.innerText()).toMatch(/must be in the future/)
    const isFocused = () => refused.evaluate((field) => field === document.activeElement)
    await expect.poll(isFocused).toBe(true)
    expect(await page.getByRole('dialog').getByRole('alert').count()).toBe(0)
    // In a part of the form that is closed.
    await page.getByLabel('Expires').fill('2090-01-01T00:00')
    await page.getByText('Restrictions').click()
    await page.getByLabel('Addresses').fill('home')
    await page.getByText('Restrictions').click()
    await inDialog('Create').click()
    await expect.poll(() => said.innerText()).toMatch(/must be an IP address/)
    await expect.poll(isFocused).toBe(true)
    expect(await refused.evaluate((field) => field.closest('dialog')?.querySelectorAll('[aria-invalid]').length)).toBe(
      1,
    )
    await page.getByLabel('Addresses').fill('')
    await page.getByLabel('Account', { exact: true }).last().fill('nobody')
    await inDialog('Create').click()
    await expect.poll(() => said.innerText()).toMatch(/There is no account "nobody"/)
    await page.getByLabel('Account', { exact: true }).last().fill('acme')
    expect(await page.getByLabel('Account', { exact: true }).last().inputValue()).toBe('acme')
    await page.keyboard.press('Escape')
  })

  testOnce('an alert is listed, and the limit of a cap is raised for a time and restored', async () => {
    const { alerts, caps } = stage.gateway.admin
    const response = await fetch(new URL('/ai/v1/chat/completions', served.url), {
      method: 'POST',
      headers: { authorization: `Bearer ${stage.keys.acme}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-mini', messages: [{ role: 'user', content: 'hi' }] }),
    })
    expect(response.status).toBe(200)
    await expect.poll(async () => (await alerts.list({ account: 'acme' })).items.length).toBe(1)
    await admin.go('#/accounts')
    const rows = page.getByRole('table', { name: 'Alerts' }).getByRole('row')
    await rows.filter({ hasText: 'daily: 1 / 1,000 (≥ 0.1%)' }).filter({ hasText: 'acme' }).waitFor()
    await admin.go('#/accounts/acme')
    const [alert] = (await alerts.list({ account: 'acme' })).items
    const link = page.getByRole('table', { name: 'Alerts' }).getByRole('link')
    expect(await link.getAttribute('href')).toContain(alert?.request)
    const monthly = async () =>
      (await caps.list({ account: 'acme', group: 'standard' })).find(({ cap }) => cap === 'monthly')
    const until = new Date()
    until.setFullYear(until.getFullYear() + 1, 0, 2)
    until.setHours(3, 4, 0, 0)
    await button('Edit: monthly').click()
    await page.getByRole('dialog').getByLabel('Amount').fill('750.5')
    await page.getByRole('dialog').getByLabel('Expires').fill(`${until.getFullYear()}-01-02T03:04`)
    await inDialog('Save').click()
    await page.getByText('€750.50').waitFor()
    expect(await monthly()).toMatchObject({
      limits: { money: '750.5' },
      overrides: [{ money: '750.5', until: until.getTime() }],
    })
    await button('Edit: daily').click()
    await page.getByRole('dialog').getByLabel('Requests').fill('2000')
    await inDialog('Save').click()
    await page.getByText('/ 2,000').waitFor()
    await button('Edit: monthly').click()
    await inDialog('Clear').click()
    await page.getByText('€500.00').waitFor()
    expect(await monthly()).toMatchObject({ limits: { money: '500' }, overrides: [] })
  })

  test('an account is opened, paid for, corrected, renamed; the books and the audit agree', async () => {
    await admin.go('#/accounts')
    await button('Open account').click()
    await page.getByLabel('Account id').fill('initech')
    await page.getByLabel('Name').fill('Initech')
    await inDialog('Create').click()
    await page.getByRole('heading', { name: 'initech' }).waitFor()
    await button('Top up').click()
    await page.getByLabel('Amount').fill('40.25')
    await page.getByLabel('Note').fill('Bank transfer')
    await inDialog('Top up').click()
    await page.getByText('Bank transfer').waitFor()
    await button('Adjust').click()
    await page.getByLabel('Amount').fill('-0.25')
    await page.getByLabel('Reference').fill('goodwill-1')
    await inDialog('Adjust').click()
    await page.getByText('goodwill-1').waitFor()
    await button('Edit').click()
    await page.getByRole('dialog').getByLabel('Name').fill('Initech Ltd')
    await page.getByLabel('Unlimited').check()
    await inDialog('Save').click()
    await page.getByText('Initech Ltd').waitFor()
    await expect
      .poll(() => stage.gateway.admin.accounts.find('initech'))
      .toMatchObject({
        balance: '40',
        unlimited: true,
        name: 'Initech Ltd',
      })
    await admin.go('#/accounts')
    await button('Audit').click()
    await page.getByText('All balances agree with their entries.').waitFor()
  })

  test('a vendor key is stored, never shown, and deleted, by the operator and by the customer', async () => {
    const kept = () => stage.gateway.admin.vendorKeys.list('acme')
    const customer = await visit(browser, served.url, 'acme')
    for (const visitor of [admin, customer]) {
      const on = visitor.page
      const press = (name: string) => on.getByRole('button', { name, exact: true })
      await visitor.go(visitor === admin ? '#/accounts/acme' : '#/accounts')
      await on.getByText('No own keys').waitFor()
      await press('Add vendor key').click()
      const dialog = on.getByRole('dialog')
      await dialog.getByLabel('Vendor').selectOption('openai')
      await dialog.getByLabel('Key').fill('sk-of-acme-1234567890')
      expect(await dialog.getByLabel('Key').getAttribute('type')).toBe('password')
      await dialog.getByRole('button', { name: 'Save', exact: true }).click()
      const row = on.getByRole('row', { name: 'openai' })
      await row.getByText('…7890').waitFor()
      expect(await on.content()).not.toContain('sk-of-acme')
      expect(await kept()).toMatchObject([{ provider: 'openai', hint: '7890' }])
      await row.getByRole('button', { name: 'Delete: openai' }).click()
      await dialog.getByRole('button', { name: 'Delete', exact: true }).click()
      await on.getByText('No own keys').waitFor()
      expect(await kept()).toEqual([])
    }
    expect(customer.faults).toEqual([])
    await customer.end()
  })

  testOnce('requests are filtered, found by id, and refunded', async () => {
    const answered = await fetch(new URL('/ai/v1/chat/completions', served.url), {
      method: 'POST',
      headers: { authorization: `Bearer ${stage.keys.globex}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'steady', messages: [{ role: 'user', content: 'Count from 1 to 20' }] }),
    })
    expect(answered.status).toBe(200)
    await answered.text()
    const id = answered.headers.get('x-request-id') ?? ''
    await expect.poll(() => stage.gateway.admin.usage.find(id)).toBeDefined()
    await admin.go('#/requests?range=30d')
    await page.getByLabel('Model').selectOption('gpt-mini')
    await page.getByLabel('Account').fill('acme')
    await expect.poll(() => page.url()).toContain('account=acme')
    const shown = () => page.getByRole('row').allInnerTexts()
    await expect.poll(async () => (await shown()).slice(1).every((row) => /gpt-mini\s+acme/.test(row))).toBe(true)
    expect((await shown()).length).toBeGreaterThan(3)
    await page.getByLabel('Request id').fill(id)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Request', exact: true }).waitFor()
    const attempts = page.getByRole('table', { name: 'Attempts' })
    await attempts.waitFor()
    expect(await attempts.getByRole('row').allInnerTexts()).toMatchObject(
      [/^Provider/, /overloaded[\s\S]*Failed/, /demo[\s\S]*Succeeded/].map((pattern) =>
        expect.stringMatching(pattern),
      ) as string[],
    )
    await button('Refund').click()
    await page.getByLabel('Reason').fill('The answer was late')
    await inDialog('Refund').click()
    await page.getByText('Refunded').waitFor()
    const latest = async () => (await stage.gateway.admin.accounts.entries('globex')).items[0]
    await expect.poll(latest).toMatchObject({ reference: `refund:${id}`, note: 'The answer was late' })
  })

  test('usage by model, key and account is a table and a CSV', async () => {
    await admin.go('#/usage')
    for (const [by, content] of [
      ['Account', 'globex'],
      ['Key', 'acme backend'],
      ['Model', 'claude-sonnet'],
    ] as const) {
      await page.getByLabel('Group by').selectOption({ label: by })
      await page.getByRole('rowheader').filter({ hasText: content }).first().waitFor()
    }
    const downloading = page.waitForEvent('download')
    await page.getByRole('link', { name: 'CSV' }).click()
    const text = await readFile(await (await downloading).path(), 'utf8')
    expect(text).toMatch(/^model,requests,/)
    expect(text).toContain('claude-sonnet,')
    await page.getByRole('link', { name: 'gemini-flash' }).click()
    await page.getByRole('heading', { name: 'Requests' }).waitFor()
    expect(await page.getByLabel('Model').inputValue()).toBe('gemini-flash')
  })

  testOnce('the playground creates a temporary key, streams a chat, makes an image and a video', async () => {
    await admin.go('#/models')
    await page.getByRole('link', { name: 'gpt-mini' }).click()
    await button('Temporary key').click()
    await page.getByLabel('Account').fill('acme')
    await inDialog('Create').click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    const key = await page.getByLabel('API key').inputValue()
    expect(key).toMatch(/^sk-/)
    await page.getByLabel('Message').fill('Count from 1 to 12')
    await page.keyboard.press('Enter')
    const answer = page.locator('.conversation .assistant')
    await answer.getByText(/11, 12/).waitFor()
    await answer.getByRole('link', { name: /^req_/ }).waitFor()

    await page.getByText('Settings', { exact: true }).click()
    await page.getByLabel('System prompt').fill('Reply with exactly: pong')
    await page.getByLabel('Most tokens').fill('20')
    expect(await page.getByLabel('Compare with').locator('option').allInnerTexts()).not.toContain('demo-image')
    await page.getByLabel('Compare with').selectOption('gemini-flash')
    await page.getByLabel('Message').fill('Now?')
    await page.keyboard.press('Enter')
    for (const name of ['gpt-mini', 'gemini-flash']) {
      await page.getByRole('list', { name }).getByText('pong', { exact: true }).waitFor()
    }
    await page.getByText('View code').click()
    const shown = await page.getByRole('region', { name: 'curl' }).innerText()
    const sent = JSON.parse(/'(\{[^]*)'$/.exec(shown)?.[1] ?? '') as object
    expect(sent).toMatchObject({
      model: 'gpt-mini',
      max_completion_tokens: 20,
      messages: [{ role: 'system' }, {}, {}, {}],
    })
    await page.reload()
    expect(await page.getByLabel('System prompt').inputValue()).toBe('Reply with exactly: pong')
    await page.getByText('Settings', { exact: true }).click()
    await page.getByLabel('Compare with').selectOption('')
    await page.getByLabel('API key').fill(key)

    await button('Image').click()
    await page.getByLabel('Model').selectOption('demo-image')
    await page.getByLabel('Prompt').fill('A lighthouse')
    await button('Generate').click()
    const image = page.getByRole('img', { name: 'A lighthouse' })
    await image.waitFor()
    await expect
      .poll(() => image.evaluate((element) => (element as HTMLImageElement).naturalWidth))
      .toBeGreaterThan(100)

    await button('Video').click()
    await page.getByLabel('Model').selectOption('demo-video-landscape')
    await page.getByLabel('Prompt').fill('A kite over the dunes')
    await button('Generate').click()
    await button('Show the video').click()
    const film = page.locator('.film video')
    await expect.poll(() => film.evaluate((element) => (element as HTMLVideoElement).readyState)).toBeGreaterThan(0)
    // Neither storage nor the address has the key.
    const stored = () =>
      JSON.stringify([Object.entries(localStorage), Object.entries(sessionStorage), document.cookie, location.href])
    expect(await page.evaluate(stored)).not.toContain(key)
  })

  testOnce('a video is listed, shown through the console, and deleted', async () => {
    await admin.go('#/videos')
    await button('A kite over the dunes').click()
    const film = page.getByRole('dialog').locator('video')
    await expect.poll(() => film.evaluate((element) => (element as HTMLVideoElement).readyState)).toBeGreaterThan(0)
    await inDialog('Delete').click()
    await page.getByText('This cannot be undone.').waitFor()
    await inDialog('Cancel').click()
    await page.getByRole('button', { name: 'A kite over the dunes' }).click()
    await inDialog('Delete').click()
    await page.getByRole('heading', { name: 'Delete video' }).waitFor()
    await inDialog('Delete').click()
    await page.getByText('No videos').waitFor()
  })

  testOnce('the set-up has the URL of the gateway, and the key only on the page', async () => {
    await admin.go('#/setup')
    expect(await page.getByLabel('URL of the gateway').inputValue()).toBe(new URL('/ai', served.url).href)
    const requests: string[] = []
    page.on('request', (request) => requests.push(request.url() + (request.postData() ?? '')))
    await page.getByLabel('API key').fill(`sk-it's`)
    await page.getByLabel('Model').selectOption('gpt-mini')
    const pasted = await page.getByRole('region', { name: 'curl' }).innerText()
    expect(pasted).toContain(`-H 'Authorization: Bearer sk-it'\\''s'`)
    expect(pasted).toContain(`'${new URL('/ai/v1/chat/completions', served.url).href}'`)
    expect(requests.filter((each) => each.includes("it's"))).toEqual([])
  })

  test('a model is created, priced, changed and deleted; what is set in code is not edited', async () => {
    const { registry } = stage.gateway.admin
    await admin.go('#/registry')
    const inCode = page.getByRole('row', { name: 'With a fallback' })
    await inCode.getByText('set in code').waitFor()
    expect(await inCode.getByRole('button').count()).toBe(0)
    await button('New model').click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Id', { exact: true }).fill('lab/new')
    await dialog.getByLabel("The vendor's name for the model").fill('demo')
    await dialog.getByLabel('note', { exact: true }).fill('a trial')
    await dialog.getByText('More fields').click()
    await dialog.getByLabel('aliases', { exact: true }).fill('newest, other')
    await dialog.getByLabel('rate', { exact: true }).fill('{ "requests": "9/min" ')
    await inDialog('Create').click()
    await dialog.getByText('rate: this is not valid JSON').waitFor()
    await dialog.getByLabel('rate', { exact: true }).fill('{ "requests": "9/min" }')
    await inDialog('Create').click()
    await page.getByRole('row', { name: 'lab/new' }).getByText('Active').waitFor()
    const deployments = [{ provider: 'local', providerModel: 'demo' }]
    expect(await registry.models.find('lab/new')).toMatchObject({
      deployments,
      note: 'a trial',
      aliases: ['newest', 'other'],
      rate: { requests: '9/min' },
    })

    await button('New price').click()
    await dialog.getByLabel('Model').fill('lab/new')
    await dialog.getByLabel('Input', { exact: true }).fill('1')
    await dialog.getByLabel('Output', { exact: true }).fill('2.5')
    await inDialog('Create').click()
    await page.getByText('{"input":"1","output":"2.5"}').waitFor()

    await button('Edit: lab/new').click()
    await dialog.getByLabel('Disabled', { exact: true }).check()
    await dialog.getByLabel('note', { exact: true }).fill('')
    await registry.models.update('lab/new', { displayName: 'Meanwhile' })
    await inDialog('Save').click()
    await dialog.getByText('changed by somebody else').waitFor()
    await page.keyboard.press('Escape')
    await button('Refresh').click()
    await page.getByText('Meanwhile').waitFor()
    await button('Edit: lab/new').click()
    await dialog.getByLabel('Disabled', { exact: true }).check()
    await dialog.getByLabel('note', { exact: true }).fill('')
    await inDialog('Save').click()
    await page.getByText('local demo (Disabled)').waitFor()
    const changed = await registry.models.find('lab/new')
    expect(changed).toMatchObject({ deployments: [{ ...deployments[0], disabled: true }], displayName: 'Meanwhile' })
    expect(changed).not.toHaveProperty('note')

    await button('Delete: lab/new').click()
    await inDialog('Delete').click()
    await expect.poll(() => registry.models.find('lab/new')).toBeUndefined()
  })

  testOnce('a read-only visitor is offered no action', async () => {
    const reading = await serveConsole(host, stage.gateway, { readOnly: true })
    const visitor = await visit(browser, reading.url, 'admin')
    for (const address of ['#/keys', '#/accounts', '#/accounts/acme', '#/videos', '#/registry', '#/playground']) {
      await visitor.go(address)
      const names = await visitor.page.locator('main').getByRole('button').allInnerTexts()
      expect(
        names.filter((name) =>
          /create|new|edit|rotate|revoke|open account|top up|adjust|temporary|vendor key|delete/i.test(name),
        ),
      ).toEqual([])
    }
    expect(visitor.faults).toEqual([])
    await visitor.end()
    await reading.close()
  })

  test('nothing of all this has violated the policy or thrown', async () => {
    expect(admin.faults).toEqual([])
    await admin.end()
  })
})
