import { describe, expect, test } from 'vitest'
import { chunk, deltas, whole } from './through.ts'

const calls = (...pieces: object[]) => chunk({ tool_calls: pieces })
const end = chunk({}, 'tool_calls')

/** The pieces of tool calls that a client receives, without the first and last chunks. */
async function pieces(...said: ReturnType<typeof chunk>[]) {
  const got = (await deltas([...said, end])) as { tool_calls?: unknown[] }[]
  return got.flatMap((delta) => delta.tool_calls ?? [])
}

const opening = (index: number, id: string, name: string, args = '') => ({
  index,
  id,
  type: 'function',
  function: { name, arguments: args },
})
const bare = (name: string, args: string) => ({ index: 0, id: '', function: { name, arguments: args } })
const more = (index: number, args: string) => ({ index, function: { arguments: args } })

describe('the first piece of a call has id, type and name, the others only arguments', () => {
  test('as OpenAI sends it', async () => {
    const said = [calls(opening(0, 'a', 'look')), calls(more(0, '{"x"')), calls(more(0, ':1}'))]
    expect(await pieces(...said)).toEqual([opening(0, 'a', 'look', '{"x"'), more(0, ':1}')])
  })

  test('when every piece repeats id, type and name', async () => {
    const said = [
      calls(opening(0, 'a', 'look')),
      calls(opening(0, 'a', 'look', '{"x"')),
      calls(opening(0, 'a', 'look', ':1}')),
    ]
    expect(await pieces(...said)).toEqual([opening(0, 'a', 'look', '{"x"'), more(0, ':1}')])
  })

  test('when later pieces have empty or null ids and names', async () => {
    const said = [
      calls(opening(0, 'a', 'look')),
      calls({ index: 0, id: '', type: 'function', function: { name: null, arguments: '{"x"' } }),
      calls({ index: 0, id: null, type: null, function: { name: '', arguments: ':1}' } }),
    ]
    expect(await pieces(...said)).toEqual([opening(0, 'a', 'look', '{"x"'), more(0, ':1}')])
  })

  test('when the name is sent in pieces', async () => {
    const said = [
      calls({ index: 0, id: 'a', function: { name: 'look' } }),
      calls({ index: 0, function: { name: '_up' } }),
      calls(more(0, '{}')),
    ]
    expect(await pieces(...said)).toEqual([opening(0, 'a', 'look_up', '{}')])
  })

  test('when the arguments precede the name', async () => {
    const said = [calls(more(0, '{"x"')), calls({ index: 0, id: 'a', function: { name: 'look', arguments: ':1}' } })]
    expect(await pieces(...said)).toEqual([opening(0, 'a', 'look', '{"x":1}')])
  })
})

describe('calls are numbered in order of appearance, whatever indexes the vendor sends', () => {
  const two = [opening(0, 'a', 'look', '{}'), opening(1, 'b', 'look', '{}')]

  test('one call with index 1', async () => {
    expect(await pieces(calls(opening(1, 'a', 'look')), calls(more(1, '{}')))).toEqual([two[0]])
  })

  test('all calls with index 0', async () => {
    expect(await pieces(calls(opening(0, 'a', 'look', '{}')), calls(opening(0, 'b', 'look', '{}')))).toEqual(two)
  })

  test('all calls with index 0, the first without arguments', async () => {
    const said = [calls(opening(0, 'a', 'look')), calls(opening(0, 'b', 'look')), calls(more(0, '{"y":1}'))]
    expect(await pieces(...said)).toEqual([opening(0, 'a', 'look'), opening(1, 'b', 'look', '{"y":1}'), more(0, '{}')])
  })

  test('no indexes, all calls in one delta', async () => {
    const bare = two.map((call) => ({ ...call, index: undefined }))
    expect(await pieces(calls(...bare))).toEqual(two)
  })

  test('no indexes, one call per delta', async () => {
    const [first, second] = two.map((call) => ({ ...call, index: undefined })) as [object, object]
    expect(await pieces(calls(first), calls(second))).toEqual(two)
  })

  test('interleaved pieces of two calls', async () => {
    const said = [
      calls(opening(0, 'a', 'look')),
      calls(opening(1, 'b', 'look')),
      calls(more(0, '{"x"')),
      calls(more(1, '{"y"')),
      calls(more(1, ':2}'), more(0, ':1}')),
    ]
    expect(await pieces(...said)).toEqual([
      opening(0, 'a', 'look'),
      more(0, '{"x"'),
      opening(1, 'b', 'look', '{"y"'),
      more(1, ':2}'),
      more(0, ':1}'),
    ])
  })

  test('an index that is reused for another call', async () => {
    const said = [
      calls(opening(0, 'a', 'look', '{}')),
      calls(opening(1, 'b', 'look', '{"y"')),
      calls(opening(0, 'c', 'find', '{}')),
      calls(more(1, ':2}')),
    ]
    expect(await pieces(...said)).toEqual([
      opening(0, 'a', 'look', '{}'),
      opening(1, 'b', 'look', '{"y"'),
      opening(2, 'c', 'find', '{}'),
      more(1, ':2}'),
    ])
  })
})

