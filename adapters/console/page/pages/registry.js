import { h } from '../preact.js'
import { useState } from 'preact/hooks'
import { get, send } from '../api.js'
import { dateTime } from '../format.js'
import { useAction, useLoad } from '../load.js'
import { announce } from '../parts/announce.js'
import { Badge } from '../parts/badge.js'
import { Button } from '../parts/button.js'
import { Card, PageHead } from '../parts/details.js'
import { DocumentDialog, RemoveDialog } from '../parts/document-dialog.js'
import { Empty, ErrorNotice } from '../parts/notice.js'
import { PriceDialog } from '../parts/price-dialog.js'
import { table } from '../parts/table.js'
import { useSession } from '../session.js'
import { t } from '../words.js'

/** @import { RegistryDocument, RegistryPriceView } from '../shapes.d.ts' */
/** @import { Kind } from '../parts/document-dialog.js' */
/** @typedef {{ kind: Kind, record?: RegistryDocument, removes?: boolean } | { kind: 'price' }} Open */

/** Models, groups and prices, as they are set in code and here. */
export function RegistryPage() {
  const { readOnly } = useSession()
  const [open, setOpen] = useState(/** @type {Open | undefined} */ (undefined))
  const models = useLoad((signal) => get('registry/models', {}, signal), [])
  const groups = useLoad((signal) => get('registry/groups', {}, signal), [])
  const prices = useLoad((signal) => get('registry/prices', {}, signal), [])
  const providers = useLoad((signal) => get('registry/providers', {}, signal), []).data?.items ?? []
  const reload = () => {
    for (const each of [models, groups, prices]) each.reload()
  }
  const close = () => setOpen(undefined)
  const onSaved = () => {
    announce(t('saved'))
    close()
    reload()
  }
  const adds = (/** @type {string} */ text, /** @type {Open} */ what) =>
    !readOnly && h(Button, { icon: 'plus', onClick: () => setOpen(what) }, text)
  return h(
    'div',
    { class: 'page' },
    h(PageHead, {
      title: t('page_registry'),
      actions: h(Button, { kind: 'quiet', icon: 'refresh', label: t('refresh'), onClick: reload }),
    }),
    h(
      Card,
      { title: t('page_models'), actions: adds(t('newModel'), { kind: 'models' }) },
      h(Documents, { kind: 'models', loaded: models, onOpen: setOpen }),
    ),
    h(
      Card,
      { title: t('groups'), actions: adds(t('newGroup'), { kind: 'groups' }) },
      h(Documents, { kind: 'groups', loaded: groups, onOpen: setOpen }),
    ),
    h(
      Card,
      { title: t('prices'), actions: adds(t('newPrice'), { kind: 'price' }) },
      h(Prices, { loaded: prices, onRemoved: onSaved }),
    ),
    open?.kind === 'price' && h(PriceDialog, { onClose: close, onSaved }),
    open !== undefined &&
      open.kind !== 'price' &&
      (open.removes && open.record !== undefined
        ? h(RemoveDialog, { kind: open.kind, record: open.record, onClose: close, onSaved })
        : h(DocumentDialog, { ...open, providers, onClose: close, onSaved })),
  )
}

/** @typedef {{ data?: { items: any[] }, error?: unknown, loading: boolean, reload: () => void }} Loaded */

/** @param {{ kind: Kind, loaded: Loaded, onOpen: (open: Open) => unknown }} properties */
function Documents({ kind, loaded: { data, error, loading, reload }, onOpen }) {
  const { readOnly } = useSession()
  return table({
    caption: kind === 'models' ? t('page_models') : t('groups'),
    rows: /** @type {RegistryDocument[] | undefined} */ (data?.items),
    loading,
    error,
    retry: reload,
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
    h(
      'button',
      { type: 'button', class: 'link', 'aria-label': `${text}: ${record.id}`, onClick: () => onOpen(open) },
      text,
    )
  return h(
    'span',
    { class: 'row-actions' },
    button(t('edit'), { kind, record }),
    button(t('delete'), { kind, record, removes: true }),
  )
}

/** @param {{ loaded: Loaded, onRemoved: () => unknown }} properties */
function Prices({ loaded: { data, error, loading, reload }, onRemoved }) {
  const { readOnly } = useSession()
  const removal = useAction(async (/** @type {RegistryPriceView} */ { model, from }) => {
    await send('DELETE', 'registry/prices', undefined, { model, from })
    onRemoved()
  })
  return [
    h(ErrorNotice, { error: removal.error }),
    table({
      caption: t('prices'),
      rows: /** @type {RegistryPriceView[] | undefined} */ (data?.items),
      loading,
      error,
      retry: reload,
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
            h(
              'button',
              {
                type: 'button',
                class: 'link',
                'aria-label': `${t('delete')}: ${price.model}`,
                onClick: () => void removal.run(price),
              },
              t('delete'),
            ),
        },
      ],
    }),
  ]
}
