/**
 * The tools that clients run, and of which requests have only the type, because Claude knows what they take. Source:
 * Anthropic's documentation of the bash, text editor and memory tools. Tools of the computer and the browser are not
 * listed: they need a model that was trained for them.
 */
import type { FunctionTool } from '../../conversation/conversation.ts'
import { parameters, textParameter } from '../tools.ts'

const path = textParameter('Absolute path of a file or folder')
const edits = {
  path,
  file_text: textParameter('The content of the file, for create'),
  old_str: textParameter('The text to replace; it must occur exactly once'),
  new_str: textParameter('The new text, for str_replace'),
  insert_line: { type: 'integer', description: 'The line after which to insert; 0 for the beginning' },
  insert_text: textParameter('The text to insert'),
  view_range: {
    type: 'array',
    items: { type: 'integer' },
    description: 'First and last line to view; -1 for the end of the file',
  },
}

const bash: FunctionTool = {
  kind: 'function',
  name: 'bash',
  description: 'Runs a command in a bash session that keeps its state.',
  schema: parameters({
    command: textParameter('The command to run'),
    restart: { type: 'boolean', description: 'True to restart the session instead' },
  }),
}

const memory: FunctionTool = {
  kind: 'function',
  name: 'memory',
  description: 'Reads and writes files below /memories, which are kept from conversation to conversation.',
  schema: parameters(
    {
      command: { type: 'string', enum: ['view', 'create', 'str_replace', 'insert', 'delete', 'rename'] },
      ...edits,
      old_path: textParameter('The path to rename'),
      new_path: textParameter('The new path'),
    },
    ['command'],
  ),
}

function editor(name: string, commands: readonly string[]): FunctionTool {
  const schema = parameters({ command: { type: 'string', enum: commands }, ...edits }, ['command', 'path'])
  return { kind: 'function', name, description: 'Views, creates and edits files.', schema }
}

const commands = ['view', 'create', 'str_replace', 'insert']
const laterEditor = editor('str_replace_based_edit_tool', commands)
const earlierEditor = editor('str_replace_editor', [...commands, 'undo_edit'])

/** The tool of a type, such as `bash_20250124`; undefined for one that only runs at Anthropic. */
export function knownTool(type: string): FunctionTool | undefined {
  if (/^bash_\d+$/.test(type)) return bash
  if (/^memory_\d+$/.test(type)) return memory
  if (/^text_editor_202(?:41022|50124)$/.test(type)) return earlierEditor
  return /^text_editor_\d+$/.test(type) ? laterEditor : undefined
}
