/** The flags of Node with which tests and the processes that they start run the sources. */
export const sourceFlags: readonly string[] = [
  '--conditions=modelhatch-source',
  `--import=${new URL('relative-imports.ts', import.meta.url).href}`,
]
