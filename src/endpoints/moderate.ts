/** An inspector that asks a moderation model. */
import type { Block, Conversation } from '../conversation/conversation.ts'
import { Canceller } from '../http/cancellation.ts'
import type { InspectedCall, Inspector } from '../inspect/contract.ts'
import { Verbatim, type Provider } from '../providers/contract.ts'
import type { ModerationPart, ModerationRequest } from '../wire/moderations.ts'
import { callFor, madeOrder } from './order.ts'

/** Options of `moderate`. */
export interface ModerateOptions extends Pick<Inspector, 'deadlineMs' | 'onFailure'> {
  /** Who has the model, such as `openai({ apiKey })`. Its calls are not charged. */
  readonly provider: Provider
  /** Default `omni-moderation-latest`. */
  readonly model?: string
  /** The categories that are refused, such as `violence`. Default: whatever the model flags. */
  readonly categories?: readonly string[]
  /** Whether answers are moderated too, in pieces of 1,000 characters, each of which waits for its verdict. Default false. */
  readonly answers?: boolean
}

const windowLength = 1_000

/**
 * An inspector that refuses what a moderation model flags: what the user has said since the last answer, texts and images, and with
 * `answers` also what the model says. Throws a `TypeError` for a provider that cannot moderate.
 */
export function moderate({ provider, model = 'omni-moderation-latest', ...options }: ModerateOptions): Inspector {
  const { categories, answers = false, deadlineMs = 5_000, onFailure = 'refuse' } = options
  if (provider.moderate === undefined) throw new TypeError(`moderate: the provider "${provider.name}" cannot moderate.`)

  async function isFlagged(input: ModerationRequest['input'], { id, caller }: InspectedCall): Promise<boolean> {
    const cancellation = new Canceller()
    const timer = setTimeout(() => cancellation.abort(new Error('the verdict took too long')), deadlineMs).unref()
    const own = { model, openModel: false, maxOutputTokens: undefined, sent: undefined, headers: undefined }
    try {
      const call = callFor(madeOrder({ model, input }), { ...own, id, account: caller.account, cancellation })
      const answer = await provider.moderate?.(call)
      const { results = [] } = (answer instanceof Verbatim ? answer.value : answer) ?? {}
      return results.some(({ flagged, categories: found }) =>
        categories === undefined
          ? (flagged ?? Object.values(found).includes(true))
          : categories.some((name) => (found as Readonly<Record<string, boolean | null>>)[name] === true),
      )
    } finally {
      clearTimeout(timer)
    }
  }

  const inspector: Inspector = {
    name: 'moderate',
    deadlineMs,
    onFailure,
    async request(conversation, call) {
      const input = lastSaid(conversation)
      if (input.length === 0 || !(await isFlagged(input, call))) return undefined
      return { refuse: 'The request was flagged by moderation. Change the content.' }
    },
  }
  if (!answers) return inspector
  return {
    ...inspector,
    holdBack: { characters: windowLength, ms: Infinity },
    async answer({ text, ended, kind }, call) {
      if (!ended && text.length < windowLength) return { hold: text.length }
      if (text === '' || kind === 'input' || !(await isFlagged(text, call))) return { hold: 0 }
      return { cut: 'The answer was flagged by moderation.' }
    },
  }
}

/** What was said since the last answer. */
function lastSaid({ turns }: Conversation): readonly ModerationPart[] {
  const begin = turns.findLastIndex(({ role }) => role === 'assistant') + 1
  return turns.slice(begin).flatMap(({ role, blocks }) => (role === 'user' ? blocks.flatMap(partsOf) : []))
}

function partsOf(block: Block): readonly ModerationPart[] {
  if (block.kind === 'text') return [{ type: 'text', text: block.text }]
  if (block.kind === 'result') return block.blocks.flatMap(partsOf)
  if (block.kind !== 'media' || block.type !== 'image') return []
  const { source } = block
  if ('base64' in source)
    return [{ type: 'image_url', image_url: { url: `data:${source.mediaType};base64,${source.base64}` } }]
  return 'url' in source ? [{ type: 'image_url', image_url: { url: source.url } }] : []
}
