/**
 * The model list in the format of Codex (`ModelInfo` in codex-rs/protocol/src/openai_models.rs), which the program asks for
 * with `client_version` in the query. Without it Codex warns that it has no metadata of the model.
 */
import type { Model } from '../../models/contract.ts'

/** Tokens of a command's output that Codex keeps in the conversation. */
const keptOutputTokens = 10_000

/** The levels that `reasoning.effort` accepts for every model. */
const levels = [
  { effort: 'low', description: 'Fast, with little reasoning' },
  { effort: 'medium', description: 'Balances speed and depth' },
  { effort: 'high', description: 'Reasons longer about hard tasks' },
]

/** Codex replaces its own instructions with these. */
const instructions =
  "You are Codex, a coding agent that works in the user's terminal and repository. Read the relevant code before you " +
  'change it. Make the smallest change that solves the task completely, in the style of the code around it. Run commands ' +
  'and edit files with the tools you have; check your work by running the tests or the program. Never revert changes ' +
  'that you did not make. Finish with a short summary of what you changed and how you checked it.'

/** One model. `position`: its place in the list, by which Codex orders its menu. */
export function codexModel(model: Model, position: number): object {
  return {
    slug: model.id,
    display_name: model.displayName ?? model.id,
    description: null,
    default_reasoning_level: 'medium',
    supported_reasoning_levels: levels,
    shell_type: 'shell_command',
    visibility: 'list',
    supported_in_api: true,
    priority: position,
    upgrade: null,
    base_instructions: instructions,
    supports_reasoning_summaries: true,
    support_verbosity: false,
    default_verbosity: null,
    // As a tool with free text; for models that only chat the gateway makes it a function.
    apply_patch_tool_type: 'freeform',
    truncation_policy: { mode: 'tokens', limit: keptOutputTokens },
    supports_parallel_tool_calls: true,
    context_window: model.contextWindow ?? null,
    experimental_supported_tools: [],
  }
}
