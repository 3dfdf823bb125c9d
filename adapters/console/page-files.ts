/** The files of the page in the package. A console that runs from the sources bundles them: see `imports` in package.json. */
import { readdir, readFile } from 'node:fs/promises'

/** The files by their path, in a folder of the package. */
export async function pageFiles(): Promise<Map<string, Uint8Array>> {
  const folder = new URL('dist/console/', import.meta.resolve('modelhatch/package.json'))
  const paths = await readdir(folder, { recursive: true })
  const files = paths.filter((path) => /\.\w+$/.test(path)).map((path) => path.replaceAll('\\', '/'))
  return new Map(
    await Promise.all(
      files.map(async (path): Promise<[string, Uint8Array]> => [path, await readFile(new URL(path, folder))]),
    ),
  )
}
