/** A request of which a rule leaves something out, or that repeats a name, keeps the digits of its large integers. */
import { anthropic, gemini, openai, type Provider } from 'modelhatch/providers'
import { expect, test } from 'vitest'
import { hostedWith, vendorFor } from '../hosted.ts'
import { world } from './world.ts'

const large = '9007199254740993'
const schema = `{"type":"object","const":${large}}`
const repeated = `{"type":"object","const":1,"const":${large}}`

const vendors: [string, (baseURL: string) => Provider, string, string][] = [
  [
    'a tool that is left out of a response',
    (baseURL) => openai({ apiKey: 'k', baseURL, responses: true }),
    '/responses',
    `{"tools":[{"type":"web_search"},{"type":"function","name":"f","parameters":${schema}}]}`,
  ],
  [
    'a tool that is left out of a message',
    (baseURL) => anthropic({ apiKey: 'k', baseURL }),
    '/messages',
    `{"max_tokens":5,"tools":[{"type":"web_search_20250305","name":"web_search"},{"name":"f","input_schema":${schema}}]}`,
  ],
  [
    'a name that is repeated in the tools of a chat',
    (baseURL) => openai({ apiKey: 'k', baseURL }),
    '/chat/completions',
    `{"tools":[{"type":"function","function":{"name":"f","parameters":${repeated}}}]}`,
  ],
]

test.each(vendors)('%s', async (_, make, path, fields) => {
  const { ask, text } = await world(make)
  expect(await ask(fields, path)).toBeUndefined()
  expect(text()).toContain(`"const":${large}`)
  expect(text()).not.toMatch(/web_search|"const":1,/)
})

test('a tool and a limit of a request to Gemini', async () => {
  const vendor = await vendorFor((_, response) => void response.writeHead(400).end('{}'))
  const provider = gemini({ baseURL: vendor.baseURL })
  const { url } = await hostedWith({ models: { m: { provider, maxOutputTokens: 5 } }, retry: { maxAttempts: 1 } })
  const config = `{"maxOutputTokens":9,"responseSchema":${schema}}`
  const tools = `[{"googleSearch":{}},{"functionDeclarations":[{"name":"f","parametersJsonSchema":${schema}}]}]`
  const contents = '[{"role":"user","parts":[{"text":"Hi"}]}]'
  await fetch(`${url}/v1beta/models/m:generateContent`, {
    method: 'POST',
    headers: { 'x-goog-api-key': 'sk-test', 'content-type': 'application/json' },
    body: `{"contents":${contents},"tools":${tools},"generationConfig":${config}}`,
  })
  const sent = vendor.requests.at(-1)?.body.toString() ?? ''
  expect(sent.split(`"const":${large}`)).toHaveLength(3)
  expect(sent).toContain('"maxOutputTokens":5')
  expect(sent).not.toContain('googleSearch')
})
