/** The requests that are mutated. */
type Fields = Record<string, unknown>

export type Seed = readonly [path: string, models: readonly string[], fields: (mark: string) => Fields]

/** Types of what runs at the vendor or reaches the host's account, and features of the vendor. */
export const hostedTypes = [
  'image_generation',
  'code_interpreter',
  'web_search',
  'mcp',
  'file_search',
  'additional_tools',
  'tool_search_output',
  'tool_addition',
  'code_execution_20250825',
  'advisor_20260301',
  'container_reference',
  'file_id',
  'mid-conversation-tool-changes-2026-07-01,context-1m-2025-08-07',
] as const

/** Headers that select something within the host's account. */
export const selectors = [
  'anthropic-workspace-id',
  'anthropic-organization-id',
  'openai-organization',
  'openai-project',
  'x-goog-user-project',
] as const

export const vendorHeaders = [
  ...selectors,
  'anthropic-beta',
  'anthropic-version',
  'x-goog-api-key',
  'x-litellm-api-key',
]

const dataUrl = `data:image/png;base64,${'A'.repeat(5_000)}`
const chatModels = ['demo', 'echo', 'openai', 'claude', 'gemini', 'responses']
const tool = {
  name: 'look',
  description: 'Looks',
  parameters: { type: 'object', properties: { at: { type: 'string' } } },
}
const picture = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }

/** Valid requests, and those with which customers once spent a host's money. Each function takes the mark of the request. */
export const seeds: readonly Seed[] = [
  ['/v1/chat/completions', chatModels, (mark) => ({ messages: [{ role: 'user', content: mark }] })],
  [
    '/v1/chat/completions',
    chatModels,
    (mark) => ({
      stream: true,
      stream_options: { include_usage: true },
      max_tokens: 50,
      messages: [
        { role: 'system', content: 'Be brief.' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'seen' },
        { role: 'user', content: [{ type: 'text', text: mark }, picture] },
      ],
      tools: [{ type: 'function', function: tool }],
      tool_choice: 'auto',
    }),
  ],
  [
    '/v1/chat/completions',
    chatModels,
    (mark) => ({
      n: 2,
      seed: 7,
      temperature: 1,
      stop: ['\n'],
      user: mark,
      messages: [{ role: 'user', content: 'Hi' }],
      response_format: { type: 'json_schema', json_schema: { name: 'x', strict: true, schema: tool.parameters } },
    }),
  ],
  ['/v1/completions', chatModels, (mark) => ({ prompt: mark, max_tokens: 20, n: 1, echo: false, stream: false })],
  ['/v1/completions', chatModels, (mark) => ({ prompt: [mark, 'Hi'], stream: true, stop: 'x' })],
  [
    '/v1/embeddings',
    ['demo', 'openai', 'gemini'],
    (mark) => ({ input: [mark, 'Hi'], encoding_format: 'float', dimensions: 8 }),
  ],
  ['/v1/moderations', ['demo', 'openai'], (mark) => ({ input: [mark, 'Hi'] })],
  [
    '/v1/moderations',
    ['demo', 'openai'],
    (mark) => ({
      input: [
        { type: 'text', text: mark },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
      ],
    }),
  ],
  ['/v1/responses', chatModels, (mark) => ({ input: mark, instructions: 'Be brief.', max_output_tokens: 50 })],
  [
    '/v1/responses',
    chatModels,
    (mark) => ({
      stream: true,
      store: false,
      include: ['reasoning.encrypted_content'],
      reasoning: { effort: 'low', summary: 'auto' },
      tools: [{ type: 'function', ...tool }],
      text: { format: { type: 'text' } },
      input: [
        { role: 'user', content: [{ type: 'input_text', text: mark }] },
        { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c1', output: 'seen' },
      ],
    }),
  ],
  ['/v1/images/generations', ['demo'], () => ({ prompt: 'a sun', size: '16x16', n: 1, response_format: 'b64_json' })],
  ['/v1/images/edits', ['demo'], () => ({ prompt: 'a sun', images: [{ image_url: picture.image_url.url }] })],
  ['/v1/videos/generations', ['demo'], (mark) => ({ prompt: mark, duration: 5, size: '720x1280' })],
  ['/v1/videos', ['demo'], (mark) => ({ prompt: mark, seconds: '5' })],
  // Tools that run at the vendor, defined inside of the conversation.
  [
    '/v1/responses',
    chatModels,
    (mark) => ({
      input: [
        { type: 'additional_tools', role: 'developer', tools: [{ type: 'image_generation' }, { type: 'mcp' }] },
        { type: 'tool_search_output', call_id: 'c1', status: 'completed', tools: [{ type: 'code_interpreter' }] },
        { type: 'function_call', call_id: 'c2', name: 'look', arguments: '[1]' },
        { type: 'function_call_output', call_id: 'c2', output: [{ type: 'input_file', file_id: 'file_1' }] },
        {
          role: 'user',
          content: [
            { type: 'input_text', text: mark },
            { type: 'input_image', image_url: dataUrl },
          ],
        },
      ],
    }),
  ],
  [
    '/v1/messages',
    chatModels,
    (mark) => ({
      max_tokens: 50,
      stream: true,
      system: [{ type: 'text', text: 'Be brief.' }],
      messages: [
        { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'look', input: [1] }] },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'toolu_1', content: 'seen' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
            { type: 'text', text: mark },
          ],
        },
      ],
      tools: [{ name: 'look', input_schema: { type: 'object' } }],
    }),
  ],
  [
    '/v1/messages',
    chatModels,
    (mark) => ({
      max_tokens: 50,
      stream: true,
      system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral', ttl: '1h' } }],
      messages: [
        {
          role: 'user',
          content: [{ type: 'tool_addition', tool: { type: 'web_search_20250305', name: 'web_search' } }],
        },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'look', input: [1] }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'seen' }] },
        {
          role: 'user',
          content: [
            { type: 'image', source: { type: 'file', file_id: 'file_1' } },
            { type: 'text', text: mark },
          ],
        },
      ],
      tools: [{ name: 'look', input_schema: { type: 'object' } }],
    }),
  ],
  [
    '/v1/messages',
    chatModels,
    (mark) => ({ max_tokens: 50, inference_geo: 'us', messages: [{ role: 'user', content: mark }] }),
  ],
  [
    '/v1/chat/completions',
    chatModels,
    (mark) => ({
      n: 10,
      max_tokens: 4_000,
      logprobs: true,
      top_logprobs: 20,
      messages: [
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '[1]' } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'seen' },
        {
          role: 'user',
          content: [
            { type: 'text', text: mark },
            { type: 'file', file: { file_id: 'file-1' } },
          ],
        },
      ],
    }),
  ],
  [
    '/v1/chat/completions',
    chatModels,
    (mark) => ({
      modalities: ['text', 'audio'],
      audio: { voice: 'alloy', format: 'wav' },
      web_search_options: {},
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: mark },
            { type: 'image_url', image_url: { url: dataUrl } },
          ],
        },
      ],
    }),
  ],
]
