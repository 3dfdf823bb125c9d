import { describe, expect, test } from 'vitest'
import { turnsOf } from '../../worst/turns.ts'
import { ask, client, messageTo, say, tool } from './ask.ts'
import { fittingFor } from '../../../src/providers/demo/fitting.ts'
import { cpuMs, leastMs } from '../../cpu-time.ts'

/** CPU time. Without bounds, these requests would take seconds, or all memory. */
const mostMs = 1_000

async function valueOf(schema: object): Promise<unknown> {
  const format = { name: 'value', schema: schema as Record<string, unknown> }
  return JSON.parse((await say('Go.', { response_format: { type: 'json_schema', json_schema: format } })) ?? '')
}

async function expectCheap(work: () => Promise<unknown>, outcome: 'answered' | 'refused'): Promise<void> {
  const least = await leastMs(mostMs, async () => {
    const { result, total } = await turnsOf(() =>
      work().then(
        () => 'answered',
        (error: { status?: number }) => (error.status === 400 ? 'refused' : error),
      ),
    )
    expect(result).toBe(outcome)
    return total
  })
  expect(least).toBeLessThan(mostMs)
}

function times<T>(count: number, make: (at: number) => T): T[] {
  return Array.from({ length: count }, (_, at) => make(at))
}

const names = times(9_900, (at) => `n${at}`)

describe('a small request takes little CPU time', () => {
  test.each<[string, 'answered' | 'refused', object]>([
    [
      'a list of large constants',
      'refused',
      { type: 'array', minItems: 990, items: { const: [times(9_900, Number), times(9_900, Number)] } },
    ],
    ['a list of long constants', 'refused', { type: 'array', minItems: 990, items: { const: 'x'.repeat(400_000) } }],
    ['a list of large choices', 'refused', { type: 'array', minItems: 990, items: { enum: [names, names] } }],
    ['a list of values from a large enum', 'answered', { type: 'array', minItems: 990, items: { enum: names } }],
    [
      'one reference many times over, to very many names',
      'refused',
      { allOf: times(480, () => ({ $ref: '#/$defs/a' })), $defs: { a: { type: 'object', required: names } } },
    ],
    [
      'one long reference many times over',
      'refused',
      { allOf: times(20, () => ({ $ref: `#${'/a'.repeat(20_000)}` })) },
    ],
    ['a schema of 14 MB', 'refused', { allOf: times(480, (at) => ({ $ref: `#${'/a'.repeat(14_000)}${at}` })) }],
    ['a reference to itself', 'refused', { $ref: '#' }],
    [
      'references that double at each step',
      'refused',
      {
        $ref: '#/$defs/a0',
        $defs: Object.fromEntries(
          times(90, (at) => [
            `a${at}`,
            { allOf: [{ $ref: `#/$defs/a${at + 1}` }, { $ref: `#/$defs/a${at + 1}` }], type: 'object' },
          ]),
        ),
      },
    ],
    ['long names', 'refused', { type: 'object', required: times(20, (at) => `${at}${'x'.repeat(20_000)}`) }],
    ['very many members', 'refused', { type: 'object', minProperties: 1e9 }],
    [
      'long texts',
      'refused',
      { type: 'array', minItems: 900, items: { type: 'string', minLength: 1e9, maxLength: 1e9 } },
    ],
  ])('a schema with %s is %s', async (_, outcome, schema) => {
    await expectCheap(() => valueOf(schema), outcome)
  })

  test.each<[string, object]>([
    ['very many keywords', Object.fromEntries(times(100_000, (at) => [`k${at}`, 1]))],
    ['very many properties', { properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])) }],
    ['very many numbers', { type: 'array', minItems: 1e9, items: { type: 'number' } }],
    ['many references', { allOf: times(100, () => ({ $ref: '#/a' })), a: { required: names.slice(0, 150) } }],
    ['long texts', { type: 'array', minItems: 900, items: { type: 'string', minLength: 1e9 } }],
  ])('a schema with %s holds the event loop for at most 20 ms', async (_, schema) => {
    const question = 'n1 is 7, '.repeat(800)
    const least = await leastMs(20, async () => {
      const from = cpuMs()
      for (let run = 0; run < 5; run++) {
        try {
          fittingFor(question)(schema)
        } catch (error) {
          expect(error).toMatchObject({ status: 400 })
        }
      }
      return (cpuMs() - from) / 5
    })
    expect(least).toBeLessThan(20)
  })

  test('truncates long texts in many choices with the finish reason "length"', async () => {
    const more = { n: 128, logprobs: true, top_logprobs: 1 }
    const least = await leastMs(2 * mostMs, async () => {
      const { result, total } = await turnsOf(() => ask('Count from 1 to 9999', more))
      expect(result.choices).toHaveLength(128)
      expect(result.choices.map(({ finish_reason: reason }) => reason)).toEqual(times(128, () => 'length'))
      expect(JSON.stringify(result).length).toBeLessThan(10_000_000)
      return total
    })
    expect(least).toBeLessThan(2 * mostMs)
  })

  test('allows a long text in a single choice', async () => {
    expect(await say('Count from 1 to 5000')).toMatch(/, 4999, 5000$/)
  })

  test('rejects a tool name longer than 128 characters', async () => {
    const long = tool('x'.repeat(100_000))
    await expect(messageTo('Use a tool', { tools: [long] })).rejects.toMatchObject({ status: 400 })
  })

  test('limits the number of parallel calls for very many tools', async () => {
    const tools = times(2_000, (at) => tool(`weather_${at}`, { city: { type: 'string' } }))
    await expectCheap(async () => {
      const { tool_calls: calls } = await messageTo(`What is the weather? ${'weather '.repeat(900)}`, { tools })
      expect(calls).toHaveLength(32)
    }, 'answered')
  })

  test.each<[string, object]>([
    ['not objects', { allowed_tools: { mode: 'auto', tools: [null] } }],
    ['not a list', { allowed_tools: { mode: 'auto', tools: 'x' } }],
  ])('rejects allowed tools that are %s', async (_, choice) => {
    const request = { tools: [tool('a')], tool_choice: { type: 'allowed_tools', ...choice } as never }
    await expect(messageTo('Hi', request)).rejects.toMatchObject({ status: 400 })
  })

  test.each<[string, () => string | string[]]>([
    ['of characters that expand in normalisation', () => '\ufdfa'.repeat(2_000_000)],
    ['of one word', () => 'x'.repeat(6_000_000)],
    ['of very many words', () => times(500_000, (at) => `w${at}`).join(' ')],
  ])('embeds a text %s', async (_, input) => {
    await expectCheap(() => client.embeddings.create({ model: 'demo', input: input() }), 'answered')
  })

  test('rejects embeddings with too many numbers', async () => {
    const input = times(2_000, String)
    await expectCheap(() => client.embeddings.create({ model: 'demo', input, dimensions: 4_096 }), 'refused')
  })

  test('limits the prompts of text completions, and the choices that echo them', async () => {
    const complete = (more: object) =>
      client.completions.create({ model: 'demo', prompt: 'Hi', max_tokens: 1, ...more })
    await expectCheap(() => complete({ prompt: times(1_000, () => 'Count from 1 to 9999') }), 'refused')
    await expectCheap(() => complete({ prompt: 'x'.repeat(5_000_000), echo: true, n: 128 }), 'refused')
  })
})
