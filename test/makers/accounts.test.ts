/** Vendors that reject state of their own, as of another account or after its time, get the conversation again without it. */
import { anthropic, gemini as google, openai } from 'modelhatch/providers'
import { describe, expect, test } from 'vitest'
import { post } from '../endpoints/ask.ts'
import { hostedWith, vendorFor } from '../hosted.ts'
import { claude } from './claude.ts'
import { gemini } from './gemini.ts'
import { allMakers, gatewayOver, journey, type Way } from './journey.ts'
import { endJson, type Maker, type Sent } from './maker.ts'

const ways: readonly Way[] = (['chat', 'responses', 'id'] as const).flatMap((via) =>
  [false, true].map((stream) => ({ via, stream })),
)

const accounts: readonly (readonly [name: string, make: (account: string) => Promise<Maker>])[] = [
  ['Claude', (account) => claude('claude-sonnet-5', account)],
  ['Claude with a budget', (account) => claude('claude-sonnet-4-5', account)],
  ['Gemini', gemini],
]

describe.each(accounts)('%s', (_, make) => {
  test.each(ways)('of another account, through $via; streamed: $stream', async (way) => {
    const makers = { ...(await allMakers()), claude: await make('a'), gemini: await make('b') }
    const { url, receipts } = await gatewayOver(makers)
    const fields = way.via === 'chat' ? { reasoning_effort: 'high', max_tokens: 8_000 } : {}
    const steps = await journey(url, makers, ['claude', 'gemini', 'gemini'], { ...way, fields })
    expect(steps.map(({ status, text }) => `${status}${text}`)).toEqual(['200', '200', '200'])
    const [first, second] = makers.gemini.bodies
    expect(makers.gemini.refusals.length).toBeGreaterThan(0)
    expect(makers.gemini.returned(first).length).toBeGreaterThan(0)
    expect(makers.gemini.returned(second)).toEqual([])
    expect(receipts.map(({ attempts }) => attempts)).toEqual([1, 1, 1])
  })
})

describe('other rejections are not repeated', () => {
  const refusing = async (make: (account: string) => Promise<Maker>, message: string) => {
    const maker = await make('a')
    const vendor = await vendorFor((_, response) => {
      response.writeHead(400, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ error: { type: 'invalid_request_error', status: 'INVALID_ARGUMENT', message } }))
    })
    return { maker, vendor }
  }

  test.each([
    ['Claude', accounts[0]![1], 'max_tokens: 9 > 8, thinking or not'],
    ['Gemini', gemini, '* GenerateContentRequest.contents: too many'],
  ] as const)('%s', async (name, make, message) => {
    const { maker, vendor } = await refusing(make, message)
    const options = { baseURL: vendor.baseURL, apiKey: 'k' }
    const broken = { ...maker, provider: name === 'Claude' ? anthropic(options) : google(options) }
    const makers = { ...(await allMakers()), claude: maker, gemini: broken }
    const { url } = await gatewayOver(makers)
    const steps = await journey(url, makers, ['claude', 'gemini'], { via: 'chat', stream: false })
    expect(steps.map(({ status }) => status)).toEqual([200, 400])
    expect(vendor.requests).toHaveLength(1)
  })
})

describe('OpenAI', () => {
  const input = [
    { role: 'user', content: 'Hi' },
    { type: 'reasoning', summary: [], encrypted_content: 'gAAAAbare' },
    { type: 'message', role: 'assistant', content: 'Hello' },
    { role: 'user', content: 'Hi' },
  ]
  const whole = { id: 'resp_1', object: 'response', created_at: 1, status: 'completed', model: 'm', output: [] }

  /** Rejects with each message in turn, as long as `fault` finds one. */
  async function ask(fault: (body: Sent) => object | string | undefined) {
    const vendor = await vendorFor(({ json }, response) => {
      const error = fault(json)
      if (error === undefined)
        return endJson(response, { ...whole, usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 } })
      response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ error }))
    })
    const provider = openai({ baseURL: vendor.baseURL, apiKey: 'k', responses: true })
    const { url } = await hostedWith({ models: { m: provider } })
    const statuses: number[] = []
    for (let time = 0; time < 2; time++) statuses.push((await post(url, '/responses', { model: 'm', input })).status)
    return { statuses, sent: vendor.requests.map(({ json }) => [(json as Sent).input.length, (json as Sent).include]) }
  }
  const reasons = (body: Sent) => body.input.some(({ type }: Sent) => type === 'reasoning')
  const wanted = ['reasoning.encrypted_content']

  test.each([
    { message: 'Item of type "x"', code: 'invalid_encrypted_content' },
    { message: "Item 'rs_1' of type 'reasoning' was provided without its required following item." },
    {
      message: "Invalid 'input[1].content': array too long. Expected an array with maximum length 0.",
      param: 'input[1].content',
    },
    // xAI: the error is a text.
    'Could not decrypt the provided encrypted_content. Ensure the value is the unmodified encrypted_content.',
  ])('gets the input without reasoning that it cannot read: %j', async (error) => {
    const { statuses, sent } = await ask((body) => (reasons(body) ? error : undefined))
    expect(statuses).toEqual([200, 200])
    expect(sent).toEqual([4, 3, 4, 3].map((length) => [length, wanted]))
  })

  test('with a model without reasoning gets neither reasoning nor a request for it', async () => {
    const { statuses, sent } = await ask((body) => {
      if (body.include) return { message: 'Encrypted content is not supported with this model.', param: 'include' }
      return reasons(body)
        ? {
            message: 'Reasoning input items can only be provided to a reasoning or computer use model.',
            param: 'input',
          }
        : undefined
    })
    expect(statuses).toEqual([200, 200])
    expect(sent).toEqual([
      [4, wanted],
      [4, undefined],
      [3, undefined],
      [4, undefined],
      [3, undefined],
    ])
  })

  test('is asked once if the rejection is about something else', async () => {
    const { statuses, sent } = await ask(() => ({
      message: "Unsupported value: 'reasoning.effort'",
      param: 'reasoning.effort',
    }))
    expect(statuses).toEqual([400, 400])
    expect(sent).toHaveLength(2)
  })
})
