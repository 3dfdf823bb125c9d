/** Keys by the identity of the workload, against token endpoints over a socket. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { anthropic, openai, type Provider } from 'modelhatch/providers'
import { anthropicIdentity, entraIdentity, openaiIdentity, openrouterIdentity } from 'modelhatch/providers/identity'
import { askChat, hostedWith, vendorFor } from '../../hosted.ts'
import { chatAnswer, messageAnswer } from '../answers.ts'

/** A vendor that answers requests with one of the tokens that its token endpoint has issued. */
async function vendorWithTokens(status = 200) {
  let issued = 0
  const exchanges: { headers: object; body: string }[] = []
  const tokens = await vendorFor((request, response) => {
    exchanges.push({ headers: request.headers, body: String(request.body) })
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ access_token: `issued-${++issued}`, expires_in: 900, error: 'platform-jwt is bad' }))
  })
  const vendor = await vendorFor((request, response) => {
    const isKnown = request.headers.authorization === `Bearer issued-${issued}`
    response.writeHead(isKnown ? 200 : 401, { 'content-type': 'application/json' })
    const answer = request.url.endsWith('/messages') ? messageAnswer : chatAnswer
    response.end(JSON.stringify(isKnown ? answer : { error: { message: 'no' } }))
  })
  return { vendor, exchanges, url: `${tokens.baseURL}/oauth/token`, baseURL: vendor.baseURL }
}

const hosted = (provider: Provider) => hostedWith({ models: { m: provider } })

test('OpenAI: the token of a file is exchanged once for all requests', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'identity-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const file = join(folder, 'token')
  await writeFile(file, 'platform-jwt\n')
  const { exchanges, url, baseURL } = await vendorWithTokens()
  const apiKey = openaiIdentity({ identityProviderId: 'idp', serviceAccountId: 'account', token: { file }, url })
  const gateway = await hosted(openai({ baseURL, apiKey }))
  const responses = await Promise.all(Array.from({ length: 20 }, () => askChat(gateway.url)))
  expect(responses.map(({ status }) => status)).toEqual(Array(20).fill(200))
  expect(exchanges).toHaveLength(1)
  expect(exchanges[0]?.headers).toMatchObject({ 'content-type': 'application/json' })
  expect(JSON.parse(exchanges[0]?.body ?? '')).toEqual({
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    subject_token: 'platform-jwt',
    identity_provider_id: 'idp',
    service_account_id: 'account',
  })
})

test('OpenRouter: the token of a function is exchanged by a form', async () => {
  const { exchanges, url, baseURL } = await vendorWithTokens()
  const apiKey = openrouterIdentity({ federationPolicyId: 'policy', token: async () => 'platform-jwt', url })
  const gateway = await hosted(openai({ preset: 'openrouter', baseURL, apiKey }))
  expect((await askChat(gateway.url)).status).toBe(200)
  expect(exchanges[0]?.headers).toMatchObject({ 'content-type': 'application/x-www-form-urlencoded' })
  expect(Object.fromEntries(new URLSearchParams(exchanges[0]?.body))).toEqual({
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    subject_token: 'platform-jwt',
    federation_policy_id: 'policy',
  })
})

test('Anthropic: the token is a bearer token, with the feature that it needs beside those of the host', async () => {
  const { vendor, exchanges, url, baseURL } = await vendorWithTokens()
  const ids = { federationRuleId: 'rule', organizationId: 'org', serviceAccountId: 'account' }
  const apiKey = anthropicIdentity({ ...ids, token: () => 'platform-jwt', url })
  const gateway = await hosted(anthropic({ baseURL, apiKey, headers: { 'anthropic-beta': 'mine' } }))
  expect((await askChat(gateway.url)).status).toBe(200)
  expect(exchanges[0]?.headers).toMatchObject({ 'anthropic-beta': 'oauth-2025-04-20,oidc-federation-2026-04-01' })
  expect(JSON.parse(exchanges[0]?.body ?? '')).toEqual({
    grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
    assertion: 'platform-jwt',
    federation_rule_id: 'rule',
    organization_id: 'org',
    service_account_id: 'account',
  })
  expect(vendor.requests[0]?.headers).toMatchObject({ 'anthropic-beta': 'mine,oauth-2025-04-20' })
  expect(vendor.requests[0]?.headers).not.toHaveProperty('x-api-key')
})

test('a token that the vendor refuses is exchanged again', async () => {
  const { vendor, exchanges, url, baseURL } = await vendorWithTokens()
  const apiKey = openrouterIdentity({ federationPolicyId: 'policy', token: () => 'platform-jwt', url })
  const gateway = await hosted(openai({ baseURL, apiKey }))
  const { reply } = vendor
  vendor.reply = (_, response) => {
    vendor.reply = reply
    response.writeHead(401, { 'content-type': 'application/json' }).end('{}')
  }
  expect((await askChat(gateway.url)).status).toBe(200)
  expect(exchanges).toHaveLength(2)
})

test('a refused exchange is a 503 that shows neither token nor answer, also in the log', async () => {
  const { url, baseURL } = await vendorWithTokens(401)
  const apiKey = openaiIdentity({ identityProviderId: 'i', serviceAccountId: 's', token: () => 'platform-jwt', url })
  const errors: unknown[] = []
  const gateway = await hostedWith({
    models: { m: openai({ baseURL, apiKey }) },
    hooks: { failure: ({ error }) => void errors.push(error) },
  })
  const response = await askChat(gateway.url)
  expect(response.status).toBe(503)
  expect((await response.text()) + JSON.stringify(await gateway.receipt())).not.toMatch(/platform-jwt|issued/)
  expect(errors.map((error) => inspect(error, { depth: 9 })).join()).toMatch(/token endpoint answered 401/)
  expect(errors.map((error) => inspect(error, { depth: 9 })).join()).not.toMatch(/platform-jwt|issued/)
})

test("Azure: Entra's token is a bearer token although keys have a header of their own", async () => {
  const scopes: string[] = []
  const vendor = await vendorFor((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(chatAnswer))
  })
  const credential = {
    async getToken(scope: string) {
      scopes.push(scope)
      return { token: 'entra', expiresOnTimestamp: Date.now() + 3_600_000 }
    },
  }
  const provider = openai({ preset: 'azure', baseURL: vendor.baseURL, apiKey: entraIdentity(credential) })
  const gateway = await hosted(provider)
  await askChat(gateway.url)
  expect((await askChat(gateway.url)).status).toBe(200)
  expect(scopes).toEqual(['https://cognitiveservices.azure.com/.default'])
  expect(vendor.requests[0]?.headers.authorization).toBe('Bearer entra')
  expect(vendor.requests[0]?.headers).not.toHaveProperty('api-key')
})
