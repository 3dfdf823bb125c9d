/** What is measured, for OpenTelemetry and for Prometheus alike. */
import {
  parseMoney,
  type BreakerChange,
  type CallCosts,
  type GatewayState,
  type ObservedCall,
  type QueueName,
  type Receipt,
  type StoreFailure,
  type TaskChange,
} from '../../src/index.ts'
import { LabelMaker, type Labels } from './labels.ts'
import { attributes, providerOf, type Recorded } from './names.ts'
import type { Reading, Sink } from './sink.ts'

const none: Labels = {}
const stateValues = { closed: 0, 'half-open': 1, open: 2 } as const

/** Records what gateways do. One can serve several gateways of a process. */
export class Figures {
  readonly labels: LabelMaker
  readonly #sink: Sink
  readonly #states = new Set<() => GatewayState>()
  /** The deployments whose breaker has changed. */
  readonly #breakers = new Set<Labels>()

  /** `models`: see `LabelMaker`. */
  constructor(sink: Sink, models: readonly string[] = []) {
    this.#sink = sink
    this.labels = new LabelMaker(models)
  }

  attach(state: () => GatewayState): void {
    this.#states.add(state)
  }

  record(metric: Recorded, value: number, labels: Labels): void {
    this.#sink.record(metric, value, labels)
  }

  /** The label for the model of a request; undefined if it names none, or was refused before it was read. */
  modelOf({ model, request }: Pick<ObservedCall, 'model' | 'request'>): string | undefined {
    if (model === undefined) return this.labels.model(request?.model, true)
    return this.labels.model(
      model.id,
      model.deployments.some(({ open }) => open === true),
    )
  }

  receipt({ model, provider, charge }: Receipt, costs?: CallCosts): void {
    const ofModel = { [attributes.requestModel]: this.labels.model(model, true) }
    const spent = Math.round(Number(costs?.vendorCost ?? 0) * 1e9) / 1e3
    if (spent > 0) {
      const labels = { [attributes.provider]: providerOf(provider), ...ofModel, [attributes.currency]: costs?.currency }
      this.record('vendorCost', spent, this.labels.of(labels))
    }
    if (charge === undefined) return
    for (const part of charge.unrated ?? [])
      this.record('unrated', 1, this.labels.of({ ...ofModel, [attributes.part]: part.split('.')[0] }))
    const millionths = Number(parseMoney(charge.cost))
    if (millionths === 0) return
    this.record('cost', millionths, this.labels.of({ ...ofModel, [attributes.currency]: charge.currency }))
  }

  breaker(change: BreakerChange): void {
    const labels = this.#labelsOf(change)
    this.#breakers.add(labels)
    this.record('breakerChanges', 1, this.#labelsOf(change, change.state))
  }

  store({ store }: StoreFailure): void {
    this.record('storeFailures', 1, this.labels.of({ [attributes.store]: store }))
  }

  dropped(queue: QueueName): void {
    this.record('dropped', 1, this.labels.of({ [attributes.queue]: queue }))
  }

  task({ type, model }: TaskChange): void {
    const labels = { [attributes.event]: type, [attributes.requestModel]: this.labels.model(model, true) }
    this.record('tasks', 1, this.labels.of(labels))
  }

  /** The current values of all gauges. */
  readings(): readonly Reading[] {
    const states = [...this.#states].map((state) => [state, state()] as const)
    // What a closed gateway measured stays in the counters; nothing refers to the gateway any more.
    for (const [state, { closing, openCalls }] of states) if (closing && openCalls === 0) this.#states.delete(state)
    const sum = (value: (state: GatewayState) => number) => states.reduce((total, [, state]) => total + value(state), 0)
    const queues: readonly QueueName[] = ['settlements', 'returns', 'usage']
    return [
      { gauge: 'openCalls', value: sum(({ openCalls }) => openCalls), labels: none },
      { gauge: 'holds', value: sum(({ holds }) => holds), labels: none },
      ...queues.map((queue) => ({
        gauge: 'queue' as const,
        value: sum((state) => state.queues[queue]),
        labels: this.labels.of({ [attributes.queue]: queue }),
      })),
      ...this.#breakerReadings(states.flatMap(([, { breakers }]) => breakers)),
    ]
  }

  #breakerReadings(notClosed: readonly BreakerChange[]): Reading[] {
    const values = new Map<Labels, number>([...this.#breakers].map((labels) => [labels, 0]))
    for (const change of notClosed) {
      const labels = this.#labelsOf(change)
      values.set(labels, Math.max(values.get(labels) ?? 0, stateValues[change.state]))
    }
    return [...values].map(([labels, value]) => ({ gauge: 'breakerState', value, labels }))
  }

  #labelsOf({ provider, model, openModel }: BreakerChange, state?: string): Labels {
    return this.labels.of({
      [attributes.provider]: providerOf(provider),
      [attributes.requestModel]: this.labels.model(model, openModel),
      [attributes.state]: state,
    })
  }
}
