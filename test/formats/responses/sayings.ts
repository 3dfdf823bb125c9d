/** What Responses can say: conversations and answers. */
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
  OwnBlock,
  ReasoningBlock,
  ResultBlock,
  Settings,
  TextBlock,
  Tool,
  Turn,
} from '../../../src/conversation/conversation.ts'
import type { Answer } from '../../../src/conversation/parts.ts'
import { readTools } from '../../../src/formats/responses/tools.ts'
import { anyInput, base64, citation, id, ids, picture, some, tokens, words } from '../sayings.ts'

const unknownFields = constant({ responses: { x_new: { y: [1] } } })

const text = some<TextBlock, 'kind' | 'text'>({ kind: constant('text'), text: words, own: unknownFields }, [
  'kind',
  'text',
])
const bareText = record({ kind: constant('text' as const), text: words })
const image = some<MediaBlock, 'kind' | 'type' | 'source'>(
  {
    kind: constant('media'),
    type: constant('image'),
    source: oneof(picture, record({ id })),
    own: constant({ responses: { detail: 'original' } }),
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
    source: oneof(
      record({ id }),
      record({ url: constant('https://example.com/a.pdf') }),
      record({ mediaType: constant('application/pdf'), base64 }),
    ),
    name: words,
  },
  ['kind', 'type', 'source'],
).map((each) => ('base64' in each.source && each.name === undefined ? { ...each, name: 'document.pdf' } : each))

const reasoning: Arbitrary<ReasoningBlock> = oneof(
  some<ReasoningBlock, 'kind' | 'text' | 'form'>(
    {
      kind: constant('reasoning'),
      text: words,
      form: constant('summary'),
      state: record({ maker: constant('responses'), data: id }),
      own: unknownFields,
    },
    ['kind', 'text', 'form'],
  ),
  record({ kind: constant('reasoning' as const), text: words }),
  record({
    kind: constant('reasoning' as const),
    text: constant(''),
    state: record({ maker: constant('responses'), data: id }),
  }),
)

const search: OwnBlock = {
  kind: 'own',
  format: 'responses',
  value: { type: 'web_search_call', status: 'completed', action: { type: 'search', query: 'x' } },
}

function call(callId: string): Arbitrary<CallBlock> {
  return record({
    by: constantFrom('function' as const, 'custom' as const),
    inGroup: boolean(),
    name: id,
    anyInput,
  }).map(({ by, inGroup, name, anyInput: input }) => ({
    kind: 'call',
    id: callId,
    name: inGroup ? `crm__${name}` : name,
    by,
    input,
    ...(inGroup && { own: { responses: { namespace: 'crm' } } }),
  }))
}

const message = record({
  first: some<TextBlock, 'kind' | 'text'>(
    {
      kind: constant('text'),
      text: words,
      citations: array(citation, { minLength: 1, maxLength: 2 }),
      own: constant({ responses: { item: { phase: 'commentary' } } }),
    },
    ['kind', 'text'],
  ),
  more: array(bareText, { maxLength: 1 }),
}).map(({ first, more }): Block[] => [first, ...more.map((each) => ({ ...each, own: { responses: { part: true } } }))])

function said(callIds: readonly string[]): Arbitrary<Turn> {
  return record({
    before: array(reasoning, { maxLength: 2 }),
    searches: option(constant(search), { freq: 3 }),
    message: callIds.length === 0 ? message : option(message, { nil: [] }),
    calls: tuple(...callIds.map(call)),
  }).map(({ before, searches, message: texts, calls }) => ({
    role: 'assistant',
    blocks: [...before, ...(searches === null ? [] : [searches]), ...texts, ...calls],
  }))
}

function resultOf({ id: callId, by }: CallBlock): Arbitrary<ResultBlock> {
  return oneof(tuple(bareText), tuple(image), tuple(text, image) as Arbitrary<Block[]>).map((blocks) => ({
    kind: 'result',
    callId,
    blocks,
    ...(by === 'custom' && { own: { responses: { by } } }),
  }))
}

const user: Arbitrary<Turn> = some<Turn, 'role' | 'blocks'>(
  {
    role: constant('user'),
    blocks: array(oneof(text, image, sound, file) as Arbitrary<Block>, { minLength: 1, maxLength: 3 }),
    own: unknownFields,
  },
  ['role', 'blocks'],
)

const developer = bareText.map((block): Turn => ({
  role: 'system',
  blocks: [block],
  own: { responses: { role: 'developer' } },
}))

const exchange: Arbitrary<Turn[]> = nat(2)
  .chain((count) => ids('call_', count))
  .chain(said)
  .chain((answer) => {
    const calls = answer.blocks.filter((each): each is CallBlock => each.kind === 'call')
    return record({
      answer: constant(answer),
      results: tuple(...calls.map(resultOf)),
      question: user,
      asks: boolean(),
      more: option(developer, { freq: 4 }),
    })
  })
  .map(({ answer, results, question, asks, more }) => [
    answer,
    ...(results.length > 0 ? [{ role: 'user' as const, blocks: results }] : []),
    ...(results.length === 0 || asks ? [question] : []),
    ...(more === null ? [] : [more]),
  ])

const open = { type: 'object', properties: { a: { type: 'string' } } }
const closed = { type: 'object', properties: {}, additionalProperties: false }

