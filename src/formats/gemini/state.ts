/**
 * State in the parts of this wire: Google's own thought signatures as they are, the state of other makers in an envelope.
 * Inside, Google's state has the form in which chats carry it, in `extra_content.google`, as at Google's own endpoint for
 * chats, so that a conversation can go on in any format.
 */
import type { Block, ReasoningBlock, State } from '../../conversation/conversation.ts'
import { noSignature } from '../../providers/content/signatures.ts'
import { objectOf } from '../../conversation/json.ts'
import { fieldsOf, isRecord, itemsOf, stringOf, textOf, type Fields } from '../../wire/json.ts'
import { anyMaker, seal, unseal } from '../envelope.ts'
import { toolId } from '../messages/tool-id.ts'
import { packState, StateReader } from '../model-state.ts'

/** The maker of signatures without an envelope. */
export const google = 'google'

/** Another of Google's documented values for calls without a signature, and what clients may make of none. */
const placeholders: ReadonlySet<unknown> = new Set([noSignature, 'context_engineering_is_the_way_to_go', ''])

/** The state of a part with this signature; `callId`: of a call. */
export function signed(maker: string, signature: string, callId?: string): State {
  const fields = { extra_content: { google: { thought_signature: signature } } }
  return { maker, data: packState(callId === undefined ? { message: fields } : { calls: { [callId]: fields } }) }
}

/** The state that consists of parts of the vendor's own, such as code that it ran. */
export function ownParts(maker: string, parts: readonly Fields[]): State {
  return { maker, data: packState({ message: { extra_content: { google: { parts } } } }) }
}

/** What Google wants back. */
export interface GoogleState {
  /** Of the text, or of the whole message. */
  readonly signature?: string | undefined
  /** Parts of the vendor's own. */
  readonly parts: readonly Fields[]
  /** The signatures of calls, by the id of the call here and in messages. */
  readonly calls: ReadonlyMap<string, string>
}

interface TurnState {
  readonly states: ReadonlyMap<Block, GoogleState>
  /** By the id of the call. */
  readonly signatures: ReadonlyMap<string, string>
}

/** Reads the states of one request, up to a bound that no conversation reaches. */
export class GoogleStateReader {
  readonly #states = new StateReader()

  /** The states of blocks as far as they are of `maker`, and the signatures of all calls in them. */
  ofTurn(blocks: readonly Block[], maker: string): TurnState {
    const states = new Map<Block, GoogleState>()
    const signatures = new Map<string, string>()
    for (const block of blocks) {
      if (block.state?.maker !== maker) continue
      const state = this.read(block.state)
      states.set(block, state)
      for (const [id, signature] of state.calls) signatures.set(id, signature)
    }
    return { states, signatures }
  }

  read({ data }: State): GoogleState {
    const { message = {}, calls = {} } = this.#states.unpack(data) ?? {}
    const { thought_signature: signature, parts } = googleIn(message)
    const signatures = new Map<string, string>()
    for (const [id, fields] of Object.entries(calls)) {
      const own = textOf(googleIn(fields)['thought_signature'])
      if (own === '') continue
      signatures.set(id, own)
      signatures.set(toolId(id), own)
    }
    return { signature: stringOf(signature) || undefined, parts: itemsOf(parts).filter(isRecord), calls: signatures }
  }
}

function googleIn({ extra_content: extra }: Fields): Fields {
  return fieldsOf(fieldsOf(extra)['google'])
}

/** What the signature of a client's part says: a signature of Google's, or what other makers want back. */
export interface Carried {
  /** Reasoning before the part. */
  readonly before: readonly ReasoningBlock[]
  /** The part's own state. */
  readonly state?: State | undefined
}

const nothing: Carried = { before: [] }
/** `mh1.` in base64, as far as it depends on nothing else. */
const head = 'bWgxL'

/** Whether the text of a request may hold envelopes of other makers. */
export function mayHoldEnvelopes(text: string): boolean {
  return text.includes(head)
}

export function readSignature(signature: unknown, callId?: string): Carried {
  if (typeof signature !== 'string' || placeholders.has(signature)) return nothing
  const carried = signature.startsWith(head) ? envelopeIn(signature) : undefined
  return carried ?? { before: [], state: signed(google, signature, callId) }
}

function envelopeIn(signature: string): Carried | undefined {
  const text = unseal(Buffer.from(signature, 'base64').toString('utf8'), anyMaker)
  const fields = text === undefined ? undefined : objectOf(text)
  if (fields === undefined) return undefined
  return { before: itemsOf(fields['before']).filter(isRecord).map(reasoningIn), state: stateIn(fields['state']) }
}

function reasoningIn(raw: Fields): ReasoningBlock {
  const form = raw['form'] === 'summary' || raw['form'] === 'sealed' ? raw['form'] : undefined
  return { kind: 'reasoning', text: textOf(raw['text']), form, state: stateIn(raw) }
}

function stateIn(raw: unknown): State | undefined {
  const { maker, data } = fieldsOf(raw)
  return typeof maker === 'string' && typeof data === 'string' ? { maker, data } : undefined
}

/**
 * The signature for a client: Google's own as it is. Clients may drop thoughts, so the next other part carries the reasoning
 * before it, with its text, which its maker may want back. Bytes in base64, because clients parse it as such.
 */
export function signatureFor(reader: GoogleStateReader, { before, state }: Carried): string | undefined {
  if (before.length === 0) {
    if (state === undefined) return undefined
    if (state.maker === google) return bareSignature(reader.read(state))
  }
  const body = {
    before: before.map(({ text, form, state: own }) => ({ text, form, ...own })),
    state,
  }
  return Buffer.from(seal(anyMaker, JSON.stringify(body))).toString('base64')
}

function bareSignature({ signature, calls }: GoogleState): string | undefined {
  if (signature !== undefined) return signature
  for (const own of calls.values()) return own
  return undefined
}
