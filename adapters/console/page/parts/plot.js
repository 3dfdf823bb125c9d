/** A plot over time, drawn by uPlot on a canvas. */
import uPlot from 'uplot'
import { linkTo } from '../location.js'
import { followTheme } from '../theme.js'
import { language } from '../words.js'
import { tooltip } from './tooltip.js'

/**
 * @typedef {object} Line
 * @property {string} name
 * @property {string} color Name of a custom property, such as `--series-1`.
 * @property {readonly (number | null)[]} values One per time; null: nothing is drawn there.
 */

/**
 * @typedef {object} PlotData
 * @property {readonly number[]} times Starts of the periods, in milliseconds since the epoch.
 * @property {number} periodMs
 * @property {readonly Line[]} lines Of bars: from the bottom to the top of the stack.
 * @property {'bars' | 'lines'} kind
 * @property {(value: number) => string} format
 * @property {boolean} [isCount] Whole numbers only.
 */

const height = 190

/** Between two marks of an axis of counts: 1, 2, 5, 10 and so on. */
const steps = Array.from({ length: 45 }, (_, at) => ([1, 2, 5][at % 3] ?? 1) * 10 ** Math.floor(at / 3))

/** Draws into an element until the returned function is called. @param {HTMLElement} root @param {PlotData} data */
export function draw(root, data) {
  const colors = colorsIn(root)
  const plot = new uPlot(optionsOf(data, colors.of, root.clientWidth), columnsOf(data), root)
  const resized = new ResizeObserver(() => plot.setSize({ width: root.clientWidth, height }))
  resized.observe(root)
  const unfollow = followTheme(() => {
    colors.forget()
    plot.redraw(false, true)
  })
  return () => {
    resized.disconnect()
    unfollow()
    plot.destroy()
    colors.remove()
  }
}

/** Bars of a stack reach down to the axis, so the highest is drawn first. @param {PlotData} data @returns {uPlot.AlignedData} */
function columnsOf({ times, lines, kind }) {
  const seconds = times.map((at) => at / 1_000)
  if (kind === 'lines') return /** @type {uPlot.AlignedData} */ ([seconds, ...lines.map(({ values }) => [...values])])
  const heights = lines.map((_, index) => times.map((__, at) => sumOf(lines.slice(0, index + 1), at)))
  return [seconds, ...heights.toReversed()]
}

/** @param {readonly Line[]} lines @param {number} at */
function sumOf(lines, at) {
  return lines.reduce((sum, { values }) => sum + (values[at] ?? 0), 0)
}

/** @param {PlotData} data @param {(name: string) => string} colorOf @param {number} width @returns {uPlot.Options} */
function optionsOf(data, colorOf, width) {
  const { lines, kind, periodMs, format, isCount } = data
  const font = `11px ${getComputedStyle(document.body).fontFamily}`
  const bars = uPlot.paths.bars?.({ size: [0.72, 28], radius: lines.length === 1 ? 0.18 : 0 })
  const drawn = kind === 'bars' ? lines.toReversed() : lines
  const axis = { stroke: () => colorOf('--muted'), font, ticks: { show: false } }
  const half = periodMs / 2_000
  return {
    width,
    height,
    padding: [10, 8, 0, 0],
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { show: kind === 'lines' }, sync: { key: 'modelhatch' } },
    scales: {
      x: { range: (_, min, max) => (kind === 'bars' ? [min - half, max + half] : [min, max]) },
      y: { range: (_, __, max) => [0, max > 0 ? max * 1.08 : 1] },
    },
    series: [
      {},
      ...drawn.map(({ name, color }) => ({
        label: name,
        stroke: () => colorOf(color),
        ...(kind === 'bars'
          ? { fill: () => colorOf(color), width: 0, points: { show: false }, ...(bars && { paths: bars }) }
          : { width: 1.75, spanGaps: true, points: { show: false } }),
      })),
    ],
    axes: [
      {
        ...axis,
        grid: { show: false },
        space: 64,
        size: 26,
        values: (_, splits) => splits.map((at) => tickOf(at * 1_000, periodMs)),
      },
      {
        ...axis,
        size: 52,
        space: 32,
        ...(isCount && { incrs: steps }),
        grid: { stroke: () => colorOf('--line'), width: 1 },
        values: (_, splits) => splits.map((value) => format(value)),
      },
    ],
    plugins: [tooltip(data), ...(kind === 'bars' ? [unfinished(data, colorOf), picking(data)] : [])],
  }
}

/** A period that is not over is hatched: it will be higher. @param {PlotData} data @param {(name: string) => string} colorOf @returns {uPlot.Plugin} */
function unfinished({ times, periodMs, lines }, colorOf) {
  const last = times.length - 1
  const begins = times[last] ?? 0
  const sum = sumOf(lines, last)
  if (sum === 0 || begins + periodMs <= Date.now()) return { hooks: {} }
  return {
    hooks: {
      draw: (plot) => {
        const { ctx, bbox } = plot
        const at = (/** @type {number} */ ms) => plot.valToPos(ms / 1_000, 'x', true)
        const half = (at(begins + periodMs) - at(begins)) / 2
        const [left, top] = [at(begins) - half, plot.valToPos(sum, 'y', true)]
        ctx.save()
        ctx.beginPath()
        ctx.rect(left, top, 2 * half, bbox.top + bbox.height - top)
        ctx.clip()
        ctx.strokeStyle = colorOf('--surface')
        ctx.lineWidth = 2 * devicePixelRatio
        const step = 7 * devicePixelRatio
        ctx.beginPath()
        for (let x = left - bbox.height; x < left + 2 * half; x += step) {
          ctx.moveTo(x, bbox.top + bbox.height)
          ctx.lineTo(x + bbox.height, bbox.top)
        }
        ctx.stroke()
        ctx.restore()
      },
    },
  }
}

/** A click on a bar leads to the requests of its period. @param {PlotData} data @returns {uPlot.Plugin} */
function picking({ times, periodMs }) {
  return {
    hooks: {
      init: (plot) => {
        plot.over.style.cursor = 'pointer'
        plot.over.addEventListener('click', () => {
          const at = times[plot.cursor.idx ?? -1]
          if (at === undefined) return
          location.hash = linkTo(['requests'], { range: 'own', from: String(at), to: String(at + periodMs) })
        })
      },
    },
  }
}

/** @param {number} at @param {number} periodMs */
function tickOf(at, periodMs) {
  const time = new Date(at)
  const isMidnight = time.getHours() === 0 && time.getMinutes() === 0
  const shown =
    periodMs >= 86_400_000 || isMidnight
      ? /** @type {const} */ ({ month: 'short', day: 'numeric' })
      : /** @type {const} */ ({ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
  return new Intl.DateTimeFormat(language(), shown).format(time)
}

/** The values of custom properties in the current theme: a canvas understands no `var()`. @param {HTMLElement} root */
function colorsIn(root) {
  const probe = document.createElement('span')
  probe.hidden = true
  root.append(probe)
  /** @type {Map<string, string>} */
  const known = new Map()
  const of = (/** @type {string} */ name) => {
    const found = known.get(name)
    if (found !== undefined) return found
    probe.style.color = `var(${name})`
    const color = getComputedStyle(probe).color
    known.set(name, color)
    return color
  }
  return { of, forget: () => known.clear(), remove: () => probe.remove() }
}
