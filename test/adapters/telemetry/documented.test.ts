/** The guide and the dashboard name what the code has. */
import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { prometheusName } from '../../../adapters/telemetry/metrics/series.ts'
import { attributes, metricNames, requestNumbers, spanAttributes } from '../../../adapters/telemetry/names.ts'
import { documentAt, inCode, marked, members, root, rows, section, textOf } from '../../documents.ts'

const guide = documentAt('adapters/telemetry/README.md')
const metrics = Object.values(metricNames)

test('the table of metrics is the code’s, with kinds, attributes and descriptions', () => {
  const listed = rows(marked(guide, 'metrics')).map(([name, kind, labels, text]) => [
    inCode(name)[0],
    kind,
    inCode(labels),
    text,
  ])
  expect(listed).toEqual(
    metrics.map(({ name, kind, labels, description }) => [name, kind, labels, description.replace(/\.$/, '')]),
  )
})

test('the table of attributes has all that spans have beside those of metrics', () => {
  const listed = rows(marked(guide, 'attributes')).flatMap(([names]) => inCode(names))
  const { serverAddress, serverPort, currency } = attributes
  const all = [...Object.values(spanAttributes), ...Object.values(requestNumbers), serverAddress, serverPort, currency]
  expect(new Set(listed)).toEqual(new Set(all))
  expect(listed.length).toBe(new Set(listed).size)
})

test('no other file of the entries has a name of the conventions', () => {
  const files = globSync('adapters/telemetry/**/*.ts', { cwd: root }).filter((path) => !path.endsWith('/names.ts'))
  expect(files.length).toBeGreaterThan(8)
  for (const file of files) expect(textOf(file), file).not.toMatch(/'(?:gen_ai|modelhatch|server|error)\./)
})

test.each([
  ['OpenTelemetry', 'OtelOptions'],
  ['Prometheus', 'MetricsOptions'],
])('the options of %s are all listed', (title, name) => {
  const listed = rows(section(guide, title)).flatMap(([options]) => inCode(options))
  expect(listed.sort()).toEqual(members(name).sort())
})

interface Dashboard {
  readonly panels: readonly {
    readonly id: number
    readonly title: string
    readonly type: string
    readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[]
  }[]
}

/** The names of all series in Prometheus, and the labels that each can have. */
const series = new Map<string, readonly string[]>()
for (const metric of metrics) {
  const name = prometheusName(metric)
  const labels = metric.labels.map((label) => label.replaceAll('.', '_'))
  if (metric.kind !== 'histogram') series.set(name, labels)
  else {
    for (const suffix of ['_sum', '_count']) series.set(name + suffix, labels)
    series.set(`${name}_bucket`, ['le', ...labels])
  }
}

test('the queries of the dashboard name metrics that exist, with labels that they have', () => {
  const text = readFileSync(`${root}examples/grafana.json`, 'utf8')
  const { panels } = JSON.parse(text) as Dashboard
  const shown = panels.filter(({ type }) => type !== 'row')
  expect(shown.length).toBeGreaterThan(15)
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
  const used = new Set<string>()
  for (const { title, targets = [] } of shown) {
    expect(targets.length, title).toBeGreaterThan(0)
    for (const { expr, legendFormat } of targets) {
      const names = [...expr.matchAll(/\b(?:gen_ai|modelhatch)_\w+/g)].map(([name]) => name)
      const found = names.filter((name) => series.has(name))
      expect(found.length, `${title}: ${expr}`).toBeGreaterThan(0)
      const labels = new Set(found.flatMap((name) => series.get(name) ?? []))
      const others = names.filter((name) => !series.has(name))
      expect(
        others.filter((label) => !labels.has(label)),
        `${title}: ${expr}`,
      ).toEqual([])
      const legends = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label)
      expect(
        legends.filter((label) => !labels.has(label)),
        `${title}: ${legendFormat}`,
      ).toEqual([])
      for (const name of found) used.add(name.replace(/_(?:bucket|sum|count)$/, ''))
    }
  }
  expect(used).toEqual(new Set(metrics.map(prometheusName)))
  expect(text).toContain('label_values(gen_ai_server_request_duration_seconds_count, gen_ai_request_model)')
})
