/**
 * Requests as the Codex command line sends them: nothing stored, groups of tools, vendor tools, encrypted reasoning,
 * the whole history in each request, items without ids. Responses are read the way Codex reads them.
 */
import { defineProvider, type Call } from 'modelhatch/providers'
import { finish, reasoning, text, toolCall } from '../chat-chunks.ts'
import { describe, expect, test } from 'vitest'
import type { ChatRequest } from '../../src/wire/chat.ts'
import type { InputItem, OutputItem, ResponseEvent } from '../../src/wire/responses.ts'
import { usageOf } from '../../src/wire/usage.ts'
import { hostedWith } from '../hosted.ts'

const shell = {
  type: 'function',
  name: 'shell',
  description: 'Runs a command.',
  strict: false,
  parameters: {
    type: 'object',
    properties: { command: { type: 'array', items: { type: 'string' } } },
    required: ['command'],
    additionalProperties: false,
  },
}

/** About 40 KB, like the real one. */
function requestOf(input: readonly InputItem[]) {
  return {
    model: 'm',
    instructions: 'You are a coding agent. '.repeat(1_200),
    input: [
      { type: 'message', role: 'developer', content: [{ type: 'input_text', text: '<permissions instructions>' }] },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: '<environment_context>'.repeat(300) }] },
      ...input,
    ],
    tools: [
      shell,
      { type: 'function', name: 'update_plan', strict: false, parameters: { type: 'object', properties: {} } },
      {
        type: 'custom',
        name: 'apply_patch',
        description: 'Patches files.',
        format: { type: 'grammar', syntax: 'lark', definition: 'start: /.+/' },
      },
      { type: 'namespace', name: 'mcp__files', description: 'Files.', tools: [{ ...shell, name: 'read' }] },
      { type: 'web_search', external_web_access: false },
    ],
    tool_choice: 'auto',
    parallel_tool_calls: true,
    reasoning: { effort: 'medium', summary: 'auto' },
    store: false,
    stream: true,
    include: ['reasoning.encrypted_content'],
    prompt_cache_key: '019ab',
    text: { verbosity: 'low' },
    client_metadata: { 'x-codex-installation-id': '1' },
  }
}

/** Items as Codex reads them from `output_item.done`. Fails unless the stream reports completion. */
async function turn(url: string, input: readonly InputItem[]) {
  const response = await fetch(`${url}/v1/responses`, {
    method: 'POST',
    headers: {
      authorization: 'Bearer sk-test',
      'content-type': 'application/json',
      accept: 'text/event-stream',
      originator: 'codex_cli_rs',
      'session-id': '019ab',
    },
    body: JSON.stringify(requestOf(input)),
  })
  expect(response.status).toBe(200)
  const items: OutputItem[] = []
  let open: string | undefined
  let said = ''
  let completed: ResponseEvent | undefined
  for (const frame of (await response.text()).split('\n\n')) {
    const data = /^data: (\{.*)$/m.exec(frame)?.[1]
    if (data === undefined) continue
    const event = JSON.parse(data) as ResponseEvent
    if (event.type === 'response.output_item.added') open = event.item?.id
    if (event.type === 'response.output_text.delta') {
      expect(event.item_id, 'text belongs to the item that is open').toBe(open)
      said += event['delta'] as string
    }
    if (event.type === 'response.output_item.done' && event.item !== undefined) items.push(event.item)
    if (event.type === 'response.completed') completed = event
  }
  expect(completed?.response?.usage?.total_tokens, 'stream closed before response.completed').toBeGreaterThan(0)
  return { items, said }
}

/** Codex sends items back without their ids. */
function withoutId(item: OutputItem): InputItem {
  const { id: _, ...rest } = item
  return rest
}

describe('a task of several turns', () => {
  test('calls tools of every kind, and the model receives its reasoning again', async () => {
    const asked: ChatRequest[] = []
    const steps = [
      { name: 'shell', arguments: '{"command":["ls"]}' },
      { name: 'mcp__files__read', arguments: '{"command":["cat"]}' },
      { name: 'apply_patch', arguments: JSON.stringify({ input: '*** Begin Patch\n' }) },
    ]
    const model = defineProvider({
      name: 'agent',
      async *chat({ request }: Call<ChatRequest>) {
        asked.push(request)
        const step = steps[asked.length - 1]
        yield reasoning(`Step ${asked.length}.`)
        yield {
          choices: [{ delta: { reasoning_details: [{ type: 'reasoning.text', signature: `sig${asked.length}` }] } }],
        }
        if (step === undefined) yield text('Done.')
        else yield toolCall({ id: `call_${asked.length}`, ...step })
        yield finish(step === undefined ? 'stop' : 'tool_calls', usageOf(10, 5))
      },
    })
    const { url, receipt } = await hostedWith({ models: { m: model } })
    const history: InputItem[] = [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Fix it.' }] }]

    const expected = [
      { type: 'function_call', name: 'shell', arguments: '{"command":["ls"]}' },
      { type: 'function_call', name: 'read', namespace: 'mcp__files' },
      { type: 'custom_tool_call', name: 'apply_patch', input: '*** Begin Patch\n' },
    ]
    for (const item of expected) {
      const { items } = await turn(url, history)
      const [thought, call] = items
      expect(thought).toMatchObject({
        type: 'reasoning',
        summary: [{ type: 'summary_text' }],
        encrypted_content: expect.any(String),
      })
      expect(call).toMatchObject(item)
      const output = { type: `${call?.type}_output`, call_id: call?.['call_id'] as string, output: 'ok' }
      history.push(...items.map(withoutId), output)
    }
    expect((await turn(url, history)).said).toBe('Done.')

    const last = asked.at(-1)
    expect(last?.messages.map(({ role }) => role).slice(-7)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
      'tool',
      'assistant',
      'tool',
    ])
    const turns = last?.messages.filter(({ role }) => role === 'assistant') ?? []
    expect(turns.map((message) => message['reasoning_details'])).toEqual(
      [1, 2, 3].map((n) => [{ type: 'reasoning.text', signature: `sig${n}` }]),
    )
    expect(turns.map((message) => message.tool_calls?.[0]?.function)).toEqual(steps)
    expect(last?.tools?.map((tool) => tool.function?.name)).toEqual([
      'shell',
      'update_plan',
      'apply_patch',
      'mcp__files__read',
    ])
    expect(last).not.toHaveProperty('prompt_cache_key')
    expect(await receipt()).toMatchObject({ outcome: 'completed', stream: true })
  })
})
