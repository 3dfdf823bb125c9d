/** Tools that the client runs and that OpenAI's models know by their type, at models that do not. */
import { describe, expect, test } from 'vitest'
import { finish, text, toolCall } from '../../chat-chunks.ts'
import type { ChatChunk } from '../../../src/wire/chat.ts'
import { usageOf } from '../../../src/wire/usage.ts'
import { eventsOf, requireGood } from './rules.ts'
import { scripted } from './scripted.ts'

const usage = usageOf(1, 1)

function calling(name: string, input: object): ChatChunk[] {
  return [toolCall({ id: 'call_1', name, arguments: JSON.stringify(input) }), finish('tool_calls', usage)]
}

describe.each([
  [
    'local_shell',
    { command: ['ls', '-l'] },
    { type: 'local_shell_call', action: { type: 'exec', env: {}, command: ['ls', '-l'] } },
    { type: 'local_shell_call_output', call_id: 'call_1', output: 'a.txt' },
    'a.txt',
  ],
  [
    'shell',
    { commands: ['ls', 'pwd'] },
    { type: 'shell_call', action: { commands: ['ls', 'pwd'] } },
    {
      type: 'shell_call_output',
      call_id: 'call_1',
      output: [{ stdout: 'a.txt', stderr: 'Oh', outcome: { type: 'exit', exit_code: 1 } }],
    },
    'a.txt\nOh\nExit code: 1',
  ],
  [
    'apply_patch',
    { type: 'delete_file', path: 'a.txt' },
    { type: 'apply_patch_call', operation: { type: 'delete_file', path: 'a.txt' } },
    { type: 'apply_patch_call_output', call_id: 'call_1', status: 'failed', output: 'There is no such file.' },
    'Error:\nThere is no such file.',
  ],
] as const)('the tool "%s"', (type, input, item, output, said) => {
  test.each([false, true])(
    'is a function for the model, and an item of its own for the client; streamed: %s',
    async (stream) => {
      const { create, asked } = await scripted(calling(type, input))
      const { text: reply, json } = await create({ input: 'Go', tools: [{ type }], stream })
      const { output: items } = stream ? requireGood(eventsOf(reply)) : (json as { output: object[] })
      expect(items).toMatchObject([{ ...item, call_id: 'call_1', status: 'completed' }])
      expect(asked[0]?.tools).toMatchObject([
        { type: 'function', function: { name: type, parameters: { type: 'object' } } },
      ])
    },
  )

  test('has its calls and their outputs in the next turn', async () => {
    const { create, asked } = await scripted([text('Done.'), finish('stop', usage)])
    const call = { ...item, id: 'x', call_id: 'call_1', status: 'completed' }
    await create({ input: [{ role: 'user', content: 'Go' }, call, output], tools: [{ type }] })
    const [, turn, result] = asked[0]?.messages ?? []
    expect(turn?.tool_calls).toMatchObject([{ id: 'call_1', function: { name: type } }])
    expect(JSON.parse(turn?.tool_calls?.[0]?.function?.arguments ?? '')).toMatchObject(input)
    expect(result).toEqual({ role: 'tool', tool_call_id: 'call_1', content: said })
  })
})

test('the screen of a computer is shown to the model', async () => {
  const { create, asked } = await scripted([text('I see.'), finish('stop', usage)])
  const call = {
    type: 'computer_call',
    id: 'cu_1',
    call_id: 'call_1',
    action: { type: 'screenshot' },
    status: 'completed',
  }
  const screen = { type: 'computer_screenshot', image_url: 'data:image/png;base64,AA==' }
  await create({
    input: [
      { role: 'user', content: 'Look' },
      call,
      { type: 'computer_call_output', call_id: 'call_1', output: screen },
    ],
  })
  expect(asked[0]?.messages[1]?.tool_calls).toMatchObject([
    { function: { name: 'computer', arguments: '{"type":"screenshot"}' } },
  ])
  expect(JSON.stringify(asked[0]?.messages.at(-1))).toContain('data:image/png;base64,AA==')
})

test('a function of the client has precedence over a tool of that name', async () => {
  const { create, asked } = await scripted(calling('shell', { a: 1 }))
  const tools = [{ type: 'function', name: 'shell', parameters: { type: 'object', properties: {} } }, { type: 'shell' }]
  const { json } = await create({ input: 'Go', tools })
  expect(json).toMatchObject({ output: [{ type: 'function_call', name: 'shell', arguments: '{"a":1}' }] })
  expect(asked[0]?.tools).toHaveLength(1)
})

describe('what no other vendor can be told', () => {
  const omitted = async (body: object) => {
    const { create, receipt } = await scripted([text('ok'), finish('stop', usage)])
    await create({ input: 'Hi', ...body })
    return (await receipt()).omitted
  }

  test('is named: fields, hosted tools, items of other kinds', async () => {
    expect(await omitted({})).toBeUndefined()
    expect(await omitted({ truncation: 'disabled', metadata: {}, store: false, prompt_cache_key: 'k' })).toBeUndefined()
    expect(await omitted({ truncation: 'auto', max_tool_calls: 3, metadata: { a: 'b' } })).toEqual([
      'truncation',
      'max_tool_calls',
      'metadata',
    ])
    expect(
      await omitted({
        tools: [
          { type: 'file_search', vector_store_ids: ['x'] },
          { type: 'function', name: 'f' },
        ],
      }),
    ).toEqual(['file_search'])
    const items = [{ type: 'web_search_call', id: 'ws_1', status: 'completed' }, { type: 'acme:thing' }]
    expect(await omitted({ input: [{ role: 'user', content: 'x' }, ...items] })).toEqual(['input[1]', 'input[2]'])
  })
})
