/** The features of the matrix. */
import type { Answer, Block, Call, ClientName, Feature, Part, Tool, Turn } from './feature.ts'

const turn =
  (role: Turn['role']) =>
  (...parts: readonly (string | Part)[]): Turn => ({
    role,
    parts: parts.map((part) => (typeof part === 'string' ? { text: part } : part)),
  })
const user = turn('user')
const assistant = turn('assistant')
const system = turn('system')
const developer = turn('developer')

const says = (...blocks: readonly (string | Block)[]): Answer => ({
  blocks: blocks.map((block) => (typeof block === 'string' ? { text: block } : block)),
})
/** Fields of a chat, a response, a message and a content; null where the format has none. */
const fields = (
  chat: object | null,
  responses: object | null,
  messages: object | null,
  gemini: object | null = null,
): Pick<Feature, 'fields'> => ({
  fields: Object.fromEntries(
    Object.entries({ chat, responses, messages, gemini } satisfies Record<ClientName, object | null>).filter(
      (entry): entry is [string, object] => entry[1] !== null,
    ),
  ),
})

const png = `data:image/png;base64,${Buffer.from('a picture').toString('base64')}`
const pdf = `data:application/pdf;base64,${Buffer.from('%PDF-1.4 a page').toString('base64')}`
const wav = Buffer.from('RIFF a sound').toString('base64')

const object = (properties: object, more: object = {}) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
  ...more,
})
const city = object({ city: { type: 'string', description: 'A city.' } })
const weather: Tool = { name: 'weather', description: 'Says the weather.', schema: city }
const clock: Tool = { name: 'clock', description: 'Says the time.', schema: object({ zone: { type: 'string' } }) }
const tools = [weather, clock]

const oslo: Call = { id: 'call_oslo', name: 'weather', input: '{"city":"Oslo"}' }
const noon: Call = { id: 'call_noon', name: 'clock', input: '{"zone":"UTC"}' }
const resultOf = (call: Call, text: string, more: Partial<NonNullable<Part['result']>> = {}): Part => ({
  result: { id: call.id, name: call.name, parts: [{ text }], ...more },
})
const asked = user('How is Oslo?')
const usedTool = (...result: readonly Part[]) => ({
  tools,
  turns: [asked, assistant({ call: oslo }), user(...result)],
})

const state = Buffer.from('a signature of the model').toString('base64')
const long = JSON.stringify({ city: 'Llanfairpwllgwyngyll '.repeat(20), list: [1, 2.5, -3e10], deep: { 'é"\\': null } })
const effort = (level: string) =>
  fields(
    { reasoning_effort: level },
    { reasoning: { effort: level } },
    { output_config: { effort: level } },
    { generationConfig: { thinkingConfig: level === 'none' ? { thinkingBudget: 0 } : { thinkingLevel: level } } },
  )
const back = {
  sent: /effort|thinking/i,
  tools,
  turns: [asked],
  ...fields(
    { reasoning_effort: 'high' },
    { reasoning: { effort: 'high', summary: 'auto' } },
    {
      thinking: { type: 'enabled', budget_tokens: 2_000, display: 'summarized' },
    },
    { generationConfig: { thinkingConfig: { thinkingBudget: 2_000, includeThoughts: true } } },
  ),
}
const thought: Block = { reasoning: 'I should look.', state }
const answers = (name: string, answer: Answer): Feature => ({ name, answer })

