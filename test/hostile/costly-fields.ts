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
  ...each('film', '/v1/videos/generations', { prompt: 'a sun', duration: 5 }, { n: 4, resolution: '1080p' }),
]
