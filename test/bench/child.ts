/** Child processes with calls over IPC: each part of the benchmark is a process, so that its CPU time can be measured. */
import { fork, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** The functions of a child by name; all inputs and results are JSON. */
export type Duties = Readonly<Record<string, (input: never) => unknown>>

interface Message {
  readonly id: number
  readonly duty: string
  readonly input?: unknown
  readonly error?: string
}

/** Called by a child: serves the calls of its parent until the parent exits. */
export function serveParent(duties: Duties): void {
  process.on('message', ({ id, duty, input }: Message) => {
    void Promise.resolve()
      .then(() => duties[duty]?.(input as never))
      .then(
        (answer) => process.send?.({ id, duty, input: answer }),
        (error: unknown) => process.send?.({ id, duty, error: String((error as { cause?: unknown }).cause ?? error) }),
      )
  })
  process.on('disconnect', () => process.exit())
}

export class Child {
  readonly #process: ChildProcess
  readonly #open = new Map<number, PromiseWithResolvers<unknown>>()
  #count = 0

  /** Starts `file`, in the folder of this one. `node`: the path of another version of Node. */
  constructor(file: string, args: readonly string[] = [], node: string = process.execPath) {
    const execArgv = [...process.execArgv, '--disable-warning=ExperimentalWarning']
    this.#process = fork(fileURLToPath(new URL(file, import.meta.url)), args, { execPath: node, execArgv })
    this.#process.on('message', ({ id, input, error }: Message) => {
      if (error === undefined) this.#open.get(id)?.resolve(input)
      else this.#open.get(id)?.reject(new Error(error))
      this.#open.delete(id)
    })
    this.#process.on('exit', (code) => {
      for (const question of this.#open.values()) question.reject(new Error(`${file} ended with ${code}`))
    })
  }

  async ask<T>(duty: string, input?: unknown): Promise<T> {
    const question = Promise.withResolvers<unknown>()
    const id = ++this.#count
    this.#open.set(id, question)
    this.#process.send({ id, duty, input })
    return (await question.promise) as T
  }

  stop(): void {
    this.#process.disconnect()
  }
}
