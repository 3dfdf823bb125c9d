/** What this wire can say: conversations and answers. */
import {
  array,
  constant,
  constantFrom,
  integer,
  nat,
  oneof,
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
  State,
  TextBlock,
  Tool,
  Turn,
} from '../../../src/conversation/conversation.ts'
import type { Answer, Choice } from '../../../src/conversation/parts.ts'
import { ownParts, signed } from '../../../src/formats/gemini/state.ts'
import { base64, citation, id, ids, input, schema, some, tokens, words } from '../sayings.ts'

const unknownFields = constant({ gemini: { mediaResolution: { level: 'MEDIA_RESOLUTION_LOW' } } })
/** Not the beginning of an envelope. */
const signature = id.map((text) => `Ab${text}`)
const signedText: Arbitrary<State> = signature.map((text) => signed('google', text))

const text = some<TextBlock, 'kind' | 'text'>({ kind: constant('text'), text: words, own: unknownFields }, [
  'kind',
  'text',
])

function media(type: MediaBlock['type'], mediaType: string): Arbitrary<MediaBlock> {
  return some<MediaBlock, 'kind' | 'type' | 'source'>(
    {
      kind: constant('media'),
      type: constant(type),
      source: oneof(
        record({ mediaType: constant(mediaType), base64 }),
        record({ url: constant('https://files.test/1'), mediaType: constant(mediaType) }),
      ),
      name: words,
      own: unknownFields,
    },
    ['kind', 'type', 'source'],
  )
}

const anyMedia = oneof(media('image', 'image/png'), media('audio', 'audio/mpeg'), media('file', 'application/pdf'))

const thought = some<ReasoningBlock, 'kind' | 'text'>({ kind: constant('reasoning'), text: words, state: signedText }, [
  'kind',
  'text',
])
const code: Arbitrary<ReasoningBlock> = constantFrom<ReasoningBlock>({
  kind: 'reasoning',
  text: '',
  form: 'sealed',
  state: ownParts('google', [{ executableCode: { language: 'PYTHON', code: '1' }, thoughtSignature: 'c' }]),
})
const signedWords = some<TextBlock, 'kind' | 'text'>({ kind: constant('text'), text: words, state: signedText }, [
  'kind',
  'text',
])

function call(callId: string): Arbitrary<CallBlock> {
  return some<CallBlock, 'kind' | 'id' | 'name' | 'by' | 'input'>(
    {
      kind: constant('call'),
      id: constant(callId),
      name: id.map((name) => `f${name}`),
      by: constant('function'),
      input,
      state: signature.map((own) => signed('google', own, callId)),
    },
    ['kind', 'id', 'name', 'by', 'input'],
  )
}

function said(callIds: readonly string[]): Arbitrary<Turn> {
  return record({
    before: array(oneof<Arbitrary<Block>[]>(thought, code, signedWords), { maxLength: 3 }),
    words: signedWords,
    calls: tuple(...callIds.map(call)),
  }).map(({ before, words: last, calls }) => ({ role: 'assistant', blocks: [...before, last, ...calls] }))
}

