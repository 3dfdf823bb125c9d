import type { Model } from '../../models/contract.ts'
import type { Provider } from '../../providers/contract.ts'
import type { StoreQuestion } from './store-questions.ts'

/** A call for each vendor that can list its models: it fails for a wrong key or address, and names models that are not listed. */
export function vendorQuestions(
  providers: Iterable<Provider>,
  models: readonly Model[],
): readonly Pick<StoreQuestion, 'name' | 'ask'>[] {
  return [...providers].flatMap((provider) => {
    const { name } = provider
    if (provider.models === undefined) return []
    const ask = async () => {
      const listed = ((await provider.models?.({ signal: AbortSignal.timeout(10_000) })) ?? []).map(({ id }) => id)
      // Without an address it is no vendor: the demo models answer to any name.
      const missing = provider.origin === undefined ? [] : missingOf(provider, models, listed)
      if (missing.length > 0) throw new Error(`${name} does not list ${missing.join(', ')}: correct "providerModel"`)
    }
    return { name: `the vendor ${name}`, ask }
  })
}

function missingOf(provider: Provider, models: readonly Model[], listed: readonly string[]): readonly string[] {
  return models.flatMap(({ id, deployments }) =>
    deployments
      .filter((each) => each.provider === provider && !isListed(each.model, listed))
      .map(({ model }) => (model === id ? `"${model}"` : `"${model}", which "${id}" names`)),
  )
}

/** Vendors list `claude-sonnet-5-20260401` and serve `claude-sonnet-5`; OpenRouter serves `a/b:free`, Ollama lists `b:latest`. */
function isListed(model: string, listed: readonly string[]): boolean {
  const [name = ''] = model.split(':')
  return listed.some((id) => id === model || id === name || id.startsWith(`${name}-`) || id.startsWith(`${name}:`))
}
