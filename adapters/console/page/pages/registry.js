import { h } from '../preact.js'
import { send } from '../api.js'
import { dateTime } from '../format.js'
import { useAction, useList } from '../load.js'
import { Badge } from '../parts/badge.js'
import { Button, RefreshButton, RowAction } from '../parts/button.js'
import { Card, Page } from '../parts/details.js'
import { useDialog } from '../parts/dialog.js'
import { DocumentDialog, RemoveDialog } from '../parts/document-dialog.js'
import { Empty, ErrorNotice } from '../parts/notice.js'
import { PriceDialog } from '../parts/price-dialog.js'
import { table } from '../parts/table.js'
import { useSession } from '../session.js'
import { t } from '../words.js'

/** @import { Pages } from '../load.js' */
/** @import { RegistryDocument, RegistryPriceView } from '../shapes.d.ts' */
/** @import { Kind } from '../parts/document-dialog.js' */
/** @typedef {{ kind: Kind, record?: RegistryDocument, removes?: boolean } | { kind: 'price' }} Open */

/** Models, groups and prices, as they are set in code and here. */
export function RegistryPage() {
  const { readOnly } = useSession()
  const models = useList('registry/models')
  const groups = useList('registry/groups')
  const prices = useList('registry/prices')
  const providers = useList('registry/providers').list.rows ?? []
  const reload = () => {
    for (const each of [models, groups, prices]) each.reload()
  }
  const { open, setOpen, close, done } = useDialog(reload, /** @type {Open | undefined} */ (undefined))
  const onSaved = () => done()
  const adds = (/** @type {string} */ text, /** @type {Open} */ what) =>
    !readOnly && h(Button, { icon: 'plus', onClick: () => setOpen(what) }, text)
  return h(
    Page,
    {
      title: t('page_registry'),
      actions: h(RefreshButton, { onClick: reload }),
    },
    h(
      Card,
      { title: t('page_models'), actions: adds(t('newModel'), { kind: 'models' }) },
      h(Documents, { kind: 'models', list: models.list, onOpen: setOpen }),
    ),
    h(
      Card,
      { title: t('groups'), actions: adds(t('newGroup'), { kind: 'groups' }) },
      h(Documents, { kind: 'groups', list: groups.list, onOpen: setOpen }),
    ),
    h(
      Card,
      { title: t('prices'), actions: adds(t('newPrice'), { kind: 'price' }) },
      h(Prices, { list: prices.list, onRemoved: onSaved }),
    ),
    open?.kind === 'price' && h(PriceDialog, { onClose: close, onSaved }),
    open !== undefined &&
      open.kind !== 'price' &&
      (open.removes && open.record !== undefined
        ? h(RemoveDialog, { kind: open.kind, record: open.record, onClose: close, onSaved })
        : h(DocumentDialog, { ...open, providers, onClose: close, onSaved })),
  )
}

/** @param {{ kind: Kind, list: Pages<RegistryDocument>['list'], onOpen: (open: Open) => unknown }} properties */
function Documents({ kind, list, onOpen }) {
  const { readOnly } = useSession()
  return table({
    caption: kind === 'models' ? t('page_models') : t('groups'),
    ...list,
    keyOf: ({ id }) => id,
    empty: h(Empty, { title: t('nothingSet') }),
    columns: [
      { title: t('id'), head: true, cell: ({ id, displayName }) => [id, h('small', { class: 'under' }, displayName)] },
      kind === 'models'
        ? { title: t('deployments'), cell: ({ deployments = [] }) => deployments.map(deploymentText).join(', ') }
        : { title: t('page_models'), cell: ({ models }) => (Array.isArray(models) ? models.join(', ') : models) },
      { title: t('note'), cell: ({ note }) => note ?? '–' },
      { title: t('state'), cell: (record) => stateOf(record) },
      {
        title: t('actions'),
        hiddenTitle: true,
        cell: (record) =>
          record.source === 'options'
            ? h('small', { title: t('setInCodeHint') }, t('setInCode'))
            : !readOnly && h(RowActions, { kind, record, onOpen }),
      },
    ],
  })
}

/** @param {NonNullable<RegistryDocument['deployments']>[number]} deployment */
function deploymentText({ provider, providerModel, model, disabled }) {
  const text = provider === undefined ? (model ?? '') : [provider, providerModel].filter(Boolean).join(' ')
  return disabled ? `${text} (${t('disabled')})` : text
}

/** @param {RegistryDocument} record */
function stateOf({ fault, disabled }) {
  if (fault !== undefined) return h(Badge, { tone: 'danger' }, fault)
  return disabled ? h(Badge, { tone: 'warn' }, t('disabled')) : h(Badge, { tone: 'ok' }, t('state_active'))
}

/** @param {{ kind: Kind, record: RegistryDocument, onOpen: (open: Open) => unknown }} properties */
function RowActions({ kind, record, onOpen }) {
  const button = (/** @type {string} */ text, /** @type {Open} */ open) =>
    h(RowAction, { text, of: record.id, onClick: () => onOpen(open) })
  return h(
    'span',
    { class: 'row-actions' },
    button(t('edit'), { kind, record }),
    button(t('delete'), { kind, record, removes: true }),
  )
}

/** @param {{ list: Pages<RegistryPriceView>['list'], onRemoved: () => unknown }} properties */
function Prices({ list, onRemoved }) {
  const { readOnly } = useSession()
  const removal = useAction(async (/** @type {RegistryPriceView} */ { model, from }) => {
    await send('DELETE', 'registry/prices', undefined, { model, from })
    onRemoved()
  })
  return [
    h(ErrorNotice, { error: removal.error }),
    table({
      caption: t('prices'),
      ...list,
      keyOf: ({ model, from }) => `${model} ${from}`,
      empty: h(Empty, { title: t('nothingSet') }),
      columns: [
        { title: t('by_model'), head: true, cell: ({ model }) => model },
        { title: t('validFrom'), oneLine: true, cell: ({ from }) => dateTime(from) },
        { title: t('price'), cell: ({ price }) => h('code', null, JSON.stringify(price)) },
        {
          title: t('actions'),
          hiddenTitle: true,
          cell: (price) =>
            price.isPlanned &&
            !readOnly &&
            h(RowAction, { text: t('delete'), of: price.model, onClick: () => removal.run(price) }),
        },
      ],
    }),
  ]
}
