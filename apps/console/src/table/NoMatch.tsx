import { useQueries } from '@tanstack/react-query'
import type { Resource } from '../resources/resource.ts'
import { Button } from '../ui/Button.tsx'
import { conditionText, setConditions, without } from './conditions.ts'
import { countOf } from './queries.ts'
import { filtersOf, type View } from './view.ts'

interface Props {
  resource: Resource
  view: View
  onChange: (changes: Partial<View>) => void
}

/** Says that no record matches, and without which condition most would. */
export function NoMatch({ resource, view, onChange }: Props) {
  const { search, many } = resource
  const conditions = setConditions(resource, view).map((condition) => ({
    ...conditionText(resource, condition, view),
    removal: without(condition.all),
  }))
  if (search !== undefined && view.q !== undefined) {
    conditions.push({ label: 'the search', value: String(view.q), removal: without([search]) })
  }
  const filters = filtersOf(resource, view)
  const counts = useQueries({
    queries: conditions.map(({ removal }) => {
      const others = Object.entries({ ...filters, ...removal }).filter(([, value]) => value !== undefined)
      return countOf(resource, Object.fromEntries(others))
    }),
  }).map(({ data = 0 }) => data)
  const count = Math.max(0, ...counts)
  const culprit = count > 0 ? conditions[counts.indexOf(count)] : undefined
  return (
    <div className="empty">
      <h2>No {many} match</h2>
      <p>
        {culprit === undefined ? (
          'Only records that match all filters show.'
        ) : (
          <>
            {count.toLocaleString('en')} would match without {culprit.label} <b translate="no">{culprit.value}</b>.
          </>
        )}
      </p>
      <div className="buttons">
        {culprit !== undefined && conditions.length > 1 && (
          <Button onPress={() => onChange(culprit.removal)}>
            {'q' in culprit.removal ? 'Clear the search' : 'Remove this filter'}
          </Button>
        )}
        <Button
          className={culprit !== undefined && conditions.length > 1 ? 'button ghost' : 'button'}
          onPress={() => onChange(without(resource.filters))}
        >
          Show all {many}
        </Button>
      </div>
    </div>
  )
}
