/** Claude Code itself edits a file through the gateway, whichever vendor serves its model. */
import { describe, expect, test } from 'vitest'
import { runAgent, served, workplace } from './agent.ts'
import { isInstalled } from './programs.ts'
import { editingModel, lastText, resultsIn, scriptedModel, wires } from './vendors.ts'

const model = 'claude-company'

describe.skipIf(!process.env['MODELHATCH_AGENTS'])('claude', { timeout: 300_000 }, () => {
  test('is installed', () => expect(isInstalled()).toBe(true))

  test.each(wires.map((wire) => ({ wire, name: wire.name })))(
    'edits a file with a model of $name',
    async ({ wire }) => {
      const place = workplace()
      const { file } = place
      const vendor = await editingModel(wire, [
        { name: 'Read', input: { file_path: file } },
        { name: 'Edit', input: { file_path: file, old_string: 'old', new_string: 'new' } },
      ])
      const { provider, providerModel } = vendor
      const { baseURL, receipts, targets } = await served({ models: { [model]: { provider, providerModel } } }, false)
      const words = () => [
        '--print',
        'Replace the word old in note.txt by new.',
        '--allowedTools',
        'Read,Edit',
        '--output-format',
        'json',
      ]
      const models = [{ id: model, contextWindow: 150_000 }]
      const ran = await runAgent({ client: 'claude-code', baseURL, models, words }, place)

      expect(vendor.refused).toEqual([])
      expect(ran, ran.errors + ran.output).toMatchObject({ code: 0, file: 'an new word\n', hosts: [] })
      const result = JSON.parse(ran.output) as Record<string, unknown>
      expect(result).toMatchObject({ is_error: false, result: lastText, permission_denials: [] })
      expect(resultsIn(vendor.requests)[0]).toContain('an old word')
      expect(targets.some((target) => target.startsWith('POST /ai/v1/messages'))).toBe(true)
      expect(receipts.length).toBeGreaterThanOrEqual(3)
      for (const receipt of receipts) {
        expect(receipt).toMatchObject({ endpoint: 'messages', outcome: 'completed', session: result['session_id'] })
      }
      // Every beta feature that it names is known. Other vendors have none.
      if (wire.name === 'anthropic') expect(receipts.flatMap(({ omitted = [] }) => omitted)).toEqual([])
      expect(result).toMatchObject({ modelUsage: { [model]: { contextWindow: 150_000 } } })
      // What Claude Code counts is what the receipts say.
      expect(result).toMatchObject({ usage: { input_tokens: 300, output_tokens: 30 } })
    },
  )

  test('names its sub-agents, so that receipts tell them apart', async () => {
    const call = { description: 'A part', prompt: 'The part of a sub-agent.', subagent_type: 'general-purpose' }
    const vendor = await scriptedModel(wires[1] as (typeof wires)[number], ({ turns, tools }) => {
      const name = tools.find((tool) => tool === 'Agent' || tool === 'Task')
      const isPart = turns.some(({ role, text }) => role === 'user' && text.includes(call.prompt))
      const isFirst = turns.every(({ results }) => results.length === 0)
      if (isPart || !isFirst || name === undefined) return { text: lastText }
      return { calls: [{ id: 'call_1', name, input: call }] }
    })
    const { provider, providerModel } = vendor
    const { baseURL, receipts } = await served({ models: { [model]: { provider, providerModel } } }, false)
    const words = () => ['--print', 'Let a sub-agent do a part.', '--output-format', 'json']
    const ran = await runAgent({ client: 'claude-code', baseURL, models: [model], words }, workplace())
    expect(ran, ran.errors + ran.output).toMatchObject({ code: 0, hosts: [] })
    expect(new Set(receipts.map(({ session }) => session)).size).toBe(1)
    const agents = receipts.map(({ agent }) => agent)
    expect(agents).toContain(undefined)
    expect(agents).toContainEqual(expect.any(String))
  })

  test('shows a person why the gateway refuses, and does not repeat the request', async () => {
    const vendor = await editingModel(wires[0] as (typeof wires)[number], [])
    const { provider, providerModel } = vendor
    const price = { input: '3', output: '15' }
    const models = { [model]: { provider, providerModel, price } }
    const { baseURL, targets } = await served({ models, billing: { currency: 'EUR' } }, false)
    const words = () => ['--print', 'Say that you are done.', '--output-format', 'json']
    const ran = await runAgent({ client: 'claude-code', baseURL, models: [model], words }, workplace())
    expect(ran.hosts).toEqual([])
    const result = JSON.parse(ran.output) as Record<string, unknown>
    expect(result).toMatchObject({ is_error: true, api_error_status: 429 })
    expect(result['result']).toContain('You exceeded your current quota')
    expect(targets.filter((target) => target.startsWith('POST'))).toHaveLength(1)
    expect(vendor.requests).toEqual([])
  })
})