function result(callId: string): Arbitrary<ResultBlock> {
  return some<ResultBlock, 'kind' | 'callId' | 'blocks'>(
    {
      kind: constant('result'),
      callId: constant(callId),
      blocks: tuple(
        record({ kind: constant('text' as const), text: words.filter((each) => !/^\s*\{/.test(each)) }),
        array(anyMedia, { maxLength: 2 }),
      ).map(([said, more]) => [said, ...more]),
      failed: constant(true),
      own: constant({ gemini: { functionResponse: { scheduling: 'SILENT' } } }),
    },
    ['kind', 'callId', 'blocks'],
  )
}

const content: Arbitrary<Block[]> = array(oneof<Arbitrary<Block>[]>(text, anyMedia), { minLength: 1, maxLength: 3 })

const exchange: Arbitrary<Turn[]> = nat(2)
  .chain((count) => ids('call_', count))
  .chain((callIds) => record({ answer: said(callIds), results: tuple(...callIds.map(result)), more: content }))
  .map(({ answer, results, more }) => [answer, { role: 'user', blocks: [...results, ...more] }])

const tool: Arbitrary<Tool> = oneof(
  some<FunctionTool, 'kind' | 'name'>(
    {
      kind: constant('function'),
      name: id.map((name) => `f${name}`),
      description: words,
      schema,
      own: constant({ gemini: { behavior: 'NON_BLOCKING' } }),
    },
    ['kind', 'name'],
  ),
  constant<OwnTool>({ kind: 'own', format: 'gemini', type: 'googleSearch', value: { googleSearch: {} } }),
)

const settings: Arbitrary<Settings> = some<Settings, never>(
  {
    max: integer({ min: 1, max: 9_999 }),
    temperature: constantFrom(0, 1.5),
    topP: constant(0.9),
    topK: nat(50),
    seed: nat(99),
    choices: integer({ min: 2, max: 3 }),
    frequencyPenalty: constantFrom(-1, 0.5),
    presencePenalty: constantFrom(-1, 0.5),
    logprobs: nat(3),
    stops: array(words, { minLength: 1, maxLength: 5 }),
    tier: constantFrom('flex', 'priority'),
    modalities: constantFrom(['text', 'image'] as const, ['audio'] as const),
    reasoning: constantFrom(
      { mode: 'off' as const },
      { effort: 'high' as const, show: 'full' as const },
      { mode: 'on' as const, budget: 2_000, show: 'hidden' as const },
      { mode: 'adaptive' as const },
    ),
  },
  [],
)

export const conversations: Arbitrary<Conversation> = record({
  system: array(text, { maxLength: 2 }),
  question: content,
  exchanges: array(exchange, { maxLength: 3 }),
  tools: uniqueArray(tool, { maxLength: 3, selector: (each) => (each.kind === 'function' ? each.name : each.type) }),
  toolChoice: constantFrom(undefined, 'auto' as const, 'any' as const, 'none' as const),
  output: oneof(
    constant(undefined),
    constant({ kind: 'json' as const }),
    record({ kind: constant('schema' as const), schema }),
  ),
  settings,
  own: constantFrom(
    undefined,
    { gemini: { cachedContent: 'cachedContents/1', labels: { a: 'b' } } },
    { gemini: { generationConfig: { speechConfig: { languageCode: 'de' } }, safetySettings: [] } },
  ),
}).map(({ system, question, exchanges, tools, toolChoice, output, settings: chosen, own }) => ({
  turns: [
    ...(system.length > 0 ? [{ role: 'system' as const, blocks: system }] : []),
    { role: 'user', blocks: question },
    ...exchanges.flat(),
  ],
  // Functions stand before the vendor's own tools.
  tools: [...tools.filter(({ kind }) => kind === 'function'), ...tools.filter(({ kind }) => kind !== 'function')],
  settings: chosen,
  ...(tools.some(({ kind }) => kind === 'function') && toolChoice !== undefined && { toolChoice }),
  ...(output !== undefined && { output }),
  ...(own !== undefined && { own }),
}))

/** With the bytes of each token, which this wire does not have. */
const spelled = tokens.map((list) => list.map((each) => ({ ...each, bytes: [...Buffer.from(each.token)] })))
const answeredText = some<TextBlock, 'kind' | 'text'>(
  { kind: constant('text'), text: words, state: signedText, logprobs: spelled },
  ['kind', 'text'],
)
const citedText = record({ text: words, citations: array(citation, { minLength: 1, maxLength: 2 }) }).map(
  ({ text: cited, citations }): TextBlock => ({
    kind: 'text',
    text: `Here it says: ${cited}`,
    citations: citations.map(({ url, title }) => ({
      ...(url !== undefined && { url }),
      ...(title !== undefined && { title }),
      range: { start: 0, end: 4 },
    })),
  }),
)
const made = record({
  kind: constant('media' as const),
  type: constantFrom('image' as const),
  source: record({ mediaType: constant('image/png'), base64 }),
})
const answeredCall = ids('call_', 1).chain(([callId = '']) => call(callId))

const choice: Arbitrary<Choice> = record({
  thoughts: array(thought, { maxLength: 1 }),
  code: array(code, { maxLength: 1 }),
  texts: array(oneof(answeredText, citedText), { maxLength: 1 }),
  images: array(made, { maxLength: 2 }),
  calls: array(answeredCall, { maxLength: 3 }),
  reason: constantFrom('stop' as const, 'length' as const, 'filter' as const),
  own: constantFrom(undefined, { gemini: { avgLogprobs: -1 } }),
}).map(({ thoughts, code: ran, texts, images, calls, reason, own }) => ({
  blocks: [...thoughts, ...ran, ...texts, ...images, ...calls],
  end: { reason: calls.length > 0 && reason === 'stop' ? ('calls' as const) : reason },
  ...(own !== undefined && { own }),
}))

export const answers: Arbitrary<Answer> = array(choice, { minLength: 1, maxLength: 2 }).map((choices) => ({
  id: 'answer_1',
  model: 'public',
  choices,
  counters: { promptTokenCount: 3, candidatesTokenCount: 4, thoughtsTokenCount: 1 },
}))
