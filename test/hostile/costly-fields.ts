/** Fields with which a client could increase the host's cost, for the vendors that support them. */
export interface CostlyField {
  readonly model: string
  readonly path: string
  readonly fields: Readonly<Record<string, unknown>>
}

const messages = [{ role: 'user', content: 'Hi' }]
const chat = '/v1/chat/completions'
const responses = '/v1/responses'

function each(model: string, path: string, request: object, fields: Readonly<Record<string, unknown>>): CostlyField[] {
  return Object.entries(fields).map(([name, value]) => ({ model, path, fields: { ...request, [name]: value } }))
}

export const costlyFields: readonly CostlyField[] = [
  ...each(
    'routed',
    chat,
    { messages },
    {
      models: ['anthropic/claude-opus'],
      route: 'fallback',
      provider: { order: ['x'] },
      plugins: [{ id: 'web' }],
      service_tier: 'priority',
    },
  ),
  ...each(
    'recorded',
    responses,
    { input: 'Hi' },
    {
      service_tier: 'priority',
      max_tool_calls: 1_000,
      tools: [{ type: 'code_interpreter', container: { type: 'auto' } }],
    },
  ),
  ...['image_generation', 'code_interpreter', 'web_search', 'mcp', 'file_search'].flatMap((type) => [
    ...each('recorded', responses, {}, { input: [{ type: 'additional_tools', role: 'developer', tools: [{ type }] }] }),
    ...each('recorded', responses, {}, { input: [{ type: 'tool_search_output', call_id: 'c', tools: [{ type }] }] }),
  ]),
  ...['web_search_20250305', 'code_execution_20250825', 'advisor_20260301', 'mcp_toolset'].flatMap((type) => {
    const content = [{ type: 'tool_addition', tool: { type, name: 'x' } }]
    return each('recorded-claude', '/v1/messages', { max_tokens: 9 }, { messages: [{ role: 'user', content }] })
  }),
  ...each('film', '/v1/videos/generations', { prompt: 'a sun', duration: 5 }, { n: 4, resolution: '1080p' }),
]
