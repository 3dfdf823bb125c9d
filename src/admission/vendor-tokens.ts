/**
 * Input tokens that vendors count beyond the text of a request, as upper bounds. Sources: Anthropic's guides to tools and
 * vision, OpenAI's guide to images, Google's and xAI's to tokens; chat templates of open models for all others.
 */
import type { Deployment, Model } from '../models/contract.ts'
import type { Field } from './output-length.ts'

interface Additions {
  /** Of the vendor's own instructions in every request. */
  readonly always: number
  /** If the request has tools: the vendor explains to the model how to call them. */
  readonly tools: number
  /** For each tool that the vendor defines, such as an editor, whose definition is not in the request. */
  readonly ownTool: number
  /** If the request asks for a format of the answer. */
  readonly format: number
  /** The largest image. Absent: not published. */
  readonly image?: number
}

/** A token has at least one byte, and JSON has more bytes than their templates have tokens. */
const plain: Additions = { always: 0, tools: 0, ownTool: 1_024, format: 0 }

/** Models whose templates are unknown. */
const templates: Additions = { always: 0, tools: 1_024, ownTool: 1_024, format: 512 }

/** By name and origin of the provider and name of the model; the first that matches counts. */
const vendors: readonly (readonly [RegExp, Additions])[] = [
  [/^anthropic |claude/i, { ...templates, tools: 804, ownTool: 1_536, image: 4_784 }],
  [/gpt-oss/i, { ...templates, always: 128 }],
  // 10,000 patches at most in models since GPT-5.4, 1,536 before; up to 2.46 tokens each.
  [/gpt-4o-mini/i, { ...plain, image: 48_169 }],
  [/gpt-image/i, { ...plain, image: 8_192 }],
  [/gpt-4|gpt-5(?:-|$|\.[0-3])|chatgpt|computer-use|\/o[1-4]\b/i, { ...plain, image: 4_096 }],
  [/gpt-[5-9]/i, { ...plain, image: 24_600 }],
  // 24 tiles of 258 tokens at most, or 2,240 tokens at the highest resolution.
  [/gemini/i, { ...plain, tools: 256, format: 256, image: 6_500 }],
  [/grok|^xai /i, { ...templates, always: 1_024, image: 1_792 }],
  [/ https:\/\/api\.(?:openai\.com|mistral\.ai) /, plain],
  // Templates with instructions of their own.
  [/devstral|magistral|mistral-small/i, { ...templates, always: 1_536 }],
  [/granite|llama|qwen|kimi|minimax/i, { ...templates, always: 128 }],
]

const known = new WeakMap<Deployment, Additions>()

function additionsOf(deployment: Deployment): Additions {
  let additions = known.get(deployment)
  if (additions === undefined) {
    const { provider, model } = deployment
    const name = `${provider.name} ${provider.origin ?? ''} /${model}`
    known.set(deployment, (additions = vendors.find(([pattern]) => pattern.test(name))?.[1] ?? templates))
  }
  return additions
}

const formats = ['response_format', 'output_format', 'output_config', 'text'] as const

/** Upper bound of what any deployment's vendor adds to the prompt of a request. */
export function addedTokens(model: Pick<Model, 'deployments'>, field: Field): number {
  const tools = field('tools') ?? field('functions')
  const hasTools = Array.isArray(tools) && tools.length > 0
  const own = hasTools ? tools.filter(isVendors).length : 0
  const isFormatted = formats.some((name) => isPresent(field(name)))
  let most = 0
  for (const deployment of model.deployments) {
    const { always, tools: preamble, ownTool, format } = additionsOf(deployment)
    most = Math.max(most, always + (hasTools ? preamble : 0) + own * ownTool + (isFormatted ? format : 0))
  }
  return most
}

/** Upper bound of the tokens of an image at any deployment's vendor; undefined if one has not published it. */
export function imageTokens(model: Pick<Model, 'deployments'>): number | undefined {
  const most = Math.max(...model.deployments.map((each) => additionsOf(each).image ?? Infinity))
  return most === Infinity ? undefined : most
}

/** Whether the vendor defines the tool: the request has only its type. */
function isVendors(tool: unknown): boolean {
  const { type } = Object(tool) as { type?: unknown }
  return typeof type === 'string' && type !== 'function' && type !== 'custom'
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null
}
