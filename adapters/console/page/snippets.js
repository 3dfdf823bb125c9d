/**
 * What a developer pastes to use the gateway from programs.
 * @param {{ baseUrl: string, apiKey: string, model: string }} values
 */
export function snippets({ baseUrl, apiKey, model }) {
  const [url, key, name] = [baseUrl, apiKey, model].map((value) => JSON.stringify(value))
  return [
    { name: 'OpenAI SDKs', code: `export OPENAI_BASE_URL=${shell(baseUrl)}\nexport OPENAI_API_KEY=${shell(apiKey)}` },
    {
      name: 'curl',
      code: curl({ baseUrl, apiKey, body: { model, stream: true, messages: [{ role: 'user', content: 'Hello' }] } }),
    },
    {
      name: 'Python',
      code: `from openai import OpenAI

client = OpenAI(
    base_url=${url},
    api_key=${key},
)
answer = client.chat.completions.create(
    model=${name},
    messages=[{"role": "user", "content": "Hello"}],
)
print(answer.choices[0].message.content)`,
    },
    {
      name: 'JavaScript',
      code: `import OpenAI from 'openai'

const client = new OpenAI({
  baseURL: ${url},
  apiKey: ${key},
})
const answer = await client.chat.completions.create({
  model: ${name},
  messages: [{ role: 'user', content: 'Hello' }],
})
console.log(answer.choices[0].message.content)`,
    },
  ]
}

/** A chat for a shell. @param {{ baseUrl: string, apiKey: string, body: object }} values */
export function curl({ baseUrl, apiKey, body }) {
  return `curl -N ${shell(`${baseUrl}/chat/completions`)} \\
  -H ${shell(`Authorization: Bearer ${apiKey}`)} \\
  -H 'Content-Type: application/json' \\
  -d ${shell(JSON.stringify(body, undefined, 2))}`
}

/** One word of a POSIX shell. @param {string} text */
function shell(text) {
  return `'${inShell(text)}'`
}

/** A text inside a word of a POSIX shell that is in single quotes. @param {string} text */
export function inShell(text) {
  return text.replaceAll("'", `'\\''`)
}
