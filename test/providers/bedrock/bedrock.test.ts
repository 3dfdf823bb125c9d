/** Amazon Bedrock: addresses, keys and signatures, checked by a vendor that computes them itself. */
import { createHash, createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { bedrock, type BedrockOptions } from 'modelhatch/providers/bedrock'
import type { VendorRequest } from '../../../src/testing/vendor.ts'
import { askChat, hostedWith, vendorFor } from '../../hosted.ts'
import { chatAnswer, messageAnswer } from '../answers.ts'

const region = 'eu-west-1'
const keys = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret/1+', sessionToken: 'session==' }

/** The status for a request, as AWS has it: 403 unless its signature is right for the secret. */
function statusFor({ method, url, headers, body }: VendorRequest, service: string, secret: string): number {
  const [, credential = '', names = '', signature] =
    /^AWS4-HMAC-SHA256 Credential=([^,]+), SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/.exec(
      String(headers.authorization),
    ) ?? []
  const [, date = '', ...scope] = credential.split('/')
  if (scope.join('/') !== `${region}/${service}/aws4_request`) return 403
  if (!['host', 'x-amz-content-sha256', 'x-amz-date'].every((name) => names.split(';').includes(name))) return 403
  const hash = createHash('sha256').update(body).digest('hex')
  if (headers['x-amz-content-sha256'] !== hash) return 403
  const lines = names.split(';').map((name) => `${name}:${String(headers[name])}\n`)
  const request = `${method}\n${url}\n\n${lines.join('')}\n${names}\n${hash}`
  const digest = createHash('sha256').update(request).digest('hex')
  const text = `AWS4-HMAC-SHA256\n${String(headers['x-amz-date'])}\n${date}/${scope.join('/')}\n${digest}`
  let key = Buffer.from(`AWS4${secret}`)
  for (const part of [date, ...scope]) key = createHmac('sha256', key).update(part).digest()
  return createHmac('sha256', key).update(text).digest('hex') === signature ? 200 : 403
}

async function vendorOf(service: string, secret: () => string = () => keys.secretAccessKey) {
  return vendorFor((request, response) => {
    const status = statusFor(request, service, secret())
    response.writeHead(status, { 'content-type': 'application/json' })
    const answer = request.url.endsWith('/messages') ? messageAnswer : chatAnswer
    response.end(JSON.stringify(status === 200 ? answer : { message: 'The security token is invalid.' }))
  })
}

const originOf = (baseURL: string) => new URL(baseURL).origin

test.each([
  ['runtime', 'bedrock', 'anthropic', '/anthropic/v1/messages', 'us.anthropic.claude-sonnet-4-5-20250929-v1:0'],
  ['runtime', 'bedrock', 'openai', '/openai/v1/chat/completions', 'openai.gpt-oss-120b-1:0'],
  ['mantle', 'bedrock-mantle', 'anthropic', '/anthropic/v1/messages', 'anthropic.claude-opus-4-8'],
  ['mantle', 'bedrock-mantle', 'openai', '/openai/v1/chat/completions', 'openai.gpt-5.5'],
] as const)('%s signs for %s: %s', async (endpoint, service, api, path, model) => {
  const vendor = await vendorOf(service)
  const baseURL = originOf(vendor.baseURL) + (api === 'anthropic' ? '/anthropic' : '/openai/v1')
  const provider = bedrock({ api, region, endpoint, baseURL, credentials: async () => keys })
  const { url, receipt } = await hostedWith({ models: { m: { provider, providerModel: model } } })
  const response = await askChat(url)
  expect(response.status).toBe(200)
  expect(vendor.requests[0]).toMatchObject({
    url: path,
    json: { model },
    headers: { 'x-amz-security-token': 'session==' },
  })
  expect(JSON.stringify(await receipt())).not.toMatch(/secret|session|AKID/)
})

test('its addresses are those of AWS', () => {
  const credentials = keys
  expect(bedrock({ api: 'openai', region, credentials }).origin).toBe('https://bedrock-runtime.eu-west-1.amazonaws.com')
  expect(bedrock({ api: 'anthropic', region: 'us-east-1', endpoint: 'mantle', credentials }).origin).toBe(
    'https://bedrock-mantle.us-east-1.api.aws',
  )
  expect(bedrock({ api: 'openai', region: 'cn-north-1', credentials }).origin).toBe(
    'https://bedrock-runtime.cn-north-1.amazonaws.com.cn',
  )
})

test('keys that AWS refuses are asked for again, once for a request', async () => {
  let asked = 0
  const vendor = await vendorOf('bedrock', () => 'second')
  const credentials = () => ({ accessKeyId: 'A', secretAccessKey: ['first', 'second', 'third'][asked++] ?? 'last' })
  const baseURL = `${originOf(vendor.baseURL)}/openai/v1`
  const provider = bedrock({ api: 'openai', region, baseURL, credentials })
  const { url } = await hostedWith({ models: { m: provider } })
  expect((await askChat(url)).status).toBe(200)
  expect((await askChat(url)).status).toBe(200)
  expect(asked).toBe(2)
  expect(vendor.requests).toHaveLength(3)
})

test('a key of Bedrock is a bearer token at both APIs', async () => {
  const vendor = await vendorFor((request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(request.url.endsWith('/messages') ? messageAnswer : chatAnswer))
  })
  const baseURL = vendor.baseURL
  const models = {
    m: bedrock({ api: 'openai', region, baseURL, apiKey: 'bedrock-key' }),
    claude: bedrock({ api: 'anthropic', region, baseURL, apiKey: 'bedrock-key' }),
  }
  const { url } = await hostedWith({ models })
  expect((await askChat(url)).status).toBe(200)
  expect((await askChat(url, { model: 'claude' })).status).toBe(200)
  expect(vendor.requests.map(({ headers }) => headers.authorization)).toEqual(Array(2).fill('Bearer bedrock-key'))
  expect(vendor.requests[1]?.headers).not.toHaveProperty('x-api-key')
})

test.each([
  [{ api: 'openai', region: 'nowhere', credentials: keys }, 'region'],
  [{ api: 'openai', region }, 'credentials'],
  [{ api: 'openai', region, apiKey: '' }, 'credentials'],
  [{ api: 'openai', region, apiKey: 'k', credentials: keys }, 'credentials'],
  [{ api: 'chat', region, apiKey: 'k' }, 'api'],
  [{ api: 'openai', region, endpoint: 'edge', apiKey: 'k' }, 'endpoint'],
  [{ api: 'openai', region, apiKey: 'k', sampling: 'fit' }, 'sampling'],
])('%j is refused', (options, name) => {
  expect(() => bedrock(options as unknown as BedrockOptions)).toThrow(`"${name}"`)
})

test('keys are not asked for again when they have no access to a model', async () => {
  const vendor = await vendorFor((_, response) => {
    response.writeHead(403, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ message: "You don't have access to the model with the specified model ID." }))
  })
  let asked = 0
  const credentials = async () => ({ ...keys, accessKeyId: `AKID${++asked}` })
  const provider = bedrock({ api: 'openai', region, baseURL: vendor.baseURL, credentials })
  const { url } = await hostedWith({ models: { m: provider } })
  for (let call = 0; call < 3; call++) expect((await askChat(url)).status).toBe(503)
  expect(asked).toBe(1)
  expect(vendor.requests).toHaveLength(3)
})
