/** Installs the package, as npm would publish it, in a consumer outside this project. */
import { execFile } from 'node:child_process'
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)

export const root: string = fileURLToPath(new URL('../../', import.meta.url))

interface Manifest {
  readonly name: string
  readonly files: readonly string[]
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>
  readonly imports: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly dependencies: Readonly<Record<string, string>>
}

export const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest

export interface Consumer {
  /** The folder of the consuming project. */
  readonly folder: string
  /** The folder of the package inside `node_modules`. */
  readonly installed: string
  /** Every file of the package, such as `dist/index.js`. */
  readonly files: ReadonlySet<string>
  /** Of the package as it is downloaded. */
  readonly bytes: number
  write(path: string, text: string): void
  /** Runs Node there and returns what it prints. Rejects with its output if it fails. */
  node(...words: readonly string[]): Promise<string>
  /** Like `node`, with the Node.js at `path`. */
  nodeAt(path: string, ...words: readonly string[]): Promise<string>
  /** Compiles the consumer and the package strictly. Returns the errors. */
  compile(): Promise<string>
  remove(): void
}

/** The consumer's other packages. */
const otherPackages = [
  '@types/node',
  '@types/express',
  '@types/koa',
  'express',
  'koa',
  'express-session',
  '@types/express-session',
  'openai',
  '@pydantic/genai-prices',
  'openid-client',
  '@opentelemetry/api',
  '@opentelemetry/exporter-trace-otlp-http',
  '@opentelemetry/sdk-trace',
  'prom-client',
  'ws',
]

export async function installPacked(): Promise<Consumer> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'consumer-')))
  const modules = join(folder, 'node_modules')
  const installed = join(modules, manifest.name)
  for (const name of ['package.json', 'README.md', 'LICENSE', 'src', 'adapters', 'examples']) {
    cpSync(join(root, name), join(installed, name), { recursive: true })
  }
  await run(process.execPath, [join(root, '.build/package.ts'), installed])
  const { files, bytes } = await pack(installed)
  for (const file of globSync('**', { cwd: installed, withFileTypes: true })) {
    const path = join(file.parentPath, file.name)
    if (file.isFile() && !files.has(relative(installed, path))) rmSync(path)
  }
  for (const name of [...Object.keys(manifest.dependencies), ...otherPackages]) {
    mkdirSync(dirname(join(modules, name)), { recursive: true })
    symlinkSync(join(root, 'node_modules', name), join(modules, name))
  }
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  const nodeAt = async (path: string, ...words: readonly string[]) => {
    const { stdout: printed } = await run(path, words, { cwd: folder, timeout: 60_000 })
    return printed
  }
  write('package.json', JSON.stringify({ name: 'consumer', type: 'module', private: true }))
  write('tsconfig.json', JSON.stringify({ compilerOptions: strictest, include: ['src'] }))
  return {
    folder,
    installed,
    files,
    bytes,
    write,
    node: (...words) => nodeAt(process.execPath, ...words),
    nodeAt,
    async compile() {
      const compiled = run(join(root, 'node_modules/.bin/tsc'), ['-p', folder])
      const errors = await compiled.then(
        () => '',
        (error: { stdout?: string; message: string }) => error.stdout ?? error.message,
      )
      // Koa's own types do not match the installed types of content-disposition.
      return errors.replace(/^(?:\S*\/)?node_modules\/@types\/koa\/.*content-disposition.*\n/gm, '')
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** What npm would publish from a folder. */
async function pack(folder: string): Promise<Pick<Consumer, 'files' | 'bytes'>> {
  const words = ['pack', '--dry-run', '--json', '--ignore-scripts']
  const { stdout } = await run('npm', words, { cwd: folder, maxBuffer: 64 * 2 ** 20 })
  // A list in some versions of npm, and by the names of packages in others.
  const [packed] = Object.values(JSON.parse(stdout) as Record<string, { size: number; files: { path: string }[] }>)
  if (packed === undefined) throw new Error('npm has packed nothing')
  return { files: new Set(packed.files.map(({ path }) => path)), bytes: packed.size }
}

const strictest = {
  target: 'es2024',
  lib: ['es2024'],
  types: ['node'],
  module: 'nodenext',
  noEmit: true,
  strict: true,
  skipLibCheck: false,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noImplicitOverride: true,
  verbatimModuleSyntax: true,
}
