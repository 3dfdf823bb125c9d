import { date } from '../format.js'
import { language, t } from '../words.js'

/** @import { PlotData } from './plot.js' */
/** @import uPlot from 'uplot' */

/** Shows the values of the period under the pointer. @param {PlotData} data @returns {uPlot.Plugin} */
export function tooltip({ times, periodMs, lines, kind, format }) {
  const box = document.createElement('div')
  box.className = 'plot-tooltip'
  box.hidden = true
  return {
    hooks: {
      init: (plot) => plot.over.append(box),
      setCursor: (plot) => {
        const { idx, left = -1 } = plot.cursor
        const at = typeof idx === 'number' ? times[idx] : undefined
        box.hidden = at === undefined || left < 0
        if (box.hidden || at === undefined || typeof idx !== 'number') return
        const head = document.createElement('strong')
        head.textContent = periodOf(at, periodMs)
        const shown = lines.filter(
          ({ values }) => typeof values[idx] === 'number' && (values[idx] !== 0 || lines.length < 3),
        )
        const sum = shown.reduce((total, { values }) => total + (values[idx] ?? 0), 0)
        box.replaceChildren(
          head,
          ...shown.toReversed().map(({ name, color, values }) => row(name, color, format(values[idx] ?? 0))),
          ...(kind === 'bars' && shown.length > 1 ? [row(t('total'), 'transparent', format(sum))] : []),
        )
        const isRight = left > plot.over.clientWidth / 2
        box.style.transform = `translateX(${isRight ? `calc(${left - 12}px - 100%)` : `${left + 12}px`})`
      },
    },
  }
}

/** @param {string} name @param {string} color @param {string} value */
function row(name, color, value) {
  const [line, swatch, label, number] = ['p', 'i', 'span', 'b'].map((tag) => document.createElement(tag))
  if (!line || !swatch || !label || !number) return ''
  swatch.style.background = color.startsWith('--') ? `var(${color})` : color
  label.textContent = name
  number.textContent = value
  line.append(swatch, label, number)
  return line
}

/** @param {number} at @param {number} periodMs */
export function periodOf(at, periodMs) {
  if (periodMs >= 86_400_000) return date(at)
  const format = new Intl.DateTimeFormat(language(), {
    month: 'short',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  })
  return format.formatRange(at, at + periodMs)
}
