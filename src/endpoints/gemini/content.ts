/** `POST /v1beta/models/{model}:generateContent` and `:streamGenerateContent`. */
import { saidFields, saidOfConfig } from '../../formats/gemini/field-names.ts'
import { camelFields } from '../../formats/gemini/fields.ts'
import { gemini } from '../../formats/gemini/gemini.ts'
import type { Call, Provider } from '../../providers/contract.ts'
import { forceParse } from '../../providers/yielding.ts'
import type { GenerateContentRequest, GenerateContentResponse } from '../../wire/gemini.ts'
import type { Fields } from '../../wire/json.ts'
import { defineEndpoint } from '../define.ts'
import type { CallEndpoint, Context } from '../endpoint.ts'
import { afterFirstPiece } from '../first-content.ts'
import { discard, replyOf } from '../open.ts'
import type { ClientWire } from '../translated/plan.ts'
import { tellUnsaid } from '../translated/unsaid.ts'
import { interactsOnly } from '../translated/vendor-wires.ts'
import { inOtherMode, translated, type Translated } from '../translated/translated.ts'
import { contentFrames, failedFrame, idleFrame } from './content-frames.ts'
import { checkContent } from './guard.ts'
import { openContent, type OpenContent } from './open-content.ts'
import { configIn, readContent, type ContentOrder } from './request.ts'
import { nativeCall, vendorCall } from './vendor-call.ts'

type ContentContext = Context<GenerateContentRequest, ContentOrder>

/** This wire format, for providers that do not speak it. */
export const contentWire: ClientWire = {
  format: gemini,
  idPrefix: '',
  hints: new Set(['reasoning', 'temperature', 'topP', 'topK']),
  covered: new Set([...saidFields, 'system_instruction', 'tool_config', 'generation_config', 'service_tier']),
}

export const generateContent: CallEndpoint<GenerateContentRequest, OpenContent, ContentOrder> = endpoint(false)
export const streamGenerateContent: CallEndpoint<GenerateContentRequest, OpenContent, ContentOrder> = endpoint(true)

function endpoint(stream: boolean): CallEndpoint<GenerateContentRequest, OpenContent, ContentOrder> {
  return defineEndpoint({
    method: 'POST',
    // The model is in the path: see `contentAddressOf`.
    path: `/v1beta/models:${stream ? 'streamGenerateContent' : 'generateContent'}`,
    name: stream ? 'content.stream' : 'content.generate',
    makes: 'text',
    lengthFields: ['maxOutputTokens'],
    read: (exchange, sizes) => readContent(exchange, sizes, stream),
    fit: ({ field }, model) => checkContent(field, model),
    ask,
    discard,
    whole: replyOf,
    frames: (answer, context) => contentFrames(answer, context, context.order.streamForm),
    streamType: ({ streamForm }) => (streamForm.isList ? 'application/json; charset=utf-8' : undefined),
    readsLater: [],
    idle: (_, { order }) => idleFrame(order.model, order.streamForm),
    failed: (error, { order }) => failedFrame(error, order.streamForm),
  })
}

/** Calls the provider. Resolves once the first content or the whole answer has arrived. */
async function ask(
  provider: Provider,
  call: Call<GenerateContentRequest>,
  context: ContentContext,
): Promise<OpenContent> {
  await forceParse(call)
  const { model, meter } = context
  const fitted = vendorCall(call, model, (name) => meter.omit(name))
  const hasFormat = provider.generateContent !== undefined && !interactsOnly(provider, fitted.model)
  if (!hasFormat) tellSettings(fitted.request, (name) => meter.omit(name))
  if (provider.generateContent === undefined || !hasFormat || context.inParts === true)
    return opened(await translated<GenerateContentResponse>(contentWire, provider, fitted, context))
  const answer = await provider.generateContent(nativeCall(fitted))
  return openContent(answer, call, context, async (events) => {
    return opened(await inOtherMode<GenerateContentResponse>(contentWire, events, provider, call, context))
  })
}

/** Names the settings that only this format has. */
function tellSettings(request: Fields, omit: (name: string) => void): void {
  const settings = camelFields(configIn((name) => request[name]))
  tellUnsaid(settings, saidOfConfig, undefined, (name) => omit(`generationConfig.${name}`))
}

async function opened(answer: Translated<GenerateContentResponse>): Promise<OpenContent> {
  return answer.kind === 'whole'
    ? answer
    : { kind: 'stream', pieces: await afterFirstPiece(answer.pieces), isCounted: true }
}
