/** What a result depends on: the commit, the machine, its load. */
import { execFileSync } from 'node:child_process'
import { cpus, loadavg, platform, release, totalmem } from 'node:os'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

function git(...words: string[]): string {
  try {
    return execFileSync('git', words, { cwd: root, encoding: 'utf8' }).trim()
  } catch {
    return ''
  }
}

/** The commit, with a mark if files differ from it. */
export function commit(): string {
  const id = git('rev-parse', '--short', 'HEAD')
  if (id === '') return 'no commit'
  return `commit ${id}${git('status', '--porcelain') === '' ? '' : ' with changes'}`
}

/** Such as `2 × Intel Xeon, 24 GB, linux 6.1, Node 24.21.0`. */
export function machine(): string {
  const [first] = cpus()
  const memory = Math.round(totalmem() / 2 ** 30)
  const system = `${platform()} ${release()}`
  return `${cpus().length} × ${first?.model.trim() ?? 'CPU'}, ${memory} GB, ${system}, Node ${process.versions.node}`
}

/** The load average of the last minute. */
export function load(): string {
  return (loadavg()[0] as number).toFixed(1)
}

/** The first lines of every result. */
export function about(): string {
  return `modelhatch, ${commit()}, ${new Date().toISOString().slice(0, 16)}Z\n${machine()}, load ${load()} at the start\n`
}

/** Files and sockets that one process may have open; Infinity if the system does not say. */
export function openFiles(): number {
  const report = process.report.getReport() as { userLimits?: { open_files?: { soft?: string | number } } }
  const limit = Number(report.userLimits?.open_files?.soft)
  return Number.isNaN(limit) ? Infinity : limit
}

/** The executable of a version of Node, from the package registry; undefined if it cannot be had. */
export function nodeOf(version: string): { readonly path: string; readonly version: string } | undefined {
  try {
    const words = ['--yes', '-p', `node@${version}`, 'node', '-p', 'process.execPath + " " + process.versions.node']
    const out = execFileSync('npx', words, { cwd: '/', encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
    const [path = '', found = ''] = out.trim().split(' ')
    return { path, version: found }
  } catch {
    return undefined
  }
}
