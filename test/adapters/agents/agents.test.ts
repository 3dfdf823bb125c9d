/** What people get to set up their agents. The agents themselves read it in `npm run test:agents`. */
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { agentClients, agentSetup, type AgentClient, type AgentSetupOptions } from 'modelhatch/agents'

const run = promisify(execFile)
const baseURL = 'https://example.com/ai'

test('Claude Code gets every tier, of models that the gateway has', () => {
  const models = ['claude-fast', 'claude-opus-5', 'gpt-5']
  const { environment, file, command } = agentSetup({ client: 'claude-code', baseURL, models, apiKey: 'sk-1' })
  expect({ file, command }).toEqual({ file: undefined, command: 'claude' })
  expect(environment).toEqual({
    ANTHROPIC_BASE_URL: baseURL,
    ANTHROPIC_AUTH_TOKEN: 'sk-1',
    ANTHROPIC_API_KEY: '',
    ANTHROPIC_MODEL: 'claude-fast',
    CLAUDE_CODE_ATTRIBUTION_HEADER: '0',
    ANTHROPIC_DEFAULT_OPUS_MODEL: 'claude-opus-5',
    ANTHROPIC_DEFAULT_SONNET_MODEL: 'claude-fast',
    ANTHROPIC_DEFAULT_HAIKU_MODEL: 'claude-fast',
    CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY: '1',
  })
  const foreign = agentSetup({ client: 'claude-code', baseURL, models: [{ id: 'gpt-5', contextWindow: 400_000 }] })
  expect(foreign.environment).toMatchObject({ CLAUDE_CODE_MAX_CONTEXT_TOKENS: '400000' })
  expect(foreign.environment).not.toHaveProperty('CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY')
})

test('Codex gets a profile of its own, and WebSockets only where they are mounted', () => {
  const setup = agentSetup({
    client: 'codex',
    baseURL,
    models: [{ id: 'gpt-5', contextWindow: 400_000 }],
    name: 'acme-ai',
  })
  expect(setup.command).toBe('codex --profile acme-ai')
  expect(setup.file).toEqual({
    path: '.codex/acme-ai.config.toml',
    text: `model = "gpt-5"
model_provider = "acme-ai"
model_context_window = 400000

[model_providers.acme-ai]
name = "acme-ai"
base_url = "https://example.com/ai/v1"
env_key = "ACME_AI_API_KEY"
wire_api = "responses"
supports_websockets = false
`,
  })
  expect(setup.environment).toEqual({ ACME_AI_API_KEY: 'paste your API key here' })
  const socket = agentSetup({ client: 'codex', baseURL, models: ['m'], webSockets: true })
  expect(socket.file?.text).toContain('supports_websockets = true')
})

test('opencode gets all models; Qwen Code the first', () => {
  const models = ['a', { id: 'b', displayName: 'B', contextWindow: 1_000, maxOutputTokens: 100 }]
  const { file, environment } = agentSetup({ client: 'opencode', baseURL, models, apiKey: 'sk-1' })
  expect(JSON.parse(file?.text ?? '')).toEqual({
    $schema: 'https://opencode.ai/config.json',
    model: 'modelhatch/a',
    provider: {
      modelhatch: {
        npm: '@ai-sdk/openai-compatible',
        name: 'modelhatch',
        options: { baseURL: `${baseURL}/v1`, apiKey: '{env:MODELHATCH_API_KEY}' },
        models: { a: { name: 'a' }, b: { name: 'B', limit: { context: 1_000, output: 100 } } },
      },
    },
  })
  expect(environment).toEqual({
    OPENCODE_CONFIG: '~/.config/opencode/modelhatch.json',
    MODELHATCH_API_KEY: 'sk-1',
  })
  expect(agentSetup({ client: 'qwen-code', baseURL, models, apiKey: 'sk-1' }).environment).toEqual({
    OPENAI_BASE_URL: `${baseURL}/v1`,
    OPENAI_API_KEY: 'sk-1',
    OPENAI_MODEL: 'a',
  })
})

test('Gemini CLI takes the key for this base URL by settings of its own', () => {
  const { file, environment } = agentSetup({ client: 'gemini-cli', baseURL, models: ['a'], apiKey: 'sk-1' })
  expect(environment).toEqual({
    GOOGLE_GEMINI_BASE_URL: baseURL,
    GEMINI_API_KEY: 'sk-1',
    GEMINI_MODEL: 'a',
    GEMINI_CLI_SYSTEM_SETTINGS_PATH: '~/.gemini/modelhatch.json',
  })
  expect(JSON.parse(file?.text ?? '')).toEqual({ security: { auth: { selectedType: 'gemini-api-key' } } })
})