describe('missing ids are generated and unique', () => {
  const made = expect.stringMatching(/^call_[0-9a-f]{24}$/)

  test('for complete calls with the same index', async () => {
    const said = [bare('look', '{"x":1}'), bare('look', '{"x":2}'), bare('find', '{}')]
    const got = (await pieces(...said.map((each) => calls(each)))) as { id: string }[]
    expect(got).toEqual([
      { ...opening(0, '', 'look', '{"x":1}'), id: made },
      { ...opening(1, '', 'look', '{"x":2}'), id: made },
      { ...opening(2, '', 'find', '{}'), id: made },
    ])
    expect(new Set(got.map(({ id }) => id)).size).toBe(3)
  })

  test('for a call whose pieces repeat the name', async () => {
    expect(await pieces(calls(bare('look', '{"x"')), calls(bare('look', ':1}')))).toEqual([
      { ...opening(0, '', 'look', '{"x"'), id: made },
      more(0, ':1}'),
    ])
  })

  test('in a non-streaming response', async () => {
    const message = { role: 'assistant', content: null, tool_calls: [{ id: '', function: { name: 'look' } }] }
    const { choices } = await whole({ choices: [{ index: 0, message, finish_reason: '' }] })
    expect(choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: { tool_calls: [{ id: made, type: 'function', function: { name: 'look', arguments: '{}' } }] },
    })
  })
})

describe('arguments are always JSON text', () => {
  test.each([
    ['an object', { x: 1 }, '{"x":1}'],
    ['a text', '{"x":1}', '{"x":1}'],
    ['null', null, '{}'],
    ['nothing', undefined, '{}'],
    ['an empty string', '', '{}'],
  ])('%s', async (_, given, expected) => {
    const call = { id: 'a', type: 'function', function: { name: 'look', arguments: given } }
    expect(await pieces(calls({ index: 0, ...call }))).toEqual([opening(0, 'a', 'look', expected)])
    const message = { role: 'assistant', content: null, tool_calls: [call] }
    const { choices } = await whole({ choices: [{ index: 0, message, finish_reason: 'tool_calls' }] })
    expect(choices[0]?.message.tool_calls).toEqual([{ ...call, function: { name: 'look', arguments: expected } }])
  })

  test('a call without arguments gets {} at the end, also if another call follows', async () => {
    const said = [calls(opening(0, 'a', 'look')), calls(opening(1, 'b', 'find', '{}'))]
    expect(await pieces(...said)).toEqual([opening(0, 'a', 'look'), opening(1, 'b', 'find', '{}'), more(0, '{}')])
  })
})

test('additional fields of a call are kept', async () => {
  const signed = { extra_content: { google: { thought_signature: 'sig' } } }
  expect(await pieces(calls({ ...opening(0, 'a', 'look'), ...signed }), calls(more(0, '{}')))).toEqual([
    { ...opening(0, 'a', 'look', '{}'), ...signed },
  ])
})

test('calls of custom tools have input instead of arguments', async () => {
  const said = [
    calls({ index: 0, id: 'a', type: 'custom', custom: { name: 'sql', input: '' } }),
    calls({ index: 0, custom: { input: 'select 1' } }),
  ]
  expect(await pieces(...said)).toEqual([
    { index: 0, id: 'a', type: 'custom', custom: { name: 'sql', input: 'select 1' } },
  ])
})

test('empty placeholders for custom tools are omitted', async () => {
  const custom = { name: '', input: '' }
  const call = { id: 'a', type: 'function', function: { name: 'look', arguments: '{}' } }
  expect(await pieces(calls({ index: 0, ...call, custom }))).toEqual([opening(0, 'a', 'look', '{}')])
  const message = { role: 'assistant', content: '', tool_calls: [{ ...call, custom }] }
  const { choices } = await whole({ choices: [{ index: 0, message, finish_reason: '' }] })
  expect(choices[0]?.message.tool_calls).toEqual([call])
})

test('arguments without a name are not a call', async () => {
  expect(await deltas([chunk({ content: 'Hi' }), calls(more(0, '{}'))])).toEqual([
    { role: 'assistant', content: 'Hi' },
    'stop',
  ])
})
