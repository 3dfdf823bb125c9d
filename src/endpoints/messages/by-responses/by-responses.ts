/** Messages for providers that serve responses. */
import type { Tally } from '../../../money/tally.ts'
import { GatewayError } from '../../../errors.ts'
import { flowOf } from '../../../http/flow-of.ts'
import { ContentFrames, Verbatim, type Call, type Provider, type ResponsePiece } from '../../../providers/contract.ts'
import { forceParse, yieldIfLarge } from '../../../providers/yielding.ts'
import { estimateTokens } from '../../../wire/counts.ts'
import type { MessageEvent, MessageRequest } from '../../../wire/messages.ts'
import type { ResponseEvent, ResponseObject } from '../../../wire/responses.ts'
import { usageOf } from '../../../wire/usage.ts'
import type { AnswerContext } from '../../chunk-answer.ts'
import { makerOf } from '../../envelope.ts'
import { replaceLarge } from '../../order.ts'
import { eventsOfResponse } from '../../responses/response-events.ts'
import { chatUsage } from '../../../wire/response-usage.ts'
import { emptyMessage } from '../empty-message.ts'
import { openEvents, type OpenMessage } from '../open-message.ts'
import { read, type Reading } from '../reading/reading.ts'
import { withFallbacks, limitFallback, reasoningFallback, type FieldFallbacks } from '../field-fallbacks.ts'
import { StopScanner } from '../stop-scanner.ts'
import { releaseRequest, TranslatedEvents, type Translator } from '../translated-events.ts'
import { EventWriter } from '../writer.ts'
import { ReasoningSealing, ResponseReader } from './events.ts'
import { withMessageFieldNames } from './field-names.ts'
import { responseRequestOf } from './request.ts'

/** Calls the provider's responses endpoint; tells `context.meter` the usage. */
export async function messageByResponses(
  provider: Provider,
  call: Call<MessageRequest>,
  context: AnswerContext,
): Promise<OpenMessage> {
  if (provider.respond === undefined) {
    throw new GatewayError('unsupported_value', { param: 'model', message: 'This model does not support messages.' })
  }
  if (call.large === true) await forceParse(call)
  const reading = read(call)
  for (const type of reading.tools.omitted) context.meter.omit?.(type)
  const maker = makerOf(provider)
  const made = responseRequestOf(context.order.model, reading, maker)
  let events: AsyncIterable<MessageEvent>
  try {
    if (call.large === true) await yieldIfLarge(call)
    let sent = made
    const answer = await withFallbacks(provider, call.model, made, fallbacks, async (request) => {
      sent = request
      return provider.respond?.(replaceLarge(call, request))
    })
    events = eventsOf(piecesOf(answer), reading, maker, context, () => releaseRequest(provider, sent))
  } catch (thrown) {
    throw withMessageFieldNames(thrown, call.request)
  }
  return openEvents(events, call, true, context)
}

/** The fields that agents send to every model, and that change little of an answer. */
export const fallbacks: FieldFallbacks = {
  reasoning: reasoningFallback,
  max_output_tokens: limitFallback,
  temperature: () => undefined,
  top_p: () => undefined,
  parallel_tool_calls: () => undefined,
  user: () => undefined,
}

type VendorAnswer = Awaited<ReturnType<NonNullable<Provider['respond']>>> | undefined

function piecesOf(answer: VendorAnswer): AsyncIterable<ResponsePiece> {
  if (answer === undefined) throw new TypeError('the provider returned no response')
  if (Symbol.asyncIterator in answer) return answer
  return eventsOfResponse(answer instanceof Verbatim ? answer.value : answer)
}

/** `begun`: called once the first content has arrived. */
function eventsOf(
  pieces: AsyncIterable<ResponsePiece>,
  { settings, tools, display }: Reading,
  maker: string,
  context: AnswerContext,
  begun: () => void,
): AsyncIterable<MessageEvent> {
  const sealing = new ReasoningSealing(maker)
  const writer = new EventWriter({
    message: emptyMessage(context),
    thinking: display,
    sealing,
    clientName: tools.clientName,
    // Responses have no stop sequences.
    stops: settings.stops.length === 0 ? undefined : new StopScanner(settings.stops),
  })
  const { meter, order } = context
  const translator = new ResponseTranslator(new ResponseReader(writer, sealing), meter, order.promptTokens, begun)
  return new TranslatedEvents(flowOf(pieces), translator)
}

class ResponseTranslator implements Translator<ResponsePiece> {
  readonly #reader: ResponseReader
  readonly #meter: Tally
  readonly #promptTokens: number
  /** Called with the first content. */
  #whenBegun: (() => void) | undefined
  #begun = false

  constructor(reader: ResponseReader, meter: Tally, promptTokens: number, whenBegun: () => void) {
    this.#reader = reader
    this.#meter = meter
    this.#promptTokens = promptTokens
    this.#whenBegun = whenBegun
  }

  accept(piece: ResponsePiece, out: MessageEvent[]): void {
    if (!this.#begun) this.#reader.begin(out)
    this.#begun = true
    if (piece instanceof ContentFrames) for (const event of eventsIn(piece)) this.#event(event, out)
    else this.#event(piece, out)
  }

  end(out: MessageEvent[]): void {
    const usage = this.#meter.usage ?? usageOf(this.#promptTokens, estimateTokens(this.#meter.textBytes))
    this.#reader.end(usage, out)
  }

  #event(event: ResponseEvent, out: MessageEvent[]): void {
    const { delta, response } = event
    if (typeof delta === 'string') {
      this.#meter.textBytes += Buffer.byteLength(delta)
      this.#whenBegun?.()
      this.#whenBegun = undefined
    }
    if (response !== undefined) this.#count(response)
    this.#reader.accept(event, out)
  }

  #count(response: ResponseObject): void {
    const usage = chatUsage(response.usage, response.output)
    if (usage !== undefined) this.#meter.usage = usage
    const tier = response['service_tier']
    if (typeof tier === 'string' && response.status !== 'in_progress') this.#meter.serviceTier = tier
  }
}

function eventsIn(frames: ContentFrames): ResponseEvent[] {
  const datas = Buffer.from(frames.bytes)
    .toString('utf8')
    .matchAll(/^data: ?(.*)$/gm)
  return Array.from(datas, ([, data = '']) => JSON.parse(data) as ResponseEvent)
}
