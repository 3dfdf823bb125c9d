/** An embedded library must not harm its host. Tested in separate processes, without the test runner's error handling. */
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import { calmly } from '../../cpu-time.ts'
import { sourceFlags } from '../../source-flags.ts'

interface Run {
  readonly lines: readonly Record<string, unknown>[]
  readonly errors: string
  readonly code: number | null
}

/** Runs a file of `wall/` until it exits. */
function run(file: string, ...flags: string[]): Promise<Run> {
  const path = fileURLToPath(new URL(`wall/${file}`, import.meta.url))
  const child = spawn(process.execPath, [...sourceFlags, ...flags, path])
  let output = ''
  let errors = ''
  child.stdout.on('data', (piece: Buffer) => (output += piece.toString('utf8')))
  child.stderr.on('data', (piece: Buffer) => (errors += piece.toString('utf8')))
  return new Promise((resolve) => {
    child.on('close', (code) => {
      const lines = output.split('\n').filter((line) => line !== '')
      const read = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
      resolve({ lines: read, errors, code })
    })
  })
}

describe('importing', () => {
  it('changes nothing in the process', async () => {
    const { lines, errors, code } = await run('importing.ts')
    expect([code, errors]).toEqual([0, ''])
    const { modules, globalUndici, changes } = lines[0] as {
      modules: string[]
      globalUndici: string[]
      changes: object
    }
    expect(modules).toEqual(expect.arrayContaining(['.', './express', './koa', './node', './fetch', './providers']))
    // zod shares its settings between its copies through globals.
    expect(changes).toEqual({ globals: { removed: [], added: ['__zod_globalConfig', '__zod_globalRegistry'] } })
    expect(globalUndici).toEqual([])
  })
})

describe('a host under attack', () => {
  let wall: Run
  beforeAll(async () => {
    wall = await run('child.ts', '--unhandled-rejections=strict')
  }, 60_000)
  const attempts = (begin: string) =>
    wall.lines.filter(({ name }) => typeof name === 'string' && name.startsWith(begin))
  const wrong = (begin: string) => attempts(begin).filter((line) => 'wrong' in line)

  it('survives and prints nothing to stderr', () => {
    expect(wall.errors).toBe('')
    expect(wall.code).toBe(0)
  })

  it.each([
    ['a key store', 32],
    ['authenticate()', 32],
    ['a registry', 30],
    ['a provider', 70],
    ['the receipt hook', 14],
    ['a limit store', 30],
    ['a usage store', 30],
    ['a client disconnects', 200],
    ['a vendor', 200],
    ['the server works afterwards', 10],
  ])('sends valid responses whatever happens: %s', (begin, atLeast) => {
    expect(attempts(begin).length).toBeGreaterThanOrEqual(atLeast)
    expect(wrong(begin)).toEqual([])
  })

  it('is unchanged after everything is closed', () => {
    const { changes } = wall.lines.find((line) => 'changes' in line) as {
      changes: Record<string, { added: unknown[] }>
    }
    const { resources = { added: [] }, ...others } = changes
    expect([resources.added, others]).toEqual([[], {}])
  })

  it('exits within 200 ms of that', () => {
    const { closed } = wall.lines.find((line) => 'closed' in line) as { closed: number }
    const { exited } = wall.lines.find((line) => 'exited' in line) as { exited: number }
    expect(calmly(exited - closed, 200)).toBeLessThan(200)
  })
})
