/** What the Messages wire can say: conversations and answers. */
import { array, boolean, constant, constantFrom, nat, oneof, option, record, tuple, type Arbitrary } from 'fast-check'
import type {
  Block,
  CallBlock,
  Conversation,
  MediaBlock,
  ReasoningBlock,
  ResultBlock,
  Settings,
  TextBlock,
  Tool,
  Turn,
} from '../../../src/conversation/conversation.ts'
import type { Answer, Reason } from '../../../src/conversation/parts.ts'
import { id, ids, input, picture, schema, some, words } from '../sayings.ts'

const cache = constantFrom({}, { ttl: '1h' })
const unknown = constant({ messages: { x_new: 1 } })
const state = record({ maker: constant('anthropic'), data: id })

const cited = {
  url: 'https://a.test',
  title: 'A',
  quote: 'words',
  own: {
    messages: {
      type: 'web_search_result_location',
      url: 'https://a.test',
      title: 'A',
      cited_text: 'words',
      encrypted_index: 'x',
    },
  },
}

const text: Arbitrary<TextBlock> = some(
  { kind: constant('text'), text: words, cache, own: unknown, citations: constant([cited]) },
  ['kind', 'text'],
)

const image: Arbitrary<MediaBlock> = some(
  { kind: constant('media'), type: constant('image'), source: oneof(picture, record({ id })), cache, own: unknown },
  ['kind', 'type', 'source'],
)

const document: Arbitrary<MediaBlock> = some(
  {
    kind: constant('media'),
    type: constant('file'),
    source: oneof(
      constant({ mediaType: 'application/pdf', base64: 'JVBERi0=' }),
      constant({ url: 'https://a.test/b.pdf' }),
      record({ text: words }),
      record({ id }),
    ),
    name: words,
    context: words,
    own: constant({ messages: { citations: { enabled: true } } }),
  },
  ['kind', 'type', 'source'],
)

const searched: Block = {
  kind: 'own',
  format: 'messages',
  value: { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'x' } },
}

const thought: Arbitrary<ReasoningBlock> = oneof(
  record({ kind: constant('reasoning'), text: words, state }),
  record({ kind: constant('reasoning'), text: constant(''), form: constant('sealed'), state }),
)

const call = (callId: string): Arbitrary<CallBlock> =>
  some(
    {
      kind: constant('call'),
      id: constant(callId),
      name: id,
      by: constant('function'),
      input,
      own: constant({ messages: { caller: { type: 'direct' } } }),
    },
    ['kind', 'id', 'name', 'by', 'input'],
  )

const result = (callId: string): Arbitrary<ResultBlock> =>
  some(
    {
      kind: constant('result'),
      callId: constant(callId),
      blocks: array(oneof(text, image), { minLength: 1, maxLength: 3 }),
      failed: constant(true),
      cache,
    },
    ['kind', 'callId', 'blocks'],
  )

/** An answer, the results of its calls, and perhaps what the host says next. */
const exchange: Arbitrary<readonly Turn[]> = nat(2)
  .chain((calls) => ids('toolu_', calls))
  .chain((callIds) =>
    record({
      before: array(oneof(text, thought, constant(searched)), { maxLength: 3 }),
      said: text,
      calls: tuple(...callIds.map(call)),
      results: tuple(...callIds.map(result)),
      question: array(oneof(text, image, document), { minLength: callIds.length === 0 ? 1 : 0, maxLength: 3 }),
      instruction: option(array(text, { minLength: 1, maxLength: 2 }), { nil: undefined, freq: 4 }),
    }),
  )
  .map(({ before, said, calls, results, question, instruction }) => {
    const turns: Turn[] = [
      { role: 'assistant', blocks: [...before, said, ...calls] },
      { role: 'user', blocks: [...results, ...question] },
    ]
    return instruction === undefined ? turns : [...turns, { role: 'system', blocks: instruction }]
  })

const tool: Arbitrary<Tool> = oneof(
  some(
    {
      kind: constant('function'),
      name: id,
      description: words,
      schema,
      strict: boolean(),
      cache,
      own: constant({ messages: { input_examples: [{ a: 1 }] } }),
    },
    ['kind', 'name', 'schema'],
  ),
  constant<Tool>({
    kind: 'own',
    format: 'messages',
    type: 'web_search_20250305',
    value: { type: 'web_search_20250305', name: 'web_search' },
  }),
)

const settings: Arbitrary<Settings> = some(
  {
    max: nat(10_000),
    temperature: constantFrom(0, 0.5, 1),
    topP: constant(0.9),
    topK: nat(50),
    stops: array(words, { minLength: 1, maxLength: 3 }),
    user: id,
    tier: constantFrom('auto', 'default'),
    stream: constant(true),
    reasoning: oneof(
      constant({ mode: 'on', budget: 2_000 } as const),
      constant({ mode: 'off' } as const),
      constant({ mode: 'between' } as const),
      constant({ effort: 'high' } as const),
      constant({ mode: 'adaptive', effort: 'low', show: 'hidden' } as const),
    ),
  },
  [],
)

export const conversations: Arbitrary<Conversation> = record({
  instructions: option(text, { nil: undefined }),
  first: array(oneof(text, image, document), { minLength: 1, maxLength: 3 }),
  exchanges: array(exchange, { maxLength: 3 }),
  tools: array(tool, { maxLength: 3 }),
  choice: constantFrom(undefined, 'auto', 'any', 'none'),
  single: boolean(),
  output: option(record({ kind: constant('schema'), schema }), { nil: undefined }),
  settings,
  own: option(constant({ messages: { context_management: { edits: [] } } }), { nil: undefined }),
}).map(({ instructions, first, exchanges, tools, choice, single, output, settings: given, own }) => {
  const named = new Map(tools.map((each) => [each.kind === 'function' ? each.name : each.type, each]))
  const hasChoice = named.size > 0 && choice !== undefined
  return {
    turns: [
      ...(instructions === undefined ? [] : [{ role: 'system', blocks: [instructions] } as const]),
      { role: 'user', blocks: first },
      ...exchanges.flat(),
    ],
    tools: [...named.values()],
    ...(hasChoice && { toolChoice: choice }),
    ...(hasChoice && choice !== 'none' && single && { parallel: false }),
    ...(output && { output }),
    settings: given,
    ...(own && { own }),
  }
})

export const answers: Arbitrary<Answer> = record({
  blocks: array(
    oneof(
      some({ kind: constant('text'), text: words, citations: constant([cited]) }, ['kind', 'text']),
      thought,
      constant(searched),
      ids('toolu_', 1).chain(([callId = '']) => call(callId)),
    ),
    { maxLength: 5 },
  ),
  reason: constantFrom<Reason>('stop', 'length', 'refused', 'pause', 'context'),
}).map(({ blocks, reason }) => {
  const isCalling = reason === 'stop' && blocks.some(({ kind }) => kind === 'call')
  return { id: 'answer_1', model: 'public', choices: [{ blocks, end: { reason: isCalling ? 'calls' : reason } }] }
})