const plainTool = some<FunctionTool, 'kind' | 'name' | 'schema' | 'strict'>(
  {
    kind: constant('function'),
    name: id,
    description: words,
    schema: constantFrom(open, closed),
    strict: boolean(),
    own: unknownFields,
  },
  ['kind', 'name', 'schema', 'strict'],
).map((tool) => (tool.schema === open ? { ...tool, strict: false } : tool))

const typed = readTools([
  { type: 'web_search', filters: { allowed_domains: ['example.com'] } },
  { type: 'local_shell' },
  { type: 'custom', name: 'patch', format: { type: 'grammar', syntax: 'lark', definition: 'start: "a"' } },
])

const tool: Arbitrary<Tool> = oneof(
  plainTool,
  plainTool.map((each) => ({
    ...each,
    name: `crm__${each.name}`,
    own: { responses: { ...each.own?.responses, group: { type: 'namespace', name: 'crm', description: 'x' } } },
  })),
  constantFrom(...typed),
)

const settings: Arbitrary<Settings> = some<Settings, never>(
  {
    max: integer({ min: 1, max: 9_999 }),
    temperature: constantFrom(0, 1.5),
    topP: constant(0.9),
    frequencyPenalty: constantFrom(-1, 0.5),
    presencePenalty: constantFrom(-1, 0.5),
    logprobs: nat(3),
    verbosity: constantFrom('low', 'high'),
    user: id,
    tier: constantFrom('flex', 'priority'),
    stream: constant(true),
    reasoning: constantFrom(
      { mode: 'off' as const },
      { effort: 'high' as const },
      { effort: 'low' as const, show: 'summary' as const },
    ),
  },
  [],
)

export const conversations: Arbitrary<Conversation> = record({
  instructions: option(bareText),
  question: user,
  exchanges: array(exchange, { maxLength: 3 }),
  tools: uniqueArray(tool, { maxLength: 3, selector: (each) => (each.kind === 'function' ? each.name : each.type) }),
  toolChoice: constantFrom(undefined, 'auto' as const, 'any' as const, 'none' as const),
  parallel: constantFrom(undefined, false, true),
  output: oneof(
    constant(undefined),
    constant({ kind: 'json' as const }),
    record({
      kind: constant('schema' as const),
      schema: constant(open),
      name: id,
      strict: boolean(),
      description: words,
    }),
  ),
  settings,
  own: constantFrom(
    undefined,
    { responses: { metadata: { a: 'b' }, truncation: 'auto', max_tool_calls: 3, prompt_cache_key: 'k' } },
    { responses: { x_new: [1], include: ['file_search_call.results'] } },
  ),
}).map(({ instructions, question, exchanges, tools, toolChoice, parallel, output, own, settings: chosen }) => {
  const isCallable = tools.some((each) => each.kind === 'function' || each.instead !== undefined)
  return {
    turns: [
      ...(instructions === null ? [] : [{ role: 'system' as const, blocks: [instructions] }]),
      question,
      ...exchanges.flat(),
    ],
    tools,
    settings: chosen,
    ...(isCallable && toolChoice !== undefined && { toolChoice }),
    ...(tools.length > 0 && parallel !== undefined && { parallel }),
    ...(output !== undefined && { output }),
    ...(own !== undefined && { own }),
  }
})

const made: Arbitrary<ReasoningBlock> = oneof(
  some<ReasoningBlock, 'kind' | 'text' | 'form'>(
    {
      kind: constant('reasoning'),
      text: words,
      form: constant('summary'),
      state: record({ maker: constant('maker'), data: id }),
    },
    ['kind', 'text', 'form'],
  ),
  record({ kind: constant('reasoning' as const), text: words }),
  record({
    kind: constant('reasoning' as const),
    text: constant(''),
    state: record({ maker: constant('maker'), data: id }),
  }),
)
const answeredText = some<TextBlock, 'kind' | 'text'>(
  {
    kind: constant('text'),
    text: words,
    citations: array(citation, { minLength: 1, maxLength: 2 }),
    logprobs: tokens,
  },
  ['kind', 'text'],
)
const answeredCall = ids('call_', 1).chain(([callId = '']) => call(callId))
const picked = record({
  kind: constant('media' as const),
  type: constant('image' as const),
  source: record({ mediaType: constant('image/png'), base64 }),
})

export const answers: Arbitrary<Answer> = record({
  reasonings: array(made, { maxLength: 2 }),
  texts: array(answeredText, { maxLength: 1 }),
  refusals: array(record({ kind: constant('refusal' as const), text: words }), { maxLength: 1 }),
  images: array(picked, { maxLength: 2 }),
  searches: array(constant(search), { maxLength: 1 }),
  calls: array(answeredCall, { maxLength: 3 }),
  reason: constantFrom('stop' as const, 'length' as const, 'filter' as const),
}).map(({ reasonings, texts, refusals, images, searches, calls, reason }) => ({
  id: 'answer_1',
  created: 1,
  model: 'public',
  choices: [
    {
      blocks: [...reasonings, ...searches, ...texts, ...refusals, ...images, ...calls],
      end: { reason: calls.length > 0 && reason === 'stop' ? ('calls' as const) : reason },
    },
  ],
  usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
}))
