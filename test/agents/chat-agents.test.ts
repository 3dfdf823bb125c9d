/** opencode and Qwen Code themselves, which use chats, edit a file through the gateway. */
import { describe, expect, test } from 'vitest'
import type { AgentClient } from 'modelhatch/agents'
import { runAgent, served, workplace } from './agent.ts'
import { isInstalled } from './programs.ts'
import { editingModel, lastText, resultsIn, wires, type Steps } from './vendors.ts'

const model = 'company-model'
const order = 'Replace the word old in note.txt by new.'

interface Agent {
  readonly client: AgentClient
  readonly words: readonly string[]
  readonly steps: (file: string) => Steps
}

const agents: readonly Agent[] = [
  {
    client: 'opencode',
    words: ['run', order],
    steps: (filePath) => [
      { name: 'read', input: { filePath } },
      { name: 'edit', input: { filePath, oldString: 'old', newString: 'new' } },
    ],
  },
  {
    client: 'qwen-code',
    words: ['--prompt', order, '--approval-mode', 'yolo'],
    steps: (file) => [
      { name: 'read_file', input: { file_path: file } },
      { name: 'edit', input: { file_path: file, old_string: 'old', new_string: 'new' } },
    ],
  },
]

const chats = wires.filter(({ name }) => name === 'openai chat')
const cases = agents.flatMap((agent) => chats.map((wire) => ({ agent, wire, client: agent.client, name: wire.name })))

describe.skipIf(!process.env['MODELHATCH_AGENTS'])('agents that chat', { timeout: 300_000 }, () => {
  test('are installed', () => expect(isInstalled()).toBe(true))

  test.each(cases)('$client edits a file with a model of $name', async ({ agent, wire }) => {
    const { client, words, steps } = agent
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
    expect(new Set(targets)).toEqual(new Set(['POST /ai/v1/chat/completions']))
    // opencode also asks for a title.
    expect(receipts.length).toBeGreaterThanOrEqual(3)
    for (const receipt of receipts) {
      expect(receipt).toMatchObject({ endpoint: 'chat.completions', model, outcome: 'completed' })
    }
  })
})
