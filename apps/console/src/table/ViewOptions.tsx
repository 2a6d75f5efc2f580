import type { Resource } from '../resources/resource.ts'
import { Button } from '../ui/Button.tsx'
import { Choice } from '../ui/Choice.tsx'
import { usePreferences } from '../ui/preferences.ts'
import type { useColumns } from './shown-columns.ts'

interface Props {
  resource: Resource
  columns: ReturnType<typeof useColumns>
  sort: string | undefined
  onChange: (changes: { sort: string }) => void
}

/** The sort order, which the page's URL contains, and the columns and density, which this browser keeps. */
export function ViewOptions({ resource, columns, sort = 'id_asc', onChange }: Props) {
  const density = usePreferences((preferences) => preferences.density)
  const sorts = resource.recordColumns.filter(({ isSortable, field }) => isSortable && field !== 'id')
  const [, sorted] = /^(.*)_(?:asc|desc)$/.exec(sort) ?? []
  return (
    <>
      <Choice
        label="Sort"
        className="field"
        value={sort}
        options={[
          ['id_asc', 'Oldest first'],
          ['id_desc', 'Newest first'],
          // A link may sort by another name of an attribute.
          ...(sorts.some(({ field }) => field === sorted) || sorted === 'id' ? [] : [[sort, sort] as const]),
          ...sorts.flatMap(({ field, label }) => [
            [`${field}_asc`, `${label}, ascending`] as const,
            [`${field}_desc`, `${label}, descending`] as const,
          ]),
        ]}
        onChange={(sort) => onChange({ sort })}
      />
      <fieldset>
        <legend>Columns</legend>
        {resource.recordColumns
          .filter(({ field }) => field !== resource.nameField)
          .map((column) => (
            <label key={column.field} className="inline">
              <input type="checkbox" checked={columns.isShown(column)} onChange={() => columns.toggle(column.field)} />
              <span>{column.label}</span>
            </label>
          ))}
      </fieldset>
      <fieldset>
        <legend>Density</legend>
        <label className="inline">
          <input
            type="checkbox"
            checked={density === 'compact'}
            onChange={() => usePreferences.setState({ density: density === 'compact' ? 'comfortable' : 'compact' })}
          />
          <span>Compact rows</span>
        </label>
      </fieldset>
      {!columns.isInitial && <Button onPress={columns.reset}>Reset columns</Button>}
    </>
  )
}
