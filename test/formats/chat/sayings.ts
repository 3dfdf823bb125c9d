/** What a chat can say: conversations and answers. */
import {
  array,
  boolean,
  constant,
  constantFrom,
  integer,
  nat,
  oneof,
  option,
  record,
  tuple,
  type Arbitrary,
  uniqueArray,
} from 'fast-check'
import type {
  Block,
  CallBlock,
  Conversation,
  FunctionTool,
  MediaBlock,
  OwnTool,
  ReasoningBlock,
  ResultBlock,
  Settings,
  TextBlock,
  Tool,
  Turn,
} from '../../../src/conversation/conversation.ts'
import type { Answer, Choice } from '../../../src/conversation/parts.ts'
import { anyInput, base64, citation, id, ids, picture, schema, some, tokens, words } from '../sayings.ts'

const cache = constantFrom({}, { ttl: '1h' })
const unknownFields = constant({ chat: { x_new: { y: [1] } } })

const text = some<TextBlock, 'kind' | 'text'>({ kind: constant('text'), text: words, cache, own: unknownFields }, [
  'kind',
  'text',
])
const bareText = record({ kind: constant('text' as const), text: words })
const image = some<MediaBlock, 'kind' | 'type' | 'source'>(
  {
    kind: constant('media'),
    type: constant('image'),
    source: picture,
    cache,
    own: constant({ chat: { image_url: { detail: 'low' } } }),
  },
  ['kind', 'type', 'source'],
)
const sound = record({
  kind: constant('media' as const),
  type: constant('audio' as const),
  source: record({ mediaType: constantFrom('audio/wav', 'audio/mpeg'), base64 }),
})
const file = some<MediaBlock, 'kind' | 'type' | 'source'>(
  {
    kind: constant('media'),
    type: constant('file'),
    source: oneof(record({ id }), record({ mediaType: constant('application/pdf'), base64 })),
    name: words,
  },
  ['kind', 'type', 'source'],
).map((each) => ('base64' in each.source && each.name === undefined ? { ...each, name: 'document.pdf' } : each))

const signed: Arbitrary<ReasoningBlock> = oneof(
  record({
    kind: constant('reasoning' as const),
    text: words,
    state: record({ maker: constant('anthropic'), data: id }),
  }),
  record({
    kind: constant('reasoning' as const),
    text: constant(''),
    form: constant('sealed' as const),
    state: record({ maker: constantFrom('anthropic', 'deepseek'), data: id }),
  }),
)
const plainReasoning: Arbitrary<ReasoningBlock> = some<ReasoningBlock, 'kind' | 'text'>(
  { kind: constant('reasoning'), text: words, own: constant({ chat: { as: 'reasoning' } }) },
  ['kind', 'text'],
)

function call(callId: string): Arbitrary<CallBlock> {
  return some<CallBlock, 'kind' | 'id' | 'name' | 'by' | 'input'>(
    {
      kind: constant('call'),
      id: constant(callId),
      name: id,
      by: constantFrom('function', 'custom'),
      input: anyInput,
      own: constant({ chat: { extra_content: { google: 1 } } }),
    },
    ['kind', 'id', 'name', 'by', 'input'],
  )
}

/** What an assistant said; its reasoning first, or in an order that only `reasoning_details` can say. */
function said(callIds: readonly string[]): Arbitrary<Turn> {
  return record({
    reasoning: oneof(array(signed, { maxLength: 2 }), tuple(plainReasoning)),
    words: array(bareText, { minLength: callIds.length === 0 ? 1 : 0, maxLength: 1 }),
    calls: tuple(...callIds.map(call)),
    last: boolean(),
  }).map(({ reasoning, words: texts, calls, last }) => {
    const late = last && reasoning.some(({ state }) => state !== undefined)
    return {
      role: 'assistant',
      blocks: late ? [...texts, ...reasoning, ...calls] : [...reasoning, ...texts, ...calls],
    }
  })
}

function result(callId: string): Arbitrary<ResultBlock> {
  return some<ResultBlock, 'kind' | 'callId' | 'blocks'>(
    {
      kind: constant('result'),
      callId: constant(callId),
      blocks: array(oneof(text, image), { minLength: 1, maxLength: 3 }),
      own: unknownFields,
    },
    ['kind', 'callId', 'blocks'],
  )
}

const user: Arbitrary<Turn> = some<Turn, 'role' | 'blocks'>(
  {
    role: constant('user'),
    blocks: array(oneof(text, image, sound, file) as Arbitrary<Block>, { minLength: 1, maxLength: 3 }),
    own: constant({ chat: { name: 'bob' } }),
  },
  ['role', 'blocks'],
)

const instructions: Arbitrary<Turn> = some<Turn, 'role' | 'blocks'>(
  {
    role: constant('system'),
    blocks: array(text, { minLength: 1, maxLength: 2 }),
    own: constant({ chat: { role: 'developer' } }),
  },
  ['role', 'blocks'],
)

