/**
 * The tools that clients run and of which requests have only the type, because OpenAI's models know what they take: the
 * descriptions that other models get of them, and the items of their calls and outputs. Source: OpenAI's guides of the local shell,
 * the shell and the patch tool. The computer is not declared, because a model must be trained for it.
 */
import { fieldsOf, textOf } from '../../wire/json.ts'
import type { Block, Fields, FunctionTool } from '../../conversation/conversation.ts'
import { objectOf } from '../../conversation/json.ts'
import { parameters, textParameter } from '../tools.ts'
import { readParts } from './content.ts'

interface ClientTool {
  readonly type: string
  /** The type of its calls. */
  readonly call: string
  /** The field of a call that says what to do. */
  readonly field: string
  /** What every call has in that field. */
  readonly fixed?: Fields
  /** What every call has beside it. */
  readonly beside?: Fields
  readonly declared?: Omit<FunctionTool, 'kind' | 'name'>
}

const milliseconds = { type: 'integer', description: 'After how many milliseconds to end it' }

const tools: readonly ClientTool[] = [
  {
    type: 'local_shell',
    call: 'local_shell_call',
    field: 'action',
    fixed: { type: 'exec', env: {} },
    declared: {
      description: "Runs a command on the user's computer.",
      schema: parameters(
        {
          command: { type: 'array', items: { type: 'string' }, description: 'The program and its arguments' },
          working_directory: textParameter('Where to run it'),
          timeout_ms: milliseconds,
        },
        ['command'],
      ),
    },
  },
  {
    type: 'shell',
    call: 'shell_call',
    field: 'action',
    fixed: { timeout_ms: null, max_output_length: null },
    beside: { environment: null },
    declared: {
      description: "Runs shell commands on the user's computer.",
      schema: parameters(
        {
          commands: { type: 'array', items: { type: 'string' }, description: 'The commands, one after the other' },
          timeout_ms: milliseconds,
          max_output_length: { type: 'integer', description: 'The most characters of output to return' },
        },
        ['commands'],
      ),
    },
  },
  {
    type: 'apply_patch',
    call: 'apply_patch_call',
    field: 'operation',
    declared: {
      description: 'Creates, changes or deletes a file.',
      schema: parameters(
        {
          type: { type: 'string', enum: ['create_file', 'update_file', 'delete_file'] },
          path: textParameter('The path of the file'),
          diff: textParameter(
            'The changes in the V4A format: lines begin with "+", "-" or a space, sections with "@@"',
          ),
        },
        ['type', 'path'],
      ),
    },
  },
  { type: 'computer', call: 'computer_call', field: 'action' },
]

const byTool = new Map(tools.map((tool) => [tool.type, tool]))
const byCall = new Map(tools.map((tool) => [tool.call, tool]))

/** The function that other models may call in place of a tool; undefined for one that runs at the vendor. */
export function declaredAs(raw: Fields): FunctionTool | undefined {
  const type = textOf(raw['type'])
  const { declared, call } = byTool.get(type) ?? {}
  // Other shells are containers at the vendor.
  if (declared === undefined || (fieldsOf(raw['environment'])['type'] ?? 'local') !== 'local') return undefined
  return { kind: 'function', name: type, ...declared, own: { responses: { call } } }
}

/** A call of a tool that the client runs: its name and its input. Undefined for any other item. */
export function readClientCall(item: Fields): { readonly name: string; readonly input: string } | undefined {
  const tool = byCall.get(textOf(item['type']))
  if (tool === undefined) return undefined
  const { actions } = item
  return { name: tool.type, input: JSON.stringify(item[tool.field] ?? (actions === undefined ? {} : { actions })) }
}

/** The fields of a call that say what to do; undefined if the model has written something else. */
export function writeClientCall(call: string, input: string): Fields | undefined {
  const { field = 'action', fixed, beside } = byCall.get(call) ?? {}
  const said = objectOf(input)
  return said && { [field]: { ...fixed, ...said }, ...beside }
}

/** What a tool that the client runs has returned. Undefined for any other item. */
export function readClientOutput(
  { type, output, status }: Fields,
  place: string,
): { readonly blocks: readonly Block[]; readonly failed: boolean } | undefined {
  const where = `${place}.output`
  switch (type) {
    case 'local_shell_call_output':
    case 'apply_patch_call_output':
      return { blocks: readParts(output ?? textOf(status), where), failed: status === 'failed' }
    case 'shell_call_output':
      return { blocks: Array.isArray(output) ? output.map(ofCommand) : readParts(output, where), failed: false }
    case 'computer_call_output':
      return { blocks: readParts([output], where), failed: false }
    default:
      return undefined
  }
}

function ofCommand(raw: unknown): Block {
  const { stdout, stderr, outcome } = fieldsOf(raw)
  const { type, exit_code: code } = fieldsOf(outcome)
  const end =
    type === 'timeout' ? 'The command timed out.' : code === undefined ? '' : `Exit code: ${JSON.stringify(code)}`
  const lines = [textOf(stdout), textOf(stderr), end].filter((line) => line !== '')
  return { kind: 'text', text: lines.join('\n') }
}
