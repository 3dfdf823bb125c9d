/** Clients keep, drop, reorder and cut what they should send back unchanged: no vendor's rejection reaches them. */
import { expect, test } from 'vitest'
import { long } from '../long.ts'
import { allMakers, gatewayOver, journey, type MakerName, type Makers, type Way } from './journey.ts'
import type { Sent } from './maker.ts'

const route: readonly MakerName[] = ['claude', 'gemini', 'gpt', 'deepseek', 'kimi', 'claude', 'gemini', 'gpt', 'claude']
const twice = [...route, ...route]

type Edit = (history: Sent[]) => Sent[]

/** Changes the messages or items of the model. */
const each =
  (change: (own: Sent) => Sent): Edit =>
  (history) =>
    history.map((own) => (own.role === 'assistant' || own.type === 'reasoning' ? change(own) : own))

const keeping = (...names: string[]): Edit =>
  each((own) => Object.fromEntries(Object.entries(own).filter(([name]) => names.includes(name))))

const plainCalls = (message: Sent): Sent => {
  const { tool_calls: calls } = message
  return calls
    ? { ...message, tool_calls: calls.map(({ id, type, function: f }: Sent) => ({ id, type, function: f })) }
    : message
}

/** From a message of the user on, as clients cut conversations that have become too long. */
const lastQuestion: Edit = (history) => {
  const at = history.findLastIndex(({ role, content }) => role === 'user' && content === 'Go on.')
  return at > 0 ? history.slice(at) : history
}

const cut = (value: unknown) => (typeof value === 'string' ? value.slice(0, 60) : value)
const details = (change: (list: Sent[]) => Sent[]): Edit =>
  each((own) => (own.reasoning_details ? { ...own, reasoning_details: change(own.reasoning_details) } : own))

const ofChats: Readonly<Record<string, Edit>> = {
  'keep only the standard fields': (history) => keeping('role', 'content', 'tool_calls')(history).map(plainCalls),
  'keep reasoning_details only': (history) =>
    keeping('role', 'content', 'tool_calls', 'reasoning_details')(history).map(plainCalls),
  'keep all but reasoning_details': keeping('role', 'content', 'tool_calls', 'reasoning_content', 'extra_content'),
  'reverse the details': details((list) => list.toReversed()),
  'drop the first detail': details((list) => list.slice(1)),
  'send each detail twice': details((list) => list.flatMap((one) => [one, one])),
  'cut signatures': details((list) =>
    list.map((one) => ({ ...one, signature: cut(one.signature), data: cut(one.data) })),
  ),
  'edit the thinking': details((list) => list.map((one) => ({ ...one, text: `${one.text ?? ''} No.` }))),
  'forget the reasoning of older turns': (history) => [
    ...keeping('role', 'content', 'tool_calls', 'tool_call_id')(history.slice(0, -4)),
    ...history.slice(-4),
  ],
  'forget all but the last question': lastQuestion,
  'change the system prompt': (history) => [
    { role: 'system', content: `It is ${history.length} o'clock.` },
    ...history.filter(({ role }) => role !== 'system'),
  ],
  'reverse parallel calls': each((own) => ({
    ...own,
    ...(own.tool_calls && { tool_calls: own.tool_calls.toReversed() }),
  })),
}

const reasonings =
  (change: (item: Sent) => Sent[]): Edit =>
  (history) =>
    history.flatMap((item) => (item.type === 'reasoning' ? change(item) : [item]))

function without(item: Sent, field: string): Sent {
  return Object.fromEntries(Object.entries(item).filter(([name]) => name !== field)) as Sent
}