test('Copilot CLI gets the limits of its model, and WebSockets only where they are mounted', () => {
  const models = [{ id: 'a', contextWindow: 1_000, maxOutputTokens: 100 }]
  const plain = {
    COPILOT_PROVIDER_BASE_URL: `${baseURL}/v1`,
    COPILOT_PROVIDER_API_KEY: 'sk-1',
    COPILOT_PROVIDER_WIRE_API: 'responses',
    COPILOT_MODEL: 'a',
    COPILOT_PROVIDER_MAX_PROMPT_TOKENS: '1000',
    COPILOT_PROVIDER_MAX_OUTPUT_TOKENS: '100',
  }
  const options = { client: 'copilot', baseURL, models, apiKey: 'sk-1' } as const
  expect(agentSetup(options).environment).toEqual(plain)
  expect(agentSetup({ ...options, webSockets: true }).environment).toEqual({
    ...plain,
    COPILOT_PROVIDER_TRANSPORT: 'websockets',
  })
})

test('the base URL may end in /v1 and in slashes', () => {
  for (const given of [`${baseURL}/`, `${baseURL}/v1`, `${baseURL}/v1/`]) {
    const { environment } = agentSetup({ client: 'claude-code', baseURL: given, models: ['m'] })
    expect(environment['ANTHROPIC_BASE_URL']).toBe(baseURL)
  }
})

describe('the paste', () => {
  const models = [`it's "m" $(touch hacked) \`touch hacked\` \\`, 'END_OF_FILE']
  const apiKey = `sk-'"$(touch hacked)\``

  test.each(agentClients)(
    'of $client sets in a shell what the setup says, whatever names and keys contain',
    async ({ client }) => {
      const home = mkdtempSync(join(tmpdir(), 'modelhatch-paste-'))
      onTestFinished(() => rmSync(home, { recursive: true, force: true }))
      const { paste, environment, file } = agentSetup({ client, baseURL, models, apiKey })
      const print = `node -e 'process.stdout.write(JSON.stringify(process.env))'`
      const options = { cwd: home, env: { PATH: process.env['PATH'], HOME: home } }
      const { stdout } = await run('sh', ['-e', '-c', `${paste}${print}`], options)
      const set = JSON.parse(stdout) as Record<string, string>
      for (const [name, value] of Object.entries(environment)) expect(set[name]).toBe(value.replace(/^~/, home))
      if (file !== undefined) expect(readFileSync(join(home, file.path), 'utf8')).toBe(file.text)
      expect(file?.text ?? '').not.toContain(apiKey)
      await expect(run('ls', ['hacked'], options)).rejects.toThrow()
    },
  )
})

test('invalid options are a TypeError that names them', () => {
  const valid: AgentSetupOptions & { client: AgentClient } = { client: 'codex', baseURL, models: ['m'] }
  const setup = (change: object) => agentSetup({ ...valid, ...change })
  const wrong: [object, RegExp][] = [
    [{ client: 'cursor' }, /client: must be one of claude-code, codex, copilot, gemini-cli, opencode, qwen-code/],
    [{ baseURL: 'example.com' }, /baseURL: must be/],
    [{ baseURL: 'https://user:secret@example.com' }, /baseURL: must be/],
    [{ baseURL: 'https://example.com/?key=1' }, /baseURL: must be/],
    [{ models: [] }, /models: must be/],
    [{ models: ['two\nlines'] }, /models: must have names of one line/],
    [{ models: [{ id: 'm', contextWindow: 1.5 }] }, /models: must have whole numbers/],
    [{ apiKey: 'two\nlines' }, /apiKey: must be/],
    [{ name: '../x' }, /name: must consist/],
    [{ webSockets: 'yes' }, /webSockets: must be/],
    [{ models_: [] }, /models_: is unknown/],
  ]
  for (const [change, message] of wrong) {
    expect(() => setup(change)).toThrow(TypeError)
    expect(() => setup(change)).toThrow(message)
  }
  expect(() => agentSetup(undefined as never)).toThrow(TypeError)
})
