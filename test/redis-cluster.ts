/** A Redis cluster for one test: three masters with a replica each, on free ports and in a temporary folder. */
import { execFile, spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Whether a cluster can be started here: `describe.skipIf(!hasRedisServer)`. */
export const hasRedisServer: boolean = isInstalled()

function isInstalled(): boolean {
  const installed =
    spawnSync('redis-server', ['--version']).status === 0 && spawnSync('redis-cli', ['--version']).status === 0
  if (!installed && process.env['MODELHATCH_REQUIRE_ALL'])
    throw new Error('redis-server is required here and not installed')
  return installed
}

export interface RedisCluster {
  readonly ports: readonly number[]
  /** Kills the master that serves a key, as a crash would. */
  killMasterOf(key: string): Promise<void>
  close(): Promise<void>
}

/** `nodeTimeoutMs`: milliseconds without a reply after which the other nodes consider a node down. */
export async function redisCluster(nodeTimeoutMs: number): Promise<RedisCluster> {
  const folder = mkdtempSync(join(tmpdir(), 'modelhatch-cluster-'))
  const free = await freePorts(12)
  const ports = free.slice(0, 6)
  const nodes = new Map<number, ChildProcess>()
  for (const [index, port] of ports.entries())
    nodes.set(port, start(port, free[index + 6] as number, folder, nodeTimeoutMs))
  const close = async () => {
    const running = [...nodes.values()].filter((node) => node.exitCode === null && node.signalCode === null)
    await Promise.all(
      running.map(async (node) => {
        node.kill('SIGKILL')
        await once(node, 'exit')
      }),
    )
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    for (const port of ports) await until(async () => (await redisCli(port, 'PING')) === 'PONG')
    await formCluster(ports, free.slice(6))
    return {
      ports,
      async killMasterOf(key) {
        const [slot] = [await redisCli(ports[0] as number, 'CLUSTER', 'KEYSLOT', key)]
        const lines = (await redisCli(ports[0] as number, 'CLUSTER', 'NODES')).split('\n')
        const owner = lines.find((line) => line.includes('master') && serves(line, Number(slot)))
        const port = Number(/:(\d+)@/.exec(owner ?? '')?.[1])
        const node = nodes.get(port)
        if (node === undefined) throw new Error(`no master serves slot ${slot}`)
        node.kill('SIGKILL')
        await once(node, 'exit')
      },
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

function start(port: number, busPort: number, folder: string, nodeTimeoutMs: number): ChildProcess {
  const server = ['--port', port, '--cluster-port', busPort, '--bind', '127.0.0.1', '--dir', folder, '--save', '']
  const cluster = ['--cluster-enabled', 'yes', '--cluster-config-file', `${port}.conf`]
  const times = ['--cluster-node-timeout', nodeTimeoutMs, '--repl-diskless-sync-delay', 0]
  return spawn('redis-server', [...server, ...cluster, ...times].map(String), { stdio: 'ignore' })
}

/** The first three become masters, the others their replicas. */
async function formCluster(ports: readonly number[], busPorts: readonly number[]): Promise<void> {
  const first = ports[0] as number
  for (const [index, port] of ports.entries()) {
    await redisCli(port, 'CLUSTER', 'SET-CONFIG-EPOCH', String(index + 1))
    if (index > 0) await redisCli(first, 'CLUSTER', 'MEET', '127.0.0.1', String(port), String(busPorts[index]))
  }
  for (const [index, [from, to]] of [
    [0, 5460],
    [5461, 10922],
    [10923, 16383],
  ].entries()) {
    await redisCli(ports[index] as number, 'CLUSTER', 'ADDSLOTSRANGE', String(from), String(to))
  }
  for (const index of [0, 1, 2]) {
    const master = await redisCli(ports[index] as number, 'CLUSTER', 'MYID')
    const replica = ports[index + 3] as number
    await until(async () => (await redisCli(replica, 'CLUSTER', 'REPLICATE', master)) === 'OK')
  }
  for (const port of ports) {
    await until(async () => {
      const nodes = await redisCli(port, 'CLUSTER', 'NODES')
      const replicas = nodes.split('\n').filter((line) => line.includes('slave')).length
      return replicas === 3 && (await redisCli(port, 'CLUSTER', 'INFO')).includes('cluster_state:ok')
    })
  }
  for (const port of ports.slice(3)) {
    await until(async () => (await redisCli(port, 'INFO', 'replication')).includes('master_link_status:up'))
  }
}

function serves(line: string, slot: number): boolean {
  return line
    .split(' ')
    .slice(8)
    .some((range) => {
      const [from = NaN, to = from] = range.split('-').map(Number)
      return from <= slot && slot <= to
    })
}

async function redisCli(port: number, ...args: string[]): Promise<string> {
  try {
    const { stdout } = await run('redis-cli', ['-h', '127.0.0.1', '-p', String(port), ...args])
    return stdout.trim()
  } catch (error) {
    return String(error)
  }
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 20_000
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error('the cluster did not start in time')
    await pause(50)
  }
}

/** Finds free ports. Holds them all at the same time, so that they differ. */
async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'))
  await Promise.all(servers.map((server) => once(server, 'listening')))
  const ports = servers.map((server) => (server.address() as AddressInfo).port)
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return ports
}
