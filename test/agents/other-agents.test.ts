/** The other coding agents themselves edit a file through the gateway. */
import { describe, expect, test } from 'vitest'
import type { AgentClient } from 'modelhatch/agents'
import { runAgent, served, workplace } from './agent.ts'
import { isInstalled } from './programs.ts'
import { editingModel, lastText, resultsIn, wires, type Steps } from './vendors.ts'

const order = 'Replace the word old in note.txt by new.'

interface Agent {
  readonly client: AgentClient
  readonly model: string
  /** The wire formats of the vendors: another one than the agent's, where that is not tested with another agent. */
  readonly vendors: readonly string[]
  /** The only path that it calls. */
  readonly path: string
  readonly endpoint: string
  readonly words: readonly string[]
  readonly steps: (file: string) => Steps
}

const agents: readonly Agent[] = [
  {
    client: 'copilot',
    // It gives models of this name a custom tool for its changes.
    model: 'gpt-5.4',
    vendors: ['anthropic', 'gemini'],
    path: '/v1/responses',
    endpoint: 'responses',
    words: ['--prompt', order, '--allow-all-tools'],
    steps: (path) => [
      { name: 'view', input: { path } },
      { name: 'apply_patch', input: { input: patchOf(path) } },
    ],
  },
  {
    client: 'gemini-cli',
    model: 'company-model',
    vendors: ['anthropic', 'openai responses', 'gemini'],
    path: '/v1beta/models/company-model:streamGenerateContent?alt=sse',
    endpoint: 'content.stream',
    words: ['--prompt', order, '--approval-mode', 'yolo'],
    steps: (file) => [
      { name: 'read_file', input: { file_path: file } },
      { name: 'replace', input: { file_path: file, instruction: order, old_string: 'old', new_string: 'new' } },
    ],
  },
  {
    client: 'opencode',
    model: 'company-model',
    vendors: ['openai chat'],
    path: '/v1/chat/completions',
    endpoint: 'chat.completions',
    words: ['run', order],
    steps: (filePath) => [
      { name: 'read', input: { filePath } },
      { name: 'edit', input: { filePath, oldString: 'old', newString: 'new' } },
    ],
  },
  {
    client: 'qwen-code',
    model: 'company-model',
    vendors: ['openai chat'],
    path: '/v1/chat/completions',
    endpoint: 'chat.completions',
    words: ['--prompt', order, '--approval-mode', 'yolo'],
    steps: (file) => [
      { name: 'read_file', input: { file_path: file } },
      { name: 'edit', input: { file_path: file, old_string: 'old', new_string: 'new' } },
    ],
  },
]

const cases = agents.flatMap((agent) =>
  wires
    .filter(({ name }) => agent.vendors.includes(name))
    .map((wire) => ({ agent, wire, client: agent.client, name: wire.name })),
)

describe.skipIf(!process.env['MODELHATCH_AGENTS'])('other agents', { timeout: 300_000 }, () => {
  test('are installed', () => expect(isInstalled()).toBe(true))

  test.each(cases)('$client edits a file with a model of $name', async ({ agent, wire }) => {
    const { client, model, path, endpoint, words, steps } = agent
    const place = workplace()
    const vendor = await editingModel(wire, steps(place.file))
    const { provider, providerModel } = vendor
    const { baseURL, receipts, targets } = await served({ models: { [model]: { provider, providerModel } } }, false)
    const models = [{ id: model, contextWindow: 150_000, maxOutputTokens: 8_000 }]
    const ran = await runAgent({ client, baseURL, models, words: () => words }, place)

    expect(vendor.refused).toEqual([])
    expect(ran, ran.errors + ran.output).toMatchObject({ code: 0, file: 'an new word\n', hosts: [] })
    expect(ran.output).toContain(lastText)
    expect(resultsIn(vendor.requests)[0]).toContain('an old word')
    expect(new Set(targets)).toEqual(new Set([`POST /ai${path}`]))
    // opencode also asks for a title.
    expect(receipts.length).toBeGreaterThanOrEqual(3)
    for (const receipt of receipts) {
      expect(receipt).toMatchObject({ endpoint, model, outcome: 'completed' })
    }
  })
})

function patchOf(path: string): string {
  return ['*** Begin Patch', `*** Update File: ${path}`, '@@', '-an old word', '+an new word', '*** End Patch'].join(
    '\n',
  )
}