const exchange: Arbitrary<Turn[]> = nat(2)
  .chain((count) => ids('call_', count))
  .chain((callIds) =>
    record({
      answer: said(callIds),
      results: tuple(...callIds.map(result)),
      question: user,
      asks: boolean(),
      more: option(instructions, { freq: 4 }),
    }),
  )
  .map(({ answer, results, question, asks, more }) => [
    answer,
    ...(results.length > 0 ? [{ role: 'user' as const, blocks: results }] : []),
    ...(results.length === 0 || asks ? [question] : []),
    ...(more === null ? [] : [more]),
  ])

const tool: Arbitrary<Tool> = oneof(
  some<FunctionTool, 'kind' | 'name'>(
    {
      kind: constant('function'),
      name: id,
      description: words,
      schema,
      strict: boolean(),
      cache,
      own: constant({ chat: { function: { x_new: 1 } } }),
    },
    ['kind', 'name'],
  ),
  constant<OwnTool>({
    kind: 'own',
    format: 'chat',
    type: 'custom',
    value: { type: 'custom', custom: { name: 'patch' } },
  }),
)

const settings: Arbitrary<Settings> = some<Settings, never>(
  {
    max: integer({ min: 1, max: 9_999 }),
    temperature: constantFrom(0, 1.5),
    topP: constant(0.9),
    topK: nat(50),
    seed: nat(99),
    choices: integer({ min: 1, max: 3 }),
    frequencyPenalty: constantFrom(-1, 0.5),
    presencePenalty: constantFrom(-1, 0.5),
    logprobs: nat(3),
    stops: array(words, { minLength: 1, maxLength: 4 }),
    verbosity: constantFrom('low', 'high'),
    user: id,
    tier: constantFrom('auto', 'default'),
    stream: constant(true),
    reasoning: constantFrom({ mode: 'off' as const }, { effort: 'high' as const }),
  },
  [],
)

export const conversations: Arbitrary<Conversation> = record({
  system: array(instructions, { maxLength: 2 }),
  question: user,
  exchanges: array(exchange, { maxLength: 3 }),
  tools: uniqueArray(tool, {
    maxLength: 3,
    selector: (each) => (each.kind === 'function' ? each.name : each.type),
  }),
  toolChoice: constantFrom(undefined, 'auto' as const, 'any' as const, 'none' as const),
  parallel: constantFrom(undefined, false, true),
  output: oneof(
    constant(undefined),
    constant({ kind: 'json' as const }),
    record({ kind: constant('schema' as const), schema, name: id, strict: boolean(), description: words }),
  ),
  settings,
  own: constantFrom(undefined, { chat: { metadata: { a: 'b' } } }, { chat: { x_new: [1] } }),
}).map(({ system, question, exchanges, tools, toolChoice, parallel, output, own, settings: chosen }) => {
  const has = tools.length > 0
  return {
    turns: [...system, question, ...exchanges.flat()],
    tools,
    settings: chosen,
    ...(has && toolChoice !== undefined && { toolChoice }),
    ...(has && parallel !== undefined && { parallel }),
    ...(output !== undefined && { output }),
    ...(own !== undefined && { own }),
  }
})

const reasonings = array(
  some<ReasoningBlock, 'kind' | 'text'>(
    { kind: constant('reasoning'), text: words, own: constant({ chat: { as: 'reasoning' } }) },
    ['kind', 'text'],
  ),
  { maxLength: 1 },
)
const saidText = some<TextBlock, 'kind' | 'text'>(
  {
    kind: constant('text'),
    text: words,
    citations: array(citation, { minLength: 1, maxLength: 2 }),
    logprobs: tokens,
  },
  ['kind', 'text'],
)
const refusal = record({ kind: constant('refusal' as const), text: words })
const made = record({
  kind: constant('media' as const),
  type: constant('image' as const),
  source: picture,
})
const answeredCall = ids('call_', 1).chain(([callId = '']) =>
  record({
    kind: constant('call' as const),
    id: constant(callId),
    name: id,
    by: constantFrom('function' as const, 'custom' as const),
    input: anyInput,
  }),
)

const choice: Arbitrary<Choice> = record({
  reasoning: reasonings,
  texts: array(saidText, { maxLength: 1 }),
  refusals: array(refusal, { maxLength: 1 }),
  images: array(made, { maxLength: 2 }),
  calls: array(answeredCall, { maxLength: 3 }),
  reason: constantFrom('stop' as const, 'length' as const, 'filter' as const),
}).map(({ reasoning, texts, refusals, images, calls, reason }) => ({
  blocks: [...reasoning, ...texts, ...refusals, ...images, ...calls],
  end: { reason: calls.length > 0 && reason === 'stop' ? ('calls' as const) : reason },
}))

export const answers: Arbitrary<Answer> = array(choice, { minLength: 1, maxLength: 2 }).map((choices) => ({
  id: 'answer_1',
  created: 1,
  model: 'public',
  choices,
  usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
}))
