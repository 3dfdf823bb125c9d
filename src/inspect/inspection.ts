/** The inspection of one request and its answers. */
import type { Conversation } from '../conversation/conversation.ts'
import { fold } from '../conversation/fold.ts'
import type { Answer, Part } from '../conversation/parts.ts'
import { partsOf } from '../conversation/unfold.ts'
import { GatewayError } from '../errors.ts'
import { AnswerStage } from './answer-stage.ts'
import type { Inspector } from './contract.ts'
import { withoutBrokenState } from './signatures.ts'
import { stringsIn, withStrings } from './strings.ts'
import { verdictOf, type Asking } from './verdict.ts'

/** Fields of requests that are no conversations, which have images in them. */
const addresses: ReadonlySet<string> = new Set(['image_url'])

/** Made once for a request, if something inspects it. */
export class Inspection {
  readonly #inspectors: readonly Inspector[]
  readonly #asking: Asking
  /** Of the last conversation that was inspected. */
  #form = { isJson: false, choices: 1 }

  constructor(inspectors: readonly Inspector[], asking: Asking) {
    this.#inspectors = inspectors
    this.#asking = asking
  }

  /** Whether answers are inspected. */
  get seesAnswers(): boolean {
    return this.#inspectors.some((each) => each.answer !== undefined)
  }

  /** What the vendor may get of a conversation. Rejects with the refusal of an inspector, or with 503 if one has failed. */
  async asked(conversation: Conversation): Promise<Conversation> {
    const { output, settings } = conversation
    this.#form = { isJson: output !== undefined, choices: settings.choices ?? 1 }
    let passed = conversation
    for (const inspector of this.#inspectors) {
      if (inspector.request === undefined) continue
      const before = passed
      const verdict = await verdictOf(inspector, this.#asking, () => inspector.request?.(before, this.#asking.call))
      if (!verdict) continue
      if ('refuse' in verdict)
        throw new GatewayError(verdict.code ?? 'content_policy_violation', { message: verdict.refuse })
      passed = withoutBrokenState(before, verdict.conversation, verdict.reversible === true)
    }
    return passed
  }

  /** A JSON value with texts in it that are no conversation: inspectors get them as the words of a user. */
  async askedTexts<Value>(value: Value): Promise<Value> {
    const texts = stringsIn(value, addresses)
    if (texts.length === 0) return value
    const blocks = texts.map((text) => ({ kind: 'text', text }) as const)
    const { turns } = await this.asked({ turns: [{ role: 'user', blocks }], tools: [], settings: {} })
    const passed = turns.flatMap((turn) => turn.blocks.map((block) => (block.kind === 'text' ? block.text : '')))
    if (passed.length === texts.length) return withStrings(value, passed, addresses)
    throw new GatewayError('server_error', { cause: new TypeError('an inspector may change texts, not their number') })
  }

  /** What parts of an answer pass, in the order from the vendor to the client: the last inspector sees them first. */
  stages(): AnswerStage[] {
    const made = this.#inspectors.map((inspector) => new AnswerStage(inspector, this.#asking, this.#form))
    return made.filter((stage) => stage.isNeeded).toReversed()
  }

  /** What the client may get of a whole answer. */
  async answered(answer: Answer): Promise<Answer> {
    let parts: readonly Part[] = partsOf(answer)
    for (const stage of this.stages()) parts = [...(await stage.take(parts)), ...(await stage.end())]
    return fold(parts)
  }

  /** The same for texts that are no answers of a conversation. Rejects with 400 if an inspector ends them. */
  async answeredTexts(texts: readonly string[]): Promise<readonly string[]> {
    const blocks = texts.map((text) => ({ kind: 'text', text }) as const)
    const { choices } = await this.answered({ choices: [{ blocks }] })
    const said = choices[0]?.blocks ?? []
    if (choices[0]?.end === undefined) return said.map((block) => ('text' in block ? block.text : ''))
    const words = said.find(({ kind }) => kind === 'refusal')
    throw new GatewayError('content_policy_violation', words && 'text' in words ? { message: words.text } : {})
  }
}
