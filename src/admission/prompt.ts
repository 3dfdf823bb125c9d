/** Estimates the prompt of a request for as long as its vendor has not reported it. */
import type { CostBounds } from '../money/options.ts'
import type { OpenForm } from '../http/form.ts'
import type { Model } from '../models/contract.ts'
import { estimateTokens } from '../wire/counts.ts'
import type { Field } from './output-length.ts'
import { isMediaType, mediaIn, type Media } from './media.ts'
import { imageTokens } from './vendor-tokens.ts'

/** In a shorter request no image can be, whose bytes say more than the figure for an image. */
const longPrompt = 4_096

/** Where a vendor has not published its largest image. */
const largestImage = 8_192
/** Of audio: 32 tokens a second at a low bitrate, in base64. */
const bytesPerAudioToken = 64
/** Of what the request only refers to. */
const referred = { audio: 1_000, file: 3_000 }

/** The parts of a request that say how much it asks for. */
export interface SizedRequest {
  /** Estimated from the size of the request. */
  readonly promptTokens: number
  readonly field: Field
  readonly form?: OpenForm
  /** The members named `type` inside a field; undefined if they are not known without parsing it. */
  readonly typesWithin?: ((name: string) => ReadonlySet<string> | undefined) | undefined
  /** What the prompt contains beside the fields of the request, by name, such as earlier turns. */
  readonly content?: (() => Readonly<Record<string, unknown>>) | undefined
}

/** What is known of a prompt in advance. */
export interface PromptEstimate {
  /** Expected tokens. */
  readonly tokens: number
  /** Whether it refers to files without a bound, of which nothing in the request tells the tokens. */
  readonly hasFiles: boolean
}

/**
 * Expects a token for four bytes of text, and for images, recordings and files the figures with which they are held; at most
 * the context window.
 */
export function promptOf(order: SizedRequest, model: Model, bounds: CostBounds = {}): PromptEstimate {
  const { contextWindow = Infinity } = model
  const media = mayHaveMedia(order) ? mediaIn(order.field, order.content?.()) : none
  if (media.length === 0) return { tokens: Math.min(order.promptTokens, contextWindow), hasFiles: false }
  const image = bounds.imageTokens ?? imageTokens(model) ?? largestImage
  let tokens = order.promptTokens
  for (const each of media) tokens += tokensOf(each, image, bounds) - estimateTokens(each.bytes)
  return {
    tokens: Math.max(0, Math.min(tokens, contextWindow)),
    hasFiles: bounds.fileTokens === undefined && media.some(({ kind, bytes }) => kind === 'file' && bytes === 0),
  }
}

const none: readonly Media[] = []

function mayHaveMedia({ promptTokens, typesWithin, content, field }: SizedRequest): boolean {
  // In Google's format, parts have no types.
  if (field('contents') !== undefined) return true
  // Earlier turns are not in the body.
  if (content !== undefined && promptTokens > longPrompt) return true
  const messages = typesWithin?.('messages')
  const input = typesWithin?.('input')
  if (messages === undefined && input === undefined) return promptTokens > longPrompt
  return hasMediaType(messages) || hasMediaType(input)
}

function hasMediaType(types: ReadonlySet<string> | undefined): boolean {
  return types !== undefined && types.size > 0 && [...types].some(isMediaType)
}

function tokensOf({ kind, bytes }: Media, image: number, { audioTokens, fileTokens }: CostBounds): number {
  if (kind === 'image') return image
  if (bytes === 0) return (kind === 'audio' ? audioTokens : fileTokens) ?? referred[kind]
  if (kind === 'audio') return Math.min(audioTokens ?? Infinity, Math.ceil(bytes / bytesPerAudioToken))
  return Math.min(fileTokens ?? Infinity, estimateTokens(bytes))
}
