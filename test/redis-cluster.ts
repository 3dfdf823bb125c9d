/** Redis servers for one test, alone or as a cluster of three masters, on free ports and in a temporary folder. */
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

export interface RedisServer {
  readonly port: number
  close(): Promise<void>
}

/** A single server that nothing else uses. */
export async function redisServer(): Promise<RedisServer> {
  const folder = mkdtempSync(join(tmpdir(), 'modelhatch-redis-'))
  const [port] = (await freePorts(1)) as [number]
  const node = start(port, folder)
  await until(async () => (await redisCli(port, 'PING')) === 'PONG')
  return { port, close: () => stop([node], folder) }
}

export interface Move {
  /** How many commands the other master has refused because keys of the slot may be missing there. */
  refused(): Promise<number>
  end(): Promise<void>
}

export interface RedisCluster {
  /** The masters come first. */
  readonly ports: readonly number[]
  /** Kills the master that serves a key, as a crash would. */
  killMasterOf(key: string): Promise<void>
  /** Begins to move the slot of a key to another master. */
  beginMoving(key: string): Promise<Move>
  close(): Promise<void>
}

/**
 * `nodeTimeoutMs`: milliseconds without a reply after which the other nodes consider a node down. `replicas`: one for each
 * master, unless false.
 */
export async function redisCluster(nodeTimeoutMs: number, { replicas = true } = {}): Promise<RedisCluster> {
  const folder = mkdtempSync(join(tmpdir(), 'modelhatch-cluster-'))
  const count = replicas ? 6 : 3
  const free = await freePorts(2 * count)
  const ports = free.slice(0, count)
  const nodes = new Map<number, ChildProcess>()
  for (const [index, port] of ports.entries()) {
    const cluster = ['--cluster-enabled', 'yes', '--cluster-config-file', `${port}.conf`]
    const times = ['--cluster-node-timeout', nodeTimeoutMs, '--repl-diskless-sync-delay', 0]
    nodes.set(port, start(port, folder, ['--cluster-port', free[index + count], ...cluster, ...times]))
  }
  const close = () => stop([...nodes.values()], folder)
  try {
    for (const port of ports) await until(async () => (await redisCli(port, 'PING')) === 'PONG')
    await formCluster(ports, free.slice(count))
    return {
      ports,
      async killMasterOf(key) {
        const { port, slot } = await masterOf(ports[0] as number, key)
        const node = nodes.get(port)
        if (node === undefined) throw new Error(`no master serves slot ${slot}`)
        node.kill('SIGKILL')
        await once(node, 'exit')
      },
      beginMoving: (key) => beginMoving(ports.slice(0, 3), key),
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

function start(port: number, folder: string, options: readonly unknown[] = []): ChildProcess {
  const server = ['--port', port, '--bind', '127.0.0.1', '--dir', folder, '--save', '', ...options]
  return spawn('redis-server', server.map(String), { stdio: 'ignore' })
}

async function stop(nodes: readonly ChildProcess[], folder: string): Promise<void> {
  const running = nodes.filter((node) => node.exitCode === null && node.signalCode === null)
  await Promise.all(
    running.map(async (node) => {
      node.kill('SIGKILL')
      await once(node, 'exit')
    }),
  )
  rmSync(folder, { recursive: true, force: true })
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
  for (const index of ports.slice(3).keys()) {
    const master = await redisCli(ports[index] as number, 'CLUSTER', 'MYID')
    const replica = ports[index + 3] as number
    await until(async () => (await redisCli(replica, 'CLUSTER', 'REPLICATE', master)) === 'OK')
  }
  for (const port of ports) {
    await until(async () => {
      const nodes = await redisCli(port, 'CLUSTER', 'NODES')
      const replicas = nodes.split('\n').filter((line) => line.includes('slave')).length
      return replicas === ports.length - 3 && (await redisCli(port, 'CLUSTER', 'INFO')).includes('cluster_state:ok')
    })
  }
  for (const port of ports.slice(3)) {
    await until(async () => (await redisCli(port, 'INFO', 'replication')).includes('master_link_status:up'))
  }
}

async function masterOf(asked: number, key: string): Promise<{ port: number; slot: string }> {
  const slot = await redisCli(asked, 'CLUSTER', 'KEYSLOT', key)
  const lines = (await redisCli(asked, 'CLUSTER', 'NODES')).split('\n')
  const owner = lines.find((line) => line.includes('master') && serves(line, Number(slot)))
  return { port: Number(/:(\d+)@/.exec(owner ?? '')?.[1]), slot }
}

async function beginMoving(masters: readonly number[], key: string): Promise<Move> {
  const { port: from, slot } = await masterOf(masters[0] as number, key)
  const to = masters.find((port) => port !== from) as number
  const [left, entered] = [await redisCli(from, 'CLUSTER', 'MYID'), await redisCli(to, 'CLUSTER', 'MYID')]
  await redisCli(to, 'CLUSTER', 'SETSLOT', slot, 'IMPORTING', left)
  await redisCli(from, 'CLUSTER', 'SETSLOT', slot, 'MIGRATING', entered)
  return {
    async refused() {
      return Number(/errorstat_TRYAGAIN:count=(\d+)/.exec(await redisCli(to, 'INFO', 'errorstats'))?.[1] ?? 0)
    },
    async end() {
      const keys = (await redisCli(from, 'CLUSTER', 'GETKEYSINSLOT', slot, '1000')).split('\n')
      const moved = await redisCli(from, 'MIGRATE', '127.0.0.1', String(to), '', '0', '5000', 'KEYS', ...keys)
      if (moved !== 'OK') throw new Error(moved)
      for (const port of [to, from, ...masters]) await redisCli(port, 'CLUSTER', 'SETSLOT', slot, 'NODE', entered)
    },
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
