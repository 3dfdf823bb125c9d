/**
 * The worst inputs in a separate process: with the large heap of other tests, a single garbage collection takes longer
 * than the limit of a turn.
 */
import { leastMs } from '../cpu-time.ts'
import { worstGateway } from './gateway.ts'
import { worstInputs } from './inputs.ts'
import { turnsOf } from './turns.ts'

export interface Trial {
  readonly path: string
  readonly name: string
  readonly model: string
  /** Milliseconds of CPU. */
  readonly limit: number
}

export interface Outcome {
  /** Of every try. */
  readonly statuses: readonly number[]
  /** The longest turn in the best of the tries. */
  readonly longest: number
}

const gateway = await worstGateway()

async function outcomeOf({ path, name, model, limit }: Trial): Promise<Outcome> {
  const input = worstInputs.find((each) => each.path === path && each.name === name)
  if (input === undefined) throw new Error(`there is no input "${name}" for ${path}`)
  const body = input.body(model)
  const statuses: number[] = []
  const longest = await leastMs(limit, async () => {
    const { result, longestTurn } = await turnsOf(() => gateway.send(path, input.contentType, body))
    statuses.push(result)
    return longestTurn
  })
  return { statuses, longest }
}

process.on('message', (trial: Trial) => {
  void outcomeOf(trial).then((outcome) => process.send?.(outcome))
})
process.on('disconnect', () => process.exit())
process.send?.('ready')
