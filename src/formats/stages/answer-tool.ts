/**
 * A schema that the vendor cannot enforce becomes the input of a tool. What the model says before it calls that tool is
 * about the call, so it waits and is dropped if the call comes.
 */
import type { Conversation, Output, Tool } from '../../conversation/conversation.ts'
import type { Part } from '../../conversation/parts.ts'
import { stage, type Stage } from './stage.ts'

type Schema = Extract<Output, { kind: 'schema' }>

/** A conversation whose answer is the input of a tool. */
export interface WithAnswerTool {
  readonly conversation: Conversation
  /** The name of the tool. */
  readonly name: string
}

/** `mayForce`: a call cannot be forced while the model reasons; then only the tool's description asks for it. */
export function withAnswerTool(conversation: Conversation, output: Schema, mayForce: boolean): WithAnswerTool {
  const { tools, toolChoice, parallel, output: _, ...rest } = conversation
  const name = freeName(tools, output.name ?? 'json')
  const description = output.description ?? 'Gives the final answer. Always answer by calling this tool.'
  const isAlone = tools.length === 0 || toolChoice === 'none'
  const isNamed = typeof toolChoice === 'object'
  const choice = isNamed ? toolChoice : !mayForce ? 'auto' : isAlone ? { name } : 'any'
  return {
    name,
    conversation: {
      ...rest,
      tools: [...tools, { kind: 'function', name, description, schema: output.schema }],
      toolChoice: choice,
      ...((isAlone || parallel === false) && { parallel: false }),
    },
  }
}

function freeName(tools: readonly Tool[], preferred: string): string {
  const taken = new Set(tools.map((tool) => (tool.kind === 'function' ? tool.name : tool.value['name'])))
  let name = preferred
  while (taken.has(name)) name += '_answer'
  return name
}

/** Turns the call of the answer tool into the text that its input is. */
export function answerTool(name: string): Stage {
  /** What was said before any call of the answer tool. */
  let held: (Part & { readonly block: number })[] = []
  let answer = -1
  let hasOtherCalls = false
  return stage('call', (part): readonly Part[] => {
    switch (part.kind) {
      case 'text':
        if (answer < 0) held.push(part)
        return []
      case 'call': {
        const said = held
        held = []
        if (part.name === name && answer < 0) {
          answer = part.block
          return []
        }
        hasOtherCalls = true
        return [...said, part]
      }
      case 'input':
        if (part.block !== answer) return [part]
        return [{ kind: 'text', choice: part.choice, block: part.block, text: part.text }]
      case 'ended':
        return part.block === answer ? [] : [part]
      case 'end': {
        const said = held
        held = []
        const isAnswer = answer >= 0 && !hasOtherCalls && part.end.reason === 'calls'
        return isAnswer ? [{ ...part, end: { ...part.end, reason: 'stop' } }] : [...said, part]
      }
      default:
        // As of a text that waits: its citations and its state.
        if (!('block' in part) || !held.some((each) => each.block === part.block)) return [part]
        held.push(part)
        return []
    }
  })
}
