import { afterAll, beforeAll, expect, test } from 'vitest'
import { runExample, type RunningExample } from './example.ts'

let example: RunningExample
const strange = `sk-'"<script>`

beforeAll(async () => {
  example = await runExample('coding-agents', { MODELHATCH_KEY: strange, PUBLIC_URL: 'https://ai.example.com' })
})
afterAll(async () => {
  expect(await example.stop()).toBe(0)
})

async function show(apiKey: string, client: string) {
  const body = new URLSearchParams({ apiKey, client })
  const response = await fetch(example.baseURL, { method: 'POST', body })
  return { status: response.status, headers: response.headers, html: await response.text() }
}

test('the page shows what to paste for a key, with the models of its group, and runs no script', async () => {
  for (const [client, expected] of [
    ['claude-code', 'export ANTHROPIC_BASE_URL=&#39;https://ai.example.com/ai&#39;'],
    ['codex', 'base_url = &quot;https://ai.example.com/ai/v1&quot;'],
    ['opencode', '&quot;baseURL&quot;: &quot;https://ai.example.com/ai/v1&quot;'],
    ['copilot', 'export COPILOT_MODEL='],
    ['gemini-cli', 'export GOOGLE_GEMINI_BASE_URL='],
    ['qwen-code', 'export OPENAI_MODEL='],
  ] as const) {
    const { status, html, headers } = await show(strange, client)
    expect(status).toBe(200)
    expect(html).toContain(expected)
    expect(html).toContain('<li>claude-demo')
    expect(html).not.toContain('demo-image')
    expect(html).not.toContain('<script>')
    expect(headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(headers.get('cache-control')).toBe('no-store')
  }
})

test('a key that is not valid, and a client that does not exist, show nothing', async () => {
  for (const [key, client] of [
    ['sk-wrong', 'codex'],
    ['', 'codex'],
    ['line\nbreak', 'codex'],
    [strange, 'constructor'],
    [strange, '<b>'],
  ] as const) {
    const { status, html } = await show(key, client)
    expect(status).toBe(401)
    expect(html).toContain('This key is not valid')
    expect(html).not.toContain('<pre>')
  }
})

test('the key is never in an address: a form without a key, sent by POST', async () => {
  const html = await (await fetch(`${example.baseURL}?apiKey=${encodeURIComponent(strange)}`)).text()
  expect(html).toContain('method="post"')
  expect(html).not.toContain('<pre>')
})
