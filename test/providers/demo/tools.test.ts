import type { ChatCompletionAllowedToolChoice } from 'openai/resources/chat/completions'
import { describe, expect, test } from 'vitest'
import { ask, callsFor, messageTo, say, tool } from './ask.ts'

const weather = tool('get_weather', { location: { type: 'string' } })
const time = tool('get_time', { location: { type: 'string' } })
const adder = tool('AdderTool', { a: { type: 'integer' }, b: { type: 'integer' } })

function call(id: string, name: string) {
  return { id, type: 'function', function: { name, arguments: '{}' } } as const
}

describe('the demo model calls', () => {
  test('the tool that the question is about', async () => {
    const calls = await callsFor('What is the weather in San Francisco?', { tools: [time, weather] })
    expect(calls).toEqual([['get_weather', { location: 'San Francisco' }]])
  })

  test('the tool that the question names in any case, with the numbers of the question', async () => {
    const calls = await callsFor('What is adderTool(1, 2)? Use the tool.', { tools: [weather, adder] })
    expect(calls).toEqual([['AdderTool', { a: 1, b: 2 }]])
  })

  test('only the tools that the question names as whole words', async () => {
    const calls = await callsFor('Never mind the weather, use get_time for Oslo.', { tools: [weather, time] })
    expect(calls).toEqual([['get_time', { location: 'Oslo' }]])
    const short = { tools: [tool('add'), tool('mad')] }
    expect(await callsFor('The address of the nomad?', short)).toEqual([])
    expect(await callsFor('The address of the nomad? Then add.', short)).toEqual([['add', {}]])
  })

  test('the first tool, if the question requests a tool without a name', async () => {
    expect(await callsFor('Please use a tool.', { tools: [time, weather] })).toMatchObject([['get_time', {}]])
  })

  test('the tool that the instructions always require', async () => {
    const messages = [
      { role: 'system', content: 'You are bad at math and must ALWAYS call the AdderTool function.' },
      { role: 'user', content: 'What is the sum of 1836281973 and 19973286?' },
    ] as const
    const calls = await callsFor('', { messages: [...messages], tools: [weather, adder] })
    expect(calls).toEqual([['AdderTool', { a: 1_836_281_973, b: 19_973_286 }]])
  })

  test('none, if the question is about something else or tool_choice is none', async () => {
    expect((await messageTo('Hello', { tools: [weather] })).tool_calls).toBeUndefined()
    const silent = await messageTo('What is the weather?', { tools: [weather], tool_choice: 'none' })
    expect(silent.tool_calls).toBeUndefined()
    expect(silent.content).not.toBe('')
  })

  test('several tools in parallel, but only one if parallel calls are disabled', async () => {
    const question = 'Tell me the weather and the time in Oslo'
    const parallel = await callsFor(question, { tools: [weather, time] })
    expect(parallel).toEqual([
      ['get_weather', { location: 'Oslo' }],
      ['get_time', { location: 'Oslo' }],
    ])
    const single = await messageTo(question, { tools: [weather, time], parallel_tool_calls: false })
    expect(single.tool_calls).toHaveLength(1)

    const second = await messageTo('', {
      tools: [weather, time],
      parallel_tool_calls: false,
      messages: [
        { role: 'user', content: question },
        single,
        { role: 'tool', tool_call_id: single.tool_calls?.[0]?.id ?? '', content: 'rain' },
      ],
    })
    expect(second.tool_calls).toMatchObject([{ function: { name: 'get_time' } }])
  })

  test('the tools that tool_choice selects: required, a function by name, or allowed tools', async () => {
    const tools = [time, weather]
    const chosen = { type: 'function', function: { name: 'get_weather' } } as const
    expect(await callsFor('Hello', { tools, tool_choice: 'required' })).toMatchObject([['get_time', {}]])
    expect(await callsFor('Hello', { tools, tool_choice: chosen })).toMatchObject([['get_weather', {}]])
    const allowed = (mode: 'auto' | 'required'): ChatCompletionAllowedToolChoice => ({
      type: 'allowed_tools',
      allowed_tools: { mode, tools: [chosen] },
    })
    expect(await callsFor('The time?', { tools, tool_choice: allowed('required') })).toMatchObject([
      ['get_weather', {}],
    ])
    expect(await callsFor('The time?', { tools, tool_choice: allowed('auto') })).toEqual([])
  })

  test('nothing for a tool_choice that matches no tool, which is a 400', async () => {
    const refused = { status: 400, param: 'tool_choice' }
    await expect(ask('Hello', { tool_choice: 'required' })).rejects.toMatchObject(refused)
    const unknown = { type: 'function', function: { name: 'nobody' } } as const
    await expect(ask('Hello', { tools: [weather], tool_choice: unknown })).rejects.toMatchObject({
      status: 400,
      param: 'tool_choice.function.name',
    })
  })

  test('nothing after the tool results, which it repeats', async () => {
    const answer = await say('', {
      tools: [weather, time],
      messages: [
        { role: 'user', content: 'The weather and the time in Oslo?' },
        { role: 'assistant', content: null, tool_calls: [call('1', 'get_weather'), call('2', 'get_time')] },
        { role: 'tool', tool_call_id: '2', content: '12:02' },
        { role: 'tool', tool_call_id: '1', content: [{ type: 'text', text: 'hail' }] },
      ],
    })
    expect(answer).toBe('get_time says: 12:02\nget_weather says: hail')
  })

  test('no deprecated functions, which are refused by name', async () => {
    const functions = [{ name: 'get_time', parameters: { properties: {} } }]
    await expect(ask('The time?', { functions })).rejects.toMatchObject({ status: 400, param: 'functions' })
  })

  test('a custom tool with the question as its input', async () => {
    const calls = await callsFor('Ask the oracle, please', {
      tools: [{ type: 'custom', custom: { name: 'oracle' } }],
    })
    expect(calls).toEqual([['oracle', 'Ask the oracle, please']])
  })

  test('tools with the finish reason, ids and token counts of a real model', async () => {
    const { choices, usage } = await ask('The weather and the time in Oslo?', { tools: [weather, time] })
    const [first, second] = choices[0]?.message.tool_calls ?? []
    expect(choices[0]).toMatchObject({ finish_reason: 'tool_calls', message: { content: null } })
    expect(first?.id).toMatch(/^call_/)
    expect(second?.id).not.toBe(first?.id)
    expect(usage?.completion_tokens).toBeGreaterThan(10)
    const cut = await ask('The weather in Oslo?', { tools: [weather], max_tokens: 5 })
    expect(cut.choices[0]?.finish_reason).toBe('length')
    expect(cut.usage?.completion_tokens).toBeLessThanOrEqual(5)
  })
})
