/**
 * Installs the coding agents of these tests from the npm registry, unless they are there: `npm run test:agents`. Install
 * scripts run in that folder only, and only those that its `package.json` allows.
 */
import { execFile } from 'node:child_process'
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { folder, isInstalled, manifests, names, program } from './programs.ts'

const run = promisify(execFile)

if (!isInstalled()) {
  const draft = `${folder}.${process.pid}`
  mkdirSync(draft, { recursive: true })
  try {
    for (const { name, text } of manifests) writeFileSync(join(draft, name), text)
    // Not `ci`, which refuses a lock file without the packages for other systems, and not every registry has those.
    await run('npm', ['install', '--no-audit', '--no-fund'], { cwd: draft, timeout: 600_000 })
    // Another process may have been faster.
    if (!isInstalled()) renameSync(draft, folder)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}
for (const name of names) {
  const { stdout } = await run(program(name), ['--version'], { timeout: 60_000 })
  console.log(name, stdout.trim())
}
