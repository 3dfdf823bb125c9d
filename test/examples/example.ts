/** An example as its reader runs it: its own process, on a free port, until a signal. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { sourceFlags } from '../source-flags.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

export interface RunningExample {
  /** Such as `http://127.0.0.1:40123/v1`. */
  readonly baseURL: string
  /** What it has printed so far, to either stream. */
  readonly printed: () => string
  /** Sends the signal and returns the exit code; null if it had to be killed. */
  readonly stop: (signal?: 'SIGTERM' | 'SIGINT') => Promise<number | null>
}

/** What follows `node` on the command line. */
export function commandOf(name: string): string[] {
  return ['--conditions=modelhatch-source', `examples/${name}.ts`]
}

/** Resolves when the example has printed its base URL; rejects with what it printed when it ends before. */
export async function runExample(name: string, env: Record<string, string> = {}): Promise<RunningExample> {
  const child = spawn(process.execPath, [...sourceFlags, `examples/${name}.ts`], {
    cwd: root,
    env: { PATH: process.env['PATH'], NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'], PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = once(child, 'close') as Promise<[number | null]>
  let printed = ''
  const baseURL = await new Promise<string>((resolve, reject) => {
    const note = (piece: Buffer) => {
      printed += piece.toString()
      const url = /http:\/\/127\.0\.0\.1:\d+(?!\S*\/console\/)(?!\d)\S*/.exec(printed)?.[0]
      if (url !== undefined) resolve(url)
    }
    child.stdout.on('data', note)
    child.stderr.on('data', note)
    child.once('error', reject)
    child.once('close', () => reject(new Error(`the example ${name} ended: ${printed}`)))
  })
  return {
    baseURL,
    printed: () => printed,
    async stop(signal = 'SIGTERM') {
      child.kill(signal)
      const patience = setTimeout(() => child.kill('SIGKILL'), 8_000)
      const [code] = await ended
      clearTimeout(patience)
      return code
    },
  }
}
