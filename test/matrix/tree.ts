/** The public entries of this tree or another one, loaded from its sources. */
import { pathToFileURL } from 'node:url'
import { join } from 'node:path'

export type Tree = Pick<typeof import('../../src/index.ts'), 'createGateway'> &
  Pick<typeof import('../../src/providers/index.ts'), 'anthropic' | 'demo' | 'gemini' | 'openai'> &
  Pick<typeof import('../../adapters/bridges/ai-sdk/ai-sdk.ts'), 'fromAiSdk'> &
  Pick<typeof import('../../adapters/hosts/fetch.ts'), 'mount'>

const entries = [
  'src/index.ts',
  'src/providers/index.ts',
  'adapters/bridges/ai-sdk/ai-sdk.ts',
  'adapters/hosts/fetch.ts',
]

export async function treeAt(root: string): Promise<Tree> {
  const modules = await Promise.all(
    entries.map(async (entry) => (await import(pathToFileURL(join(root, entry)).href)) as object),
  )
  return Object.assign({}, ...modules) as Tree
}
