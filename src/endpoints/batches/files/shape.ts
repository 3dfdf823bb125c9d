import { vendorMs, type BatchTask, type StoredBatch } from '../batch-task.ts'

/** A batch as OpenAI's API has it. Fields without a value are left out, as its document has no null. */
export function shape({ id, createdAt, data }: StoredBatch): object {
  const { size, counts, file, models, cancelledAt, acceptedAt, endedAt } = data
  const status = statusOf(data)
  const { succeeded, errored, expired, canceled } = counts
  const { endpoint = '', input = '', output, errors, metadata, usage } = file ?? {}
  const over = data.state === 'ended' ? endedAt : undefined
  return {
    id,
    object: 'batch',
    endpoint,
    ...(models[0] && { model: models[0].name }),
    ...(status === 'failed' && {
      errors: { object: 'list', data: [{ code: 'batch_failed', message: failed, param: null, line: null }] },
    }),
    input_file_id: input,
    completion_window: '24h',
    status,
    ...(output !== undefined && { output_file_id: output }),
    ...(errors !== undefined && { error_file_id: errors }),
    created_at: secondsOf(createdAt),
    ...timeOf('in_progress_at', acceptedAt),
    expires_at: secondsOf(createdAt + vendorMs),
    ...timeOf('finalizing_at', status === 'failed' ? undefined : endedAt),
    ...timeOf('cancelling_at', cancelledAt),
    ...timeOf(`${status}_at`, over),
    request_counts: { total: size, completed: succeeded, failed: errored + expired + canceled },
    ...(usage && {
      usage: {
        input_tokens: usage.input,
        input_tokens_details: { cached_tokens: usage.cached },
        output_tokens: usage.output,
        output_tokens_details: { reasoning_tokens: usage.reasoning },
        total_tokens: usage.input + usage.output,
      },
    }),
    metadata: metadata ?? null,
  }
}

const failed = 'The vendor could not execute the batch. None of its requests is charged.'

function statusOf({ state, cancelledAt, empty, counts }: BatchTask): string {
  const isCancelled = cancelledAt !== undefined
  if (state === 'ended') {
    if (isCancelled) return 'cancelled'
    if (empty === true) return 'failed'
    return counts.expired > 0 ? 'expired' : 'completed'
  }
  if (isCancelled) return 'cancelling'
  if (state === 'settling') return 'finalizing'
  return state === 'open' ? 'in_progress' : 'validating'
}

function timeOf(name: string, ms: number | undefined): Record<string, number> {
  return ms === undefined ? {} : { [name]: secondsOf(ms) }
}

function secondsOf(ms: number): number {
  return Math.floor(ms / 1_000)
}