const ofResponses: Readonly<Record<string, Edit>> = {
  'drop reasoning': reasonings(() => []),
  'drop encrypted_content': reasonings((item) => [without(item, 'encrypted_content')]),
  'drop content and summary': reasonings((item) => [{ ...without(item, 'content'), summary: [] }]),
  'drop the field summary': reasonings((item) => [without(item, 'summary')]),
  'cut encrypted_content': reasonings((item) => [{ ...item, encrypted_content: cut(item.encrypted_content) }]),
  'drop every other reasoning item': (history) =>
    history.filter(({ type }, at) => type !== 'reasoning' || at % 2 === 0),
  'send reasoning twice': reasonings((item) => [item, item]),
  'move reasoning to the front': (history) => [
    ...history.filter(({ type }) => type === 'reasoning'),
    ...history.filter(({ type }) => type !== 'reasoning'),
  ],
  'move reasoning to the end': (history) => [
    ...history.filter(({ type }) => type !== 'reasoning'),
    ...history.filter(({ type }) => type === 'reasoning'),
  ],
  'forget all but the last question': lastQuestion,
}

const blocks = (change: (block: Sent) => Sent[]): Edit =>
  each((own) => ({ ...own, content: own.content.flatMap((block: Sent) => change(block)) }))
const thoughts = (change: (block: Sent) => Sent[]): Edit =>
  blocks((block) => (/thinking/.test(block.type) ? change(block) : [block]))

/** What clients of Anthropic's own models may do. */
const ofMessages: Readonly<Record<string, Edit>> = {
  'drop all thinking': thoughts(() => []),
  'drop envelopes': thoughts((block) => ((block.signature ?? block.data).startsWith('mh1.') ? [] : [block])),
  'drop the thinking of older turns': (history) => [...thoughts(() => [])(history.slice(0, -2)), ...history.slice(-2)],
  'cut envelopes': thoughts((block) =>
    (block.signature ?? '').startsWith('mh1.') ? [{ ...block, signature: cut(block.signature) }] : [block],
  ),
  'send envelopes twice': thoughts((block) => ((block.signature ?? '').startsWith('mh1.') ? [block, block] : [block])),
  'forget all but the last question': (history) => {
    const at = history.findLastIndex(({ role, content }) => role === 'user' && content[0]?.text === 'Go on.')
    return at > 0 ? history.slice(at) : history
  },
}

const clients: readonly (readonly [via: Way['via'], does: string, edit: Edit])[] = [
  ...Object.entries(ofChats).map(([does, edit]) => ['chat', does, edit] as const),
  ...Object.entries(ofMessages).map(([does, edit]) => ['messages', does, edit] as const),
  ...Object.entries(ofResponses).map(([does, edit]) => ['responses', does, edit] as const),
]

async function travelled(via: Way['via'], stream: boolean, edit: Edit): Promise<Makers> {
  const makers = await allMakers()
  const { url } = await gatewayOver(makers)
  const steps = await journey(url, makers, twice, { via, stream, edit })
  expect(steps.map(({ maker, status, text }) => [maker, status, text])).toEqual(twice.map((maker) => [maker, 200, '']))
  return makers
}

// The short form tries each client either with streams or without.
const streams = (at: number) => (long ? [false, true] : [at % 2 === 0])

test.each(clients.flatMap((client, at) => streams(at).map((stream) => [...client, stream] as const)))(
  'clients of %s that %s',
  async (via, _, edit, stream) => {
    await travelled(via, stream, edit)
  },
)

test.each([false, true])(
  'clients that keep only reasoning_details send all state back; streamed: %s',
  async (stream) => {
    const { claude, gemini, kimi } = await travelled('chat', stream, ofChats['keep reasoning_details only'] as Edit)
    for (const { bodies, refusals, issued, issuedBefore, returned } of [claude, gemini]) {
      expect(refusals).toEqual([])
      expect(issued.length).toBeGreaterThan(3)
      expect(returned(bodies.at(-1))).toEqual(issued.slice(0, issuedBefore.at(-1)))
    }
    expect(kimi.refusals).toEqual([])
  },
)

test('clients that drop what they do not know cost no vendor a second request', async () => {
  const makers = await travelled('chat', false, ofChats['keep only the standard fields'] as Edit)
  expect(Object.values(makers).flatMap(({ refusals }) => refusals)).toEqual([])
})
