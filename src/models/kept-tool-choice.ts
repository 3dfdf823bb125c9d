interface Choice {
  readonly type?: unknown
  readonly name?: unknown
}

interface NamedTool {
  readonly name?: unknown
}

/** Whether a `tool_choice` of Anthropic's API fits the tools that were kept. A choice that did not fit before does not count. */
export function isChoiceKept(choice: unknown, kept: readonly unknown[], removed: readonly unknown[]): boolean {
  if (kept.length === 0) return false
  const { type, name } = Object(choice) as Choice
  return type !== 'tool' || !removed.some((tool) => (Object(tool) as NamedTool).name === name)
}