export const features: readonly Feature[] = [
  { name: 'text' },
  answers('text-empty', says('')),
  answers('text-none', says()),
  answers('text-unicode', says('Zoë ate 7 🍎🍏 — “naïvely”\u2028\u0000 日本語\n\ttabs </script>')),
  answers('text-split', { ...says('Zoë ate 🍎🍏 in 日本'), split: true }),
  answers('text-blocks', says('One. ', 'Two.')),
  answers('text-long', says('A sentence of a long story. '.repeat(150))),

  { name: 'system', turns: [system('Be kind.'), user('Hi')] },
  { name: 'developer', turns: [developer('Be brief.'), user('Hi')] },
  { name: 'system-twice', turns: [system('Be kind.'), developer('Be brief.'), user('Hi')] },
  { name: 'system-parts', turns: [system('Be kind.', 'Be brief.'), user('Hi')] },
  { name: 'system-late', turns: [user('Hi'), assistant('Hello'), system('Be kind.'), user('Go on')] },
  { name: 'system-last', turns: [user('Hi'), developer('Be brief.')] },
  { name: 'instructions', turns: [user('Hi')], ...fields(null, { instructions: 'Be kind.' }, { system: 'Be kind.' }) },
  { name: 'turns', turns: [user('One'), assistant('Two'), user('Three'), assistant('Four'), user('Five')] },
  { name: 'turns-parts', turns: [user('One', 'Two'), assistant('Three', 'Four'), user('Five')] },
  { name: 'turns-same-role', turns: [user('One'), user('Two'), assistant('Three'), assistant('Four'), user('Five')] },
  { name: 'prefill', turns: [user('Say yes'), assistant('Ye')], answer: says('s') },
  { name: 'empty-user', turns: [user('')] },

  { name: 'tool', tools, turns: [asked], answer: says({ call: oslo }) },
  { name: 'tool-text', tools, turns: [asked], answer: says('I look.', { call: oslo }) },
  { name: 'tool-parallel', tools, turns: [asked], answer: says({ call: oslo }, { call: noon }) },
  { name: 'tool-no-input', tools, turns: [asked], answer: says({ call: { ...oslo, input: '{}' } }) },
  { name: 'tool-bad-input', tools, turns: [asked], answer: says({ call: { ...oslo, input: '{"city":"Os' } }) },
  { name: 'tool-long-input', tools, answer: { ...says({ call: { ...oslo, input: long } }), fragment: 3 } },
  { name: 'tool-digits', tools, answer: says({ call: { ...oslo, input: '{"id":12345678901234567890,"x":1.10}' } }) },
  { name: 'tool-unknown', tools, turns: [asked], answer: says({ call: { ...oslo, name: 'nowhere' } }) },
  { name: 'tool-cut', tools, answer: { ...says({ call: { ...oslo, input: '{"city":"O' } }), end: 'length' } },
  {
    name: 'tool-serial',
    sent: /./,
    tools,
    turns: [asked],
    serial: true,
    answer: says({ call: oslo }, { call: noon }),
  },
  { name: 'tool-strict', tools: [{ ...weather, strict: true }], answer: says({ call: oslo }) },
  {
    name: 'tool-loose',
    tools: [{ ...weather, strict: false, schema: object({ a: {} }, { additionalProperties: true }) }],
  },
  { name: 'tool-no-schema', tools: [{ name: 'weather' }] },
  { name: 'tool-odd-schema', tools: [{ name: 'weather', schema: object({ a: { $ref: '#' }, b: { anyOf: [city] } }) }] },
  { name: 'tool-long-name', tools: [{ ...weather, name: `w_${'x'.repeat(60)}` }] },
  {
    name: 'tool-custom',
    sent: /shell|bash/,
    ...fields(
      { tools: [{ type: 'custom', custom: { name: 'shell', description: 'Runs.' } }] },
      { tools: [{ type: 'custom', name: 'shell', description: 'Runs.' }] },
      { tools: [{ type: 'bash_20250124', name: 'bash' }] },
    ),
  },
  {
    name: 'tool-hosted',
    sent: /web_search|googleSearch/,
    mayDrop: true,
    ...fields(
      { web_search_options: {} },
      { tools: [{ type: 'web_search' }] },
      { tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
      { tools: [{ googleSearch: {} }] },
    ),
  },
  {
    name: 'functions',
    sent: /weather/,
    ...fields({ functions: [{ name: 'weather', parameters: city }] }, null, null),
    answer: says({ call: oslo }),
  },
  { name: 'choice-auto', tools, choice: 'auto' },
  { name: 'choice-none', sent: /none/i, tools, choice: 'none' },
  { name: 'choice-required', sent: /"(?:required|any)"/i, tools, choice: 'required', answer: says({ call: oslo }) },
  {
    name: 'choice-named',
    sent: /tool_?choice|toolConfig/i,
    tools,
    choice: { name: 'clock' },
    answer: says({ call: noon }),
  },
  { name: 'choice-allowed', tools, choice: ['clock'], answer: says({ call: noon }) },
  { name: 'result', ...usedTool(resultOf(oslo, 'Rain in Oslo')) },
  { name: 'result-text', ...usedTool(resultOf(oslo, 'Rain in Oslo'), { text: 'And now?' }) },
  { name: 'result-empty', ...usedTool(resultOf(oslo, '')) },
  { name: 'result-failed', ...usedTool(resultOf(oslo, 'No such city', { failed: true })) },
  { name: 'result-image', ...usedTool(resultOf(oslo, '', { parts: [{ text: 'See' }, { image: png }] })) },
  { name: 'result-missing', ...usedTool({ text: 'Never mind' }) },
  { name: 'result-alone', tools, turns: [asked, user(resultOf(oslo, 'Rain in Oslo'))] },
  {
    name: 'results',
    tools,
    turns: [
      asked,
      assistant('I look.', { call: oslo }, { call: noon }),
      user(resultOf(noon, 'Noon'), resultOf(oslo, 'Rain')),
    ],
  },
  { name: 'results-without-tools', turns: [asked, assistant({ call: oslo }), user(resultOf(oslo, 'Rain in Oslo'))] },

  { name: 'schema', schema: city, answer: says('{"city":"Oslo"}') },
  { name: 'schema-tools', schema: city, tools, answer: says('{"city":"Oslo"}') },
  {
    name: 'schema-open',
    schema: { type: 'object', properties: { a: { type: 'integer', minimum: 3 } } },
    answer: says('{}'),
  },
  {
    name: 'json-object',
    sent: /json/i,
    ...fields({ response_format: { type: 'json_object' } }, { text: { format: { type: 'json_object' } } }, null, {
      generationConfig: { responseMimeType: 'application/json' },
    }),
    answer: says('{"a":1}'),
  },

  { name: 'image', turns: [user('See', { image: png })] },
  { name: 'image-url', turns: [user('See', { image: 'https://pictures.test/a.png' })] },
  {
    name: 'image-detail',
    sent: /"low"|LOW/,
    mayDrop: true,
    turns: [
      user({
        image: png,
        own: {
          chat: { detail: 'low' },
          responses: { detail: 'low' },
          gemini: { mediaResolution: { level: 'MEDIA_RESOLUTION_LOW' } },
        },
      }),
    ],
  },
  { name: 'images-between', turns: [user('First', { image: png }, 'then', { image: png }, 'last')] },
  { name: 'file', turns: [user('Read', { file: pdf })] },
  { name: 'file-url', turns: [user('Read', { file: 'https://pages.test/a.pdf' })] },
  { name: 'audio', turns: [user('Listen', { audio: wav })] },

  { name: 'effort-none', sent: /effort|thinking/i, ...effort('none') },
  { name: 'effort-low', sent: /effort|thinking/i, ...effort('low') },
  { name: 'effort-high', sent: /effort|thinking/i, ...effort('high') },
  { name: 'effort-max', sent: /effort|thinking/i, ...effort('max') },
  {
    name: 'thinking-off',
    sent: /thinking|effort|reasoning/i,
    ...fields(null, null, { thinking: { type: 'disabled' } }),
  },
  {
    name: 'thinking-adaptive',
    sent: /thinking|effort|reasoning/i,
    ...fields(null, null, { thinking: { type: 'adaptive' } }),
    answer: says(thought, 'Rain'),
  },
  { name: 'reasoning', answer: says(thought, 'Rain') },
  { name: 'reasoning-asked', ...back, answer: says(thought, 'Rain') },
  { name: 'reasoning-field', ...back, answer: says({ ...thought, field: 'reasoning' }, 'Rain') },
  { name: 'reasoning-sealed', ...back, answer: says({ reasoning: '', state }, 'Rain') },
  {
    name: 'reasoning-back',
    ...back,
    answer: says(thought, { call: oslo }),
    next: [user(resultOf(oslo, 'Rain in Oslo'))],
  },
  { name: 'reasoning-back-text', ...back, answer: says(thought, 'Rain'), next: [user('Sure?')] },
  {
    name: 'reasoning-back-parallel',
    ...back,
    answer: says(thought, { call: oslo }, { call: noon }),
    next: [user(resultOf(oslo, 'Rain in Oslo'), resultOf(noon, 'Noon'))],
  },
  {
    name: 'reasoning-foreign',
    tools,
    turns: [
      asked,
      assistant({ reasoning: 'Somebody else thought.', state: `mh1.elsewhere.${state}` }, { call: oslo }),
      user(resultOf(oslo, 'Rain in Oslo')),
    ],
  },

  {
    name: 'stop',
    ...fields({ stop: ['END'] }, null, { stop_sequences: ['END'] }, { generationConfig: { stopSequences: ['END'] } }),
  },
  { name: 'stop-text', ...fields({ stop: 'END' }, null, null) },
  {
    name: 'stop-hit',
    ...fields({ stop: ['END'] }, null, { stop_sequences: ['END'] }, { generationConfig: { stopSequences: ['END'] } }),
    answer: { ...says('One '), end: 'sequence' },
  },
  {
    name: 'stop-ignored',
    ...fields({ stop: ['END'] }, null, { stop_sequences: ['END'] }, { generationConfig: { stopSequences: ['END'] } }),
    answer: says('One END two'),
  },
  {
    name: 'stop-many',
    ...fields(
      null,
      null,
      { stop_sequences: ['A1', 'B2', 'C3', 'D4', 'END', 'F6'] },
      { generationConfig: { stopSequences: ['A1', 'B2', 'C3', 'D4', 'END', 'F6'] } },
    ),
    answer: says('One END two'),
  },
  {
    name: 'max-tokens',
    ...fields(
      { max_completion_tokens: 77 },
      { max_output_tokens: 77 },
      { max_tokens: 77 },
      { generationConfig: { maxOutputTokens: 77 } },
    ),
  },
  { name: 'max-tokens-old', ...fields({ max_tokens: 77 }, null, null) },
  {
    name: 'temperature',
    mayDrop: true,
    ...fields(
      { temperature: 0.37 },
      { temperature: 0.37 },
      { temperature: 0.37 },
      { generationConfig: { temperature: 0.37 } },
    ),
  },
  {
    name: 'temperature-high',
    mayDrop: true,
    ...fields({ temperature: 1.7 }, { temperature: 1.7 }, null, { generationConfig: { temperature: 1.7 } }),
  },
  {
    name: 'top-p',
    mayDrop: true,
    ...fields({ top_p: 0.37 }, { top_p: 0.37 }, { top_p: 0.37 }, { generationConfig: { topP: 0.37 } }),
  },
  { name: 'top-k', mayDrop: true, ...fields({ top_k: 37 }, null, { top_k: 37 }, { generationConfig: { topK: 37 } }) },
  { name: 'seed', ...fields({ seed: 37 }, null, null, { generationConfig: { seed: 37 } }) },
  {
    name: 'penalties',
    ...fields(
      { presence_penalty: 0.37, frequency_penalty: 0.73 },
      { presence_penalty: 0.37, frequency_penalty: 0.73 },
      null,
      { generationConfig: { presencePenalty: 0.37, frequencyPenalty: 0.73 } },
    ),
  },
  {
    name: 'logprobs',
    sent: /logprobs/i,
    ...fields(
      { logprobs: true, top_logprobs: 3 },
      { top_logprobs: 3, include: ['message.output_text.logprobs'] },
      null,
      { generationConfig: { responseLogprobs: true, logprobs: 3 } },
    ),
  },
  { name: 'logit-bias', ...fields({ logit_bias: { 5: 37 } }, null, null) },
  {
    name: 'n',
    sent: /"(?:n|candidateCount)":2/,
    ...fields({ n: 2 }, null, null, { generationConfig: { candidateCount: 2 } }),
  },
  { name: 'verbosity', ...fields({ verbosity: 'low' }, { text: { verbosity: 'low' } }, null) },
  { name: 'user', mayDrop: true, ...fields({ user: 'ada-1' }, { user: 'ada-1' }, { metadata: { user_id: 'ada-1' } }) },
  {
    name: 'hints',
    mayDrop: true,
    ...fields(
      { metadata: { k: 'v-1' }, store: true, prompt_cache_key: 'key-1', safety_identifier: 'safe-1' },
      { metadata: { k: 'v-1' }, prompt_cache_key: 'key-1', safety_identifier: 'safe-1', truncation: 'auto' },
      null,
    ),
  },
  {
    name: 'tier',
    mayDrop: true,
    ...fields(
      { service_tier: 'priority' },
      { service_tier: 'priority' },
      { service_tier: 'auto' },
      { serviceTier: 'priority' },
    ),
  },
  {
    name: 'cache-breakpoint',
    sent: /cache_/,
    mayDrop: true,
    turns: [
      system({
        text: 'Be kind.',
        own: {
          chat: { prompt_cache_breakpoint: { mode: 'explicit' } },
          messages: { cache_control: { type: 'ephemeral' } },
        },
      }),
      user('Hi'),
    ],
  },
  {
    name: 'modalities',
    sent: /modalities|response_format/i,
    ...fields({ modalities: ['text', 'image'] }, null, null, {
      generationConfig: { responseModalities: ['TEXT', 'IMAGE'] },
    }),
  },
  { name: 'prediction', mayDrop: true, ...fields({ prediction: { type: 'content', content: 'Hello 1' } }, null, null) },
  {
    name: 'unknown-field',
    ...fields({ frobnicate: 'yes-1' }, { frobnicate: 'yes-1' }, { frobnicate: 'yes-1' }, { frobnicate: 'yes-1' }),
  },

  answers('length', { ...says('One two'), end: 'length' }),
  answers('length-empty', { ...says(), end: 'length', usage: { input: 11, output: 77, reasoning: 77 } }),
  answers('filter', { ...says('One'), end: 'filter' }),
  answers('refusal', { ...says({ refusal: 'I will not help with that.' }), end: 'refusal' }),
  answers('citation', says({ text: 'Rain in Oslo.', cites: 'https://pages.test/rain' })),
  answers(
    'citations',
    says(
      { text: 'Rain in Oslo.', cites: 'https://pages.test/rain' },
      { text: ' Noon.', cites: 'https://pages.test/noon' },
    ),
  ),
  answers('usage', { ...says('Hi'), usage: { input: 1_000, cached: 400, output: 90, reasoning: 60 } }),
  answers('usage-written', { ...says('Hi'), usage: { input: 1_000, cached: 300, written: 200, output: 9 } }),
  answers('usage-none', { ...says('Hi'), usage: null }),
  {
    name: 'usage-asked',
    sent: /./,
    ...fields({ stream_options: { include_usage: true } }, null, null),
    answer: { ...says('Hi'), usage: { input: 1_000, cached: 400, output: 90, reasoning: 60 } },
  },

  answers('cut-error', { ...says('One two three four five six'), cut: 'error' }),
  answers('cut-end', { ...says('One two three four five six'), cut: 'end' }),
  { name: 'cut-tool', tools, answer: { ...says({ call: { ...oslo, input: long } }), cut: 'error', fragment: 50 } },
  answers('error-invalid', { ...says(), error: 'invalid' }),
  answers('error-key', { ...says(), error: 'key' }),
  answers('error-account', { ...says(), error: 'empty account' }),
  answers('error-rate', { ...says(), error: 'rate' }),
  answers('error-overloaded', { ...says(), error: 'overloaded' }),
  answers('error-broken', { ...says(), error: 'broken' }),
]
