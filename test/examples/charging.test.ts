import OpenAI from 'openai'
import { expect, test } from 'vitest'
import { runExample } from './example.ts'

const operator = { authorization: 'Bearer token-of-the-test' }

test('customers sign up, pay the table price with the margin, get mails before the cap, and reports that add up', async () => {
  const example = await runExample('charging', { OPERATOR_TOKEN: 'token-of-the-test' })
  const { origin } = new URL(example.baseURL)
  const post = async (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) => {
    const response = await fetch(`${origin}${path}`, { method: 'POST', body: new URLSearchParams(fields), headers })
    return { status: response.status, body: (await response.json()) as Record<string, string> }
  }
  const get = async (path: string, headers: Record<string, string>) => {
    const response = await fetch(`${origin}${path}`, { headers })
    return { status: response.status, text: await response.text() }
  }
  try {
    const { account = '', key = '' } = (await post('/sign-up', { email: 'ada@example.com' })).body
    const mine = { 'x-account': account }
    const client = new OpenAI({ apiKey: key, baseURL: `${origin}/ai/v1`, maxRetries: 0 })
    const balance = async () =>
      Number((JSON.parse((await get('/my/balance', mine)).text) as { balance: string }).balance)
    const chat = async () =>
      client.chat.completions
        .create({
          model: 'openai/gpt-5-mini',
          messages: [{ role: 'user', content: 'Hello' }],
          max_tokens: 40,
          user: 'bob',
        })
        .withResponse()

    expect(await balance()).toBe(1)
    const { data, response } = await chat()
    // 0.25 and 2 dollars for a million tokens, in euros, with the margin.
    const { prompt_tokens: prompt = 0, completion_tokens: completion = 0 } = data.usage ?? {}
    const cost = (((prompt * 0.25 + completion * 2) / 1e6) * 0.92 * 1.3).toFixed(7)
    const charged = Math.ceil(Number(cost) * 1e6) / 1e6
    await expect.poll(balance).toBeCloseTo(1 - charged, 6)
    await expect.poll(example.printed).toContain('Mail to ada@example.com: your balance is 0.9999')
    expect(await post('/my/top-ups', { amount: '10', order: '1' }, mine)).toMatchObject({ status: 200 })
    expect((await post('/my/top-ups', { amount: '1', order: '2' }, mine)).status).toBe(400)

    // A lower cap: a call may cost twice as much as this one does, so one more fits, and takes the use beyond 80 percent.
    for (let calls = 0; calls < 4; calls++) await chat()
    await expect.poll(balance).toBeCloseTo(11 - charged * 5, 6)
    expect((await post('/my/cap', { amount: '21' }, mine)).status).toBe(400)
    expect((await post('/my/cap', { amount: (charged * 7.15).toFixed(6) }, mine)).status).toBe(200)
    await chat()
    const used = `you have used ${(charged * 6).toFixed(5)} of`
    await expect.poll(example.printed).toContain(`Mail to ada@example.com: ${used}`)
    expect(example.printed()).toContain('EUR this month (80 %)')
    await expect(chat()).rejects.toMatchObject({ status: 429, message: expect.stringContaining('monthly') as string })

    const id = response.headers.get('x-request-id') ?? ''
    await expect.poll(async () => (await get('/my/usage.csv', mine)).text.split('\r\n').length).toBe(9)
    const { text: records } = await get('/my/usage.csv', mine)
    expect(records).toContain(`${id},`)
    expect(records).toContain(',bob,')
    const month = new Intl.DateTimeFormat('sv', { year: 'numeric', month: '2-digit', timeZone: 'Europe/Berlin' })
    const invoice = await get(`/operator/invoices/${month.format()}.csv`, operator)
    expect(invoice.text).toContain(`${account},openai/gpt-5-mini,input,${prompt * 6},1000000,0.299,`)
    expect((await get('/operator/invoices/2030-13.csv', operator)).status).toBe(400)
    expect((await get('/operator/accounts.csv', {})).status).toBe(404)
    const refund = { account, request: id, reason: 'The answer was wrong.' }
    expect((await post('/operator/refunds', refund, operator)).body).toMatchObject({ repeated: false })
    expect(await balance()).toBeCloseTo(11 - charged * 5, 6)
    expect((await get('/my/entries.csv', mine)).text).toContain(`refund:${id},${charged}`)
    expect((await get('/operator/audit', operator)).text).toBe('[]')
  } finally {
    expect(await example.stop()).toBe(0)
  }
})
